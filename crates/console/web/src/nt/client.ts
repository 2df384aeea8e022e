// One connection to a NetworkTables 4 server, kept up for the life of the page. It has no timers of its own: somebody
// calls `tick` a few times a second, so that a test can be the clock.

import { ServerClock } from "./clock";
import { parseControl, subscribeText, unsubscribeText, type Subscription } from "./control";
import { readFrame, TIME_ID } from "./frames";
import { Writer } from "./msgpack";
import { Topics } from "./topics";

export const PROTOCOLS = ["v4.1.networktables.first.wpi.edu", "networktables.first.wpi.edu"];

const PING_MS = 1000;
/** A question that stays unanswered for so long means that the server is gone. */
const TIMEOUT_MS = 3000;
/** Nothing heard for so long is said on the page. */
const STALE_MS = 1500;
/** After so long, what the server did not announce again is gone. */
const SWEEP_MS = 2000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;

export type Link = "connecting" | "live" | "stale" | "lost";

/** What is used of a WebSocket. */
export interface Socket {
  binaryType: string;
  readonly protocol: string;
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

/** What the client takes from outside. */
export interface World {
  /** A clock that only goes forward, milliseconds. */
  now(): number;
  /** From 0 to 1; spreads the reconnects of many pages. */
  random(): number;
  open(url: string, protocols: string[]): Socket;
}

export class Client {
  readonly topics = new Topics();
  readonly clock = new ServerClock();
  /** Frames, messages and items that made no sense. */
  broken = 0;
  /** Connections so far. */
  connections = 0;
  /** Our clock when this connection opened, milliseconds. */
  openedMs: number | undefined;
  private socket: Socket | undefined;
  private openingMs: number | undefined;
  private heardMs: number | undefined;
  private pingedMs = -Infinity;
  private unansweredMs: number | undefined;
  private swept = true;
  private failures = 0;
  private retryMs = 0;
  private readonly wanted = new Map<number, Subscription>();
  private nextSub = 1;
  private readonly writer = new Writer();
  private readonly onTime = (sentUs: number, serverUs: number) =>
    this.clock.answer(sentUs, this.world.now() * 1000, serverUs);

  constructor(
    readonly url: string,
    private readonly world: World,
  ) {}

  get link(): Link {
    if (this.openedMs !== undefined) {
      return this.heardMs === undefined ? "connecting" : this.world.now() - this.heardMs > STALE_MS ? "stale" : "live";
    }
    return this.connections === 0 && this.failures < 2 ? "connecting" : "lost";
  }

  /** Since anything was heard from the server, milliseconds. */
  get silentMs(): number | undefined {
    return this.heardMs === undefined ? undefined : this.world.now() - this.heardMs;
  }

  /** How long this connection is up, milliseconds. */
  get upMs(): number | undefined {
    return this.openedMs === undefined ? undefined : this.world.now() - this.openedMs;
  }

  /** The age of a value whose stamp is of the server's clock, milliseconds. */
  ageMs(stampUs: number, seenMs: number): number {
    return this.stampAgeMs(stampUs) ?? Math.max(0, this.world.now() - seenMs);
  }

  /** How long ago the server's clock showed `stampUs`, milliseconds; undefined when it says nothing. */
  stampAgeMs(stampUs: number): number | undefined {
    const server = this.clock.serverUs(this.world.now() * 1000);
    if (server === undefined || !(stampUs > 0)) return undefined;
    const age = (server - stampUs) / 1000;
    // A stamp from the future or from another boot says nothing.
    return age >= -1000 && age < 1e10 ? Math.max(0, age) : undefined;
  }

  subscribe(of: Subscription): number {
    const subuid = this.nextSub++;
    this.wanted.set(subuid, of);
    if (this.openedMs !== undefined) this.text(subscribeText(subuid, of));
    return subuid;
  }

  unsubscribe(subuid: number): void {
    if (this.wanted.delete(subuid) && this.openedMs !== undefined) this.text(unsubscribeText(subuid));
  }

  /** Try again now: the page came back to the front, or the network did. */
  hurry(): void {
    this.retryMs = 0;
  }

