/** Hands what the pipeline has to all its sinks, and keeps the accounts of those that keep none. */
import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { asError } from '../as-error.js';
import type { DegradedPart } from '../health/degraded-state.js';
import type { CollectorProblem } from '../pipeline-options.js';
import type { Outlets, Sink, SinkTotals } from '../stage.js';
import { addByName, addCounters, addTotals } from './add-totals.js';
import { Delivery } from './delivery.js';
import { PastSinks } from './past-sinks.js';
import { SinkQueue } from './sink-queue.js';
import { within } from './within.js';

/** Extra time after its limit in which a sink may still finish closing, in milliseconds. */
const GRACE_MS = 1000;

/** @throws RangeError if two sinks have the same name */
export function checkNames(sinks: readonly Sink[]): void {
  const names = sinks.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new RangeError(`two sinks are called '${twice}': give one of them another name`);
}

/**
 * All sinks of a pipeline as one. The failure of a sink is counted. It is told once, until the sink succeeds or fails
 * in another way. The other sinks still get everything. Sinks may come and go between two batches.
 */
export class FanOut implements Outlets {
  readonly #onProblem: (problem: CollectorProblem) => void;
  #now: Delivery;
  /** Sinks that get nothing more from the pipeline and are not closed yet. */
  readonly #leaving = new Set<SinkQueue>();
  readonly #past = new PastSinks();

  /** @throws RangeError if two sinks have the same name */
  constructor(sinks: readonly Sink[], onProblem: (problem: CollectorProblem) => void) {
    checkNames(sinks);
    this.#onProblem = onProblem;
    this.#now = new Delivery(sinks.map((sink) => this.#queueOf(sink)));
  }

  /** The sinks in force. */
  get sinks(): readonly Sink[] {
    return this.#now.queues.map(({ sink }) => sink);
  }

  /** The way to the sinks in force, also after they have been replaced. */
  get outlets(): Outlets {
    return this.#now;
  }

  /** Whether any sink takes events or flows. */
  get takesRecords(): boolean {
    return this.#now.takesRecords;
  }

  reports(batch: TelemetryBatch): void {
    this.#now.reports(batch);
  }

  events(events: EventBatch): void {
    this.#now.events(events);
  }

  flows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): void {
    this.#now.flows(words, at, records, geometry);
  }

  room(): Promise<void> | undefined {
    return this.#now.room();
  }

  /** Whether any sink wants to know the time. */
  get takesTime(): boolean {
    return this.#now.queues.some(({ sink }) => sink.advance !== undefined);
  }

  advance(timeMs: number): void {
    for (const queue of this.#now.queues) {
      try {
        queue.sink.advance?.(timeMs);
      } catch (error) {
        this.#failed(queue, error);
      }
    }
  }

  /** Counters by sink name, with those of sinks behind a sink and of removed sinks. A sink that counts nothing is left out. */
  totals(): Record<string, SinkTotals> {
    const all: Record<string, SinkTotals> = {};
    this.#past.addTo(all);
    for (const queue of this.#all()) {
      const totals = queue.totals();
      if (Object.keys(totals).length > 0) addByName(all, { [queue.sink.name]: totals }, addTotals);
      addByName(all, queue.sink.onward?.().sinks ?? {}, addTotals);
    }
    return all;
  }

  /** Adds the counters of stages behind sinks to those of the pipeline's own. */
  addStages(stages: Record<string, Readonly<Record<string, number>>>): void {
    for (const { sink } of this.#all()) addByName(stages, sink.onward?.().stages ?? {}, addCounters);
  }

  /** The current degraded states of the sinks, and of those behind them. */
  degraded(): DegradedPart[] {
    return this.#all().flatMap((queue) => {
      const where = queue.sink.name;
      const own = queue.degraded().map((state) => ({ where, ...state }));
      return [...own, ...(queue.sink.onward?.().degraded ?? [])];
    });
  }

  /** Those of the present sinks that are not among `sinks`. */
  without(sinks: readonly Sink[]): readonly SinkQueue[] {
    return this.#now.queues.filter(({ sink }) => !sinks.includes(sink));
  }

  /** Hands everything to these sinks from now on. Those that were here before keep their accounts. Call it between two batches. */
  replace(sinks: readonly Sink[]): void {
    const before = this.#now.queues;
    for (const queue of this.without(sinks)) this.#leaving.add(queue);
    this.#now = new Delivery(sinks.map((sink) => before.find((queue) => queue.sink === sink) ?? this.#queueOf(sink)));
  }

  /** Closes sinks that have been replaced. Their last counters stay in {@link totals}. @param timeoutMs as in {@link close} */
  async retire(queues: readonly SinkQueue[], timeoutMs?: number): Promise<void> {
    await Promise.all(
      queues.map(async (queue) => {
        const { name } = queue.sink;
        await this.#close(queue.sink, timeoutMs);
        this.#leaving.delete(queue);
        this.#past.add(
          name,
          queue.end((kind, records) => this.#past.refuse(name, kind, records)),
        );
      }),
    );
  }

  /** Closes all sinks, side by side. @param timeoutMs for each; without it they have as long as they take */
  async close(timeoutMs?: number): Promise<void> {
    await Promise.all(this.#now.queues.map(({ sink }) => this.#close(sink, timeoutMs)));
  }

  #all(): readonly SinkQueue[] {
    return this.#leaving.size === 0 ? this.#now.queues : [...this.#now.queues, ...this.#leaving];
  }

  #queueOf(sink: Sink): SinkQueue {
    return new SinkQueue(sink, (queue, error) => this.#failed(queue, error));
  }

  async #close(sink: Sink, timeoutMs: number | undefined): Promise<void> {
    const limitMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs + GRACE_MS;
    try {
      const isClosed = await within(limitMs, Promise.resolve(sink.close?.(timeoutMs)));
      if (!isClosed) throw new Error(`not closed within ${timeoutMs} ms: given up`);
    } catch (error) {
      this.#onProblem({ where: sink.name, error: asError(error) });
    }
  }

  /** Tells a failure, unless it repeats the last one told with no success in between. */
  #failed(queue: SinkQueue, reason: unknown): void {
    const error = asError(reason);
    if (queue.failure === error.message) return;
    queue.failure = error.message;
    this.#onProblem({ where: queue.sink.name, error });
  }
}
