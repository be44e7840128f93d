import type { Random } from '@int/random';

/** A set of numbers below `size`, with random draws; all in constant time. */
export class Listing {
  count = 0;
  readonly #list: Int32Array;
  readonly #at: Int32Array;

  constructor(size: number) {
    this.#list = new Int32Array(size);
    this.#at = new Int32Array(size).fill(-1);
  }

  /** Adds or removes a number. */
  set(number: number, isIn: boolean): void {
    const at = this.#at[number]!;
    if (isIn === at >= 0) return;
    if (isIn) {
      this.#at[number] = this.count;
      this.#list[this.count++] = number;
      return;
    }
    const other = this.#list[--this.count]!;
    this.#list[at] = other;
    this.#at[other] = at;
    this.#at[number] = -1;
  }

  /** A random number of the set, which must not be empty. */
  draw(random: Random): number {
    return this.at(random.uint32());
  }

  /** The number of the set that a draw of any size chooses. The set must not be empty. */
  at(draw: number): number {
    return this.#list[draw % this.count]!;
  }
}
