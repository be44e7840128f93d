import type { PartialQueue } from '../model/partial.js';
import type { ByteFields } from '../partial/fields.js';
import { QueueCounts } from './counts.js';
import type { GivenQueue } from './given.js';
import { Entry } from './registry.js';

/** The result of a window for a queue. */
export interface QueueVerdict {
  readonly queue: GivenQueue;
  /** The value that was compared with the threshold; 0 without values. */
  readonly statistic: number;
  /** Whether persistent congestion began or ended in this window. */
  readonly change: 'began' | 'ended' | null;
  /** First window of the persistent congestion; -1 if there is none. */
  readonly since: number;
  /** Number of consecutive windows that led to the change. */
  readonly windows: number;
}

/** A queue of a switch: its counts in the open window, and its consecutive windows above the threshold. */
export class QueueEntry extends Entry {
  /** Counts of the open window. */
  counts = new QueueCounts();
  /** Consecutive windows above the threshold. */
  #above = 0;
  /** Consecutive windows not above the threshold, during persistent congestion. */
  #below = 0;
  /** First window of the persistent congestion; -1 if there is none. */
  #since = -1;

  merge(part: PartialQueue, slice: number): void {
    this.lastSlice = Math.max(this.lastSlice, slice);
    this.counts.merge(part);
  }

  /** Whether the end of a window would change nothing. */
  get isQuiet(): boolean {
    return this.counts.isEmpty && this.#above === 0 && this.#since < 0;
  }

  /**
   * Closes the open window.
   * @param isComplete whether nothing is missing; only then does a window without values end a series above the
   *   threshold
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
    let since = this.#since;
    let row = 0;
    if (isAbove) {
      this.#above++;
      this.#below = 0;
      if (this.#since < 0 && this.#above >= windows) {
        change = 'began';
        row = this.#above;
        since = window - this.#above + 1;
        this.#since = since;
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
    return { queue: { queueId: this.words[1]!, counts, status }, statistic: value, change, since, windows: row };
  }

  override pass(fields: ByteFields): void {
    this.counts.pass(fields);
    this.#above = fields.number(this.#above);
    this.#below = fields.number(this.#below);
    this.#since = fields.signed(this.#since);
  }
}
