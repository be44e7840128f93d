/**
 * COMPARE&SWAP insertion: a key is written into its first slot, and into its second only if that is empty (section 7 of
 * the paper). An RDMA COMPARE&SWAP exchanges 8 bytes, so slots must have 8 bytes: a checksum of 32 bits and a value of
 * 4 bytes.
 */
import { type AgeRange, ALL_AGES, averageOverAges } from './ages.js';

/**
 * The probability that a query succeeds after COMPARE&SWAP insertion, with perfect checksums.
 *
 * A slot is empty at load x with probability exp(-2 x): both a WRITE and a COMPARE&SWAP fill an empty slot, and each
 * picks it at rate 1 / M. Only WRITEs, at rate 1 / M, overwrite. For a key written at load x and queried at load L,
 * with d = L - x: success = 1 - (1 - exp(-d)) * (1 - exp(-2 x) exp(-d)). Mean-field, without terms of order 1 / M.
 *
 * @param load keys of the epoch / M at the time of the query
 * @param age 0: the key written last; 1: the first of the epoch
 */
export function insertionSuccess(load: number, age: number): number {
  const since = load * age;
  const second = Math.exp(-2 * (load - since) - since);
  return 1 - -Math.expm1(-since) * (1 - second);
}

/** {@link insertionSuccess}, averaged over ages; all keys if `ages` is absent. */
export function meanInsertionSuccess(load: number, ages: AgeRange = ALL_AGES): number {
  return averageOverAges((age) => insertionSuccess(load, age), ages);
}
