// A clock, a socket and a server that a test holds in its hands.

import { Client, type Socket, type World } from "../src/nt/client";
import { Reader, Writer } from "../src/nt/msgpack";

export function bytes(hex: string): Uint8Array<ArrayBuffer> {
  const found = hex.replaceAll(" ", "").match(/../g) ?? [];
  return new Uint8Array(found.map((pair) => parseInt(pair, 16)));
}

export class FakeSocket implements Socket {
  binaryType = "";
  readonly protocol = "v4.1.networktables.first.wpi.edu";
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly texts: string[] = [];
  readonly binaries: Uint8Array[] = [];
  closed = false;

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (typeof data === "string") this.texts.push(data);
    else this.binaries.push(data);
  }

  close(): void {
    this.closed = true;
  }
}

/** One value that was written: topic by pubuid. */
export interface Written {
  topic: string;
  code: number;
  value: number | string;
  stampUs: number;
}

/** A page's client beside a server of paper; the server's clock is ours plus ten seconds. */
export class Bench {
  ms = 1000;
  readonly sockets: FakeSocket[] = [];
  readonly laters: { atMs: number; then: () => void }[] = [];
  private readonly ids = new Map<string, number>();
  private readonly world: World = {
    now: () => this.ms,
    random: () => 0.5,
    open: () => {
      const socket = new FakeSocket();
      this.sockets.push(socket);
      return socket;
    },
  };
  readonly client = new Client("ws://test/nt/console", this.world);
  readonly later = {
    now: () => this.ms,
    later: (ms: number, then: () => void) => void this.laters.push({ atMs: this.ms + ms, then }),
  };

  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("no socket yet");
    return socket;
  }

  /** Connects and answers the first time question. */
  connect(): void {
    this.client.tick();
    this.socket.onopen?.();
    this.answerTime();
  }

  answerTime(): void {
    const sent = this.ms * 1000;
    this.binary(
      new Writer()
        .array(4)
        .int(-1)
        .int(sent + 10_000_000)
        .int(2)
        .int(sent)
        .take(),
    );
  }

  /** Time goes on in tenths; time questions are answered. */
  pass(ms: number): void {
    const end = this.ms + ms;
    while (this.ms < end) {
      this.ms = Math.min(end, this.ms + 100);
      const asked = this.socket.binaries.length;
      this.client.tick();
      if (this.socket.binaries.length > asked && !this.socket.closed) this.answerTime();
      for (const one of this.laters.splice(0)) {
        if (one.atMs <= this.ms) one.then();
        else this.laters.push(one);
      }
    }
  }

  text(text: string): void {
    this.socket.onmessage?.({ data: text });
  }

  binary(data: Uint8Array<ArrayBuffer>): void {
    this.socket.onmessage?.({ data: data.slice().buffer });
  }

  announce(name: string, type: string): number {
    const id = this.ids.get(name) ?? this.ids.size + 1;
    this.ids.set(name, id);
    this.text(JSON.stringify([{ method: "announce", params: { name, id, type, properties: {} } }]));
    return id;
  }

  /** Announces and sends a value. */
  put(name: string, type: string, value: number | string | boolean): void {
    const id = this.announce(name, type);
    const writer = new Writer()
      .array(4)
      .int(id)
      .int(this.ms * 1000 + 10_000_000);
    if (typeof value === "boolean") {
      const front = writer.int(0).take();
      this.binary(new Uint8Array([...front, value ? 0xc3 : 0xc2]));
    } else if (typeof value === "string") this.binary(writer.int(4).text(value).take());
    else
      this.binary(
        writer
          .int(type === "int" ? 2 : 1)
          .double(value)
          .take(),
      );
  }

  putTexts(name: string, values: readonly string[]): void {
    const id = this.announce(name, "string[]");
    const writer = new Writer()
      .array(4)
      .int(id)
      .int(this.ms * 1000 + 10_000_000)
      .int(20)
      .array(values.length);
    for (const value of values) writer.text(value);
    this.binary(writer.take());
  }

  putNumbers(name: string, values: readonly number[]): void {
    const id = this.announce(name, "double[]");
    const writer = new Writer()
      .array(4)
      .int(id)
      .int(this.ms * 1000 + 10_000_000)
      .int(17)
      .array(values.length);
    for (const value of values) writer.double(value);
    this.binary(writer.take());
  }

  /** What was written on this connection, in order; time questions aside. */
  written(): Written[] {
    const names = new Map<number, string>();
    for (const text of this.socket.texts) {
      for (const { method, params } of JSON.parse(text) as {
        method: string;
        params: { name: string; pubuid: number };
      }[]) {
        if (method === "publish") names.set(params.pubuid, params.name);
      }
    }
    const found: Written[] = [];
    const reader = new Reader();
    for (const frame of this.socket.binaries) {
      reader.reset(frame);
      reader.array();
      const [id, stampUs, code] = [reader.number(), reader.number(), reader.number()];
      if (id === -1) continue;
      const value = reader.peek() === "text" ? reader.text() : reader.number();
      found.push({ topic: (names.get(id) ?? "?").replace("/Catalyst/Tuning/FieldLab/", ""), code, value, stampUs });
    }
    return found;
  }
}

/** What the robot of this workspace publishes while it asks for a number. */
export function asking(
  bench: Bench,
  over: Partial<{ key: string; unit: string; seq: number; text: string; enabled: boolean }> = {},
): void {
  const lab = "/Catalyst/FieldLab/";
  const {
    key = "wheel-radius/caliper-diameter-in",
    unit = "in",
    seq = 7,
    text = "Diameter by caliper",
    enabled = true,
  } = over;
  bench.put(`${lab}State`, "string", "AWAITING_OPERATOR");
  bench.put(`${lab}Enabled`, "boolean", enabled);
  bench.put(`${lab}Prompt`, "string", text);
  bench.put(`${lab}PromptUnit`, "string", unit);
  bench.put(`${lab}PromptKey`, "string", key);
  bench.put(`${lab}PromptSeq`, "int", seq);
  bench.put(`${lab}PromptMin`, "double", 3);
  bench.put(`${lab}PromptMax`, "double", 4.5);
  bench.put(`${lab}LastCommit`, "string", "");
  for (const name of ["Value", "Advance", "SameAgain", "Redo", "Skip"]) {
    bench.put(`/Catalyst/Tuning/FieldLab/${name}`, "double", 0);
  }
  bench.put("/Catalyst/Tuning/FieldLab/SkipReason", "string", "");
  if (key !== "") bench.put(`/Catalyst/Tuning/FieldLab/Answers/${key}`, "double", 3);
}
