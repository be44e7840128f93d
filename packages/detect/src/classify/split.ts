import { ROW_WORDS } from './rows.js';
import { FIELDS, fits, keyHashes, levelOf, withLevel } from './tuple.js';

/** A tuple that the whole table can take counts so many times as much: it costs no further table. */
const WHOLE_TABLE = 3;

/**
 * Looks for a finer tuple that tells the rules of a crowded bucket from each other.
 *
 * @param own tuples of the rules, by slot
 * @param group rules that share a key now
 * @param tuple the table's tuple
 * @param common the finest tuple that all rules of the table allow, the new one included
 * @returns the finer tuple, or `tuple` itself if nothing tells them apart
 */
export function bestSplit(
  version: 4 | 6,
  rows: Int32Array,
  own: Int32Array,
  group: readonly number[],
  tuple: number,
  common: number,
): number {
  const hashes = new Int32Array(4);
  const moved = new Int32Array(group.length);

  /** Pairs of rules that a table of this tuple would keep apart. */
  const separated = (candidate: number): number => {
    let count = 0;
    for (const slot of group) {
      if (!fits(own[slot]!, candidate)) continue;
      keyHashes(version, rows, slot * ROW_WORDS, candidate, 0, hashes);
      moved[count++] = hashes[0]!;
    }
    const sorted = moved.subarray(0, count).sort();
    let pairs = (count * (count - 1)) / 2;
    let run = 0;
    for (let i = 1; i < count; i++) {
      run = sorted[i] === sorted[i - 1] ? run + 1 : 0;
      pairs -= run;
    }
    return pairs;
  };

  let best = tuple;
  let bestScore = 0;
  // Each round makes one field finer: two together can separate what neither does alone.
  for (let round = 0; round < FIELDS.length; round++) {
    const from = best;
    for (const field of FIELDS) {
      const highest = Math.max(...group.map((slot) => levelOf(own[slot]!, field)));
      for (let level = levelOf(from, field) + 1; level <= highest; level++) {
        const candidate = withLevel(from, field, level);
        const score = separated(candidate) * (fits(common, candidate) ? WHOLE_TABLE : 1);
        if (score > bestScore) {
          best = candidate;
          bestScore = score;
        }
      }
    }
    if (best === from) break;
  }
  return best;
}
