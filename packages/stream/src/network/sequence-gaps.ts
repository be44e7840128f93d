import { type ByteFields, listOf } from '../partial/fields.js';
import { Entry } from './registry.js';

/** A jump by this many numbers is a restart rather than a loss. */
const IMPLAUSIBLE_JUMP = 1 << 16;
/** Most open gaps. Beyond it, the oldest count as lost. */
const MOST_GAPS = 4096;
const FULL = 0xffffffff;

/** A gap: `count` missing numbers from `first` on, noticed in `slice`. */
interface Gap {
  first: number;
  count: number;
  slice: number;
}

/** Numbers that count as lost, as on the wire. */
export interface Loss {
  readonly lost: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** The slice in which the first of them was noticed. */
  readonly slice: number;
}

/**
 * Finds the missing sequence numbers of one reporter.
 *
 * Numbers come by the slice, from all sides at once, so their order of arrival does not matter. A gap opens when a
 * number after it has come. It is a loss if it is still open after the reordering window. Numbers wrap around. A jump
 * by 2^16 or more, forward or back, is a restart of the reporter if a second number follows near it. A restart is no
 * loss of millions.
 */
export class SequenceGaps extends Entry {
  readonly #range: number;
  /** The highest number so far, unwrapped; -1 before the first. */
  #highest = -1;
  /** In ascending order. */
  #gaps: Gap[] = [];
  /** A number far from all others, as on the wire; -1 if there is none. */
  #strange = -1;

  /** @param words node id, hardware id, bits of a number */
  constructor(words: readonly number[]) {
    super(words);
    this.#range = 2 ** words[2]!;
  }

  /**
   * Takes the numbers that were seen in a slice.
   *
   * @param blocks 32-bit masks by block number, as in a partial
   * @param isWhole whether everything received is there, so that an absent number is missing
   * @returns the numbers lost before a restart
   */
  take(blocks: ReadonlyMap<number, number>, slice: number, isWhole: boolean): Loss | null {
    this.lastSlice = slice;
    if (this.#highest < 0) this.#begin(blocks.keys().next().value! * 32);
    const near: [number, number][] = [];
    const far: number[] = [];
    for (const [block, mask] of blocks) {
      const first = this.#unwrapped(block * 32);
      if (Math.abs(first - this.#highest) < IMPLAUSIBLE_JUMP) near.push([first, mask]);
      else for (let bit = 0; bit < 32; bit++) if (((mask >>> bit) & 1) === 1) far.push(block * 32 + bit);
    }
    near.sort((a, b) => a[0] - b[0]);
    for (const [first, mask] of near) this.#takeBlock(first, mask, slice, isWhole);
    if (near.length > 0) this.#strange = -1;
    return far.length === 0 ? null : this.#takeFar(far, slice, isWhole);
  }

  /**
   * Begins at the lowest number of the first slice, so that none of its numbers is behind. Numbers before the first one
   * seen are not lost.
   */
  #begin(reference: number): void {
    this.#highest = reference + this.#range;
    this.#isNew = true;
  }

  /** Whether the next number is the first. */
  #isNew = false;

  /** Unwraps a number: of all numbers it may stand for, the one nearest to the highest. */
  #unwrapped(sequence: number): number {
    const range = this.#range;
    const ahead = (((sequence - this.#highest) % range) + range) % range;
    return this.#highest + (ahead < range / 2 ? ahead : ahead - range);
  }

  #takeBlock(first: number, mask: number, slice: number, isWhole: boolean): void {
    if (mask === FULL && !this.#isNew && first === this.#highest + 1) {
      this.#highest += 32;
      return;
    }
    for (let bit = 0; bit < 32; bit++) {
      if (((mask >>> bit) & 1) === 0) continue;
      const number = first + bit;
      if (this.#isNew) {
        this.#isNew = false;
        this.#highest = number;
      } else if (number <= this.#highest) {
        this.#fill(number);
      } else {
        if (number > this.#highest + 1 && isWhole) {
          this.#gaps.push({ first: this.#highest + 1, count: number - this.#highest - 1, slice });
        }
        this.#highest = number;
      }
    }
  }

  #fill(number: number): void {
    const gaps = this.#gaps;
    let low = 0;
    let high = gaps.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (gaps[middle]!.first + gaps[middle]!.count <= number) low = middle + 1;
      else high = middle;
    }
    const gap = gaps[low];
    if (gap === undefined || gap.first > number) return;
    const before = number - gap.first;
    const after = gap.count - before - 1;
    const parts: Gap[] = [];
    if (before > 0) parts.push({ ...gap, count: before });
    if (after > 0) parts.push({ ...gap, first: number + 1, count: after });
    gaps.splice(low, 1, ...parts);
  }

  /** Takes numbers far from all others. Two of them near each other are a restart. */
  #takeFar(far: readonly number[], slice: number, isWhole: boolean): Loss | null {
    const reference = this.#strange >= 0 ? this.#strange : far[0]!;
    const range = this.#range;
    const distance = (sequence: number): number => {
      const ahead = (((sequence - reference) % range) + range) % range;
      return ahead < range / 2 ? ahead : ahead - range;
    };
    const fitting = far.filter((sequence) => Math.abs(distance(sequence)) < IMPLAUSIBLE_JUMP);
    const numbers = new Set(this.#strange >= 0 ? [this.#strange, ...fitting] : fitting);
    if (numbers.size < 2) {
      this.#strange = far[0]!;
      return null;
    }
    const loss = this.#giveUp(this.#gaps.length);
    const ascending = [...numbers].sort((a, b) => distance(a) - distance(b));
    this.#strange = -1;
    this.#begin(ascending[0]!);
    for (const sequence of ascending) this.#takeBlock(this.#unwrapped(sequence), 1, slice, isWhole);
    return loss;
  }

  /** Gives up the gaps noticed in `slice` or before, and those beyond the limit. */
  expire(slice: number): Loss | null {
    const gaps = this.#gaps;
    // Gaps are also in the order of their slices, because a gap that was split keeps its slice.
    let count = Math.max(0, gaps.length - MOST_GAPS);
    while (count < gaps.length && gaps[count]!.slice <= slice) count++;
    return this.#giveUp(count);
  }

  get isWaiting(): boolean {
    return this.#gaps.length > 0;
  }

  #giveUp(count: number): Loss | null {
    if (count === 0) return null;
    const gone = this.#gaps.splice(0, count);
    const last = gone[gone.length - 1]!;
    return {
      lost: gone.reduce((sum, gap) => sum + gap.count, 0),
      firstSequence: gone[0]!.first % this.#range,
      lastSequence: (last.first + last.count - 1) % this.#range,
      slice: gone[0]!.slice,
    };
  }

  override pass(fields: ByteFields): void {
    this.#highest = fields.signed(this.#highest);
    this.#isNew = fields.flag('isNew', this.#isNew);
    this.#strange = fields.signed(this.#strange);
    this.#gaps = listOf(fields.count(3, this.#gaps.length), this.#gaps, (gap = { first: 0, count: 0, slice: 0 }) => ({
      first: this.#highest - fields.between(0, this.#highest, 'distance of a gap', this.#highest - gap.first),
      count: fields.between(1, IMPLAUSIBLE_JUMP + 32, 'numbers', gap.count),
      slice: this.lastSlice - fields.between(0, this.lastSlice, 'slices', this.lastSlice - gap.slice),
    }));
  }
}
