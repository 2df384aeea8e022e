// Three tabs that are addresses: `#campaign`, `#robot`, `#live`.

import { h, show } from "./dom";

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly panel: HTMLElement;
}

export class Tabs {
  readonly list = h("div", { role: "tablist", class: "tabs", "aria-label": "Views" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private shown = "";

  constructor(
    private readonly tabs: readonly Tab[],
    private readonly changed: (id: string) => void,
  ) {
    for (const tab of tabs) {
      const button = h(
        "button",
        { type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": tab.panel.id, testid: `tab-${tab.id}` },
        tab.title,
      );
      button.addEventListener("click", () => this.go(tab.id));
      button.addEventListener("keydown", (event) => this.key(event, tab.id));
      tab.panel.setAttribute("role", "tabpanel");
      tab.panel.setAttribute("aria-labelledby", button.id);
      this.buttons.set(tab.id, button);
      this.list.append(button);
    }
    addEventListener("hashchange", () => this.show(location.hash.slice(1)));
    this.show(location.hash.slice(1));
  }

  get current(): string {
    return this.shown;
  }

  private go(id: string): void {
    if (location.hash !== `#${id}`) location.hash = id;
    this.show(id);
  }

  private show(wanted: string): void {
    const id = this.buttons.has(wanted) ? wanted : (this.tabs[0]?.id ?? "");
    if (id === this.shown) return;
    this.shown = id;
    for (const tab of this.tabs) {
      const on = tab.id === id;
      show(tab.panel, on);
      const button = this.buttons.get(tab.id);
      button?.setAttribute("aria-selected", String(on));
      button?.setAttribute("tabindex", on ? "0" : "-1");
    }
    this.changed(id);
  }

  private key(event: KeyboardEvent, from: string): void {
    const at = this.tabs.findIndex((tab) => tab.id === from);
    const last = this.tabs.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const tab = to === undefined ? undefined : this.tabs[to];
    if (!tab) return;
    event.preventDefault();
    this.go(tab.id);
    this.buttons.get(tab.id)?.focus();
  }
}
