import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { DegradedPart, DegradedState } from './health/degraded-state.js';

/** What stages find, on its way to the sinks that take it. What is given is used again when these return. */
export interface Outlets {
  /** Hands events on, as {@link Sink.writeEvents} has them: while the stage looks at their batch. */
  events(events: EventBatch): void;
  /** Hands flow entries on, as {@link Sink.writeFlows} has them. */
  flows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): void;
  /** A promise that resolves when all sinks have room again; `undefined` if they have. */
  room(): Promise<void> | undefined;
}

/**
 * Something that looks at each decoded batch: statistics, detectors, caches. Stages run in the order given, on the
 * same batch, and must be done with it when they return.
 */
export interface Stage {
  readonly name: string;
  /**
   * @param batch frames, reports and hops as columns; leave rows alone whose `code` is not 0
   */
  process(batch: TelemetryBatch): void;
  /**
   * Called by the collector before it starts, if it has a sink that takes events or flows: the stage gives the outlets what
   * it finds.
   */
  connect?(outlets: Outlets): void;
  /**
   * Called when the sources have stopped, before sinks are closed: what the stage still holds for its outlets leaves now.
   * @returns a promise if that takes time
   */
  finish?(): Promise<void> | undefined;
  /** Counters by name, for `CollectorTotals.stages`. */
  counters?(): Readonly<Record<string, number>>;
  /** What it suffers from now, for `Collector.degraded`: see `DegradedStates`. */
  degraded?(): readonly DegradedState[];
}

/**
 * What a sink is given: reports with their hops, events of detectors, entries that left the flow cache.
 */
export const RECORD_KINDS = ['reports', 'events', 'flows'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** What became of the records of one kind. `offered` is `delivered` plus `pending` plus the sum of `dropped`. */
export interface RecordCounts {
  /** Records given to the sink. */
  readonly offered: number;
  /** Records that the other side has confirmed: a broker's acknowledgement, a file that is whole. */
  readonly delivered: number;
  /** Records that the sink holds, in memory or in a spool. */
  readonly pending: number;
  /** Records given up, by reason; reasons are a closed list per sink. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** The counters of a sink, by kind; kinds that it does not take are not there. */
export type SinkTotals = Readonly<Partial<Record<RecordKind, RecordCounts>>>;

/** Counters of stages and sinks, by name, and their degraded states. */
export interface Onward {
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly sinks: Readonly<Record<string, SinkTotals>>;
  /** What they suffer from now. */
  readonly degraded?: readonly DegradedPart[];
}

/**
 * Something that carries telemetry elsewhere. A sink may take its time: the pipeline waits for the promise it returns
 * before it uses the batch again, capture sources wait with it, and a UDP source fills its spare slabs and then counts what
 * it has to refuse. A sink that must not hold up others returns no promise and counts what it has no room for as dropped.
 * A sink that fails is counted and reported; the pipeline goes on.
 */
export interface Sink {
  /** No two sinks of a collector have the same. */
  readonly name: string;
  /** What it takes; the rest is not given to it. Default: all that it has methods for. */
  readonly records?: readonly RecordKind[];
  /**
   * Takes a batch, as {@link Stage.process}; after the batch's events.
   * @returns `undefined` if it is done with the batch, else a promise that settles when it is
   */
  write(batch: TelemetryBatch): Promise<void> | undefined;
  /**
   * Takes events, which know the batch that they were found in and their detector. All that is given is used again when this
   * returns: what is to be kept is copied before.
   * @returns a promise only to have the pipeline wait after this batch, because there is no room for more
   */
  writeEvents?(events: EventBatch): Promise<void> | undefined;
  /**
   * Takes entries that left the flow cache, as `RecordSink.push` of @int/flowcache has them; copied before it returns.
   * @returns as {@link writeEvents}
   */
  writeFlows?(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined;
  /**
   * Tells that all reports with an earlier time have been given, as far as the sources know. Called some times a second, also
   * while nothing comes, in turn with the batches.
   * @param timeMs milliseconds since the epoch; goes back only if the clock of a source does
   */
  advance?(timeMs: number): void;
  /**
   * The counters now. Without it the collector counts what it gives: `delivered` when the method returns or its promise
   * resolves, dropped as `failed` when it throws or rejects.
   */
  totals?(): SinkTotals;
  /** The counters of stages and sinks behind this one: of those that threads have of their own. */
  onward?(): Onward;
  /** Why it takes nothing now, in a few words for people: an outage, a full disk. `null` if it is well. */
  health?(): string | null;
  /**
   * What it suffers from now besides, for `Collector.degraded`: see `DegradedStates`. An outage (`health`) and records that are
   * dropped (`totals`) are found without it.
   */
  degraded?(): readonly DegradedState[];
  /**
   * Writes out what is held back and closes. Called once, when the collector stops.
   * @param timeoutMs time that there is; what is not written by then is given up and counted
   */
  close?(timeoutMs?: number): Promise<void>;
}
