// The only part of the page that writes to the robot. What it writes are numbers and a reason that the robot declared as
// inputs; whether they mean anything, and when, the robot decides. Nothing is ever sent that a person did not press.

import type { Client } from "./nt/client";
import { Writer } from "./nt/msgpack";
import type { Topic } from "./nt/topics";

export const ROOT = "/Catalyst/Tuning/FieldLab/";
const LAB = "/Catalyst/FieldLab/";
const CONNECTED = "/FieldLabConsole/Connected";

/** The robot takes nothing from a connection this young, and a little more for the way there. */
export const YOUNG_MS = 3300;
/** A prompt takes no press before it was shown this long; also what a second tap of the same finger runs into. */
export const ARM_MS = 450;
/** A number has to stand before it is committed, and a robot of the older kind reads it only then. */
export const SETTLE_MS = 400;
/** Two presses are at least this far apart. */
export const APART_MS = 600;
/** What is there so soon after the connection opened was there before. */
const EARLY_MS = 2000;
/** Longest reason that the robot keeps. */
export const REASON_CHARS = 200;

export type Control = "SameAgain" | "Redo" | "Skip";

/** What was pressed last, until another prompt comes. */
export interface Press {
  readonly what: "answer" | "confirm" | "same" | "redo" | "skip";
  readonly value: number | undefined;
  readonly atMs: number;
  /** What was asked. */
  readonly question: string;
  /** What the robot had said of the press before. */
  readonly before: string;
  readonly stage: "settling" | "sent" | "lost";
}

/** What the operator part takes from outside: the client's clock, and something that calls back. */
export interface Later {
  now(): number;
  later(ms: number, then: () => void): void;
}

export class Operator {
  private readonly writer = new Writer();
  private readonly publishers = new Map<string, { pubuid: number; connection: number }>();
  private readonly sent = new Map<string, { value: number; atMs: number }>();
  private nextPub = 100;
  private lastStampUs = 0;
  private pressed: Press | undefined;
  /** What is asked, by the connection that said so: a press is for that alone. */
  private prompt = "";
  private promptMs = 0;
  /** What is asked, whoever said so, and since when; `early` when it stood there before this page came. */
  private question = { text: "", sinceMs: 0, early: false };
  private robotMs: number | undefined;
  private robotUp = true;

  constructor(
    private readonly client: Client,
    private readonly world: Later,
  ) {}

  private topic(name: string): Topic | undefined {
    const topic = this.client.topics.get(name);
    return topic?.said ? topic : undefined;
  }

  private lab(key: string): Topic | undefined {
    return this.topic(LAB + key);
  }

  /** Identifies what is asked: another one disarms everything. */
  private asked(): string {
    const text = this.lab("Prompt")?.value;
    const seq = this.seq;
    return typeof text === "string" && text !== "" ? `${this.client.connections} ${seq ?? ""} ${text}` : "";
  }

  private get seq(): number | undefined {
    const seq = this.lab("PromptSeq")?.number;
    return seq !== undefined && Number.isFinite(seq) ? seq : undefined;
  }

  private get said(): string {
    const said = this.lab("LastCommit")?.value;
    return typeof said === "string" ? said : "";
  }

  /** To be called whenever the page looks at what is asked, a few times a second. */
  look(): void {
    const now = this.world.now();
    const asked = this.asked();
    if (asked !== this.prompt) {
      this.prompt = asked;
      this.promptMs = now;
    }
    const question = asked.slice(asked.indexOf(" ") + 1);
    if (question !== this.question.text) {
      this.question = { text: question, sinceMs: now, early: (this.client.upMs ?? 0) < EARLY_MS };
    }
    // Behind the relay the robot sees the relay's connection, which may be younger than ours.
    const up = this.topic(CONNECTED)?.number !== 0;
    if (up !== this.robotUp) {
      this.robotUp = up;
      this.robotMs = now;
    }
  }

  get press(): Press | undefined {
    return this.pressed;
  }

  /** Whether what was asked when it was pressed is still asked. */
  get pressStands(): boolean {
    return this.pressed?.question === this.question.text;
  }

  /** How long the prompt on show is there, milliseconds; `early` when it was there before this page looked. */
  get promptAge(): { ms: number; early: boolean } {
    return { ms: this.world.now() - this.question.sinceMs, early: this.question.early };
  }

  /** Since a time of the page's clock, milliseconds. */
  sinceMs(atMs: number): number {
    return this.world.now() - atMs;
  }

  /** Whether the robot declares `control`. */
  declares(control: Control): boolean {
    return this.client.topics.get(ROOT + control) !== undefined;
  }

  /** Why nothing can be sent now, for the operator; undefined when it can. */
  get blocked(): string | undefined {
    this.look();
    const now = this.world.now();
    const link = this.client.link;
    if (link === "lost" || link === "connecting") return "No connection";
    if (!this.robotUp) return "The console has no robot";
    if (this.lab("State")?.value !== "AWAITING_OPERATOR" || this.prompt === "") return "Nothing is asked";
    if (this.lab("Enabled")?.number === 0) return "The robot is disabled";
    const young = Math.max(
      YOUNG_MS - (this.client.upMs ?? 0),
      this.robotMs === undefined ? 0 : YOUNG_MS - (now - this.robotMs),
    );
    if (young > 0) return "Ready in a few seconds: the connection is new";
    if (!this.client.clock.synced) return "Ready when the robot's clock is known";
    if (this.pressed?.stage === "settling") return "Sending";
    if (now - this.promptMs < ARM_MS) return "Ready in a moment: the prompt is new";
    if (this.pressed && now - this.pressed.atMs < APART_MS) return "Ready in a moment";
    return undefined;
  }

