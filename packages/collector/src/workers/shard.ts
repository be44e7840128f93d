/** One thread of {@link FlowWorkers}, as the thread of the pipeline sees it. */
import { Worker } from 'node:worker_threads';
import type { LinkLayer } from '@int/codec';
import type { CollectorTotals } from '../counters.js';
import { type FrameBatch, FrameSlab } from '../frames.js';
import type { DegradedPart } from '../health/degraded-state.js';
import type { FromWorker, ToWorker, WorkerSetup } from './protocol.js';

/** What a shard tells of. */
export interface ShardListener {
  /** A slab has come back: there is room. */
  onRoom(): void;
  onData(data: unknown, index: number): void;
  onProblem(where: string, error: Error): void;
}

/** The longest time that a timer knows. */
const MAX_MS = 2 ** 31 - 1;
/** Time beyond its limit that a thread has to end. */
const GRACE_MS = 2000;

export class WorkerShard {
  readonly index: number;
  /** Reports given to the thread that it has gone through. */
  delivered = 0;
  /** Reports on their way: in the slab that fills, and in those that the thread has. */
  pending = 0;
  /** Reports that the thread had when it failed, or that came afterwards. */
  failed = 0;
  /** As last told. */
  totals: CollectorTotals | null = null;
  /** What the thread's stages and sinks suffer from, as last told. */
  degraded: readonly DegradedPart[] = [];
  readonly #worker: Worker;
  readonly #slabs: readonly FrameSlab[];
  /** Reports in each slab: what comes back with it. */
  readonly #reports: number[];
  readonly #free: number[];
  readonly #listener: ShardListener;
  readonly #exited: Promise<void>;
  #filling = -1;
  #isSplit = false;
  #failure: Error | null = null;
  #isDone = false;

  /** Starts the thread and waits until it has built its stages and sinks. @throws what it throws meanwhile */
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
    this.#slabs = setup.slabs.map((buffer) => new FrameSlab(setup.capacity, null, buffer));
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
      void this.#exited.then(() => resolve(this.#failure));
    });
  }

  get name(): string {
    return `worker ${this.index}`;
  }

  /** Why it takes nothing any more, or `null`. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Copies a frame into the slab that fills.
   * @param reports how many reports of this share it holds
   * @param isSplit whether it holds others as well
   * @returns false if there is no room: {@link ShardListener.onRoom} tells
   */
  add(frames: FrameBatch, row: number, linkType: LinkLayer, reports: number, isSplit: boolean): boolean {
    if (this.#failure !== null) {
      this.failed += reports;
      return true;
    }
    let slab = this.#slabs[this.#filling];
    if (slab !== undefined && (slab.linkType !== linkType || !slab.fits(frames.lengths[row]!))) {
      this.flush();
      slab = undefined;
    }
    if (slab === undefined) {
      const next = this.#free.pop();
      if (next === undefined) return false;
      this.#filling = next;
      slab = this.#slabs[next]!;
      slab.linkType = linkType;
    }
    slab.appendFrom(frames, row);
    this.#reports[this.#filling]! += reports;
    this.pending += reports;
    this.#isSplit ||= isSplit;
    return true;
  }

  /** Hands the slab that fills to the thread. */
  flush(): void {
    const slab = this.#filling;
    if (slab < 0) return;
    this.#filling = -1;
    const { count, linkType } = this.#slabs[slab]!;
    this.#send({ name: 'slab', slab, frames: count, linkType: linkType!, isSplit: this.#isSplit });
    this.#isSplit = false;
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
   * Has the thread finish what it has, close its sinks and end.
   * @param timeoutMs time for that; a thread that takes longer is ended, and what it had counts as failed
   */
  async close(timeoutMs: number | null): Promise<void> {
    this.flush();
    this.#send({ name: 'stop', timeoutMs });
    const limitMs = timeoutMs === null ? MAX_MS : Math.min(MAX_MS, timeoutMs + GRACE_MS);
    const limit = setTimeout(() => void this.#worker.terminate(), limitMs);
    await this.#exited;
    clearTimeout(limit);
  }

  /** Ends the thread at once. */
  async terminate(): Promise<void> {
    this.#isDone = true;
    await this.#worker.terminate();
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
    if (this.#failure !== null || this.#isDone) return;
    this.#failure = error;
    this.degraded = [];
    this.failed += this.pending;
    this.pending = 0;
    this.#reports.fill(0);
    this.#listener.onProblem(this.name, error);
    this.#listener.onRoom();
  }
}
