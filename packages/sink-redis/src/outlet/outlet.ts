import type { ScriptName } from '../client/scripts.js';
import { KindCounters } from './counters.js';

/** `events` and `entries` are those of a flow cache, `detected` are the events of detectors. */
export type KindName = 'events' | 'entries' | 'values' | 'detected';

/** All kinds. The writer's hash in Redis has counters of these names. */
export const KINDS: readonly KindName[] = ['events', 'entries', 'values', 'detected'];

/** A batch of records, which can be sent repeatedly: always the same bytes under the same number. */
export interface Batch {
  readonly outlet: Outlet;
  readonly script: ScriptName;
  /** Arguments of the script after session, number and outlet. */
  readonly args: readonly (string | Buffer)[];
  readonly records: number;
  readonly bytes: number;
  /** Returns the buffers to their pool. */
  release(): void;
}

/** The records of one kind: a queue of waiting ones, and counters of the others. */
export abstract class Outlet {
  readonly name: KindName;
  /** Most pending records. */
  readonly capacity: number;
  readonly batchRecords: number;
  readonly counters: KindCounters = new KindCounters();
  /** Whether waiting records must be sent even if they do not fill a batch. */
  isDue = false;
  #waiters: (() => void)[] = [];

  constructor(name: KindName, capacity: number, batchRecords: number) {
    this.name = name;
    this.capacity = capacity;
    this.batchRecords = Math.min(batchRecords, capacity);
  }

  get isReady(): boolean {
    const { waiting } = this.counters;
    return waiting >= this.batchRecords || (this.isDue && waiting > 0);
  }

  get room(): number {
    return this.capacity - this.counters.pending;
  }

  /** Makes a batch of the oldest waiting records. */
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

  clear(): void {
    this.counters.waiting = 0;
    this.isDue = false;
  }

  /** Resolves when there is enough room to be worth waking up for. */
  whenRoom(): Promise<void> {
    return this.room > 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Wakes callers that wait for room. @param always even without room, because nothing more will be written */
  wake(always: boolean): void {
    if (this.#waiters.length === 0) return;
    if (!always && this.room < Math.min(this.batchRecords, Math.ceil(this.capacity / 4))) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }
}
