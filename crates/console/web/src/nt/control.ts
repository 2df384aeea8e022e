// The text frames of NetworkTables 4, both ways. What is wrong in one message costs that message alone.

/** Longest topic or type name that is kept; longer ones are counted as refused. */
export const NAME_CHARS = 1024;

export type ServerMessage =
  | { method: "announce"; name: string; id: number; type: string; properties: Properties }
  | { method: "unannounce"; name: string; id: number }
  | { method: "properties"; name: string; update: Properties };

/** Small facts about a topic, as text. */
export type Properties = ReadonlyMap<string, string>;

const MOST_PROPERTIES = 16;
const PROPERTY_CHARS = 200;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function properties(value: unknown): Properties {
  const found = new Map<string, string>();
  if (!isObject(value)) return found;
  for (const [key, item] of Object.entries(value)) {
    if (found.size >= MOST_PROPERTIES) break;
    const text = typeof item === "string" ? item : (JSON.stringify(item) ?? "");
    found.set(key.slice(0, PROPERTY_CHARS), text.slice(0, PROPERTY_CHARS));
  }
  return found;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= NAME_CHARS;
}

function message(item: unknown): ServerMessage | undefined {
  if (!isObject(item) || !isObject(item["params"])) return undefined;
  const { name, id, type, properties: props, update } = item["params"];
  if (!isName(name)) return undefined;
  switch (item["method"]) {
    case "announce":
      if (!Number.isInteger(id) || !isName(type)) return undefined;
      return { method: "announce", name, id: id as number, type, properties: properties(props) };
    case "unannounce":
      return Number.isInteger(id) ? { method: "unannounce", name, id: id as number } : undefined;
    case "properties":
      return { method: "properties", name, update: properties(update) };
    default:
      return undefined;
  }
}

export interface Parsed {
  messages: ServerMessage[];
  /** Messages of the frame, or the frame itself, that made no sense. */
  broken: number;
}

/** Reads a text frame. Never throws. */
export function parseControl(text: string): Parsed {
  let items: unknown;
  try {
    items = JSON.parse(text);
  } catch {
    return { messages: [], broken: 1 };
  }
  if (!Array.isArray(items)) return { messages: [], broken: 1 };
  const messages: ServerMessage[] = [];
  let broken = 0;
  for (const item of items) {
    const found = message(item);
    if (found) messages.push(found);
    else broken += 1;
  }
  return { messages, broken };
}

/** What is wanted of the server. */
export interface Subscription {
  readonly topics: readonly string[];
  readonly prefix: boolean;
  /** Seconds between two values of one topic. */
  readonly periodic: number;
  /** Every value, not only the newest. */
  readonly all: boolean;
}

export function subscribeText(subuid: number, of: Subscription): string {
  const options = { periodic: of.periodic, all: of.all, topicsonly: false, prefix: of.prefix };
  return JSON.stringify([{ method: "subscribe", params: { topics: of.topics, subuid, options } }]);
}

export function unsubscribeText(subuid: number): string {
  return JSON.stringify([{ method: "unsubscribe", params: { subuid } }]);
}