  /** To be called a few times a second. */
  tick(): void {
    const now = this.world.now();
    if (!this.socket) {
      if (now >= this.retryMs) this.open(now);
      return;
    }
    if (this.openedMs === undefined) {
      if (now - (this.openingMs ?? now) > TIMEOUT_MS) this.drop();
      return;
    }
    if (this.unansweredMs !== undefined && now - this.unansweredMs > TIMEOUT_MS) {
      this.drop();
      return;
    }
    if (!this.swept && now - this.openedMs > SWEEP_MS) {
      this.swept = true;
      this.topics.sweep();
    }
    if (now - this.pingedMs >= PING_MS) this.ping(now);
  }

  private open(now: number): void {
    let socket: Socket;
    try {
      socket = this.world.open(this.url, PROTOCOLS);
    } catch {
      this.failed(now);
      return;
    }
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.openingMs = now;
    socket.onopen = () => this.opened(socket);
    socket.onclose = () => {
      if (this.socket === socket) this.closed();
    };
    socket.onmessage = (event) => {
      if (this.socket === socket) this.heard(event.data);
    };
  }

  private opened(socket: Socket): void {
    if (this.socket !== socket) return;
    const now = this.world.now();
    this.openedMs = now;
    this.connections += 1;
    this.unansweredMs = undefined;
    this.swept = false;
    this.clock.reset();
    this.topics.begin();
    for (const [subuid, of] of this.wanted) this.text(subscribeText(subuid, of));
    this.ping(now);
  }

  private drop(): void {
    const socket = this.socket;
    this.closed();
    socket?.close();
  }

  private closed(): void {
    this.socket = this.openedMs = this.openingMs = this.unansweredMs = undefined;
    this.failed(this.world.now());
  }

  private failed(now: number): void {
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.failures, 10));
    this.failures += 1;
    this.retryMs = now + wait * (0.8 + 0.4 * this.world.random());
  }

  private ping(now: number): void {
    this.pingedMs = now;
    this.unansweredMs ??= now;
    this.binary(
      this.writer
        .array(4)
        .int(TIME_ID)
        .int(0)
        .int(2)
        .int(Math.round(now * 1000))
        .take(),
    );
  }

  private heard(data: unknown): void {
    const now = this.world.now();
    this.heardMs = now;
    this.unansweredMs = undefined;
    this.failures = 0;
    try {
      if (typeof data === "string") this.control(data);
      else if (data instanceof ArrayBuffer) {
        this.broken += readFrame(new Uint8Array(data), this.topics, now, this.onTime).broken;
      } else this.broken += 1;
    } catch {
      // Whatever a frame holds, it costs that frame and nothing else.
      this.broken += 1;
    }
  }

  private control(text: string): void {
    const { messages, broken } = parseControl(text);
    this.broken += broken;
    for (const message of messages) {
      if (message.method === "announce") {
        this.topics.announce(message.name, message.id, message.type, message.properties);
      } else if (message.method === "unannounce") this.topics.unannounce(message.name, message.id);
    }
  }

  private text(text: string): void {
    this.socket?.send(text);
  }

  private binary(bytes: Uint8Array<ArrayBuffer>): void {
    this.socket?.send(bytes);
  }

  /** For `operator.ts` alone: sends `text`, then `bytes`. False when there is no connection or its clock is not known. */
  transmit(text: string | undefined, bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.openedMs === undefined || !this.clock.synced) return false;
    if (text !== undefined) this.text(text);
    this.binary(bytes);
    return true;
  }
}

/** Where the page's server is. `?nt=host:port` goes straight to a robot; without it, to whatever served the page. */
export function address(location: {
  search: string;
  protocol: string;
  host: string;
}): { url: string; straight: string | undefined } | { error: string } {
  const asked = new URLSearchParams(location.search).get("nt");
  if (asked === null) {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return { url: `${scheme}://${location.host}/nt/console`, straight: undefined };
  }
  const found = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$/.exec(asked.trim());
  const port = Number(found?.[2] ?? 5810);
  if (!found || port < 1 || port > 65535) return { error: `nt=${asked.slice(0, 60)} is no host:port` };
  return { url: `ws://${found[1]}:${port}/nt/console`, straight: `${found[1]}:${port}` };
}
