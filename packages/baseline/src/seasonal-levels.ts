/** What is usual at this time of the day, or of the week. */
import { SLOT_MS } from './options.js';
import { Sketches } from './sketches.js';

/** A slot's windows are learned from if so many had values, as a share of the slot's windows. */
const LEAST_SHARE = 0.1;
/** Earlier days have this weight at most, in days: what is usual follows the weeks. */
const MOST_DAYS = 7;
/** A day moves what is usual by no more than so many spreads. */
const MOST_SPREADS = 3;
const QUARTERS = [0.25, 0.5, 0.75];
/** Quartiles of a normal distribution are so many standard deviations apart. */
const QUARTILES = 1.349;

/** A level and a spread per row and slot of 15 minutes: medians over the windows of a slot, then means over the days. */
export class SeasonalLevels {
  readonly #slots: number;
  readonly #windowsOfSlot: number;
  readonly #level: Float32Array;
  readonly #spread: Float32Array;
  readonly #presence: Float32Array;
  readonly #days: Uint8Array;
  /** Windows of the slot that goes on, by row. */
  readonly #windows: Sketches;
  readonly #empty: Uint32Array;
  /** The slot that goes on, counted from 1970; -1 before the first window. */
  #slot = -1;

  constructor(rows: number, slots: number, windowMs: number) {
    this.#slots = slots;
    this.#windowsOfSlot = SLOT_MS / windowMs;
    this.#level = new Float32Array(rows * slots);
    this.#spread = new Float32Array(rows * slots);
    this.#presence = new Float32Array(rows * slots);
    this.#days = new Uint8Array(rows * slots);
    this.#windows = new Sketches(rows);
    this.#empty = new Uint32Array(rows);
  }

  static byteLength(rows: number, slots: number): number {
    return rows * slots * 13 + Sketches.byteLength(rows) + rows * 4;
  }

  clear(row: number): void {
    const { length } = this.#days;
    const from = row * this.#slots;
    for (const column of [this.#level, this.#spread, this.#presence, this.#days]) {
      column.fill(0, from, Math.min(length, from + this.#slots));
    }
    this.#windows.clear(row);
    this.#empty[row] = 0;
  }

  /** Goes to the slot of a time. If it is another one, the rows below `rows` learn from the slot before. */
  advance(timeMs: number, rows: number): void {
    const slot = Math.floor(timeMs / SLOT_MS);
    if (slot === this.#slot) return;
    if (this.#slot >= 0) for (let row = 0; row < rows; row++) this.#learnSlot(row);
    this.#slot = slot;
  }

  /** @param value of a window; NaN: it had none */
  add(row: number, value: number): void {
    if (Number.isNaN(value)) this.#empty[row]!++;
    else this.#windows.add(row, Math.round(value), 1);
  }

  /** Days that the present slot has been learned on. */
  days(row: number): number {
    return this.#days[this.#at(row, this.#slot)]!;
  }

  presence(row: number): number {
    return this.#presence[this.#at(row, this.#slot)]!;
  }

  spread(row: number): number {
    return this.#spread[this.#at(row, this.#slot)]!;
  }

  /** What is usual at a time of the present slot: between the middles of slots, on a line. */
  level(row: number, timeMs: number): number {
    const here = this.#at(row, this.#slot);
    const position = timeMs / SLOT_MS - this.#slot - 0.5;
    const there = this.#at(row, this.#slot + (position < 0 ? -1 : 1));
    const level = this.#level[here]!;
    if (this.#days[there] === 0) return level;
    return level + Math.abs(position) * (this.#level[there]! - level);
  }

  #at(row: number, slot: number): number {
    return row * this.#slots + (((slot % this.#slots) + this.#slots) % this.#slots);
  }

  #learnSlot(row: number): void {
    const windows = this.#windows;
    const count = windows.total[row]!;
    const all = count + this.#empty[row]!;
    if (all >= LEAST_SHARE * this.#windowsOfSlot) {
      const at = this.#at(row, this.#slot);
      const days = Math.min(this.#days[at]! + 1, MOST_DAYS);
      this.#presence[at]! += (count / all - this.#presence[at]!) / days;
      if (count > 0) {
        const [low, level, high] = QUARTERS.map((share) => Math.log1p(windows.quantile(row, share))) as [
          number,
          number,
          number,
        ];
        const spread = (high - low) / QUARTILES;
        const bound = days === 1 ? Number.POSITIVE_INFINITY : MOST_SPREADS * Math.max(spread, this.#spread[at]!);
        this.#level[at]! += Math.max(-bound, Math.min(bound, level - this.#level[at]!)) / days;
        this.#spread[at]! += (spread - this.#spread[at]!) / days;
        this.#days[at] = days;
      }
    }
    windows.clear(row);
    this.#empty[row] = 0;
  }
}
