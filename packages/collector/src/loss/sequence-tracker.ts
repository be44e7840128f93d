import { BusiestKeys, NO_ROW } from '../statistics/busiest-keys.js';
import { move } from '../statistics/rows.js';

/** A jump ahead by this many numbers counts as a restart, not as a loss. */
const IMPLAUSIBLE_JUMP = 1 << 16;

/** The counters of one reporter. Every number seen is in one of the first four. */
export interface SequenceCounts {
  /** In order: the highest so far. */
  readonly inOrder: number;
  /** Behind a higher one, and inside the window: a gap filled. */
  readonly reordered: number;
  /** Seen before, inside the window. */
  readonly duplicates: number;
  /** Behind the window: already counted as lost, or a duplicate. Or far ahead, without a restart. */
  readonly late: number;
  /** Jumps to an unrelated number, as after a restart. Losses at the jump are unknown. */
  readonly restarts: number;
  /** Numbers never seen that have left the window. */
  readonly lost: number;
  /** Numbers not seen yet, inside the window: lost, unless they come. */
  readonly missing: number;
}

/** Counters of a row, in the order they lie in. */
const COUNT = { IN_ORDER: 0, REORDERED: 1, DUPLICATES: 2, LATE: 3, RESTARTS: 4, LOST: 5, MISSING: 6 } as const;
const COUNTS = 7;

/** Options of a {@link SequenceTracker}. */
export interface SequenceTrackerOptions {
  /** Reporters to follow, the busiest, 1 to 65,536. Default 4096. About 200 bytes each, at the default window. */
  readonly reporters?: number;
  /** How far behind the highest number another one may come, as a power of two from 32 to 65,536. Default 128. */
  readonly window?: number;
}

/**
 * Follows the sequence numbers of many reporters and counts lost, late, reordered and duplicate numbers. A gap counts
 * as a loss only when it leaves the window, so reordered packets are no loss. Numbers may wrap around. A restart of a
 * reporter does not count as a loss of millions.
 *
 * Its size is fixed, and a number allocates nothing. When there are more reporters than rows, {@link elect} gives the
 * rows to the busiest. {@link left} keeps the counts of the reporters that lost their row.
 */
export class SequenceTracker {
  readonly #window: number;
  readonly #keys: BusiestKeys;
  readonly #highest: Uint32Array;
  /** The number last seen that fits neither the window nor a plausible loss; -1 if the last one did fit. */
  readonly #candidate: Float64Array;
  /** A bit for each number of the window, at the number modulo the window. */
  readonly #seen: Uint32Array;
  /** Counters of each row, and after them the sum over all reporters that lost their row. */
  readonly #counts: Float64Array;

  /** @throws RangeError for an option out of range */
  constructor({ reporters = 4096, window = 128 }: SequenceTrackerOptions = {}) {
    if (!Number.isInteger(window) || window < 32 || window > 65_536 || (window & (window - 1)) !== 0) {
      throw new RangeError(`window must be a power of two from 32 to 65536, not ${window}`);
    }
    this.#window = window;
    this.#keys = new BusiestKeys(reporters);
    this.#highest = new Uint32Array(reporters);
    this.#candidate = new Float64Array(reporters).fill(-1);
    this.#seen = new Uint32Array((reporters * window) / 32);
    this.#counts = new Float64Array((reporters + 1) * COUNTS);
  }

  /** Reporters followed; rows are 0 to `size - 1`. */
  get size(): number {
    return this.#keys.size;
  }

  /** How often a row was given to another reporter. */
  get replaced(): number {
    return this.#keys.replaced;
  }

