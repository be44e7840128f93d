import type { PartialQueue } from '../model/partial.js';
import type { QueueWindow, Summary } from '../model/window.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import type { Entry } from './registry.js';

/** What a window's end has shown of a queue. */
export interface QueueVerdict {
  readonly window: QueueWindow;
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
  #count = 0;
  #sum = 0;
  #min = 0;
  #max = 0;
  #congested = 0;
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
    this.lastSlice = slice;
    this.#congested += part.congested;
    if (part.count === 0) return;
    this.#min = this.#count === 0 ? part.min : Math.min(this.#min, part.min);
    this.#max = Math.max(this.#max, part.max);
    this.#count += part.count;
    this.#sum += part.sum;
  }

  /** Nothing can come of it while it stays as it is. */
  get isQuiet(): boolean {
    return this.#count === 0 && this.#congested === 0 && this.#above === 0 && this.#since < 0;
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
    const occupancy: Summary | null =
      this.#count === 0 ? null : { count: this.#count, sum: this.#sum, min: this.#min, max: this.#max };
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
    const verdict: QueueVerdict = {
      window: { queueId: this.words[1]!, occupancy, congested: this.#congested, status },
      statistic: value,
      change,
      since,
      windows: row,
    };
    this.#count = 0;
    this.#sum = 0;
    this.#min = 0;
    this.#max = 0;
    this.#congested = 0;
    return verdict;
  }

  write(writer: ByteWriter): void {
    for (const number of [this.#count, this.#sum, this.#min, this.#max, this.#congested, this.#above, this.#below]) {
      writer.number(number);
    }
    writer.signed(this.#since);
  }

  read(reader: ByteReader): void {
    this.#count = reader.number();
    this.#sum = reader.number();
    this.#min = reader.number();
    this.#max = reader.number();
    this.#congested = reader.number();
    this.#above = reader.number();
    this.#below = reader.number();
    this.#since = reader.signed();
  }
}
