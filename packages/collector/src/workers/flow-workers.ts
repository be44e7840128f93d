/** Spreads reports over threads by flow: the part in the thread of the pipeline. */
import { CODES, type TelemetryBatch } from '@int/codec';
import { batchCapacity } from '../capacity.js';
import type { CollectorTotals } from '../counters.js';
import { addCounters, addTotals } from '../delivery/add-totals.js';
import { type FrameBatch, FrameSlab, type SlabCapacity } from '../frames.js';
import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { CollectorOptions, CollectorProblem } from '../pipeline.js';
import type { Onward, Sink, SinkTotals } from '../stage.js';
import type { WorkerSetup } from './protocol.js';
import { WorkerShard } from './shard.js';
import { shareRows } from './share.js';

/** How {@link FlowWorkers} are set up. */
export interface FlowWorkersOptions {
  /** Threads, 1 to 64. */
  readonly count: number;
  /** What a thread runs: a module that calls {@link serveFlowWorker}. */
  readonly module: string | URL;
  /** Handed to each thread as `context.data`, copied as messages are. */
  readonly data?: unknown;
  /** As the collector's: threads decode their frames again. */
  readonly decode?: CollectorOptions['decode'];
  /** Rows of the batches in the threads; `reports` must be that of the collector or more. */
  readonly capacity?: CollectorOptions['capacity'];
  /** Slabs of each thread: how much it may be behind. Default 4. */
  readonly slabs?: number;
  /** Default 1024 frames, 1 MiB. `bytes` must hold the largest frame. */
  readonly slab?: SlabCapacity;
  /** When a thread has no free slab: hold the pipeline up, or drop the report and count it. Default `wait`. */
  readonly whenFull?: 'wait' | 'drop';
  /** What a thread has posted. */
  readonly onData?: (data: unknown, index: number) => void;
  readonly onProblem?: (problem: CollectorProblem) => void;
}

const MAX_THREADS = 64;
const SLAB: SlabCapacity = { frames: 1024, bytes: 1 << 20 };

/**
 * Hands each report to one of several threads, always that of its flow, where stages and sinks of the thread's own work on
 * it: state by flow needs no locks, and the order within a flow is kept. Frames are copied once, into memory that the
 * threads share; a coalesced report of several flows goes to each thread concerned, which keeps its own.
 *
 * To the collector it is a sink. What needs the reports of all flows in one place (sequence numbers, totals by switch)
 * stays a stage of the collector; flow caches, detectors by flow and sinks go into the threads.
 *
 * Counted are reports: `delivered` when a thread has gone through them; `overflow` when it had no room; `failed` when it
 * has ended by an error. What its sinks do with them is in {@link FlowWorkers.workers}.
 *
 * @example
 * const workers = await FlowWorkers.start({ count: 2, module: new URL('./worker.js', import.meta.url) });
 * const collector = new Collector({ sources: [source], sinks: [workers] });
 */
export class FlowWorkers implements Sink {
  readonly name = 'workers';
  readonly #shards: readonly WorkerShard[];
  readonly #shares: Uint32Array;
  readonly #isWaiting: boolean;
  /** Shares that the frame at hand goes to, and how many of its reports. */
  readonly #reportsOf: Uint32Array;
  readonly #states = new DegradedStates();
  #overflow = 0;
  #offered = 0;
  #wake: () => void = () => {};
  #closing: Promise<void> | null = null;

  private constructor(shards: readonly WorkerShard[], reports: number, isWaiting: boolean) {
    this.#shards = shards;
    this.#shares = new Uint32Array(reports);
    this.#reportsOf = new Uint32Array(shards.length);
    this.#isWaiting = isWaiting;
  }

