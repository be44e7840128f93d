/** A queue in front of a slow sink. */
import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { asError } from '../as-error.js';
import { type Deferred, deferred } from '../deferred.js';
import type { DegradedState } from '../health/degraded-state.js';
import type { RecordCounts, RecordKind, Sink, SinkTotals } from '../stage.js';
import { addCounters } from './add-totals.js';
import { BatchCopy } from './batch-copy.js';
import { goodReports } from './delivery.js';
import { FlowQueue } from './flow-queue.js';
import { integer } from './option-checks.js';
import { SinkAccount, takesOf } from './sink-account.js';
import { within } from './within.js';

/** How a {@link QueuedSink} is set up. */
export interface QueuedSinkOptions {
  /** Batches that may wait, including the one being written, 2 to 4096. Default 8. */
  readonly batches?: number;
  /** Flow entries that may wait, 1 to 2^20. Default 8192. */
  readonly flows?: number;
  /**
   * What happens when there is no room. `drop`: new records are dropped and counted as `overflow`; the pipeline never
   * waits. `wait`: the pipeline waits for room. Default `drop`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /** Called when the sink fails. The same failure is told once, until the sink succeeds. */
  readonly onProblem?: (error: Error) => void;
}

/** Flow entries given to the sink at a time. */
const FLOW_RUN = 1024;

/**
 * Puts a queue of bounded memory in front of a sink. A slow or absent sink then holds up neither the pipeline nor other
 * sinks. The queue copies batches with their events and frame bytes, and flow entries. The sink gets each kind in the
 * order of arrival, one call at a time.
 *
 * Memory: up to `batches` copies of a batch, each as large as the largest batch so far, allocated on first use; and
 * `flows` flow entries. `wait` needs room for one more batch of the pipeline.
 *
 * Records count as `delivered` when the sink has taken them. If the sink has `totals`, its own counters decide. Dropped
 * are `overflow` (no room), `failed` (the sink has thrown or rejected) and `closed` (still waiting when the time for
 * closing was over). The sink looks up rule names when it takes events. If the rule was replaced meanwhile, the name is
 * `null` or that of the new rule.
 *
 * @example
 * const collector = new Collector({ sources, sinks: [new QueuedSink(mySink, { batches: 16 })] });
 */
export class QueuedSink implements Sink {
  readonly name: string;
  readonly writeEvents?: NonNullable<Sink['writeEvents']>;
  readonly writeFlows?: NonNullable<Sink['writeFlows']>;
  readonly advance?: NonNullable<Sink['advance']>;
  readonly #sink: Sink;
  readonly #takes: Readonly<Record<RecordKind, boolean>>;
  readonly #isWaiting: boolean;
  readonly #onProblem: (error: Error) => void;
  readonly #account = new SinkAccount();
  /** Records that the sink has taken or failed to take. */
  readonly #settled: Record<RecordKind, number> = { reports: 0, events: 0, flows: 0 };
  readonly #most: number;
  #made = 0;
  readonly #free: BatchCopy[] = [];
  readonly #ready: BatchCopy[] = [];
  readonly #flows: FlowQueue;
  readonly #flowsAllowed: number;
  #geometry: CacheGeometry | null = null;
  /** The copy of the batch whose events come in; its reports come last. */
  #open: BatchCopy | null = null;
  #isRunning = false;
  #isClosed = false;
  /** The sink is given nothing any more. */
  #isEnded = false;
  /** The time to tell the sink, and the number of waiting batches before it. There is at most one. */
  #time: { readonly timeMs: number; batches: number } | null = null;
  #failure: string | null = null;
  #room: Deferred<void> | null = null;
  readonly #idle = deferred();

