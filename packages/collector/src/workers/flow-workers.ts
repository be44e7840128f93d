/** Spreads reports over threads by flow: the part in the thread of the pipeline. */
import { type BatchCapacity, CODES, TelemetryBatch } from '@int/codec';
import type { CollectorTotals } from '../counters.js';
import { addByName, addCounters, addTotals } from '../delivery/add-totals.js';
import type { SlabCapacity } from '../frames.js';
import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { CollectorProblem } from '../pipeline-options.js';
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
  /** Slabs per thread, which bound how far it may be behind. Default 4. */
  readonly slabs?: number;
  /**
   * The capacity of a slab, with as many reports as frames and 8 hops per report. Default 1024 frames, 1 MiB. Reports
   * of a frame larger than `bytes` are dropped as `oversized`.
   */
  readonly slab?: SlabCapacity;
  /**
   * If a thread has no free slab: `wait` holds the pipeline up, `drop` drops the report and counts it. Default `wait`.
   */
  readonly whenFull?: 'wait' | 'drop';
  /** Called with the data that a thread posts. */
  readonly onData?: (data: unknown, index: number) => void;
  readonly onProblem?: (problem: CollectorProblem) => void;
}

const MAX_THREADS = 64;
const SLAB: SlabCapacity = { frames: 1024, bytes: 1 << 20 };
/** The longest stack, including the reporting node's own row. */
const MOST_HOPS = 256;

/**
 * Spreads reports over threads by flow. Each thread has its own stages and sinks, so state by flow needs no locks, and
 * the order within a flow is kept. Reports are copied once, as columns with their frames, into shared memory. The parts
 * of a coalesced report go to the threads of their flows.
 *
 * To the collector it is a sink. Stages that need the reports of all flows (sequence numbers, totals by switch) stay in
 * the collector. Flow caches, detectors by flow and sinks go into the threads.
 *
 * It counts reports: `delivered` when a thread has processed them, `overflow` when it had no room, `oversized` when
 * their frame is larger than a slab, `failed` when the thread has ended with an error. {@link FlowWorkers.workers} has
 * the counters of the threads' sinks.
 *
 * @example
 * const workers = await FlowWorkers.start({ count: 2, module: new URL('./worker.js', import.meta.url) });
 * const collector = new Collector({ sources: [source], sinks: [workers] });
 */
export class FlowWorkers implements Sink {
  readonly name = 'workers';
  readonly #shards: readonly WorkerShard[];
  readonly #isWaiting: boolean;
  /** The share of each row of the batch at hand. */
  #shares = new Uint32Array(0);
  /** The rows of each share, one share behind the other, and where each ends. */
  #rows = new Uint32Array(0);
  readonly #ends: Uint32Array;
  readonly #states = new DegradedStates();
  #overflow = 0;
  #offered = 0;
  #wake: () => void = () => {};
  #closing: Promise<void> | null = null;

  private constructor(shards: readonly WorkerShard[], isWaiting: boolean) {
    this.#shards = shards;
    this.#ends = new Uint32Array(shards.length);
    this.#isWaiting = isWaiting;
  }

