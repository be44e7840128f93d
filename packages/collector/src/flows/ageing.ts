import type { TelemetryBatch } from '@int/codec';
import type { FlowCache } from '@int/flowcache';

/** How many rows of a cache are searched for idle flows. */
export interface SweepOptions {
  /** Rows checked per batch, 1 to 2^32. Default 4096. */
  readonly rows?: number;
  /** Rows checked at a time at most, with the unused rows of earlier batches; at least `rows`. Default: `rows`. */
  readonly burst?: number;
}

const SWEEP_ROWS = 4096;
const MOST_ROWS = 2 ** 32;

/** Rounds through a cache within `idleNs`. */
const ROUNDS = 4n;

/**
 * Decides when a cache is searched for idle flows, and how many rows at a time. Time is frame time, so the result does
 * not depend on reading speed. With a large enough burst, it does not depend on batch ends either.
 */
export class Ageing {
  readonly #cache: FlowCache;
  readonly #idleNs: bigint;
  readonly #roundNs: bigint;
  readonly #rows: number;
  readonly #burst: number;
  /** When the next round is due; before the first frame: null. */
  #dueNs: bigint | null = null;
  /** The same as two words, compared for each report. */
  #dueHigh = 0;
  #dueLow = 0;
  /** Rows that the current round has left. */
  #left = 0;
  /** Rows that may be checked now. */
  #credit: number;

  /** @throws RangeError for an option out of range */
  constructor(cache: FlowCache, idleNs: bigint, { rows = SWEEP_ROWS, burst = rows }: SweepOptions = {}) {
    if (!(idleNs > 0n)) throw new RangeError(`idleNs must be above 0, not ${idleNs}`);
    if (!(Number.isInteger(rows) && rows >= 1 && rows <= MOST_ROWS)) {
      throw new RangeError(`sweep: rows must be an integer from 1 to 2^32, not ${rows}`);
    }
    if (!(Number.isInteger(burst) && burst >= rows && burst <= MOST_ROWS)) {
      throw new RangeError(`sweep: burst must be an integer from rows (${rows}) to 2^32, not ${burst}`);
    }
    this.#cache = cache;
    this.#idleNs = idleNs;
    this.#roundNs = idleNs < ROUNDS ? 1n : idleNs / ROUNDS;
    this.#rows = rows;
    this.#burst = burst;
    this.#credit = burst;
  }

  /** Begins a batch, which adds `rows` to the rows that may be checked. */
  begin(): void {
    this.#credit = Math.min(this.#burst, this.#credit + this.#rows);
  }

  /** The first report from `row` on whose frame arrived when the next round is due, or the number of reports. */
  stepEnd(batch: TelemetryBatch, row: number): number {
    const { frame, reports, frameTimeHigh, frameTimeLow } = batch;
    const high = this.#dueHigh;
    const low = this.#dueLow;
    if (this.#dueNs === null) return row;
    for (let at = row; at < reports; at++) {
      const came = frame[at]!;
      const upper = frameTimeHigh[came]!;
      if (upper > high || (upper === high && frameTimeLow[came]! >= low)) return at;
    }
    return reports;
  }

  /** Checks rows, if a round is due or under way. */
  step(nowNs: bigint): void {
    if (this.#dueNs === null) this.#nextRound(nowNs);
    else if (nowNs >= this.#dueNs) {
      this.#left = this.#cache.geometry.rows;
      this.#nextRound(nowNs);
    } else if (nowNs + this.#roundNs < this.#dueNs) {
      // The clock was set back.
      this.#nextRound(nowNs);
    }
    const rows = Math.min(this.#left, this.#credit);
    if (rows === 0) return;
    this.#left -= rows;
    this.#credit -= rows;
    this.#cache.age(nowNs, this.#idleNs, rows);
  }

  /** Checks all rows. @returns entries handed on */
  all(nowNs: bigint): number {
    this.#left = 0;
    return this.#cache.age(nowNs, this.#idleNs, this.#cache.geometry.rows);
  }

  #nextRound(nowNs: bigint): void {
    this.#dueNs = nowNs + this.#roundNs;
    this.#dueHigh = Number(this.#dueNs >> 32n);
    this.#dueLow = Number(this.#dueNs & 0xffffffffn);
  }
}
