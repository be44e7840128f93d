import type { RandomBits } from '../externs/random.js';
import { createRandomBits } from '../externs/random.js';
import type { Span } from '../source/position.js';
import { type UndefinedRead, UndefinedReads } from './undefined-reads.js';

/** A place in the program that reads a value, or decides by one. */
export interface ReadPlace {
  /** The use of the value: `condition`, `table key`, `emit`, ... Empty for a mere read. */
  readonly use: string;
  /** The expression that is read, such as `hdr.udp.length`. */
  readonly what: string;
  readonly span: Span;
}

/** Most reads reported per packet. The first ones lead to the origin of the value. */
const MAX_ORIGINS = 8;

/**
 * Runs a pipeline's code twice, with different random values for everything undefined, and compares the runs. The first
 * run counts: it records all decisions, and all results of tables, registers and the like. The second run is compared
 * with these records. A difference means that the program depends on an undefined value; the second run then continues
 * with the first run's value. So both runs take the same path, and only the first has effects.
 */
export class Poison {
  readonly reads: UndefinedReads;
  /** The run that counts. */
  isFirst = true;
  readonly #random: RandomBits;
  readonly #other: RandomBits;
  readonly #notes: unknown[] = [];
  #places: readonly ReadPlace[] = [];
  #at = 0;
  #turns = 0;
  /** Places of reads in this packet whose values differ between the runs. */
  readonly #origins: ReadPlace[] = [];

  /** @param onFound called once per place, when it is found */
  constructor(seed: number, onFound: (read: UndefinedRead) => void) {
    this.reads = new UndefinedReads(onFound);
    this.#random = createRandomBits(seed);
    this.#other = createRandomBits(~seed >>> 0);
  }

  /** Runs `first`, then `second`. `places` are the places of their code. */
  compare(places: readonly ReadPlace[], first: () => void, second: () => void): void {
    this.#places = places;
    this.#notes.length = 0;
    this.isFirst = true;
    first();
    this.isFirst = false;
    this.#at = 0;
    try {
      second();
      if (this.#at !== this.#notes.length) throw new TypeError('the two runs have parted');
    } finally {
      this.isFirst = true;
    }
  }

  /** Begins a packet: forgets earlier reads. */
  begin(): void {
    this.#turns++;
    this.#origins.length = 0;
  }

  /**
   * 32 random bits for one run. For every second packet each bit differs between the runs; for the others both runs
   * draw all bits. The first kind finds dependences on a single bit, the second those on a relation of bits.
   */
  bits(): number {
    if (this.isFirst) {
      const bits = this.#random() | 0;
      this.#notes.push(bits);
      return bits;
    }
    const bits = this.#take() as number;
    return (this.#turns & 1) === 1 ? ~bits : this.#other() | 0;
  }

  /** A random position below `count`, different in each run if there is more than one. */
  below(count: number): number {
    const bits = this.bits() >>> 0;
    if (this.isFirst) {
      this.#notes.push(bits);
      return bits % count;
    }
    const first = (this.#take() as number) % count;
    return count < 2 ? first : (first + 1 + (bits % (count - 1))) % count;
  }

  /** A random bigint of `width` bits. */
  big(width: number, isSigned: boolean): bigint {
    let value = 0n;
    for (let done = 0; done < width; done += 32) value = (value << 32n) | BigInt(this.bits() >>> 0);
    return isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  }

  /** Notes the read of a value. Only a decision that depends on it is an error. */
  read<T>(place: number, value: T): T {
    if (this.isFirst) this.#notes.push(value);
    else if (this.#take() !== value) this.#remember(this.#placeOf(place));
    return value;
  }

  /** Notes the comparison of `operands`. Its result is undefined if they are, even if both runs get the same. */
  test(result: boolean, ...operands: readonly unknown[]): boolean {
    if (this.isFirst) {
      this.#notes.push(result, ...operands);
      return result;
    }
    const first = this.#take() as boolean;
    let isDefined = true;
    for (const operand of operands) if (this.#take() !== operand) isDefined = false;
    return isDefined ? result : !first;
  }

  /** Notes a decision by a value, which must be defined. Returns the first run's value. */
  decide<T>(place: number, value: T): T {
    if (this.isFirst) {
      this.#notes.push(value);
      return value;
    }
    const first = this.#take() as T;
    if (first !== value) this.report(this.#placeOf(place));
    return first;
  }

  /** The result of an effect in the first run, also for the second, which has no effects. */
  keep<T>(result: T): T {
    this.#notes.push(result);
    return result;
  }

  kept(): unknown {
    return this.#take();
  }

  /** Reports a decision that differs. */
  report(place: ReadPlace): void {
    this.reads.add(place, this.#origins);
  }

  #placeOf(place: number): ReadPlace {
    const found = this.#places[place];
    if (found === undefined) throw new TypeError(`no place ${place}`);
    return found;
  }

  #remember(place: ReadPlace): void {
    if (this.#origins.length < MAX_ORIGINS && !this.#origins.includes(place)) this.#origins.push(place);
  }

  #take(): unknown {
    if (this.#at >= this.#notes.length) throw new TypeError('the two runs have parted');
    return this.#notes[this.#at++];
  }
}
