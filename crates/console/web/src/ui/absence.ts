// What stands where nothing is to be shown, and whether that is the robot's silence or the connection's.

import { h, setText, show } from "./dom";

export class Absence {
  private readonly head = h("h2", {});
  private readonly words = h("p", {});
  readonly element: HTMLElement;

  constructor(
    testid: string,
    private readonly title: string,
    private readonly why: string,
  ) {
    this.element = h("section", { class: "card absent", testid }, this.head, this.words);
  }

  update(absent: boolean, linked: boolean): void {
    show(this.element, absent);
    setText(this.head, linked ? this.title : "No robot yet");
    setText(this.words, linked ? this.why : "There is no connection to one. This page goes on trying by itself.");
  }
}
