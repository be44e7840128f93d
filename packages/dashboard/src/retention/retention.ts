import { FlowReader } from './flow-reader.js';
import { CELL, headerOf, NUMBER, type SharedRetention } from './geometry.js';
import { ReportStore } from './report-store.js';
import type { Segment } from './segment.js';
import { SeriesReader } from './series-reader.js';
import type { Slab, SlabNote } from './slabs.js';

/** Counts since the start. */
export interface RetentionCounts {
  readonly reports: number;
  readonly hops: number;
  readonly events: number;
  readonly drops: number;
  /** What is not retained, or not whole, by reason. */
  readonly notKept: Readonly<Record<string, number>>;
}

/** What is retained, for whoever reads it: series, flows, whole reports, events. It is the dashboard's thread that has it. */
export class Retention {
  readonly series: SeriesReader;
  readonly flows: FlowReader;
  readonly store: ReportStore;
  readonly seconds: number;
  readonly budgetBytes: number;
  readonly #shared: SharedRetention;
  readonly #numbers: Float64Array;
  #generation = 0;

  /** @param holds slabs that {@link take} need not copy at once, see `ReportStore` */
  constructor(shared: SharedRetention, holds = 0) {
    const { geometry } = shared;
    this.#shared = shared;
    this.#numbers = headerOf(shared).numbers;
    this.series = new SeriesReader(shared);
    this.flows = new FlowReader(shared);
    this.store = new ReportStore(geometry, holds);
    this.seconds = geometry.seconds;
    this.budgetBytes = geometry.memoryBytes;
  }

  /** Time of the newest report; `null` before the first. */
  get nowMs(): number | null {
    const timeMs = this.#numbers[NUMBER.TIME]!;
    return Number.isNaN(timeMs) ? null : timeMs;
  }

  /** Takes what is in a slab, which is free then, or later. @returns it, valid until the next call */
  take(slab: Slab, note: SlabNote): Segment {
    this.#follow();
    return this.store.take(slab, note);
  }

  /** To be called some times a second: forgets what is too old, and measures rates. */
  tick(): void {
    this.#follow();
    const { nowMs } = this;
    if (nowMs === null) return;
    this.store.expire(nowMs);
    this.flows.measure(nowMs);
  }

  /** Bytes in use, of {@link budgetBytes}. */
  get bytes(): number {
    const { buckets, rows } = this.#shared.geometry;
    const last = this.series.lastBucket;
    const filled = last === null ? 0 : Math.min(buckets, last - this.series.firstBucket + 1);
    const cells = Math.min(rows, this.series.entities().length) * filled * CELL.WORDS * 4;
    return cells + this.store.bytes + this.#shared.keys.byteLength + this.#shared.flows.byteLength;
  }

  counts(): RetentionCounts {
    const n = this.#numbers;
    const { thinned, forgottenEvents } = this.store;
    const notKept: Record<string, number> = {
      reportsWhileBehind: n[NUMBER.BUSY_REPORTS]!,
      eventsWhileBehind: n[NUMBER.BUSY_EVENTS]!,
      eventsForMemory: forgottenEvents,
      eventsAheadOfSeries: n[NUMBER.EVENTS_AHEAD]!,
      eventsBeforeSeries: n[NUMBER.EVENTS_BEFORE]!,
      sampleForMemory: thinned,
      flows: n[NUMBER.UNTRACKED_FLOWS]!,
      switches: n[NUMBER.OTHER_SWITCHES]!,
      queues: n[NUMBER.OTHER_QUEUES]!,
      links: n[NUMBER.OTHER_LINKS]!,
      lateQuantiles: n[NUMBER.LATE]!,
      timeSetBack: n[NUMBER.FORGOTTEN]!,
    };
    return {
      reports: n[NUMBER.REPORTS]!,
      hops: n[NUMBER.HOPS]!,
      events: n[NUMBER.EVENTS]!,
      drops: n[NUMBER.DROPS]!,
      notKept: Object.fromEntries(Object.entries(notKept).filter(([, count]) => count > 0)),
    };
  }

  /** Reports that packet-level subscriptions missed because this thread was behind. */
  get tapMissed(): number {
    return this.#numbers[NUMBER.TAP_MISSED]!;
  }

  /** Reports of another time line are not kept beside those of this one. */
  #follow(): void {
    const { generation } = this.series;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.store.clear();
  }
}