  /** First and second word of a row's key, as given to {@link note}. */
  key(row: number): readonly [number, number] {
    return [this.#keys.first[row]!, this.#keys.second[row]!];
  }

  /** The counters of a row. */
  counts(row: number): SequenceCounts {
    const at = row * COUNTS;
    const of = (index: number): number => this.#counts[at + index]!;
    return {
      inOrder: of(COUNT.IN_ORDER),
      reordered: of(COUNT.REORDERED),
      duplicates: of(COUNT.DUPLICATES),
      late: of(COUNT.LATE),
      restarts: of(COUNT.RESTARTS),
      lost: of(COUNT.LOST),
      missing: of(COUNT.MISSING),
    };
  }

  /** The counters of reporters that lost their row. Their missing numbers count as lost. */
  get left(): SequenceCounts {
    return this.counts(this.#keys.capacity);
  }

  /**
   * Gives the rows of silent reporters to busier ones without a row. Call it often: it acts at most every five seconds.
   * @param timeMs of the input, in milliseconds
   */
  elect(timeMs: number): void {
    this.#keys.elect(timeMs, (row) => this.#leave(row));
  }

  /**
   * Counts a sequence number.
   *
   * @param first first word of the reporter's key
   * @param second second word of it
   * @param sequence 0 to 2^bits - 1
   * @param bits of a sequence number, 17 to 32: the numbers wrap around at 2^bits
   * @returns the reporter's row, or -1 if it has none
   */
  note(first: number, second: number, sequence: number, bits: number): number {
    const row = this.#keys.note(first >>> 0, second >>> 0);
    if (row === NO_ROW) return row;
    if (this.#counts[row * COUNTS + COUNT.IN_ORDER] === 0) {
      this.#begin(row, sequence);
      this.#counts[row * COUNTS + COUNT.IN_ORDER] = 1;
      return row;
    }
    const range = 2 ** bits;
    const ahead = (sequence - this.#highest[row]! + range) % range;
    const behind = ahead === 0 ? 0 : range - ahead;
    if (behind < this.#window) this.#fill(row, sequence);
    else if (ahead < IMPLAUSIBLE_JUMP) this.#advance(row, sequence, ahead);
    else this.#doubt(row, sequence, range);
    return row;
  }

  /** Counts a number inside the window. */
  #fill(row: number, sequence: number): void {
    const counts = this.#counts;
    const at = row * COUNTS;
    const place = sequence % this.#window;
    this.#candidate[row] = -1;
    if (this.#isSeen(row, place)) {
      counts[at + COUNT.DUPLICATES]!++;
      return;
    }
    this.#setSeen(row, place, true);
    counts[at + COUNT.REORDERED]!++;
    counts[at + COUNT.MISSING]!--;
  }

  /** Moves the window to a number above the highest. Unseen numbers that leave the window are lost. */
  #advance(row: number, sequence: number, ahead: number): void {
    const counts = this.#counts;
    const at = row * COUNTS;
    const window = this.#window;
    const passed = Math.max(0, ahead - window);
    let lost = passed;
    for (let step = passed + 1; step <= ahead; step++) {
      // The range is a multiple of the window, so places continue where numbers wrap around.
      const place = (this.#highest[row]! + step) % window;
      if (!this.#isSeen(row, place)) lost++;
      this.#setSeen(row, place, step === ahead);
    }
    this.#highest[row] = sequence;
    this.#candidate[row] = -1;
    counts[at + COUNT.IN_ORDER]!++;
    counts[at + COUNT.LOST]! += lost;
    counts[at + COUNT.MISSING]! += ahead - 1 - lost;
  }

  /** Handles a number far behind, or too far ahead for a loss. Two consecutive ones that fit together are a restart. */
  #doubt(row: number, sequence: number, range: number): void {
    const counts = this.#counts;
    const at = row * COUNTS;
    const candidate = this.#candidate[row]!;
    const step = (sequence - candidate + range) % range;
    if (candidate < 0 || step === 0 || step >= this.#window) {
      this.#candidate[row] = sequence;
      counts[at + COUNT.LATE]!++;
      return;
    }
    counts[at + COUNT.RESTARTS]!++;
    counts[at + COUNT.LATE]!--;
    counts[at + COUNT.IN_ORDER]!++;
    // Numbers still missing from before the restart are lost.
    counts[at + COUNT.LOST]! += counts[at + COUNT.MISSING]!;
    counts[at + COUNT.MISSING] = 0;
    this.#begin(row, candidate);
    this.#advance(row, sequence, step);
  }

  #begin(row: number, sequence: number): void {
    const words = this.#window / 32;
    this.#highest[row] = sequence;
    this.#candidate[row] = -1;
    // Numbers before the first one are no loss.
    this.#seen.fill(0xffffffff, row * words, (row + 1) * words);
  }

  #isSeen(row: number, place: number): boolean {
    return ((this.#seen[(row * this.#window + place) >>> 5]! >>> (place & 31)) & 1) === 1;
  }

  #setSeen(row: number, place: number, value: boolean): void {
    const word = (row * this.#window + place) >>> 5;
    const bit = 1 << (place & 31);
    this.#seen[word] = value ? this.#seen[word]! | bit : this.#seen[word]! & ~bit;
  }

  #leave(row: number): void {
    const from = row * COUNTS;
    move(this.#counts, from + COUNT.MISSING, from + COUNT.LOST);
    for (let count = 0; count < COUNTS; count++) move(this.#counts, from + count, this.#keys.capacity * COUNTS + count);
  }
}
