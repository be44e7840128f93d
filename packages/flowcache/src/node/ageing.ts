import type { TelemetryBatch } from '@int/codec';
import type { FlowCache } from '../cache/flow-cache.js';

/** The most rows looked at after one slot of reports: they cost as much as updates with some hundred reports. */
const MOST_ROWS = 512;
const WORD = 0x1_0000_0000;

/**
 * Ages a cache by the clock of its reports. The more time has passed since the last slot, the more rows it looks at:
 * each row twice per `idleNs`. An entry leaves when it has been idle for `idleNs` to 1.5 times that, or later if more
 * than {@link MOST_ROWS} rows are due per slot.
 */
export class Ageing {
  readonly #cache: FlowCache;
  readonly #idleNs: bigint;
  readonly #rowsPerNs: number;
  /** The newest time seen, two words and as a number. */
  #high = 0;
  #low = 0;
  #nowNs = 0;
  /** Rows to look at; not whole. */
  #due = 0;

  constructor(cache: FlowCache, idleNs: bigint) {
    this.#cache = cache;
    this.#idleNs = idleNs;
    this.#rowsPerNs = (2 * cache.geometry.rows) / Math.max(Number(idleNs), 1);
  }

  /** Continues after a batch of reports. The last report gives the time. */
  after({ frame, frameTimeHigh, frameTimeLow, reports }: TelemetryBatch): void {
    const last = frame[reports - 1]!;
    const high = frameTimeHigh[last]!;
    const low = frameTimeLow[last]!;
    if (high < this.#high || (high === this.#high && low <= this.#low)) return;
    // Rounded to 2^8 ns in our century, which does no harm.
    const nowNs = high * WORD + low;
    const { rows } = this.#cache.geometry;
    if (this.#nowNs > 0) this.#due = Math.min(this.#due + (nowNs - this.#nowNs) * this.#rowsPerNs, rows);
    this.#high = high;
    this.#low = low;
    this.#nowNs = nowNs;
    const step = Math.min(Math.floor(this.#due), MOST_ROWS);
    if (step === 0) return;
    this.#due -= step;
    this.#cache.age((BigInt(high) << 32n) | BigInt(low), this.#idleNs, step);
  }
}
