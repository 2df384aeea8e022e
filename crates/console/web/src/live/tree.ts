// The names of all topics as a tree, of which only what is open is ever made into rows.

import type { Topic, Topics, Watcher } from "../nt/topics";

export class Node {
  topic: Topic | undefined;
  open = false;
  readonly children = new Map<string, Node>();
  private sorted: Node[] | undefined;

  constructor(
    readonly segment: string,
    readonly path: string,
    readonly parent: Node | undefined,
  ) {}

  get depth(): number {
    let depth = -1;
    for (let node: Node | undefined = this.parent; node; node = node.parent) depth += 1;
    return depth;
  }

  unsort(): void {
    this.sorted = undefined;
  }

  /** By name, numbers in it by their size. */
  get list(): readonly Node[] {
    this.sorted ??= [...this.children.values()].sort((a, b) => compare(a.segment, b.segment));
    return this.sorted;
  }
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

function compare(a: string, b: string): number {
  return COLLATOR.compare(a, b) || (a < b ? -1 : 1);
}

/** One row that is to be shown. */
export interface Row {
  readonly node: Node;
  readonly depth: number;
  readonly position: number;
  readonly siblings: number;
}

/** Segments of a name; what comes after is one segment. */
const DEEPEST = 24;

export class Tree implements Watcher {
  readonly root = new Node("", "", undefined);
  /** Counts everything that changes the rows. */
  version = 0;
  private opened = false;

  constructor(private readonly topics: Topics) {
    for (const topic of topics.all()) this.added(topic);
    topics.watcher = this;
  }

  private static segments(name: string): string[] {
    const parts = (name.startsWith("/") ? name.slice(1) : name).split("/");
    return parts.length <= DEEPEST ? parts : [...parts.slice(0, DEEPEST - 1), parts.slice(DEEPEST - 1).join("/")];
  }

  added(topic: Topic): void {
    let node = this.root;
    for (const segment of Tree.segments(topic.name)) {
      let child = node.children.get(segment);
      if (!child) {
        child = new Node(segment, `${node.path}/${segment}`, node);
        node.children.set(segment, child);
        node.unsort();
      }
      node = child;
    }
    node.topic = topic;
    this.version += 1;
    // Where everything of interest is, unless somebody closed it.
    const first = this.root.children.get("Catalyst");
    if (first && !this.opened) {
      this.opened = true;
      first.open = true;
    }
  }

  removed(topic: Topic): void {
    let node: Node | undefined = this.root;
    for (const segment of Tree.segments(topic.name)) node = node?.children.get(segment);
    if (node?.topic === topic) node.topic = undefined;
    while (node?.parent && !node.topic && node.children.size === 0) {
      const parent: Node = node.parent;
      parent.children.delete(node.segment);
      parent.unsort();
      node = parent;
    }
    this.version += 1;
  }

  toggle(node: Node, open: boolean): void {
    if (node.children.size === 0 || node.open === open) return;
    node.open = open;
    this.version += 1;
  }

  /** What is open, from top to bottom. */
  rows(): Row[] {
    const rows: Row[] = [];
    const walk = (parent: Node, depth: number) => {
      const list = parent.list;
      list.forEach((node, position) => {
        rows.push({ node, depth, position, siblings: list.length });
        if (node.open) walk(node, depth + 1);
      });
    };
    walk(this.root, 0);
    return rows;
  }

  /** Topics whose name holds every word of `search`, by name. */
  found(search: string): Row[] {
    const words = search
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const names: string[] = [];
    for (const topic of this.topics.all()) {
      const name = topic.name.toLowerCase();
      if (words.every((word) => name.includes(word))) names.push(topic.name);
    }
    names.sort(compare);
    return names.flatMap((name, position) => {
      const node = this.find(name);
      return node ? [{ node, depth: 0, position, siblings: names.length }] : [];
    });
  }

  find(name: string): Node | undefined {
    let node: Node | undefined = this.root;
    for (const segment of Tree.segments(name)) node = node?.children.get(segment);
    return node;
  }
}
