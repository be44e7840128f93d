import type { RuntimeValue } from '../machine/runtime.js';
import { NARROW_BITS } from './data-width.js';

const wide = /* @__PURE__ */ new BigUint64Array(1);
const halves = /* @__PURE__ */ new Int32Array(/* @__PURE__ */ wide.buffer);
/** Position of the low half: 0 on machines with little-endian memory. */
const LOW = /* @__PURE__ */ new Uint8Array(/* @__PURE__ */ Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;

/** Words of a key: one per 32 bits begun. */
export function wordsOfWidth(width: number): number {
  return Math.max(1, Math.ceil(width / 32));
}

/**
 * Keys as 32-bit words, least significant first, unused high bits 0. Indexes hash, mask and compare words, so that a
 * lookup makes no bigint (except for keys wider than 64 bits that are given as bigints).
 */
export class KeyWords {
  /** The keys loaded last. */
  readonly words: Int32Array;
  /** First word of each key. */
  readonly starts: readonly number[];
  readonly #isNarrow: readonly boolean[];
  readonly #counts: readonly number[];

  constructor(widths: readonly number[]) {
    const starts: number[] = [];
    let count = 0;
    for (const width of widths) {
      starts.push(count);
      count += wordsOfWidth(width);
    }
    this.words = new Int32Array(count);
    this.starts = starts;
    this.#isNarrow = widths.map((width) => width <= NARROW_BITS);
    this.#counts = widths.map(wordsOfWidth);
  }

  /** Loads one value per key. */
  load(keys: readonly RuntimeValue[]): Int32Array {
    for (let i = 0; i < this.starts.length; i++) this.#set(i, keys[i]!, this.words, this.starts[i]!);
    return this.words;
  }

  load1(a: RuntimeValue): Int32Array {
    this.#set(0, a, this.words, 0);
    return this.words;
  }

  load2(a: RuntimeValue, b: RuntimeValue): Int32Array {
    this.#set(0, a, this.words, 0);
    this.#set(1, b, this.words, this.starts[1]!);
    return this.words;
  }

  /** Loads one key, from a bit pattern. */
  loadPattern(key: number, pattern: bigint): void {
    this.writePattern(key, pattern, this.words, this.starts[key]!);
  }

  /** Writes the words of one key elsewhere. */
  writePattern(key: number, pattern: bigint, words: Int32Array, at: number): void {
    this.#set(key, this.#isNarrow[key] ? Number(pattern) : pattern, words, at);
  }

  /** Words of bit patterns, one pattern per key, in a new array. */
  of(values: readonly bigint[]): Int32Array {
    const words = new Int32Array(this.words.length);
    values.forEach((value, i) => {
      this.writePattern(i, value, words, this.starts[i]!);
    });
    return words;
  }

  #set(key: number, value: RuntimeValue, words: Int32Array, start: number): void {
    if (this.#isNarrow[key]) {
      words[start] = value as number;
      return;
    }
    const end = start + this.#counts[key]!;
    let rest = value as bigint;
    for (let at = start; at < end; at += 2) {
      // Stored modulo 2^64.
      wide[0] = rest;
      words[at] = halves[LOW]!;
      if (at + 1 < end) words[at + 1] = halves[1 - LOW]!;
      if (at + 2 < end) rest >>= 64n;
    }
  }
}
