import {
  type CacheGeometry,
  COUNTER,
  COUNTER_WORDS,
  type CounterName,
  EMPTY_RANK,
  type HashName,
  HEADER,
  headerOf,
  MAGIC,
} from '../layout.js';

/** Writes the header and the empty rows of a cache. Words that are 0 in an empty cache are taken to be 0. */
export function initialize(words: Int32Array, geometry: CacheGeometry, hash: HashName, seed: number): void {
  words.set(headerOf(geometry, hash, seed).subarray(1), 1);
  const empty = Math.imul(EMPTY_RANK, 0x01010101);
  const rankWords = Math.ceil(geometry.buckets / 4);
  for (let row = 0; row < geometry.rows; row++) {
    const at = geometry.rowsAt + row * geometry.rowStride + geometry.buckets;
    words.fill(empty, at, at + rankWords);
  }
  // Last, so that readers of the memory see a whole header or none.
  words[HEADER.MAGIC] = MAGIC;
}

const WORD = 0x100000000;

/** A counter, exact up to 2^53. */
export function counter(words: Int32Array, name: CounterName): number {
  const at = COUNTER_WORDS + 2 * COUNTER[name];
  return (words[at + 1]! >>> 0) * WORD + (words[at]! >>> 0);
}

/** Adds to a counter: -1 to 2^32 - 1. */
export function count(words: Int32Array, name: CounterName, by: number): void {
  const at = COUNTER_WORDS + 2 * COUNTER[name];
  const sum = (words[at]! >>> 0) + by;
  words[at] = sum | 0;
  if (sum >= WORD) words[at + 1] = words[at + 1]! + 1;
  else if (sum < 0) words[at + 1] = words[at + 1]! - 1;
}
