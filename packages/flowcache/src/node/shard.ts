/** The main thread's side of one worker. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { TelemetryBatch } from '@int/codec';
import { SpscRing } from '@int/rings';
import { FlowCacheView } from '../cache/reader.js';
import { Distributions } from '../distribution/distributions.js';
import { EVENT_WORDS, HEADER_WORDS } from '../layout.js';
import { ShardError } from './errors.js';
import type { ResolvedShardOptions } from './options.js';
import { type Answer, BELL, type RequestName, type Requests, type ShardReady, type ShardSetup } from './protocol.js';
import { makeSlots } from './slot.js';

/**
 * So many requests may be unanswered. The ring of work has room for them, for the slots, and for the request to stop.
 */
const REQUESTS = 1023;

/** What a shard offers its readers, in this thread or in one that was sent a ring's `buffer`. */
export interface ShardOutput {
  /** Number of the shard, from 0. */
  readonly index: number;
  /** Entries that leave the cache, `geometry.bucketStride` words each. Only one reader may pop. */
  readonly entries: SpscRing;
  /** Events, EVENT_WORDS words each; one reader likewise. */
  readonly events: SpscRing;
  /** The distributions of the reports of this shard, as the worker counts them; `null` if none were asked for. */
  readonly distributions: Distributions | null;
  /** The memory that holds the cache, and where the cache begins: a FlowCacheView in another thread needs both. */
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
  /** Whether the worker updates in WebAssembly. */
  readonly usesAccelerator: boolean;
  /** Why the worker has ended by itself; `null` if it has not. */
  readonly failure: ShardError | null;
  /** A look into the cache while the worker goes on; also when it has been stopped. */
  view(): FlowCacheView;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: ShardError) => void;
}

const ring = (recordWords: number, capacity: number): SpscRing => {
  const buffer = new SharedArrayBuffer(SpscRing.byteLength(recordWords, capacity));
  return new SpscRing({ recordWords, capacity, buffer });
};
const memoryOf = ({ buffer }: SpscRing): SharedArrayBuffer => buffer as SharedArrayBuffer;

export class Shard implements ShardOutput {
  readonly index: number;
  readonly entries: SpscRing;
  readonly events: SpscRing;
  readonly distributions: Distributions | null;
  /** Resolves when the worker has its cache. */
  readonly ready: Promise<void>;
  failure: ShardError | null = null;
  /** Reports in slots that were given to the worker, or are about to be. */
  placed = 0;
  /** Reports for which there was no slot, and those that came after the worker had ended. */
  lostFull = 0;
  lostFailed = 0;
  readonly #options: ResolvedShardOptions;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #work: SpscRing;
  readonly #free: SpscRing;
  #slots: readonly TelemetryBatch[] = [];
  /** Slots to fill. The one that was read last is filled first, because it is still in the processor's cache. */
  readonly #available: Int32Array;
  #availableCount: number;
  readonly #record = new Int32Array(1);
  /** The slot that is being filled; -1: none. */
  #current = -1;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #memory: ShardReady | null = null;
  #isStopping = false;
  #isTerminated = false;
  #error: unknown;
  /** Resolves when the worker has ended. */
  readonly #exited: Promise<void>;

