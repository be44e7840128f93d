import { Baseline } from '@int/baseline';

const WINDOW_MS = 1000;
/** Values that are kept of a window: the first ones. */
const MOST_VALUES = 1024;
/** A window that is above this multiple of what is usual is not learnt from: an incident does not become usual. */
const ABOVE = 1.5;
/** The band ends at this multiple of what one packet of a hundred usually exceeds. */
const TAIL = 0.99;
const ROOM = 4;

/** The band of a threshold, from what the regular reports of its flows say: from the usual median to four times the usual tail. */
export class LearntBand {
  readonly #middle: Baseline;
  readonly #tail: Baseline;
  readonly #values: number[] = [];
  #endMs = Number.NaN;

  /** @param learnMs time until what is usual is known */
  constructor(learnMs: number) {
    const options = { above: ABOVE, windowMs: WINDOW_MS, learnMs };
    this.#middle = new Baseline(options);
    this.#tail = new Baseline(options);
  }

  add(value: number): void {
    if (this.#values.length < MOST_VALUES) this.#values.push(value);
  }

  /** Ends a window where it is due. @returns the band, if it is known and another window has ended */
  advance(nowMs: number): { readonly minimum: number; readonly maximum: number } | null {
    if (Number.isNaN(this.#endMs)) this.#endMs = nowMs + WINDOW_MS;
    if (nowMs < this.#endMs) return null;
    const values = this.#values.sort((a, b) => a - b);
    const usual = (baseline: Baseline, part: number): number | null => {
      const value = values[Math.floor(part * values.length)];
      const judged = value === undefined ? baseline.advance(nowMs) : baseline.observe(this.#endMs, value);
      return judged.at(-1)?.usual ?? null;
    };
    const [middle, tail] = [usual(this.#middle, 0.5), usual(this.#tail, TAIL)];
    this.#endMs = nowMs + WINDOW_MS;
    values.length = 0;
    if (middle === null || tail === null) return null;
    const minimum = Math.max(1, Math.round(middle));
    return { minimum, maximum: Math.min(0xffff_ffff, Math.max(minimum + 1, Math.round(ROOM * tail))) };
  }
}
