import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { DegradedPart, DegradedState } from './health/degraded-state.js';

/** Passes the records of stages to the sinks. The memory is reused when a method returns. */
export interface Outlets {
  /** Hands events on, see {@link Sink.writeEvents}. Call it only during `process` of their batch; those of a batch apart also during `advance`. */
  events(events: EventBatch): void;
  /** Hands flow entries on, see {@link Sink.writeFlows}. */
  flows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): void;
  /** A promise that resolves when all sinks have room again; `undefined` if they have. */
  room(): Promise<void> | undefined;
}

/**
 * A step that reads each decoded batch: statistics, a detector, a cache. Stages run in the given order on the same
 * batch, and must not use it after they return.
 */
export interface Stage {
  readonly name: string;
  /** @param batch frames, reports and hops as columns; skip rows whose `code` is not 0 */
  process(batch: TelemetryBatch): void;
  /**
   * Called when a sink takes events or flows: before the first batch, or between two batches. The stage hands its records
   * to the outlets, which replace those of an earlier call.
   */
  connect?(outlets: Outlets): void;
  /**
   * Tells that all reports before a time have been given, as far as the sources know: see {@link Sink.advance}.
   * @param timeMs milliseconds since the epoch; goes back only if the clock of a source does
   */
  advance?(timeMs: number): void;
  /**
   * Called when the stage gets no more batches, before the sinks close. It hands its remaining records to the outlets.
   * @returns a promise if that takes time
   */
  finish?(): Promise<void> | undefined;
  /** Counters by name, for `CollectorTotals.stages`. */
  counters?(): Readonly<Record<string, number>>;
  /** Its current degraded states, for `Collector.degraded`: see `DegradedStates`. */
  degraded?(): readonly DegradedState[];
}

/**
 * The kinds of records that sinks take: reports with their hops, events of detectors, entries that left the flow cache.
 */
export const RECORD_KINDS = ['reports', 'events', 'flows'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** What became of the records of one kind. `offered` is `delivered` plus `pending` plus the sum of `dropped`. */
export interface RecordCounts {
  /** Records given to the sink. */
  readonly offered: number;
  /** Records confirmed by the destination: acknowledged by a broker, or in a complete file. */
  readonly delivered: number;
  /** Records that the sink holds, in memory or in a spool. */
  readonly pending: number;
  /** Records given up, by reason; reasons are a closed list per sink. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** The counters of a sink, by kind. Kinds that it does not take are missing. */
export type SinkTotals = Readonly<Partial<Record<RecordKind, RecordCounts>>>;

/** Counters of stages and sinks, by name, and their degraded states. */
export interface Onward {
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly sinks: Readonly<Record<string, SinkTotals>>;
  /** What they suffer from now. */
  readonly degraded?: readonly DegradedPart[];
}

/**
 * A destination of telemetry. If `write` returns a promise, the pipeline waits for it before it reuses the batch.
 * Capture sources then wait too; a UDP source fills its spare slabs, then drops frames and counts them. A sink that
 * must not hold up others returns no promise, and counts records without room as dropped. The failure of a sink is
 * counted and reported; the pipeline goes on.
 */
export interface Sink {
  /** Unique among the sinks of a collector. */
  readonly name: string;
  /** The kinds that it takes. Default: all those with a method. */
  readonly records?: readonly RecordKind[];
  /**
   * Takes a batch, see {@link Stage.process}, after the batch's events.
   * @returns `undefined` if it is done with the batch, else a promise that settles when it is
   */
  write(batch: TelemetryBatch): Promise<void> | undefined;
  /**
   * Takes events, which refer to their batch and their detector. The memory is reused when this returns, so copy what
   * you keep.
   * @returns a promise if there is no room for more; the pipeline then waits for it after this batch
   */
  writeEvents?(events: EventBatch): Promise<void> | undefined;
  /**
   * Takes entries that left the flow cache, in the form of `RecordSink.push` of @int/flowcache. Copy what you keep.
   * @returns as {@link writeEvents}
   */
  writeFlows?(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined;
  /**
   * Tells that all reports before a time have been given, as far as the sources know. Called several times a second,
   * between batches, also while no input arrives.
   * @param timeMs milliseconds since the epoch; goes back only if the clock of a source does, or a new source starts earlier
   */
  advance?(timeMs: number): void;
  /**
   * The current counters. Without this method the collector counts: a record is `delivered` when the call returns or
   * its promise resolves, and dropped as `failed` when it throws or rejects.
   */
  totals?(): SinkTotals;
  /** The counters and states of stages and sinks behind this one, such as those of threads. */
  onward?(): Onward;
  /** Why it takes nothing now, in a few words for people, such as an outage or a full disk; `null` if it does. */
  health?(): string | null;
  /**
   * Its other current degraded states, for `Collector.degraded`: see `DegradedStates`. The collector derives those of
   * `health` and of dropped records in `totals` itself.
   */
  degraded?(): readonly DegradedState[];
  /**
   * Writes the records it still holds, and closes. Called once, when the collector stops or the sink is removed.
   * @param timeoutMs time limit in milliseconds; records not written by then are dropped and counted
   */
  close?(timeoutMs?: number): Promise<void>;
}
