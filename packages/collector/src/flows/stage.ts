import type { TelemetryBatch } from '@int/codec';
import {
  EntryReader,
  EVENT_WORDS,
  FlowCache,
  type FlowCacheOptions,
  type FlowCacheTotals,
  type FlowEntry,
  type FlowEvent,
  geometryOf,
  readFlowEvent,
} from '@int/flowcache';
import { frameTimeNs } from '../frames.js';
import type { Outlets, Stage } from '../stage.js';
import { Ageing, type SweepOptions } from './ageing.js';
import { Handover } from './handover.js';

/**
 * Options of the cache and of its search for idle flows. `entries` and `events` take records, as an SpscRing does;
 * listeners get objects. With both, the listener gets the records that the sink took.
 */
export interface FlowStageOptions extends FlowCacheOptions {
  /** Flows whose last report is older than this leave the cache, in the time of the frames. Above 0. Default: none. */
  readonly idleNs?: bigint;
  /** How many rows of the cache are searched for idle flows: the bound of that work. */
  readonly sweep?: SweepOptions;
  /** Called for each entry that leaves the cache: evicted, aged, retired or drained. */
  readonly onEntry?: (entry: FlowEntry) => void;
  /** Called for each event. */
  readonly onEvent?: (event: FlowEvent) => void;
}

/** Entries handed on at a time when a run ends. A sink may have to take so many beyond its room. */
const DRAINED_AT_ONCE = 256;

/**
 * Runs a flow cache over every batch: each report updates its flow's entry, with the time of its frame.
 *
 * With `idleNs`, the stage searches the cache four times per `idleNs` of frame time. A flow leaves when it has been
 * silent for `idleNs` to 1.25 `idleNs`, if `sweep` allows enough rows. A flow that reports again before it is checked
 * stays. Without listeners nothing is allocated per report, entry or event.
 */
export class FlowStage implements Stage {
  readonly name = 'flows';
  readonly cache: FlowCache;
  readonly #ageing: Ageing | null;
  readonly #handovers: readonly { rethrow(): void }[];
  #outlets: Outlets | null = null;
  /** Time of the last frame. */
  #nowNs = 0n;

  /** @throws RangeError for an option out of range; as FlowCache does */
  constructor(options: FlowStageOptions = {}) {
    const { entries, events, idleNs, sweep, onEntry, onEvent, ...cacheOptions } = options;
    const geometry = geometryOf(options);
    const reader = new EntryReader(geometry);
    const entrySink = new Handover<FlowEntry>({
      recordWords: geometry.bucketStride,
      read: (words, at) => reader.read(words, at),
      sink: entries,
      listener: onEntry,
      forward: (words, at, records) => this.#outlets?.flows(words, at, records, geometry),
    });
    const eventSink =
      events === undefined && onEvent === undefined
        ? null
        : new Handover<FlowEvent>({
            recordWords: EVENT_WORDS,
            read: (words, at) => readFlowEvent(words, at, geometry.metrics),
            sink: events,
            listener: onEvent,
          });
    this.cache = new FlowCache({
      ...cacheOptions,
      entries: entrySink,
      ...(eventSink !== null && { events: eventSink }),
    });
    this.#ageing = idleNs === undefined ? null : new Ageing(this.cache, idleNs, sweep);
    this.#handovers = [entrySink, eventSink].filter((one) => one !== null);
  }

  /** @throws what a sink or listener has thrown, when all reports have been looked at */
  process(batch: TelemetryBatch): void {
    if (batch.frames === 0) return;
    const ageing = this.#ageing;
    if (ageing === null) this.cache.update(batch);
    else {
      ageing.begin();
      let row = 0;
      while (row < batch.reports) {
        const end = ageing.stepEnd(batch, row);
        this.cache.update(batch, row, end);
        // Check before the late report: its own flow may be idle.
        if (end < batch.reports) ageing.step(frameTimeNs(batch, batch.frame[end]!));
        row = end;
      }
    }
    this.#nowNs = frameTimeNs(batch, batch.frames - 1);
    ageing?.step(this.#nowNs);
    this.#rethrow();
  }

  /**
   * Searches the whole cache for flows that are idle at the time of the last frame. Call it at the end of a capture.
   * @returns entries handed on; 0 without `idleNs`
   * @throws what a sink or listener has thrown
   */
  sweep(): number {
    const handedOn = this.#ageing?.all(this.#nowNs) ?? 0;
    this.#rethrow();
    return handedOn;
  }

  /**
   * Hands on all entries that its sink takes. Call it at the end of a run.
   * @returns entries handed on
   * @throws what a sink or listener has thrown
   */
  drain(): number {
    const handedOn = this.cache.drain();
    this.#rethrow();
    return handedOn;
  }

  /** Entries that leave the cache go to the outlets as well: as many as `entries` takes, if there is such a sink. */
  connect(outlets: Outlets): void {
    this.#outlets = outlets;
  }

  /** If the stage is connected, hands on all entries, a few at a time, as sinks have room. */
  async finish(): Promise<void> {
    const outlets = this.#outlets;
    if (outlets === null) return;
    while (this.cache.drain(DRAINED_AT_ONCE) > 0) {
      this.#rethrow();
      await outlets.room();
    }
    this.#rethrow();
  }

  /** As {@link totals}. */
  counters(): Readonly<Record<string, number>> {
    return this.totals();
  }

  /** The counters of the cache now. */
  totals(): FlowCacheTotals {
    return this.cache.totals();
  }

  #rethrow(): void {
    for (const handover of this.#handovers) handover.rethrow();
  }
}