  /** Answers the prompt on show with `value`. False when it was not sent. */
  answer(value: number): boolean {
    if (!Number.isFinite(value) || this.blocked !== undefined) return false;
    const key = this.lab("PromptKey")?.value;
    if (!this.write("Value", value)) return false;
    if (typeof key === "string" && key !== "" && this.client.topics.get(`${ROOT}Answers/${key}`)) {
      this.write(`Answers/${key}`, value);
    }
    this.then("answer", value, () => this.edge("Advance"));
    return true;
  }

  /** Answers a prompt that asks for no number. */
  confirm(): boolean {
    if (this.blocked !== undefined || !this.edge("Advance")) return false;
    this.note("confirm", undefined, "sent");
    return true;
  }

  /** Says that the number that stands in the input is meant once more. */
  sameAgain(): boolean {
    if (this.blocked !== undefined || !this.declares("SameAgain") || !this.edge("SameAgain")) return false;
    this.then("same", undefined, () => this.edge("Advance"));
    return true;
  }

  /** Asks for the last answer again. */
  redo(): boolean {
    if (this.blocked !== undefined || !this.declares("Redo") || !this.edge("Redo")) return false;
    this.note("redo", undefined, "sent");
    return true;
  }

  /** Leaves out what is asked, with the reason. */
  skip(reason: string): boolean {
    const text = reason.trim().slice(0, REASON_CHARS);
    if (text === "" || this.blocked !== undefined || !this.declares("Skip")) return false;
    if (!this.write("SkipReason", text)) return false;
    this.then("skip", undefined, () => this.edge("Skip"));
    return true;
  }

  private note(what: Press["what"], value: number | undefined, stage: Press["stage"]): void {
    this.pressed = { what, value, atMs: this.world.now(), question: this.question.text, before: this.said, stage };
  }

  /** Once what was written has stood, the second half; unless something else is asked by then. */
  private then(what: Press["what"], value: number | undefined, second: () => boolean): void {
    const asked = this.prompt;
    this.note(what, value, "settling");
    this.world.later(SETTLE_MS, () => {
      const same = this.asked() === asked;
      const sent = same && second();
      if (this.pressed?.stage !== "settling") return;
      this.pressed = { ...this.pressed, stage: sent ? "sent" : "lost" };
    });
  }

  /** What an input holds, as far as it is known here. */
  private held(name: string): number | undefined {
    const topic = this.topic(name);
    const sent = this.sent.get(name);
    if (sent && !(topic && topic.seenMs > sent.atMs)) return sent.value;
    return topic && Number.isFinite(topic.number) ? topic.number : undefined;
  }

  /**
   * Writes a number that the input does not hold. It is the prompt's own number, so that two people who press for the
   * same prompt are one change; where that stands already, a fraction is added. Robots that number no prompt get the
   * next whole number.
   */
  private edge(key: Control | "Advance"): boolean {
    const held = this.held(ROOT + key);
    const seq = this.seq;
    const whole = this.client.topics.get(ROOT + key)?.type === "int";
    let next: number;
    if (seq === undefined || (whole && seq === held)) next = Math.abs(held ?? 0) < 1e6 ? Math.floor(held ?? 0) + 1 : 1;
    else next = [seq, seq + 0.5, seq + 0.25].find((candidate) => candidate !== held) ?? seq;
    return this.write(key, next);
  }

  private write(key: string, value: number | string): boolean {
    const name = ROOT + key;
    const now = this.world.now();
    const server = this.client.clock.serverUs(now * 1000);
    if (server === undefined) return false;
    const declared = this.client.topics.get(name)?.type;
    const type =
      typeof value === "string" ? "string" : declared === "int" || declared === "float" ? declared : "double";
    let publisher = this.publishers.get(name);
    let announce: string | undefined;
    if (publisher?.connection !== this.client.connections) {
      publisher = { pubuid: this.nextPub++, connection: this.client.connections };
      const params = { name, pubuid: publisher.pubuid, type, properties: {} };
      announce = JSON.stringify([{ method: "publish", params }]);
    }
    // Two values of one input must not carry one time.
    this.lastStampUs = Math.max(server, this.lastStampUs + 1);
    const code = type === "string" ? 4 : type === "int" ? 2 : type === "float" ? 3 : 1;
    this.writer.array(4).int(publisher.pubuid).int(this.lastStampUs).int(code);
    if (typeof value === "string") this.writer.text(value);
    else if (type === "int" && Number.isInteger(value)) this.writer.int(value);
    else this.writer.double(value);
    if (!this.client.transmit(announce, this.writer.take())) return false;
    this.publishers.set(name, publisher);
    if (typeof value === "number") this.sent.set(name, { value, atMs: now });
    return true;
  }
}
