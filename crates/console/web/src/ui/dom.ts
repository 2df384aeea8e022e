// Elements without markup: whatever a robot says becomes text, never HTML.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string | undefined;

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name === "testid" ? "data-testid" : name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Sets the text of `node` when it is another. */
export function setText(node: Element, text: string): void {
  const only = node.firstChild;
  if (only instanceof Text && only === node.lastChild) {
    if (only.data !== text) only.data = text;
  } else if (only || text !== "") node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string | undefined): void {
  if (value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function show(node: HTMLElement | SVGElement, yes: boolean): void {
  if (node.hasAttribute("hidden") === yes) node.toggleAttribute("hidden", !yes);
}

/** Builds the children of `node` anew when what they are made of has changed. */
export class Refill {
  private made: string | undefined;

  constructor(private readonly node: Element) {}

  with(madeOf: unknown, build: () => readonly Child[]): void {
    const key = JSON.stringify(madeOf);
    if (key === this.made) return;
    this.made = key;
    this.node.replaceChildren(...build().filter((child): child is Node | string => child !== undefined));
  }
}

/** What the browser keeps for this page; a browser that keeps nothing is no error. */
export const kept = {
  get(key: string): string | null {
    try {
      return localStorage.getItem(`fieldlab.${key}`);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(`fieldlab.${key}`, value);
    } catch {
      // Then it holds until the page is closed.
    }
  },
};