  /** @throws RangeError for an option out of range */
  constructor(sink: Sink, options: QueuedSinkOptions = {}) {
    this.name = sink.name;
    this.#sink = sink;
    this.#takes = takesOf(sink);
    this.#most = integer('batches', options.batches ?? 8, 2, 4096);
    this.#flowsAllowed = integer('flows', options.flows ?? 8192, 1, 1 << 20);
    this.#flows = new FlowQueue(this.#flowsAllowed);
    this.#isWaiting = (options.whenFull ?? 'drop') === 'wait';
    this.#onProblem = options.onProblem ?? (() => {});
    // The collector asks which methods there are.
    if (this.#takes.events) this.writeEvents = (...given) => this.#takeEvents(...given);
    if (this.#takes.flows) this.writeFlows = (...given) => this.#takeFlows(...given);
    if (sink.advance !== undefined) this.advance = (timeMs) => this.#takeTime(timeMs);
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    const records = this.#takes.reports ? goodReports(batch) : 0;
    this.#account.offer('reports', records);
    let copy = this.#open;
    this.#open = null;
    if (copy === null && records > 0) {
      copy = this.#copyOf(batch);
      if (copy === null) this.#refuse('reports', records);
    }
    if (copy !== null) {
      this.#ready.push(copy);
      this.#start();
    }
    return this.#whenRoom();
  }

  totals(): SinkTotals {
    const inner = this.#sink.totals?.();
    const totals = this.#account.totals(this.#takes);
    if (inner === undefined) return totals;
    const kinds = Object.entries(totals) as [RecordKind, RecordCounts][];
    return Object.fromEntries(
      kinds.map(([kind, own]) => {
        const counts = inner[kind];
        return [kind, counts === undefined ? own : behind(own, counts, this.#settled[kind])];
      }),
    );
  }

  health(): string | null {
    return this.#failure ?? this.#sink.health?.() ?? null;
  }

  degraded(): readonly DegradedState[] {
    return this.#sink.degraded?.() ?? [];
  }

  /**
   * Waits until the sink has taken what waits, and closes it.
   * @param timeoutMs time for both; what still waits then is counted as `closed`. Default: as long as it takes
   */
  async close(timeoutMs?: number): Promise<void> {
    const began = performance.now();
    this.#isClosed = true;
    if (this.#isRunning) await within(timeoutMs ?? Number.POSITIVE_INFINITY, this.#idle.promise);
    this.#end();
    await this.#sink.close?.(
      timeoutMs === undefined ? undefined : Math.max(0, timeoutMs - (performance.now() - began)),
    );
  }

  #takeEvents(events: EventBatch): Promise<void> | undefined {
    this.#account.offer('events', events.count);
    if (events.isApart) {
      this.#takeApart(events);
      return this.#whenRoom();
    }
    this.#open ??= this.#copyOf(events.batch);
    if (this.#open === null) this.#refuse('events', events.count);
    else this.#open.add(events);
    // There is room for the rest of this batch. The pipeline waits after its reports, if it must.
    return undefined;
  }

  /** Takes events whose batch is there for them only, and is not written. */
  #takeApart(events: EventBatch): void {
    const copy = this.#copyOf(events.batch);
    if (copy === null) {
      this.#refuse('events', events.count);
      return;
    }
    copy.isApart = true;
    copy.add(events);
    this.#ready.push(copy);
    this.#start();
  }

  #takeFlows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined {
    this.#account.offer('flows', records);
    this.#geometry ??= geometry;
    if (geometry.bucketStride !== this.#geometry.bucketStride) {
      this.#account.fail('flows', records);
      this.#tell(new Error('flows of caches of different layouts: a queue takes those of one'));
      return undefined;
    }
    const taken = this.#isClosed ? 0 : this.#isWaiting ? records : Math.min(records, this.#flows.room);
    if (taken > 0) this.#flows.push(words, at, taken, geometry.bucketStride, this.#isWaiting);
    if (taken < records) this.#refuse('flows', records - taken);
    if (taken > 0) this.#start();
    return this.#whenRoom();
  }

  #takeTime(timeMs: number): void {
    // Keep the time that waits: replacing it by each later one would delay it for ever.
    if (this.#isEnded || this.#time !== null) return;
    if (this.#isRunning) this.#time = { timeMs, batches: this.#ready.length };
    else this.#giveTime(timeMs);
  }

  #giveTime(timeMs: number): void {
    try {
      this.#sink.advance!(timeMs);
    } catch (error) {
      this.#tell(asError(error));
    }
  }

  /** @returns `null` if there is no room */
  #copyOf(batch: TelemetryBatch): BatchCopy | null {
    if (this.#isClosed) return null;
    let copy = this.#free.pop() ?? null;
    if (copy === null && this.#made < this.#most) {
      copy = new BatchCopy();
      this.#made++;
    }
    copy?.copy(batch);
    return copy;
  }

  #refuse(kind: RecordKind, records: number): void {
    this.#account.drop(kind, this.#isClosed ? 'closed' : 'overflow', records);
  }

  get #hasRoom(): boolean {
    return (this.#free.length > 0 || this.#made < this.#most) && this.#flows.count < this.#flowsAllowed;
  }

  #whenRoom(): Promise<void> | undefined {
    if (!this.#isWaiting || this.#isClosed || this.#hasRoom) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  #wake(): void {
    if (this.#room === null || !(this.#hasRoom || this.#isEnded)) return;
    this.#room.resolve();
    this.#room = null;
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  /** Gives the sink what waits, until nothing does. */
  async #run(): Promise<void> {
    while (!this.#isEnded && (this.#ready.length > 0 || this.#flows.count > 0)) {
      const copy = this.#ready.shift();
      if (copy !== undefined) await this.#giveBatch(copy);
      this.#passTime();
      if (!this.#isEnded && this.#flows.count > 0) await this.#giveFlows();
      this.#wake();
      // A sink that takes everything at once must not keep the event loop to itself.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isRunning = false;
    if (this.#time !== null) this.#time.batches = 0;
    this.#passTime();
    if (this.#isClosed) this.#idle.resolve();
  }

  /** Tells the sink the time, once the batches before it have been given. */
  #passTime(): void {
    const time = this.#time;
    if (time === null || this.#isEnded) return;
    // The batch being written when the time came is not counted.
    if (time.batches-- > 0) return;
    this.#time = null;
    this.#giveTime(time.timeMs);
  }

  async #giveBatch(copy: BatchCopy): Promise<void> {
    const { batch } = copy;
    for (const events of copy.events) {
      await this.#give('events', events.count, () => this.#sink.writeEvents!(events));
    }
    const records = this.#takes.reports && !copy.isApart ? goodReports(batch) : 0;
    if (records > 0) await this.#give('reports', records, () => this.#sink.write(batch));
    // After a timeout the sink may still read its batch.
    if (!this.#isEnded) this.#free.push(copy);
  }

  async #giveFlows(): Promise<void> {
    const { words, at, records } = this.#flows.oldest(FLOW_RUN);
    const geometry = this.#geometry!;
    // It copies what it takes before it returns.
    const given = this.#give('flows', records, () => this.#sink.writeFlows!(words, at, records, geometry));
    this.#flows.release(records);
    await given;
  }

  async #give(kind: RecordKind, records: number, give: () => Promise<void> | undefined): Promise<void> {
    if (this.#isEnded) return;
    const account = this.#account;
    // A sink with counters of its own answers for its records from here on.
    const isOwn = this.#sink.totals === undefined;
    if (!isOwn) account.deliver(kind, records);
    try {
      await give();
      if (this.#isEnded) return;
      if (isOwn) account.deliver(kind, records);
      this.#failure = null;
    } catch (error) {
      if (this.#isEnded) return;
      if (isOwn) account.fail(kind, records);
      this.#tell(asError(error));
    } finally {
      this.#settled[kind] += records;
    }
  }

  /** Tells of a failure, unless it is the one that was told of last and nothing has gone well since. */
  #tell(error: Error): void {
    if (this.#failure === error.message) return;
    this.#failure = error.message;
    this.#onProblem(error);
  }

  /** Counts all waiting records as `closed`. */
  #end(): void {
    this.#isEnded = true;
    for (const kind of ['reports', 'events', 'flows'] as const) {
      this.#account.drop(kind, 'closed', this.#account.counts(kind).pending);
    }
    this.#ready.length = 0;
    this.#flows.clear();
    this.#wake();
  }
}

/**
 * The counters of a queue and of the sink behind it as one.
 * @param own `delivered` is what the sink was given
 * @param settled how much of that it is done with
 */
function behind(own: RecordCounts, inner: RecordCounts, settled: number): RecordCounts {
  // Records of calls that threw, which the sink has not counted.
  const failed = settled - inner.offered;
  const dropped = addCounters(addCounters(inner.dropped, own.dropped), failed > 0 ? { failed } : {});
  const gone = Object.values(dropped).reduce((sum, records) => sum + records, 0);
  return { offered: own.offered, delivered: inner.delivered, pending: own.offered - inner.delivered - gone, dropped };
}
