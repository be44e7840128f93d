import type { RandomBits } from '../externs/random.js';
import { createRandomBits } from '../externs/random.js';
import type { Span } from '../source/position.js';
import { type UndefinedRead, UndefinedReads } from './undefined-reads.js';

/** A place in the program where a value is read, or decides something. */
export interface ReadPlace {
  /** What is done with the value: `condition`, `table key`, `emit`, ... Empty for a read as such. */
  readonly use: string;
  /** What is read there, such as `hdr.udp.length`. */
  readonly what: string;
  readonly span: Span;
}

/** Reads of one packet that are kept to be told: the first ones lead to where the value comes from. */
const MAX_ORIGINS = 8;

/**
 * Runs a pipeline's code twice, with other values wherever nothing is defined, and compares. The first run counts: it
 * writes down all that decides something, and what comes back from tables, registers and the like. The second one is held
 * against it; wherever they differ the program depends on an undefined value, and the second run goes on with the first
 * one's. So both take the same way, and only the first has effects.
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
  /** Places of reads in this packet that gave something else in the second run. */
  readonly #origins: ReadPlace[] = [];

  /** @param onFound called when a place is met for the first time */
  constructor(seed: number, onFound: (read: UndefinedRead) => void) {
    this.reads = new UndefinedReads(onFound);
    this.#random = createRandomBits(seed);
    this.#other = createRandomBits(~seed >>> 0);
  }

  /** Runs `first`, then `second`, of code whose places are these. */
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

  /** A packet begins: what was read before has nothing to do with it. */
  begin(): void {
    this.#turns++;
    this.#origins.length = 0;
  }

  /**
   * 32 random bits, other ones in each run: of every second packet each bit is another, of the others all are drawn, so that
   * neither a single bit nor what two of them have in common stays hidden.
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

  /** A random position below `count`, another one in each run if there is more than one. */
  below(count: number): number {
    const bits = this.bits() >>> 0;
    if (this.isFirst) {
      this.#notes.push(bits);
      return bits % count;
    }
    const first = (this.#take() as number) % count;
    return count < 2 ? first : (first + 1 + (bits % (count - 1))) % count;
  }

  /** A random bigint of so many bits. */
  big(width: number, isSigned: boolean): bigint {
    let value = 0n;
    for (let done = 0; done < width; done += 32) value = (value << 32n) | BigInt(this.bits() >>> 0);
    return isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  }

  /** A value is read. What becomes of it decides whether that was wrong. */
  read<T>(place: number, value: T): T {
    if (this.isFirst) this.#notes.push(value);
    else if (this.#take() !== value) this.#remember(this.#placeOf(place));
    return value;
  }

  /** The result of a comparison of `operands`: if they are undefined so is it, whatever it happens to be. */
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

  /** A value decides something: it has to be defined. Gives the first run's. */
  decide<T>(place: number, value: T): T {
    if (this.isFirst) {
      this.#notes.push(value);
      return value;
    }
    const first = this.#take() as T;
    if (first !== value) this.report(this.#placeOf(place));
    return first;
  }

  /** What an effect gave in the first run, for the second, which has none. */
  keep<T>(result: T): T {
    this.#notes.push(result);
    return result;
  }

  kept(): unknown {
    return this.#take();
  }

  /** Something that was decided differs. */
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
