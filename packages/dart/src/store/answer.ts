/** The rule that turns matching slots into an answer, for the live store, its readers and its history. */
import { STATUS } from './rows.js';

/** The result of `Candidates.decide`. */
export interface Verdict {
  /** See `STATUS`. */
  status: number;
  /** Index of the candidate that is the answer; -1 for none. */
  chosen: number;
  matching: number;
  agreeing: number;
}

/**
 * The values of the slots that have a key's checksum, copied out of the store. Reused from query to query.
 *
 * @example
 * candidates.clear();
 * for (const slot of slots) if (checksum(slot) === expected) candidates.add(bytes, valueAt);
 * const { status, chosen } = candidates.decide(policyNumber('plurality'));
 */
export class Candidates {
  readonly valueBytes: number;
  /** Value i is `values[i * valueBytes .. (i + 1) * valueBytes)`. */
  readonly values: Uint8Array;
  readonly #verdict: Verdict = { status: STATUS.ABSENT, chosen: -1, matching: 0, agreeing: 0 };
  #count = 0;

  /** @param capacity most values */
  constructor(capacity: number, valueBytes: number) {
    this.valueBytes = valueBytes;
    this.values = new Uint8Array(capacity * valueBytes);
  }

  clear(): void {
    this.#count = 0;
  }

  add(bytes: Uint8Array, from: number): void {
    const { values, valueBytes } = this;
    const to = this.#count * valueBytes;
    for (let at = 0; at < valueBytes; at++) values[to + at] = bytes[from + at]!;
    this.#count++;
  }

  /**
   * @param policy a number from `policyNumber`
   * @returns an object that the next call reuses
   */
  decide(policy: number): Verdict {
    const verdict = this.#verdict;
    const count = this.#count;
    verdict.matching = count;
    verdict.chosen = -1;
    verdict.agreeing = 0;
    if (count === 0) {
      verdict.status = STATUS.ABSENT;
      return verdict;
    }
    let most = 0;
    let first = 0;
    let isTied = false;
    for (let candidate = 0; candidate < count; candidate++) {
      // The first occurrence has the whole count.
      const agreeing = this.#occurrences(candidate);
      if (agreeing === most) isTied = true;
      else if (agreeing > most) {
        most = agreeing;
        first = candidate;
        isTied = false;
      }
    }
    const decides = policy === 0 ? most === count : !isTied && most >= policy;
    verdict.status = decides ? STATUS.VALUE : STATUS.CONFLICT;
    if (decides) {
      verdict.chosen = first;
      verdict.agreeing = most;
    }
    return verdict;
  }

  /** The number of occurrences of a value, for its first occurrence; 0 for the others. */
  #occurrences(candidate: number): number {
    for (let other = 0; other < candidate; other++) if (this.#isSame(other, candidate)) return 0;
    let found = 1;
    for (let other = candidate + 1; other < this.#count; other++) if (this.#isSame(other, candidate)) found++;
    return found;
  }

  #isSame(one: number, other: number): boolean {
    const { values, valueBytes } = this;
    let a = one * valueBytes;
    let b = other * valueBytes;
    for (let left = valueBytes; left > 0; left--) if (values[a++] !== values[b++]) return false;
    return true;
  }
}
