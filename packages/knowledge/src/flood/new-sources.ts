import { HyperLogLogs } from '../sketch/hyper-log-logs.js';

/** Sources are counted in windows of so many seconds. */
const WINDOWS = 5;
const LAMBDA = 0.9;

/** How many different sources each destination has, against what is usual. */
export class NewSources {
  readonly #sources: HyperLogLogs;
  readonly #usual: Float64Array;
  readonly #now: Float64Array;
  readonly #windows: Uint8Array;

  constructor(rows: number) {
    this.#sources = new HyperLogLogs(rows);
    this.#usual = new Float64Array(rows).fill(Number.NaN);
    this.#now = new Float64Array(rows);
    this.#windows = new Uint8Array(rows);
  }

  static byteLength(rows: number): number {
    return HyperLogLogs.byteLength(rows) + rows * 17;
  }

  add(row: number, source: number): void {
    this.#sources.add(row, source);
  }

  clear(row: number): void {
    this.#sources.clear(row);
    this.#usual[row] = Number.NaN;
    this.#now[row] = this.#windows[row] = 0;
  }

  /** Sources of the window that is open, or of the last one if it had more. */
  now(row: number): number {
    return Math.max(this.#now[row]!, this.#sources.estimate(row));
  }

  /** Sources that a window has usually; NaN: not known. */
  usual(row: number): number {
    return this.#usual[row]!;
  }

  /** Ends a second. @param learns whether it counts as usual */
  close(row: number, learns: boolean): void {
    this.#windows[row] = this.#windows[row]! + 1;
    if (this.#windows[row]! < WINDOWS) return;
    const estimate = this.#sources.estimate(row);
    this.#windows[row] = 0;
    this.#now[row] = estimate;
    this.#sources.clear(row);
    if (!learns) return;
    const usual = this.#usual[row]!;
    this.#usual[row] = Number.isNaN(usual) ? estimate : LAMBDA * usual + (1 - LAMBDA) * estimate;
  }
}
