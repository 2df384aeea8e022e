// A list of any length of which only the rows in sight exist.

import { h, setAttribute, setText } from "../ui/dom";
import { ageText, clip } from "../ui/format";
import type { Row, Tree } from "./tree";
import { lineText, type Structs } from "./values";

const EXTRA = 4;

interface Line {
  element: HTMLElement;
  dir: HTMLElement;
  leaf: HTMLElement;
  type: HTMLElement;
  value: HTMLElement;
  age: HTMLElement;
  row: Row | undefined;
  count: number;
}

export class TopicList {
  private readonly space = h("div", { class: "space", role: "presentation" });
  readonly element = h(
    "div",
    { class: "tree", role: "tree", tabindex: 0, "aria-label": "Topics", testid: "live-tree" },
    this.space,
  );
  private readonly lines: Line[] = [];
  private rows: Row[] = [];
  private version = -1;
  private search = "";
  private selected: string | undefined;
  private rowHeight = 0;

  constructor(
    private readonly tree: Tree,
    private readonly structs: Structs,
    private readonly ageMs: (stampUs: number, seenMs: number) => number,
    private readonly chosen: (row: Row) => void,
  ) {
    this.element.addEventListener("scroll", () => this.paint(false), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => {
      const line = this.lines.find((known) => known.element.contains(event.target as Node | null));
      if (!line?.row) return;
      this.select(line.row);
      if (!line.row.node.topic && this.search === "") this.tree.toggle(line.row.node, !line.row.node.open);
      this.update();
    });
  }

  get length(): number {
    return this.rows.length;
  }

  /** Shows only topics whose name holds every word of `search`; everything when it is empty. */
  find(search: string): void {
    this.search = search.trim();
    this.version = -1;
    this.element.classList.toggle("found", this.search !== "");
    this.element.scrollTop = 0;
    this.update();
  }

  /** Sizes may have changed. */
  measure(): void {
    this.rowHeight = 0;
    this.paint(true);
  }

  update(): void {
    if (this.version !== this.tree.version) {
      this.version = this.tree.version;
      this.rows = this.search === "" ? this.tree.rows() : this.tree.found(this.search);
    }
    this.paint(true);
  }

  private paint(values: boolean): void {
    const seen = this.element.clientHeight;
    if (seen === 0) return;
    if (this.rowHeight === 0) {
      this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 32;
    }
    const height = `${this.rows.length * this.rowHeight}px`;
    if (this.space.style.height !== height) this.space.style.height = height;
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - EXTRA);
    const count = Math.min(this.rows.length - first, Math.ceil(seen / this.rowHeight) + 2 * EXTRA);
    for (let slot = 0; slot < Math.max(count, this.lines.length); slot += 1) {
      const row = slot < count ? this.rows[first + slot] : undefined;
      const line = this.lines[slot] ?? this.line(slot);
      if (row) this.place(line, row, (first + slot) * this.rowHeight, values);
      else line.element.hidden = true;
    }
    const active = this.lines.find((line) => !line.element.hidden && line.row?.node.path === this.selected);
    setAttribute(this.element, "aria-activedescendant", active?.element.id);
  }

  private line(slot: number): Line {
    const cell = (kind: string) => h("span", { class: kind });
    const [dir, leaf, type, value, age] = [cell("dir"), cell("leaf"), cell("type"), cell("value"), cell("age")];
    const name = h("span", { class: "name" }, dir, leaf);
    const element = h("div", { class: "row", role: "treeitem", id: `row-${slot}` }, name, type, value, age);
    this.space.append(element);
    const line = { element, dir, leaf, type, value, age, row: undefined, count: -1 };
    this.lines.push(line);
    return line;
  }

  private place(line: Line, row: Row, top: number, values: boolean): void {
    const { node } = row;
    const topic = node.topic;
    const other = line.row?.node !== node;
    line.row = row;
    const { element } = line;
    element.hidden = false;
    const shift = `translateY(${top}px)`;
    if (element.style.transform !== shift) element.style.transform = shift;
    const branch = node.children.size > 0 && this.search === "";
    element.classList.toggle("branch", topic === undefined);
    setAttribute(element, "aria-level", String(row.depth + 1));
    setAttribute(element, "aria-posinset", String(row.position + 1));
    setAttribute(element, "aria-setsize", String(row.siblings));
    setAttribute(element, "aria-expanded", branch ? String(node.open) : undefined);
    setAttribute(element, "aria-selected", String(node.path === this.selected));
    if (other) {
      element.style.setProperty("--depth", String(row.depth));
      line.count = -1;
    }
    const whole = this.search === "" ? "" : clip(topic?.name ?? node.path, 300);
    const slash = whole.lastIndexOf("/") + 1;
    setText(line.dir, whole.slice(0, slash));
    setText(line.leaf, this.search === "" ? clip(node.segment || "(empty)", 160) : whole.slice(slash) || "(empty)");
    setText(line.type, topic ? clip(topic.type, 40) : `${node.children.size} below`);
    if (!topic) {
      setText(line.value, "");
      setText(line.age, "");
    } else if (values || other) {
      if (line.count !== topic.count) {
        line.count = topic.count;
        setText(line.value, lineText(topic, this.structs));
      }
      setText(line.age, topic.said ? ageText(this.ageMs(topic.stampUs, topic.seenMs)) : "");
    }
  }

  private select(row: Row): void {
    this.selected = row.node.path;
    this.chosen(row);
  }

  private key(event: KeyboardEvent): void {
    const at = this.rows.findIndex((row) => row.node.path === this.selected);
    const row = this.rows[at];
    const page = Math.max(1, Math.floor(this.element.clientHeight / (this.rowHeight || 32)) - 1);
    let to: number | undefined;
    switch (event.key) {
      case "ArrowDown":
        to = at + 1;
        break;
      case "ArrowUp":
        to = Math.max(0, at - 1);
        break;
      case "PageDown":
        to = at + page;
        break;
      case "PageUp":
        to = at - page;
        break;
      case "Home":
        to = 0;
        break;
      case "End":
        to = this.rows.length - 1;
        break;
      case "ArrowRight":
        if (row && !row.node.open && this.search === "") this.tree.toggle(row.node, true);
        else if (row?.node.open) to = at + 1;
        break;
      case "ArrowLeft":
        if (row?.node.open) this.tree.toggle(row.node, false);
        else if (row?.node.parent) to = this.rows.findIndex((known) => known.node === row.node.parent);
        break;
      case "Enter":
      case " ":
        if (row) {
          this.tree.toggle(row.node, !row.node.open);
          this.chosen(row);
        }
        break;
      default:
        return;
    }
    event.preventDefault();
    this.update();
    if (to === undefined || this.rows.length === 0) return;
    const index = Math.min(this.rows.length - 1, Math.max(0, to));
    const next = this.rows[index];
    if (!next) return;
    this.select(next);
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.update();
  }
}
