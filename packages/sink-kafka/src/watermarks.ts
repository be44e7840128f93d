import type { RecordIds } from '@int/collector';
import type { MessageFormat } from './message/encoder.js';
import { enter } from './message/key.js';
import { MIN_SLAB_BYTES } from './message/slab.js';
import { encodeWatermark, WATERMARK_BYTES } from './message/watermark.js';
import { Parcel, WATERMARK_KIND } from './parcel.js';

export interface WatermarksOptions {
  readonly ids: RecordIds;
  readonly format: MessageFormat;
  readonly intervalMs: number;
  /** Time of the earliest report that is pending, in milliseconds; infinity: none is. */
  readonly earliestPending: () => number;
  /** Reports given up so far. */
  readonly dropped: () => number;
}

/** Bytes of a key: the instance. */
const KEY_BYTES = 8;
/** What a number of milliseconds since the epoch may be off by, and more. */
const INEXACT_MS = 0.001;

/**
 * Computes the time up to which all reports are with the brokers: the earliest pending report's. With none pending, it
 * is the pipeline's time, or the latest report's if the pipeline tells none.
 */
export class Watermarks {
  readonly #options: WatermarksOptions;
  #toldMs = Number.NaN;
  #latestMs = Number.NEGATIVE_INFINITY;
  #due = 0;
  #parcel: Parcel | null = null;

  constructor(options: WatermarksOptions) {
    this.#options = options;
  }

  /** All reports with an earlier time have been offered. */
  advance(timeMs: number): void {
    this.#toldMs = timeMs;
  }

  /** A report was offered, whether there was room for it or not. */
  offered(timeMs: number): void {
    if (timeMs > this.#latestMs) this.#latestMs = timeMs;
  }

  /** Whether there is a time to tell. */
  get hasTime(): boolean {
    return Number.isFinite(this.#clockMs);
  }

  /** Whether it is time to write one. */
  get isDue(): boolean {
    return this.hasTime && performance.now() >= this.#due;
  }

  get #clockMs(): number {
    return Number.isNaN(this.#toldMs) ? this.#latestMs : this.#toldMs;
  }

  /**
   * Watermarks for all partitions; used again by the next call. To be called while nothing is under way and there is a time to tell.
   * @param ended nothing comes any more
   */
  parcel(partitions: number, ended: boolean): Parcel {
    const { ids, format, intervalMs, earliestPending, dropped } = this.#options;
    const toldMs = Math.max(0, this.#clockMs);
    // Reports may have come since the time was told.
    const clockMs = Math.max(toldMs, this.#latestMs);
    this.#due = performance.now() + intervalMs;
    const value = encodeWatermark(
      {
        instanceHigh: ids.instanceHigh,
        instanceLow: ids.instanceLow,
        timeMs: Math.max(0, Math.min(toldMs, earliestPending()) - INEXACT_MS),
        clockMs,
        dropped: dropped(),
        ended,
      },
      format,
    );
    const parcel = this.#room(partitions);
    const { slab } = parcel;
    for (let partition = 0; partition < partitions; partition++) {
      const at = slab.used;
      slab.view.setInt32(at, ids.instanceHigh);
      slab.view.setInt32(at + 4, ids.instanceLow);
      slab.bytes.set(value, at + KEY_BYTES);
      enter(slab, WATERMARK_KIND, at + KEY_BYTES, at + KEY_BYTES + value.length, clockMs);
      // Not where its key would have it: there is one for each.
      slab.partitionHash[partition] = partition;
    }
    parcel.begin();
    return parcel;
  }

  #room(partitions: number): Parcel {
    if (this.#parcel === null || this.#parcel.slab.capacity < partitions) {
      const bytes = Math.max(MIN_SLAB_BYTES, partitions * (KEY_BYTES + WATERMARK_BYTES));
      this.#parcel = new Parcel({ messages: Math.max(64, partitions), bytes });
    }
    this.#parcel.clear();
    return this.#parcel;
  }
}
