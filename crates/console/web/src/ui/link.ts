// The connection in a word and a shape, and what the console that carries the page says of itself.

import type { Client, Link } from "../nt/client";
import { h, setAttribute, setText, show } from "./dom";
import { ageText, clip } from "./format";
import { Shape } from "./shapes";

const RELAY = "/FieldLabConsole/";

export class LinkBar {
  private readonly shape = new Shape();
  private readonly word = h("span", { class: "word", role: "status", testid: "link-word" });
  private readonly more = h("span", { class: "more", testid: "link-more" });
  readonly element = h("p", { class: "link", testid: "link" }, this.shape.element, this.word, this.more);
  private readonly robot = h("span", { testid: "relay-robot" });
  private readonly refused = h("span", { class: "refused", testid: "relay-refused" });
  private readonly counts = h("span", { testid: "counts" });
  readonly facts = h("p", { class: "facts-line" }, this.robot, this.counts, this.refused);

  constructor(
    private readonly client: Client,
    private readonly straight: string | undefined,
  ) {}

  private value(key: string): unknown {
    return this.client.topics.get(RELAY + key)?.value;
  }

  /** Whether a robot is heard, and not only the console in front of it. */
  get linked(): boolean {
    const link = this.client.link;
    return (link === "live" || link === "stale") && this.value("Connected") !== false;
  }

  update(): void {
    const link = this.client.link;
    const alone = link === "live" && !this.linked;
    const shown: Link = alone ? "lost" : link;
    this.shape.set(shown);
    setAttribute(this.element, "data-link", shown);
    setText(this.word, alone ? "lost: no robot" : link);
    setText(this.more, alone ? "the console is up" : this.detail(link));
    document.documentElement.toggleAttribute("data-old", shown !== "live");
    const robot = this.value("Robot");
    const viewers = this.value("Viewers");
    const parts: string[] = [];
    if (this.straight !== undefined) parts.push(`Straight to ${this.straight}`);
    else if (typeof robot === "string" && robot !== "") parts.push(`Robot at ${clip(robot, 80)}`);
    if (typeof viewers === "number") parts.push(viewers === 1 ? "1 viewer" : `${viewers} viewers`);
    setText(this.robot, parts.join(" · "));
    const broken = this.client.broken;
    setText(this.counts, `${this.client.topics.size} topics${broken > 0 ? ` · ${broken} broken` : ""}`);
    const refused = this.value("Refused");
    const some = typeof refused === "number" && refused > 0;
    const last = this.value("LastRefused");
    setText(
      this.refused,
      some
        ? `Refused by the console: ${refused}${typeof last === "string" && last !== "" ? `, last ${clip(last, 120)}` : ""}`
        : "",
    );
    show(this.refused, some);
  }

  private detail(link: Link): string {
    const silent = this.client.silentMs;
    const rtt = this.client.clock.rttMs;
    switch (link) {
      case "live":
        return rtt === undefined ? "" : `${rtt < 10 ? rtt.toFixed(1) : rtt.toFixed(0)} ms`;
      case "stale":
        return silent === undefined ? "" : `${(silent / 1000).toFixed(0)} s without a word`;
      case "lost":
        return silent === undefined ? "trying again" : `for ${ageText(silent)}, trying again`;
      case "connecting":
        return "";
    }
  }
}