  constructor(index: number, options: ResolvedShardOptions) {
    const { geometry, slots, slotReports, slotHops, entryRecords, eventRecords } = options;
    this.index = index;
    this.#options = options;
    const capacity = { reports: slotReports, hops: slotHops };
    this.#available = Int32Array.from({ length: slots }, (_, slot) => slot);
    this.#availableCount = slots;
    this.#work = ring(1, slots + REQUESTS + 1);
    this.#free = ring(1, slots);
    this.entries = ring(geometry.bucketStride, entryRecords);
    this.events = ring(EVENT_WORDS, eventRecords);
    this.distributions = this.#makeDistributions();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const { hash, seed, accelerator, idleNs, restore } = options;
    const { layout, rows, buckets, hops, metrics } = geometry;
    const setup: ShardSetup = {
      shard: index,
      port: port2,
      cache: { layout, rows, buckets, hops, metrics, hash, seed, accelerator },
      thresholds: options.thresholds.words.buffer,
      slots: { capacity, count: slots },
      work: memoryOf(this.#work),
      free: memoryOf(this.#free),
      entries: memoryOf(this.entries),
      events: memoryOf(this.events),
      distributions: (this.distributions?.buffer as SharedArrayBuffer | undefined) ?? null,
      idleNs,
      restore: restore?.[index] ?? null,
    };
    this.ready = new Promise((resolve, reject) => {
      const isReady = (memory: ShardReady): void => {
        this.#memory = memory;
        this.#slots = makeSlots(capacity, slots, memory.slots.buffer, memory.slots.byteOffset);
        resolve();
      };
      this.#pending.set(0, { resolve: isReady, reject });
    });
    this.#port.on('message', (answer: Answer) => this.#onAnswer(answer));
    // Not the options of this process: `--input-type` is for its own program only, and no loader is needed.
    this.#worker = new Worker(options.worker, { workerData: setup, transferList: [port2], execArgv: [] });
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#onExit(code);
        resolve();
      });
    });
  }

  get buffer(): SharedArrayBuffer {
    return this.#memory!.buffer;
  }

  get byteOffset(): number {
    return this.#memory!.byteOffset;
  }

  get usesAccelerator(): boolean {
    return this.#memory!.usesAccelerator;
  }

  view(): FlowCacheView {
    return new FlowCacheView(this.buffer, this.byteOffset);
  }

  /** The slot to fill, or `null` if all are full. */
  slot(): TelemetryBatch | null {
    if (this.#current >= 0) return this.#slots[this.#current]!;
    if (this.#availableCount === 0) {
      this.#availableCount = this.#free.pop(this.#available, 0, this.#available.length);
      if (this.#availableCount === 0) return null;
    }
    this.#current = this.#available[--this.#availableCount]!;
    const slot = this.#slots[this.#current]!;
    slot.clear();
    return slot;
  }

  /** Gives the slot that is being filled to the worker, if there is something in it. */
  publish(): void {
    if (this.#current < 0 || this.failure !== null) return;
    const slot = this.#slots[this.#current]!;
    if (slot.reports === 0) return;
    this.#push(this.#current);
    this.#current = -1;
  }

  /** Resolves when half of the slots can be filled, or the worker has ended. */
  async freed(): Promise<void> {
    // Not at the first slot: it would be full in no time, and each wake-up costs as much as some hundred reports.
    await this.#free.waitAsync(Number.POSITIVE_INFINITY, this.#slots.length >> 1);
  }

  /**
   * Asks the worker, after all that it was given before.
   * @throws ShardError (rejects)
   */
  ask<K extends RequestName>(name: K, ask: Requests[K]['ask']): Promise<Requests[K]['answer']> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.#isStopping) return Promise.reject(this.#stopped());
    if (name === 'stop') this.#isStopping = true;
    else if (this.#pending.size >= REQUESTS) {
      const message = `${REQUESTS} requests have not been answered`;
      return Promise.reject(new ShardError('ERR_SHARD_BUSY', this.index, message));
    }
    this.publish();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#port.postMessage({ id, name, ...ask });
      this.#push(BELL);
    });
  }

  /** The words of the header of a cache whose worker has failed; `null` if it had none yet. */
  remains(): Int32Array | null {
    return this.#memory === null ? null : new Int32Array(this.buffer, this.byteOffset, HEADER_WORDS);
  }

  /** Resolves when the worker has ended, which it does by itself after `stop`. */
  async exited(): Promise<void> {
    await this.#exited;
    this.#port.close();
  }

  /** Ends the worker now. */
  async terminate(): Promise<void> {
    this.#isTerminated = true;
    await this.#worker.terminate();
    await this.exited();
  }

  #makeDistributions(): Distributions | null {
    const { distributions } = this.#options;
    if (distributions === null) return null;
    const buffer = new SharedArrayBuffer(Distributions.byteLength(distributions));
    return new Distributions({ ...distributions, buffer });
  }

  #push(work: number): void {
    this.#record[0] = work;
    if (this.#work.push(this.#record, 0, 1) === 0) throw new Error('the ring of work has room for all there can be');
  }

  #onAnswer(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    if (pending === undefined) return;
    this.#pending.delete(answer.id);
    if ('value' in answer) pending.resolve(answer.value as never);
    else if (answer.isStopped) pending.reject(this.#stopped());
    else pending.reject(new ShardError('ERR_SHARD_REQUEST', this.index, messageOf(answer.error), answer.error));
  }

  #onExit(code: number): void {
    // Its last answers may still be on the way.
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { message: Answer } | undefined;
      if (received === undefined) break;
      this.#onAnswer(received.message);
    }
    // A worker that was told to stop has answered everything.
    if (!this.#isStopping || this.#pending.size > 0) this.#fail(code);
    // The worker can no longer close them, and readers must not wait for more.
    for (const each of [this.#free, this.entries, this.events]) each.close();
  }

  #fail(code: number): void {
    const hasStarted = this.#memory !== null;
    const what = hasStarted ? 'the worker has ended' : 'the worker did not start';
    const why = this.#error === undefined ? `exit code ${code}` : messageOf(this.#error);
    const errorCode = hasStarted ? 'ERR_SHARD_FAILED' : 'ERR_SHARD_START';
    const failure = new ShardError(errorCode, this.index, `${what}: ${why}`, this.#error);
    this.failure = failure;
    for (const pending of this.#pending.values()) pending.reject(failure);
    this.#pending.clear();
    // If it did not start, the promise of the opener carries the error.
    if (hasStarted && !this.#isTerminated) this.#options.onFailure?.(failure);
  }

  #stopped(): ShardError {
    return new ShardError('ERR_SHARD_STOPPED', this.index, 'the worker has been stopped');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
