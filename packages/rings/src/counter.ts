/**
 * Counters beyond 2^32 that one thread writes and any thread reads, without a lock and without BigInt.
 *
 * A counter is two words: the low word, which is the count modulo 2^32, and "halves", the count divided by 2^31 and
 * rounded down. The writer stores the low word first, and in most cases that is its only store. Halves may therefore be
 * one behind for a moment, or until a writer that died in this moment is replaced. Readers detect this: the lowest bit
 * of halves must equal the highest bit of the low word.
 *
 * Counters are below 2^53, which a number holds exactly.
 */

const HALF = 0x80000000;

/** The value of halves at a count of 2^53. */
export const MAX_HALVES = 0x400000;

/**
 * Adds to a counter. The calling thread must be its only writer.
 * @param words the memory of the counter
 * @param at index of its low word; halves are in the next word
 * @param amount 0 to 2^31 - 1
 */
export function addToCounter(words: Int32Array, at: number, amount: number): void {
  const before = words[at]!;
  const after = (before + amount) | 0;
  Atomics.store(words, at, after);
  if ((before ^ after) < 0) passHalf(words, at, before);
}

/**
 * Updates halves. Call it after the highest bit of the low word has changed.
 * @param before the low word before the change
 */
export function passHalf(words: Int32Array, at: number, before: number): void {
  const halves = words[at + 1]!;
  // Halves are one behind if the previous writer died between its two stores. Catch up first, or they would be two
  // behind for a moment.
  const behind = (halves ^ (before >>> 31)) & 1;
  Atomics.store(words, at + 1, (halves + behind + 1) | 0);
}

/**
 * Reads a counter that another thread may be adding to. The result is an exact value that it had during the call.
 *
 * It reads halves, low word, halves. If both halves are equal, the count passed at most one multiple of 2^31 that they
 * do not show, because the writer stores halves before it passes the next one. The shared bit shows whether it did. If
 * they differ, the loop repeats. This is rare, because 2^31 records lie between two changes of halves. The loop never
 * waits for the writer.
 */
export function readCounter(words: Int32Array, at: number): number {
  let halves = Atomics.load(words, at + 1);
  for (;;) {
    const low = Atomics.load(words, at);
    const again = Atomics.load(words, at + 1);
    if (again === halves) {
      const behind = (halves ^ (low >>> 31)) & 1;
      return ((halves >>> 0) + behind) * HALF + (low & 0x7fffffff);
    }
    halves = again;
  }
}
