// The last values of one plotted number. Every sample is written twice, a length apart, so that any stretch of them lies
// in one piece and a plot gets a window instead of a copy.

export class Ring {
  private readonly xs: Float64Array;
  private readonly ys: Float64Array;
  private head = 0;
  private held = 0;
  /** Samples ever taken. */
  taken = 0;

  constructor(readonly capacity: number) {
    this.xs = new Float64Array(capacity * 2);
    this.ys = new Float64Array(capacity * 2);
  }

  get length(): number {
    return this.held;
  }

  /** The time of the newest sample. */
  get lastX(): number | undefined {
    return this.held === 0 ? undefined : this.xs[(this.head + this.capacity - 1) % this.capacity];
  }

  get lastY(): number | undefined {
    return this.held === 0 ? undefined : this.ys[(this.head + this.capacity - 1) % this.capacity];
  }

  /** Time has to go forward: a step back means another boot, and what was before is forgotten. */
  push(x: number, y: number): void {
    if (!Number.isFinite(x)) return;
    const last = this.lastX;
    if (last !== undefined && x <= last) {
      if (x === last) this.head = (this.head + this.capacity - 1) % this.capacity;
      else this.head = 0;
      this.held = x === last ? this.held - 1 : 0;
    }
    for (const at of [this.head, this.head + this.capacity]) {
      this.xs[at] = x;
      this.ys[at] = y;
    }
    this.head = (this.head + 1) % this.capacity;
    this.held = Math.min(this.capacity, this.held + 1);
    this.taken += 1;
  }

  /**
   * The samples at or after `from` and the one before them, as windows that are good until the next call. With `until` the
   * last value goes on to there: what is not said again still holds.
   */
  since(from: number, until?: number): { xs: Float64Array; ys: Float64Array } {
    let end = this.head + this.capacity;
    const first = end - this.held;
    let [low, high] = [end - this.held, end];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.xs[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    low = Math.max(first, low - 1);
    if (until !== undefined && until > (this.lastX ?? Infinity)) {
      // The upper twin of the oldest sample: the lower one is in the window, and the next push overwrites both.
      this.xs[end] = until;
      this.ys[end] = this.lastY ?? NaN;
      end += 1;
    }
    return { xs: this.xs.subarray(low, end), ys: this.ys.subarray(low, end) };
  }
}

export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly last: number;
}

/** What a stretch says in four numbers; undefined when none of its values is finite. */
export function summary(ys: Float64Array): Summary | undefined {
  let [count, min, max, last] = [0, Infinity, -Infinity, NaN];
  for (const y of ys) {
    if (!Number.isFinite(y)) continue;
    count += 1;
    if (y < min) min = y;
    if (y > max) max = y;
    last = y;
  }
  return count === 0 ? undefined : { count, min, max, last };
}