  /**
   * Starts the threads and waits until each has built its stages and sinks.
   * @throws RangeError for an option out of range; what a thread throws while it starts, after ending the others
   */
  static async start(options: FlowWorkersOptions): Promise<FlowWorkers> {
    const { count, module, data = null, decode = {}, slabs = 4, slab = SLAB, whenFull = 'wait' } = options;
    if (!(Number.isInteger(count) && count >= 1 && count <= MAX_THREADS)) {
      throw new RangeError(`count must be 1 to ${MAX_THREADS} threads, not ${count}`);
    }
    if (!(Number.isInteger(slabs) && slabs >= 1))
      throw new RangeError(`slabs must be a positive integer, not ${slabs}`);
    const batch = batchCapacity(options.capacity);
    let self: FlowWorkers | null = null as FlowWorkers | null;
    const listener = {
      onRoom: (): void => {
        if (self !== null) self.#wake();
      },
      onData: (value: unknown, index: number): void => options.onData?.(value, index),
      onProblem: (where: string, error: Error): void => options.onProblem?.({ where, error }),
    };
    const opening = Array.from({ length: count }, (_, index) => {
      const buffers = Array.from({ length: slabs }, () => new SharedArrayBuffer(FrameSlab.byteLength(slab)));
      const setup: WorkerSetup = { index, count, capacity: slab, slabs: buffers, decode, batch, data };
      return WorkerShard.open(module, setup, listener);
    });
    const opened = await Promise.allSettled(opening);
    const shards = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = opened.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      await Promise.all(shards.map((shard) => shard.terminate()));
      throw failed.reason;
    }
    self = new FlowWorkers(shards, batch.reports, whenFull === 'wait');
    return self;
  }

  /** The counters of each thread's own collector, as last told: some times a second, and at the end. */
  workers(): readonly (CollectorTotals | null)[] {
    return this.#shards.map(({ totals }) => totals);
  }

  /** Posts to all threads, which get it by `onData`: new rules, for instance. */
  post(data: unknown): void {
    for (const shard of this.#shards) if (shard.failure === null) shard.send(data);
  }

  write(batch: TelemetryBatch, frames: FrameBatch, first: number): Promise<void> | undefined {
    if (batch.reports > this.#shares.length) {
      throw new RangeError(`a batch of ${batch.reports} reports: capacity.reports is ${this.#shares.length}`);
    }
    shareRows(batch, this.#shards.length, this.#shares);
    return this.#spread(batch, frames, first, 0, 0);
  }

  advance(timeMs: number): void {
    for (const shard of this.#shards) if (shard.failure === null) shard.advance(timeMs);
  }

  totals(): SinkTotals {
    let [delivered, pending, failed] = [0, 0, 0];
    for (const shard of this.#shards) {
      delivered += shard.delivered;
      pending += shard.pending;
      failed += shard.failed;
    }
    const dropped = { overflow: this.#overflow, failed };
    return { reports: { offered: this.#offered, delivered, pending, dropped } };
  }

  /** `failed`, once a thread has ended with an error. What those behind it suffer from is in {@link onward}. */
  degraded(): readonly DegradedState[] {
    const failed = this.#shards.filter(({ failure }) => failure !== null);
    if (failed.length > 0) {
      this.#states.begin(DEGRADED.FAILED, failed.map(({ name, failure }) => `${name}: ${failure!.message}`).join('; '));
    }
    return this.#states.list();
  }

  /**
   * Has the threads go through what they have, close their sinks and end. Calling it again gives the same promise.
   * @param timeoutMs time for that; without it they have as long as they take
   */
  close(timeoutMs?: number): Promise<void> {
    this.#closing ??= Promise.all(this.#shards.map((shard) => shard.close(timeoutMs ?? null))).then(() => undefined);
    return this.#closing;
  }

  /** The stages and sinks of the threads: by name, what all threads together have counted; and what each suffers from. */
  onward(): Onward {
    const stages: Record<string, Record<string, number>> = {};
    const sinks: Record<string, SinkTotals> = {};
    for (const { totals } of this.#shards) {
      for (const [name, stage] of Object.entries(totals?.stages ?? {})) {
        stages[name] = addCounters(stages[name] ?? {}, stage);
      }
      for (const [name, sink] of Object.entries(totals?.sinks ?? {})) sinks[name] = addTotals(sinks[name] ?? {}, sink);
    }
    const degraded = this.#shards.flatMap((shard) =>
      shard.degraded.map((state) => ({ ...state, where: `${shard.name}: ${state.where}` })),
    );
    return { stages, sinks, degraded };
  }

  /**
   * Goes through the frames of a batch.
   * @param from first row of the frame to begin with
   * @param share of that frame: those before it are done
   */
  #spread(
    batch: TelemetryBatch,
    frames: FrameBatch,
    first: number,
    from: number,
    share: number,
  ): Promise<void> | undefined {
    const { frame, reports } = batch;
    const reportsOf = this.#reportsOf;
    let begin = share;
    for (let row = from; row < reports; ) {
      let end = row + 1;
      while (end < reports && frame[end] === frame[row]) end++;
      const total = this.#countShares(batch, row, end);
      for (let index = begin; index < reportsOf.length; index++) {
        const own = reportsOf[index]!;
        if (own === 0) continue;
        if (!this.#shards[index]!.add(frames, first + frame[row]!, frames.linkType!, own, own < total)) {
          if (this.#isWaiting) return this.#whenRoom().then(() => this.#spread(batch, frames, first, row, index));
          this.#overflow += own;
        }
        this.#offered += own;
      }
      begin = 0;
      row = end;
    }
    for (const shard of this.#shards) shard.flush();
    return undefined;
  }

  /** Counts the reports of each share in the rows of one frame. @returns all of them */
  #countShares({ code }: TelemetryBatch, from: number, to: number): number {
    const reportsOf = this.#reportsOf.fill(0);
    let total = 0;
    for (let row = from; row < to; row++) {
      if (code[row] !== CODES.OK) continue;
      reportsOf[this.#shares[row]!]!++;
      total++;
    }
    return total;
  }

  #whenRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
