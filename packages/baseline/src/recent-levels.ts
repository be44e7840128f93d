/** What has been usual lately. */

/** A deviation counts as no more than so many spreads: one outlier moves nothing. */
const MOST_SPREADS = 2;
/** E|x| of a normal distribution, in standard deviations. */
const MEAN_ABSOLUTE = 0.7979;
/** Presence follows no faster than over so many windows, however short learning is: one empty window says little. */
const PRESENCE_WINDOWS = 30;

/** A level and a spread per row, which follow the values slowly and robustly (Huber's weights). */
export class RecentLevels {
  readonly level: Float64Array;
  readonly spread: Float64Array;
  /** Windows learned from. */
  readonly windows: Uint32Array;
  /** Share of windows that have had values. */
  readonly presence: Float64Array;
  readonly #learnWindows: number;

  constructor(rows: number, learnWindows: number) {
    this.level = new Float64Array(rows);
    this.spread = new Float64Array(rows);
    this.windows = new Uint32Array(rows);
    this.presence = new Float64Array(rows);
    this.#learnWindows = learnWindows;
  }

  clear(row: number): void {
    this.level[row] = 0;
    this.spread[row] = 0;
    this.windows[row] = 0;
    this.presence[row] = 0;
  }

  /** @param value on the logarithmic scale */
  learn(row: number, value: number, leastSpread: number): void {
    const windows = Math.min(this.windows[row]! + 1, 0xffffffff);
    this.windows[row] = windows;
    if (windows === 1) {
      this.level[row] = value;
      this.spread[row] = leastSpread;
      return;
    }
    // The mean at first, then as slowly as the time constant says.
    const rate = Math.max(1 / windows, 1 / this.#learnWindows);
    const spread = Math.max(this.spread[row]!, leastSpread);
    const off = value - this.level[row]!;
    const bound = windows < 10 ? Number.POSITIVE_INFINITY : MOST_SPREADS * spread;
    this.level[row]! += rate * Math.max(-bound, Math.min(bound, off));
    this.spread[row]! += rate * (Math.min(Math.abs(off), 2 * bound) / MEAN_ABSOLUTE - this.spread[row]!);
  }

  /** Call it after {@link learn}, if the window had values. */
  learnPresence(row: number, isPresent: boolean): void {
    const windows = this.windows[row]! + (isPresent ? 0 : 1);
    const rate = Math.max(1 / windows, 1 / Math.max(this.#learnWindows, PRESENCE_WINDOWS));
    this.presence[row]! += rate * (Number(isPresent) - this.presence[row]!);
  }
}
