import type { PartialQueue } from '../model/partial.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { QueueCounts } from './counts.js';
import type { GivenQueue } from './given.js';
import type { Entry } from './registry.js';

/** What a window's end has shown of a queue. */
export interface QueueVerdict {
  readonly queue: GivenQueue;
  /** What was compared with the threshold; 0 without values. */
  readonly statistic: number;
  /** There is persistent congestion from now on, or no more. */
  readonly change: 'began' | 'ended' | null;
  /** The first window of those in a row. */
  readonly since: number;
  /** Windows in a row that led to the change. */
  readonly windows: number;
}

/** A queue of a switch: its part in the window that is open, and how often it was above its threshold. */
export class QueueEntry implements Entry {
  readonly words: readonly number[];
  lastSlice = 0;
  /** Of the open window. */
  counts = new QueueCounts();
  /** Windows in a row above the threshold. */
  #above = 0;
  /** Windows in a row not above it, while there is persistent congestion. */
  #below = 0;
  /** First window of the persistent congestion there is; -1: there is none. */
  #since = -1;

  constructor(words: readonly number[]) {
    this.words = words;
  }

  merge(part: PartialQueue, slice: number): void {
    this.lastSlice = Math.max(this.lastSlice, slice);
    this.counts.merge(part);
  }

  /** Nothing can come of it while it stays as it is. */
  get isQuiet(): boolean {
    return this.counts.isEmpty && this.#above === 0 && this.#since < 0;
  }

  /**
   * The window is over.
   * @param isComplete nothing is missing: where no value is, there was none
   */
  close(
    window: number,
    threshold: number,
    statistic: 'mean' | 'max',
    windows: number,
    isComplete: boolean,
  ): QueueVerdict {
    const { counts } = this;
    const occupancy = counts.occupancy();
    const value = occupancy === null ? 0 : statistic === 'max' ? occupancy.max : occupancy.sum / occupancy.count;
    const isAbove = occupancy !== null && value > threshold;
    let change: QueueVerdict['change'] = null;
    let { since, row } = { since: this.#since, row: 0 };
    if (isAbove) {
      this.#above++;
      this.#below = 0;
      if (this.#since < 0 && this.#above >= windows) {
        change = 'began';
        row = this.#above;
        this.#since = window - this.#above + 1;
        since = this.#since;
      }
    } else if (occupancy !== null || isComplete) {
      this.#above = 0;
      if (this.#since >= 0 && ++this.#below >= windows) {
        change = 'ended';
        row = this.#below;
        this.#since = -1;
        this.#below = 0;
      }
    }
    const status = this.#since >= 0 ? 'persistent' : isAbove ? 'above' : 'clear';
    this.counts = new QueueCounts();
    return {
      queue: { queueId: this.words[1]!, counts, status },
      statistic: value,
      change,
      since,
      windows: row,
    };
  }

  write(writer: ByteWriter): void {
    this.counts.write(writer);
    writer.number(this.#above);
    writer.number(this.#below);
    writer.signed(this.#since);
  }

  read(reader: ByteReader): void {
    this.counts.read(reader);
    this.#above = reader.number();
    this.#below = reader.number();
    this.#since = reader.signed();
  }
}
