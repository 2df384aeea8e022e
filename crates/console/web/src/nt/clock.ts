// The robot's clock as seen from here. The best round trip of the last ten decides: a slow one says little.

const WINDOW = 10;
/** A clock that is so far from where it was is another one: behind the console a robot has rebooted. */
const STEP_US = 500_000;

interface Sample {
  rttUs: number;
  offsetUs: number;
}

export class ServerClock {
  private samples: Sample[] = [];

  /** Forgets everything: another connection may be another clock. */
  reset(): void {
    this.samples = [];
  }

  /** An answer to a ping sent at `sentUs`, received at `nowUs`, both of the local clock. */
  answer(sentUs: number, nowUs: number, serverUs: number): void {
    const rttUs = nowUs - sentUs;
    if (!(rttUs >= 0) || !Number.isFinite(serverUs)) return;
    const offsetUs = serverUs + rttUs / 2 - nowUs;
    const best = this.best();
    if (best && Math.abs(offsetUs - best.offsetUs) > STEP_US + (rttUs + best.rttUs) / 2) this.samples = [];
    this.samples.push({ rttUs, offsetUs });
    if (this.samples.length > WINDOW) this.samples.shift();
  }

  private best(): Sample | undefined {
    let best: Sample | undefined;
    for (const sample of this.samples) if (!best || sample.rttUs < best.rttUs) best = sample;
    return best;
  }

  get synced(): boolean {
    return this.samples.length > 0;
  }

  /** The best round trip of the window, milliseconds. */
  get rttMs(): number | undefined {
    const best = this.best();
    return best && best.rttUs / 1000;
  }

  /** What the server's clock shows at `nowUs` of ours, whole microseconds. */
  serverUs(nowUs: number): number | undefined {
    const best = this.best();
    return best && Math.round(nowUs + best.offsetUs);
  }
}
