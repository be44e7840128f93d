/** The time of a stream of reports. */
import type { TelemetryBatch } from '@int/codec';

const HIGH = 0x1_0000_0000;
const SECOND_NS = 1_000_000_000n;

/**
 * The latest time of all reports so far, and never the clock. As an offset in nanoseconds from the second of the first report, it
 * is exact for a hundred days in a float.
 */
export class StreamTime {
  /** The latest time: offset in nanoseconds, never less than before. */
  now = 0;
  /** For each row given last, the latest time up to it. */
  times: Float64Array = new Float64Array(0);
  /** Nanoseconds since 1970; `null` before the first time. */
  #base: bigint | null = null;
  #baseHigh = 0;
  #baseLow = 0;

  /** Milliseconds since 1970 of offset 0. */
  baseMs = 0;

  /** Whether any time is known. */
  get isKnown(): boolean {
    return this.#base !== null;
  }

  /** Sets {@link times} of rows. A report without a time, or with an earlier one, is of the time of the report before it. */
  note({ frame, frameTimeHigh, frameTimeLow, capacity }: TelemetryBatch, from: number, to: number): void {
    if (this.times.length < to) this.times = new Float64Array(capacity.reports);
    const { times } = this;
    let { now } = this;
    for (let row = from; row < to; row++) {
      const high = frameTimeHigh[frame[row]!]!;
      const low = frameTimeLow[frame[row]!]!;
      if (this.#base === null && (high !== 0 || low !== 0)) this.#begin((BigInt(high) << 32n) | BigInt(low));
      const offset = (high - this.#baseHigh) * HIGH + (low - this.#baseLow);
      if (offset > now) now = offset;
      times[row] = now;
    }
    this.now = now;
  }

  /** Lets time pass up to a time, in nanoseconds since 1970. */
  pass(timeNs: bigint): void {
    if (this.#base === null) this.#begin(timeNs);
    this.now = Math.max(this.now, Number(timeNs - this.#base!));
  }

  /** Nanoseconds since 1970. */
  timeNs(offset: number): bigint {
    return (this.#base ?? 0n) + BigInt(Math.round(offset));
  }

  #begin(timeNs: bigint): void {
    const base = timeNs - (timeNs % SECOND_NS);
    this.#base = base;
    this.#baseHigh = Number(base >> 32n);
    this.#baseLow = Number(base & 0xffffffffn);
    this.baseMs = Number(base / 1_000_000n);
  }
}
