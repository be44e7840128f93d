import type { ScriptName } from '../client/scripts.js';
import { KindCounters } from './counters.js';

/** A kind of records. */
export type KindName = 'events' | 'entries' | 'values';

/** All kinds; the writer's hash in Redis counts under these names. */
export const KINDS: readonly KindName[] = ['events', 'entries', 'values'];

/** Some records, ready to be sent as often as needed: always the same bytes under the same number. */
export interface Batch {
  readonly outlet: Outlet;
  readonly script: ScriptName;
  /** Arguments of the script behind session, number and outlet. */
  readonly args: readonly (string | Buffer)[];
  readonly records: number;
  readonly bytes: number;
  /** Gives the buffers back. */
  release(): void;
}

/** Records of one kind on their way: those that wait, in order, and what became of the others. */
export abstract class Outlet {
  readonly name: KindName;
  /** Records pending at most. */
  readonly capacity: number;
  readonly batchRecords: number;
  readonly counters: KindCounters = new KindCounters();
  /** Records wait that are to be sent even if they do not fill a batch. */
  isDue = false;
  #waiters: (() => void)[] = [];

  constructor(name: KindName, capacity: number, batchRecords: number) {
    this.name = name;
    this.capacity = capacity;
    this.batchRecords = Math.min(batchRecords, capacity);
  }

  /** Whether a batch should be sent now. */
  get isReady(): boolean {
    const { waiting } = this.counters;
    return waiting >= this.batchRecords || (this.isDue && waiting > 0);
  }

  get room(): number {
    return this.capacity - this.counters.pending;
  }

  /** Makes a batch of the oldest records that wait. */
  next(): Batch {
    const { counters } = this;
    const records = Math.min(this.batchRecords, counters.waiting);
    const batch = this.encode(records);
    counters.waiting -= records;
    counters.inFlight += records;
    if (counters.waiting === 0) this.isDue = false;
    return batch;
  }

  protected abstract encode(records: number): Batch;

  /** Forgets everything that waits. */
  clear(): void {
    this.counters.waiting = 0;
    this.isDue = false;
  }

  /** Resolves when there is room, in a piece worth waking up for. */
  whenRoom(): Promise<void> {
    return this.room > 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Wakes who waits for room. @param always even if there is none: nothing will be written any more */
  wake(always: boolean): void {
    if (this.#waiters.length === 0) return;
    if (!always && this.room < Math.min(this.batchRecords, Math.ceil(this.capacity / 4))) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** Buffers of one size, used again and again. */
export class BufferPool {
  readonly #bytes: number;
  readonly #free: Buffer[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  give(buffer: Buffer): void {
    this.#free.push(buffer);
  }
}
