import { RecordQueue } from '../record/queue.js';
import { type KindName, Outlet } from './outlet.js';

/** An outlet whose records are words and wait in a ring of fixed size. */
export abstract class RecordOutlet extends Outlet {
  protected readonly queue: RecordQueue;

  constructor(name: KindName, recordWords: number, capacity: number, batchRecords: number) {
    super(name, capacity, batchRecords);
    this.queue = new RecordQueue(recordWords, capacity);
  }

  get recordWords(): number {
    return this.queue.recordWords;
  }

  /** Copies as many records as fit. @returns their number */
  take(words: Int32Array | Uint32Array, at: number, records: number): number {
    const taken = Math.min(records, this.room);
    if (taken > 0) {
      this.queue.put(words, at, taken);
      this.counters.waiting += taken;
      this.counters.accepted += taken;
    }
    return taken;
  }

  override clear(): void {
    super.clear();
    this.queue.drop(this.queue.count);
  }
}
