/** One sample decides little: z is clipped to this. */
const MOST = 8;
/** Default slack: finds shifts of one deviation fastest. */
const SLACK = 0.5;

/**
 * Cumulative sums of many keys, each a row (Page 1954): `S+ = max(0, S+ + z - k)`, `S- = max(0, S- - z - k)`, where z
 * counts deviations from what is usual.
 */
export class Cusums {
  readonly #up: Float64Array;
  readonly #down: Float64Array;
  readonly #slack: number;

  constructor(rows: number, slack: number = SLACK) {
    this.#up = new Float64Array(rows);
    this.#down = new Float64Array(rows);
    this.#slack = slack;
  }

  /** @param z deviations of a sample from what is usual; clipped to -8 to 8 */
  add(row: number, z: number): void {
    const clipped = Math.min(MOST, Math.max(-MOST, z));
    this.#up[row] = Math.max(0, this.#up[row]! + clipped - this.#slack);
    this.#down[row] = Math.max(0, this.#down[row]! - clipped - this.#slack);
  }

  /** How far upwards the samples have gone. */
  up(row: number): number {
    return this.#up[row]!;
  }

  down(row: number): number {
    return this.#down[row]!;
  }

  /** Caps the upward sum, so that it falls in time when the change is over. */
  set(row: number, up: number): void {
    this.#up[row] = up;
  }

  clear(row: number): void {
    this.#up[row] = this.#down[row] = 0;
  }
}
