/** Hands what the pipeline has to all its sinks, and keeps the accounts of those that keep none. */
import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { DEGRADED, type DegradedPart, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { CollectorProblem } from '../pipeline.js';
import type { Outlets, RecordKind, Sink, SinkTotals } from '../stage.js';
import { addByName, addCounters, addTotals } from './add-totals.js';
import { SinkAccount, takesOf } from './sink-account.js';
import { within } from './within.js';

/** Extra time after its limit in which a sink may still finish closing, in milliseconds. */
const GRACE_MS = 1000;

const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)));

/** The number of reports in a batch that were decoded without a problem. Sinks take only these. */
export function goodReports({ code, reports }: TelemetryBatch): number {
  let count = 0;
  for (let row = 0; row < reports; row++) if (code[row] === 0) count++;
  return count;
}

/**
 * All sinks of a pipeline as one. The failure of a sink is counted. It is told once, until the sink succeeds or fails
 * in another way. The other sinks still get everything.
 */
export class FanOut implements Outlets {
  readonly #queues: readonly SinkQueue[];
  readonly #onProblem: (problem: CollectorProblem) => void;
  #waiting: Promise<void>[] = [];

  /** @throws RangeError if two sinks have the same name */
  constructor(sinks: readonly Sink[], onProblem: (problem: CollectorProblem) => void) {
    const names = sinks.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw new RangeError(`two sinks are called '${twice}': give one of them another name`);
    this.#onProblem = onProblem;
    this.#queues = sinks.map((sink) => new SinkQueue(sink));
  }

  /** Whether any sink takes events or flows. */
  get takesRecords(): boolean {
    return this.#queues.some(({ takes }) => takes.events || takes.flows);
  }

  reports(batch: TelemetryBatch): void {
    if (this.#queues.length === 0) return;
    this.#giveAll('reports', goodReports(batch), (sink) => sink.write(batch));
  }

  events(events: EventBatch): void {
    this.#giveAll('events', events.count, (sink) => sink.writeEvents!(events));
  }

  flows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): void {
    this.#giveAll('flows', records, (sink) => sink.writeFlows!(words, at, records, geometry));
  }

  /** Whether any sink wants to know the time. */
  get takesTime(): boolean {
    return this.#queues.some(({ sink }) => sink.advance !== undefined);
  }

  advance(timeMs: number): void {
    for (const queue of this.#queues) {
      try {
        queue.sink.advance?.(timeMs);
      } catch (error) {
        this.#failed(queue, error);
      }
    }
  }

  room(): Promise<void> | undefined {
    const waiting = this.#waiting;
    if (waiting.length === 0) return undefined;
    this.#waiting = [];
    return Promise.all(waiting).then(() => undefined);
  }

  /** Counters by sink name, with those of sinks behind a sink. A sink that counts nothing is left out. */
  totals(): Record<string, SinkTotals> {
    const all: Record<string, SinkTotals> = {};
    for (const queue of this.#queues) {
      const totals = queue.totals();
      if (Object.keys(totals).length > 0) addByName(all, { [queue.sink.name]: totals }, addTotals);
      addByName(all, queue.sink.onward?.().sinks ?? {}, addTotals);
    }
    return all;
  }

  /** Adds the counters of stages behind sinks to those of the pipeline's own. */
  addStages(stages: Record<string, Readonly<Record<string, number>>>): void {
    for (const { sink } of this.#queues) addByName(stages, sink.onward?.().stages ?? {}, addCounters);
  }

  /** The current degraded states of the sinks, and of those behind them. */
  degraded(): DegradedPart[] {
    return this.#queues.flatMap((queue) => {
      const where = queue.sink.name;
      const own = queue.degraded().map((state) => ({ where, ...state }));
      return [...own, ...(queue.sink.onward?.().degraded ?? [])];
    });
  }

  /** Closes all sinks, side by side. @param timeoutMs for each; without it they have as long as they take */
  async close(timeoutMs?: number): Promise<void> {
    await Promise.all(this.#queues.map(({ sink }) => this.#close(sink, timeoutMs)));
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

  #giveAll(kind: RecordKind, records: number, give: (sink: Sink) => Promise<void> | undefined): void {
    for (const queue of this.#queues) if (queue.takes[kind]) this.#give(queue, kind, records, give);
  }

  #give(queue: SinkQueue, kind: RecordKind, records: number, give: (sink: Sink) => Promise<void> | undefined): void {
    const { account } = queue;
    account?.offer(kind, records);
    const fail = (error: unknown): void => {
      account?.fail(kind, records);
      this.#failed(queue, error);
    };
    let busy: Promise<void> | undefined;
    try {
      busy = give(queue.sink);
    } catch (error) {
      fail(error);
      return;
    }
    const succeed = (): void => {
      account?.deliver(kind, records);
      queue.failure = null;
    };
    if (busy === undefined) succeed();
    else this.#waiting.push(busy.then(succeed, fail));
  }

  /** Tells a failure, unless it repeats the last one told with no success in between. */
  #failed(queue: SinkQueue, reason: unknown): void {
    const error = asError(reason);
    if (queue.failure === error.message) return;
    queue.failure = error.message;
    this.#onProblem({ where: queue.sink.name, error });
  }
}

/** The records that a sink has dropped, over all kinds and reasons. */
function droppedOf(totals: SinkTotals): number {
  const counts = Object.values(totals).flatMap(({ dropped }) => Object.values(dropped));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A sink with the kinds it takes and its state. */
class SinkQueue {
  readonly sink: Sink;
  readonly takes: Readonly<Record<RecordKind, boolean>>;
  /** `null`: it keeps its own. */
  readonly account: SinkAccount | null;
  /** Message of the last failure; `null` after a success. */
  failure: string | null = null;
  readonly #states = new DegradedStates();

  constructor(sink: Sink) {
    this.sink = sink;
    this.takes = takesOf(sink);
    this.account = sink.totals === undefined ? new SinkAccount() : null;
    this.#states.watch(
      DEGRADED.SHEDDING,
      () => droppedOf(this.totals()),
      (records) => `${records} records dropped`,
    );
  }

  /** The outage, the dropped records and the sink's own states. */
  degraded(): DegradedState[] {
    const reason = this.sink.health === undefined ? this.failure : this.sink.health();
    if (reason === null) this.#states.end(DEGRADED.OUTAGE);
    else this.#states.begin(DEGRADED.OUTAGE, reason);
    return [...this.#states.list(), ...(this.sink.degraded?.() ?? [])];
  }

  totals(): SinkTotals {
    return this.account === null ? this.sink.totals!() : this.account.totals(this.takes);
  }
}