  /**
   * Starts the threads and waits until each has built its stages and sinks.
   * @throws RangeError for an option out of range; what a thread throws while it starts, after ending the others
   */
  static async start(options: FlowWorkersOptions): Promise<FlowWorkers> {
    const { count, module, data = null, slabs = 4, slab = SLAB, whenFull = 'wait' } = options;
    if (!(Number.isInteger(count) && count >= 1 && count <= MAX_THREADS)) {
      throw new RangeError(`count must be 1 to ${MAX_THREADS} threads, not ${count}`);
    }
    if (!(Number.isInteger(slabs) && slabs >= 1))
      throw new RangeError(`slabs must be a positive integer, not ${slabs}`);
    const { frames, bytes } = slab;
    const capacity: BatchCapacity = { frames, reports: frames, hops: Math.max(MOST_HOPS, 8 * frames), bytes };
    let self: FlowWorkers | null = null as FlowWorkers | null;
    const listener = {
      onRoom: (): void => {
        if (self !== null) self.#wake();
      },
      onData: (value: unknown, index: number): void => options.onData?.(value, index),
      onProblem: (where: string, error: Error): void => options.onProblem?.({ where, error }),
    };
    const opening = Array.from({ length: count }, (_, index) => {
      const buffers = Array.from({ length: slabs }, () => new SharedArrayBuffer(TelemetryBatch.byteLength(capacity)));
      const setup: WorkerSetup = { index, count, capacity, slabs: buffers, data };
      return WorkerShard.open(module, setup, listener);
    });
    const opened = await Promise.allSettled(opening);
    const shards = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = opened.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      await Promise.all(shards.map((shard) => shard.terminate()));
      throw failed.reason;
    }
    self = new FlowWorkers(shards, whenFull === 'wait');
    return self;
  }

  /** The last known counters of each thread's collector, updated several times a second and at the end. */
  workers(): readonly (CollectorTotals | null)[] {
    return this.#shards.map(({ totals }) => totals);
  }

  /** Posts data, such as new rules, to `onData` of all threads. */
  post(data: unknown): void {
    for (const shard of this.#shards) if (shard.failure === null) shard.send(data);
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    this.#sort(batch);
    return this.#spread(batch, 0, 0);
  }

  advance(timeMs: number): void {
    for (const shard of this.#shards) if (shard.failure === null) shard.advance(timeMs);
  }

  totals(): SinkTotals {
    const sum = (of: 'delivered' | 'pending' | 'failed' | 'oversized'): number =>
      this.#shards.reduce((all, shard) => all + shard[of], 0);
    const dropped = { overflow: this.#overflow, oversized: sum('oversized'), failed: sum('failed') };
    return { reports: { offered: this.#offered, delivered: sum('delivered'), pending: sum('pending'), dropped } };
  }

  /**
   * `failed`, once a thread has ended with an error. {@link onward} has the states of the threads' stages and sinks.
   */
  degraded(): readonly DegradedState[] {
    const failed = this.#shards.filter(({ failure }) => failure !== null);
    if (failed.length > 0) {
      this.#states.begin(DEGRADED.FAILED, failed.map(({ name, failure }) => `${name}: ${failure!.message}`).join('; '));
    }
    return this.#states.list();
  }

  /**
   * Lets the threads process their slabs, close their sinks and end. Calling it again returns the same promise.
   * @param timeoutMs time limit in milliseconds. Default: none
   */
  close(timeoutMs?: number): Promise<void> {
    this.#closing ??= Promise.all(this.#shards.map((shard) => shard.close(timeoutMs ?? null))).then(() => undefined);
    return this.#closing;
  }

  /**
   * The stages and sinks of the threads: counters by name, summed over the threads, and the degraded states of each
   * thread.
   */
  onward(): Onward {
    const stages: Record<string, Readonly<Record<string, number>>> = {};
    const sinks: Record<string, SinkTotals> = {};
    for (const { totals } of this.#shards) {
      addByName(stages, totals?.stages ?? {}, addCounters);
      addByName(sinks, totals?.sinks ?? {}, addTotals);
    }
    const degraded = this.#shards.flatMap((shard) =>
      shard.degraded.map((state) => ({ ...state, where: `${shard.name}: ${state.where}` })),
    );
    return { stages, sinks, degraded };
  }

  /** Sorts the rows of the reports by share. */
  #sort(batch: TelemetryBatch): void {
    const { reports, code, capacity } = batch;
    if (this.#shares.length < reports) {
      this.#shares = new Uint32Array(capacity.reports);
      this.#rows = new Uint32Array(capacity.reports);
    }
    const [shares, rows, ends] = [this.#shares, this.#rows, this.#ends.fill(0)];
    shareRows(batch, ends.length, shares);
    for (let row = 0; row < reports; row++) if (code[row] === CODES.OK) ends[shares[row]!]!++;
    // The begin of each share. It moves to the share's end as rows are added.
    let begin = 0;
    for (let share = 0; share < ends.length; share++) {
      const count = ends[share]!;
      ends[share] = begin;
      begin += count;
    }
    for (let row = 0; row < reports; row++) if (code[row] === CODES.OK) rows[ends[shares[row]!]!++] = row;
  }

  /**
   * Hands the sorted rows of a batch to the threads.
   * @param share the first share to hand on
   * @param from place in the sorted rows
   */
  #spread(batch: TelemetryBatch, share: number, from: number): Promise<void> | undefined {
    let at = from;
    for (let index = share; index < this.#shards.length; index++) {
      const shard = this.#shards[index]!;
      const end = this.#ends[index]!;
      const next = shard.add(batch, this.#rows, at, end);
      this.#offered += next - at;
      if (next < end) {
        if (this.#isWaiting) return this.#whenRoom().then(() => this.#spread(batch, index, next));
        this.#overflow += end - next;
        this.#offered += end - next;
      }
      at = end;
    }
    for (const shard of this.#shards) shard.flush();
    return undefined;
  }

  #whenRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
