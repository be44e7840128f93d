/** One thread of {@link FlowWorkers}, as the thread of the pipeline sees it. */
import { Worker } from 'node:worker_threads';
import { Arena, ReportCopier, TelemetryBatch } from '@int/codec';
import type { CollectorTotals } from '../counters.js';
import { within } from '../delivery/within.js';
import type { DegradedPart } from '../health/degraded-state.js';
import type { FromWorker, ToWorker, WorkerSetup } from './protocol.js';

/** The callbacks of a shard. */
export interface ShardListener {
  /** A slab has come back: there is room. */
  onRoom(): void;
  onData(data: unknown, index: number): void;
  onProblem(where: string, error: Error): void;
}

/** Extra time after its limit in which a thread may still end, in milliseconds. */
const GRACE_MS = 2000;

export class WorkerShard {
  readonly index: number;
  /** Reports that the thread has processed. */
  delivered = 0;
  /** Reports in the slab being filled, and in the thread's slabs. */
  pending = 0;
  /** Reports that the thread had when it failed, or that came afterwards. */
  failed = 0;
  /** Reports of frames that are larger than a slab. */
  oversized = 0;
  /** As last told. */
  totals: CollectorTotals | null = null;
  /** The last known degraded states of the thread's stages and sinks. */
  degraded: readonly DegradedPart[] = [];
  readonly #worker: Worker;
  /** Batches in memory that the two threads share. */
  readonly #slabs: readonly TelemetryBatch[];
  readonly #copier = new ReportCopier();
  /** Reports in each slab: what comes back with it. */
  readonly #reports: number[];
  readonly #free: number[];
  readonly #listener: ShardListener;
  readonly #exited: Promise<void>;
  #filling = -1;
  /** The error that ended the thread, or `null`. */
  failure: Error | null = null;
  #isDone = false;

  /** Starts the thread and waits until it has built its stages and sinks. @throws the thread's error */
  static async open(module: string | URL, setup: WorkerSetup, listener: ShardListener): Promise<WorkerShard> {
    const shard = new WorkerShard(module, setup, listener);
    const failure = await shard.#opened;
    if (failure !== null) throw failure;
    return shard;
  }

  readonly #opened: Promise<Error | null>;

  private constructor(module: string | URL, setup: WorkerSetup, listener: ShardListener) {
    this.index = setup.index;
    this.#listener = listener;
    this.#slabs = setup.slabs.map((buffer) => new TelemetryBatch(setup.capacity, new Arena(buffer)));
    this.#reports = this.#slabs.map(() => 0);
    this.#free = this.#slabs.map((_, slab) => slab);
    // Not the options of this process: `--input-type` is for its own program only.
    this.#worker = new Worker(module, { workerData: setup, execArgv: [] });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        if (!this.#isDone) this.#fail(new Error(`the thread has ended with code ${code}`));
        resolve();
      });
    });
    this.#opened = new Promise((resolve) => {
      this.#worker.on('message', (message: FromWorker) => {
        if (message.name === 'ready') resolve(null);
        else this.#take(message);
      });
      this.#worker.on('error', (error) => {
        this.#fail(error);
        resolve(error);
      });
      void this.#exited.then(() => resolve(this.failure));
    });
  }

  get name(): string {
    return `worker ${this.index}`;
  }

  /**
   * Copies the reports in `rows[from]` to `rows[to - 1]` into slabs, and hands on those that are full.
   * @returns the first row without room; {@link ShardListener.onRoom} tells when there is room again
   */
  add(batch: TelemetryBatch, rows: Uint32Array, from: number, to: number): number {
    let next = from;
    while (next < to) {
      if (this.failure !== null) {
        this.failed += to - next;
        return to;
      }
      const slab = this.#open(batch);
      if (slab === null) return next;
      const count = this.#copier.append(batch, slab, rows, next, to);
      next += count;
      this.#reports[this.#filling]! += count;
      this.pending += count;
      if (next === to) break;
      if (count === 0 && slab.reports === 0) {
        // Not even an empty slab has room for its frame.
        this.oversized++;
        next++;
      } else this.flush();
    }
    return next;
  }

  /** Hands the slab that fills to the thread. */
  flush(): void {
    const slab = this.#filling;
    if (slab < 0 || this.#slabs[slab]!.reports === 0) return;
    this.#filling = -1;
    this.#send({ name: 'slab', slab });
  }

  /** All reports with an earlier time have been added. */
  advance(timeMs: number): void {
    this.flush();
    this.#send({ name: 'advance', timeMs });
  }

  send(data: unknown): void {
    this.#send({ name: 'data', data });
  }

  /**
   * Lets the thread process its slabs, close its sinks and end.
   * @param timeoutMs time limit in milliseconds; a slower thread is terminated, and its reports count as failed
   */
  async close(timeoutMs: number | null): Promise<void> {
    this.flush();
    this.#send({ name: 'stop', timeoutMs });
    const limitMs = timeoutMs === null ? Number.POSITIVE_INFINITY : timeoutMs + GRACE_MS;
    if (await within(limitMs, this.#exited)) return;
    void this.#worker.terminate();
    await this.#exited;
  }

  /** Ends the thread at once. */
  async terminate(): Promise<void> {
    this.#isDone = true;
    await this.#worker.terminate();
  }

  /**
   * The slab being filled, or an empty one; `null` if the thread has all slabs. A slab holds frames of one link type.
   */
  #open({ linkType }: TelemetryBatch): TelemetryBatch | null {
    let slab = this.#slabs[this.#filling];
    if (slab !== undefined && slab.reports > 0 && slab.linkType !== linkType) {
      this.flush();
      slab = undefined;
    }
    if (slab !== undefined) return slab;
    const next = this.#free.pop();
    if (next === undefined) return null;
    this.#filling = next;
    return this.#slabs[next]!;
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #take(message: Exclude<FromWorker, { name: 'ready' }>): void {
    switch (message.name) {
      case 'free': {
        const { slab } = message;
        this.#slabs[slab]!.clear();
        this.delivered += this.#reports[slab]!;
        this.pending -= this.#reports[slab]!;
        this.#reports[slab] = 0;
        this.#free.push(slab);
        this.#listener.onRoom();
        return;
      }
      case 'state':
        this.totals = message.totals;
        this.degraded = message.degraded;
        return;
      case 'problem':
        this.#listener.onProblem(`${this.name}: ${message.where}`, new Error(message.message));
        return;
      case 'data':
        this.#listener.onData(message.data, this.index);
        return;
      case 'done':
        this.totals = message.totals;
        this.degraded = [];
        this.#isDone = true;
    }
  }

  #fail(error: Error): void {
    if (this.failure !== null || this.#isDone) return;
    this.failure = error;
    this.degraded = [];
    this.failed += this.pending;
    this.pending = 0;
    this.#reports.fill(0);
    this.#listener.onProblem(this.name, error);
    this.#listener.onRoom();
  }
}
