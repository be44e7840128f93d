/**
 * Counters beyond 2^32 that one thread writes and any thread reads, without a lock and without BigInt.
 *
 * A counter is two words: the count modulo 2^32, and how often the count passed a multiple of 2^31 ("halves", the count
 * divided by 2^31 and rounded down). The writer stores the low word first, so that in most cases it is the only store.
 * Thus halves may be one behind for a moment, and for as long as a writer that died in this moment is not replaced. The
 * two words share a bit by which this shows: the lowest bit of halves is the highest bit of the low word.
 *
 * Counters are below 2^53, which a number holds exactly.
 */

const HALF = 0x80000000;

/** Halves of a counter reach this at 2^53. */
export const MAX_HALVES = 0x400000;

/**
 * Adds to a counter of which the calling thread is the only writer.
 * @param words where it lies
 * @param at its low word; halves are in the next one
 * @param amount 0 to 2^31 - 1
 */
export function addToCounter(words: Int32Array, at: number, amount: number): void {
  const before = words[at]!;
  const after = (before + amount) | 0;
  Atomics.store(words, at, after);
  if ((before ^ after) < 0) passHalf(words, at, before);
}

/**
 * To be called after the highest bit of the low word changed.
 * @param before the low word before that
 */
export function passHalf(words: Int32Array, at: number, before: number): void {
  const halves = words[at + 1]!;
  // One behind if the previous writer died between its two stores: catch up, or they would be two behind for a moment.
  const behind = (halves ^ (before >>> 31)) & 1;
  Atomics.store(words, at + 1, (halves + behind + 1) | 0);
}

/**
 * The exact value of a counter that another thread may be adding to: one that it had during the call.
 *
 * It reads halves, low word, halves. Were halves equal both times, the count passed at most one multiple of 2^31 that
 * does not show in them, because the writer stores halves before it passes the next one; the shared bit tells whether
 * it did. Were they not, 2^31 records went by, so this loop does not go on for long; it never waits for the writer.
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
