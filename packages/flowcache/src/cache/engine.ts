import type { TelemetryBatch } from '@int/codec';
import { type CacheGeometry, EVENT_WORDS } from '../layout.js';

/**
 * When a value is an event. The default is that of the detectors `threshold` and `change` of @int/detect. All numbers
 * are unsigned and have 32 bits.
 */
export interface Comparison {
  /** T: the value is an event by itself. */
  exceeds(value: number, threshold: number): boolean;
  /** C: the value is an event because it differs from the flow's previous one. */
  differs(value: number, previous: number, threshold: number): boolean;
}

/** T: value > threshold. C: absdiff(value, previous) > threshold. */
export const COMPARISON: Comparison = {
  exceeds: (value, threshold) => value > threshold,
  differs: (value, previous, threshold) => Math.abs(value - previous) > threshold,
};

/** The update loop of a cache, over the words of layout.ts. One is in TypeScript, one in WebAssembly. */
export interface Engine {
  /** Whether it is the one in WebAssembly. */
  readonly isAccelerator: boolean;
  /** The memory that holds the cache. */
  readonly buffer: ArrayBufferLike;
  /** The cache, from its header on. */
  readonly words: Int32Array;
  /** Entries to hand on; there is room for at least one. */
  readonly entries: Outbox;
  /** Events to hand on; there is room for those of at least one report. */
  readonly events: Outbox;
  /** The thresholds in force, see THRESHOLDS. The cache writes them before each call of {@link run}. */
  readonly thresholds: Int32Array;
  /**
   * Updates the cache with reports from row `from` on: up to `to`, or until an outbox may lack room for the next
   * report.
   * @returns the first row not looked at
   */
  run(batch: TelemetryBatch, from: number, to: number): number;
}

/** Records that an engine keeps at least, until it lets the cache hand them on. */
const OUTBOX = { ENTRIES: 64, EVENTS: 1024 } as const;

/** The most events that one report brings. */
export const eventsPerReport = ({ hops, metrics }: CacheGeometry): number => hops * metrics.length + 2;

/** Words of the two outboxes of an engine. */
export function outboxWords(geometry: CacheGeometry): { readonly entries: number; readonly events: number } {
  const events = Math.max(OUTBOX.EVENTS, eventsPerReport(geometry));
  return { entries: OUTBOX.ENTRIES * geometry.bucketStride, events: events * EVENT_WORDS };
}

/** Records that an engine has made and the cache is about to hand on; reused. */
export class Outbox {
  /** Records one behind the other, {@link recordWords} each. */
  readonly words: Int32Array;
  readonly recordWords: number;
  readonly capacity: number;
  /** Records held. */
  count = 0;

  constructor(recordWords: number, words: Int32Array) {
    this.recordWords = recordWords;
    this.capacity = words.length / recordWords;
    this.words = words;
  }
}
