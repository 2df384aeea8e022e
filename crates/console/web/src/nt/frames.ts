// Binary frames: MessagePack arrays [id, time, type, value], one after another.

import { Reader, Truncated } from "./msgpack";
import type { Topics } from "./topics";

const READER = new Reader();
/** The id under which a server answers time questions. */
export const TIME_ID = -1;

export interface FrameResult {
  /** Items that made no sense; after lost framing the rest of the frame counts as one. */
  broken: number;
  /** Values of ids that were not announced. */
  unknown: number;
}

/** Reads a frame into `topics`. Never throws: what is broken is counted and passed by. */
export function readFrame(
  bytes: Uint8Array,
  topics: Topics,
  nowMs: number,
  onTime: (sentUs: number, serverUs: number) => void,
): FrameResult {
  const result = { broken: 0, unknown: 0 };
  READER.reset(bytes);
  try {
    while (!READER.end) {
      if (READER.peek() !== "array") {
        READER.skip();
        result.broken += 1;
        continue;
      }
      let left = READER.array();
      const whole = left === 4;
      let id = NaN;
      let stampUs = NaN;
      let type = NaN;
      if (whole && READER.peek() === "number") {
        id = READER.number();
        left = 3;
        if (READER.peek() === "number") {
          stampUs = READER.number();
          left = 2;
          if (READER.peek() === "number") {
            type = READER.number();
            left = 1;
          }
        }
      }
      if (!whole || left !== 1 || !Number.isInteger(id) || !Number.isInteger(type)) {
        for (; left > 0; left -= 1) READER.skip();
        result.broken += 1;
      } else if (id === TIME_ID) {
        if (READER.peek() === "number") onTime(READER.number(), stampUs);
        else READER.skip();
      } else {
        const topic = topics.byId(id);
        if (topic) topics.take(topic, READER, stampUs, nowMs);
        else {
          READER.skip();
          result.unknown += 1;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof Truncated)) throw error;
    result.broken += 1;
  }
  return result;
}
