/**
 * The probabilities of a query's outcomes, derived from the state of a single slot.
 *
 * The model: each slot that the key wrote is, independently, intact (1 - p), overwritten by a key of another checksum
 * (p (1 - q)), or overwritten by a key of the same checksum (p q). This neglects terms of order N^2 / M: two hashes of
 * a key may choose one slot, and one foreign key may hold two of its slots.
 *
 * With `a` intact slots and `w` false ones, the answer depends on which false slots hold equal values. If all keys have
 * distinct values, none do, and {@link OutcomeModel.distinct} is exact in the model. Otherwise all partitions into
 * equal values are examined. An outcome that follows from every partition counts towards the lower bound, one that
 * follows from some partition towards the upper bound. For `single` these are the bounds of the paper. The model
 * assumes that false values differ from the key's own. If they do not, wrong answers can only become right.
 */
import { MAX_COPIES, whole } from '../layout.js';
import { type Policy, policyNumber } from '../store/policy.js';
import { type AgeRange, ALL_AGES, averageOverAges } from './ages.js';
import { checksumKinds } from './overwriting.js';

/** Probabilities that add up to 1. */
export interface Outcomes {
  /** Probability that the answer is the key's own value. */
  readonly success: number;
  /** Probability of no answer because no slot has the key's checksum. */
  readonly absent: number;
  /** Probability of no answer because the policy does not decide. */
  readonly conflict: number;
  /** Probability that the answer is another key's value. */
  readonly wrong: number;
}

export interface Bounds {
  readonly lower: number;
  readonly upper: number;
}

/** Bounds for any values of other keys that differ from the key's own; they may be equal to each other. */
export interface OutcomeBounds {
  readonly success: Bounds;
  /** Exact, because it depends only on checksums. */
  readonly absent: number;
  readonly conflict: Bounds;
  readonly wrong: Bounds;
}

export interface OutcomeOptions {
  /** N, 1..8. */
  readonly copies: number;
  /** b; 32 if absent. */
  readonly checksumBits?: number;
  /** `plurality` if absent. */
  readonly policy?: Policy;
  /** P(D = d), d = 0..N, where D is the number of its slots that the key wrote; all N if absent. */
  readonly written?: readonly number[];
}

const SUCCESS = 0;
const ABSENT = 1;
const CONFLICT = 2;
const WRONG = 3;

/** The outcome for `own` intact slots and groups of false slots with equal values. */
function verdict(own: number, groups: readonly number[], policy: number): number {
  const sizes = own > 0 ? [own, ...groups] : groups;
  if (sizes.length === 0) return ABSENT;
  if (policy === 0) return sizes.length > 1 ? CONFLICT : own > 0 ? SUCCESS : WRONG;
  const most = Math.max(...sizes);
  const tied = sizes.filter((size) => size === most).length > 1;
  if (tied || most < policy) return CONFLICT;
  return own === most ? SUCCESS : WRONG;
}

/** All partitions of `total` into numbers not above `most`, in falling order. */
function partitions(total: number, most: number): number[][] {
  if (total === 0) return [[]];
  const all: number[][] = [];
  for (let first = Math.min(total, most); first >= 1; first--) {
    for (const rest of partitions(total - first, first)) all.push([first, ...rest]);
  }
  return all;
}

/** For each (own, false): the outcome of distinct values, and the set of possible outcomes as bits. */
interface Verdicts {
  readonly distinct: Uint8Array;
  readonly possible: Uint8Array;
}

function verdictsOf(copies: number, policy: number): Verdicts {
  const side = copies + 1;
  const distinct = new Uint8Array(side * side);
  const possible = new Uint8Array(side * side);
  for (let own = 0; own <= copies; own++) {
    for (let others = 0; own + others <= copies; others++) {
      for (const groups of partitions(others, others)) {
        const outcome = verdict(own, groups, policy);
        possible[own * side + others] = possible[own * side + others]! | (1 << outcome);
        if (groups.length === others) distinct[own * side + others] = outcome;
      }
    }
  }
  return { distinct, possible };
}

/** C(n, k), exact up to 2^53. */
function choose(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

/** C(n, k) x^k y^(n - k), k = 0..n, for an x + y that need not be 1. */
function expand(n: number, x: number, y: number): number[] {
  return Array.from({ length: n + 1 }, (_, k) => choose(n, k) * x ** k * y ** (n - k));
}

/**
 * Offsets of the sums of one (own, false): distinct values, then lower bounds, then upper bounds, four outcomes each.
 */
const LOWER = 4;
const UPPER = 8;
const SUMS = 12;

function addTo(sums: Float64Array, at: number, verdicts: Verdicts, index: number, chance: number): void {
  const exact = at + verdicts.distinct[index]!;
  sums[exact] = sums[exact]! + chance;
  const set = verdicts.possible[index]!;
  for (let outcome = 0; outcome < 4; outcome++) {
    if (set === 1 << outcome) sums[at + LOWER + outcome] = sums[at + LOWER + outcome]! + chance;
    if ((set & (1 << outcome)) !== 0) sums[at + UPPER + outcome] = sums[at + UPPER + outcome]! + chance;
  }
}

/**
 * The probabilities of outcomes for given copies, checksum and policy. Make it once and use it for many p.
 *
 * @example
 * const model = new OutcomeModel({ copies: 2 });
 * model.distinct(overwriteProbability(1e6, 12.5e6, 2)).success; // 0.978...
 */
export class OutcomeModel {
  readonly copies: number;
  readonly #verdicts: Verdicts;
  readonly #kinds: readonly (readonly [number, number])[];
  readonly #written: readonly number[];
  readonly #isWhole: boolean;
  /**
   * SUMS coefficients for each number of intact and of lost slots. An outcome's probability is the sum of
   * coefficient * intact^own * p^lost over both. They depend on `foreign`, unless a key writes all its slots.
   */
  readonly #coefficients: Float64Array;
  #foreign = Number.NaN;
  readonly #sums = new Float64Array(SUMS);

  /** @throws RangeError for copies, bits or a policy out of range */
  constructor({ copies, checksumBits = 32, policy = 'plurality', written }: OutcomeOptions) {
    whole('copies', copies, 1, MAX_COPIES);
    if (!(checksumBits >= 1 && checksumBits <= 64)) {
      throw new RangeError(`checksumBits must be from 1 to 64, not ${checksumBits}`);
    }
    if (written !== undefined && written.length !== copies + 1) {
      throw new RangeError(`written has ${written.length} entries, ${copies} copies need ${copies + 1}`);
    }
    this.copies = copies;
    this.#verdicts = verdictsOf(copies, policyNumber(policy));
    this.#kinds = checksumKinds(checksumBits);
    this.#isWhole = written === undefined;
    this.#written = written ?? Array.from({ length: copies + 1 }, (_, count) => (count === copies ? 1 : 0));
    this.#coefficients = new Float64Array((copies + 1) ** 2 * SUMS);
  }

  /**
   * The outcomes if all keys have distinct values. Each is a sum of positive terms, so small probabilities lose no
   * digits.
   *
   * @param overwritten p of the slots that the key wrote
   * @param foreign probability that another key holds a slot that the key did not write: p over all keys of the epoch,
   *   not only later ones; `overwritten` if absent; has no effect if keys write all their slots
   * @param intact 1 - p, if the caller knows it more exactly than the subtraction
   */
  distinct(overwritten: number, foreign = overwritten, intact = 1 - overwritten): Outcomes {
    const sums = this.#sumsOf(overwritten, foreign, intact);
    return { success: sums[SUCCESS]!, absent: sums[ABSENT]!, conflict: sums[CONFLICT]!, wrong: sums[WRONG]! };
  }

  /** Bounds for any values of other keys; arguments as for {@link distinct}. */
  bounds(overwritten: number, foreign = overwritten, intact = 1 - overwritten): OutcomeBounds {
    const sums = this.#sumsOf(overwritten, foreign, intact);
    const bounds = (outcome: number): Bounds => ({ lower: sums[LOWER + outcome]!, upper: sums[UPPER + outcome]! });
    return { success: bounds(SUCCESS), absent: sums[ABSENT]!, conflict: bounds(CONFLICT), wrong: bounds(WRONG) };
  }

  #sumsOf(overwritten: number, foreign: number, intact: number): Float64Array {
    const others = this.#isWhole ? 0 : foreign;
    if (others !== this.#foreign) this.#prepare(others);
    const sums = this.#sums.fill(0);
    const { copies } = this;
    const coefficients = this.#coefficients;
    let at = 0;
    for (let own = 0; own <= copies; own++) {
      for (let lost = 0; lost <= copies; lost++, at += SUMS) {
        if (own + lost > copies || (this.#isWhole && own + lost < copies)) continue;
        const chance = intact ** own * overwritten ** lost;
        for (let sum = 0; sum < SUMS; sum++) sums[sum] = sums[sum]! + coefficients[at + sum]! * chance;
      }
    }
    return sums;
  }

  #prepare(foreign: number): void {
    const { copies } = this;
    const coefficients = this.#coefficients.fill(0);
    this.#foreign = foreign;
    for (const [weight, q] of this.#kinds) {
      for (let written = 0; written <= copies; written++) {
        const chance = weight * this.#written[written]!;
        if (chance === 0) continue;
        const unwritten = expand(copies - written, foreign * q, 1 - foreign * q);
        for (let own = 0; own <= written; own++) {
          const lost = expand(written - own, q, 1 - q);
          const at = (own * (copies + 1) + written - own) * SUMS;
          const kept = chance * choose(written, own);
          for (const [others, matching] of lost.entries()) {
            for (const [more, also] of unwritten.entries()) {
              addTo(coefficients, at, this.#verdicts, own * (copies + 1) + others + more, kept * matching * also);
            }
          }
        }
      }
    }
  }
}

/** The outcomes at each age, averaged over ages; all keys if `ages` is absent. */
export function meanOutcomes(at: (age: number) => Outcomes, ages: AgeRange = ALL_AGES): Outcomes {
  const mean = (name: keyof Outcomes): number => averageOverAges((age) => at(age)[name], ages);
  return { success: mean('success'), absent: mean('absent'), conflict: mean('conflict'), wrong: mean('wrong') };
}

/**
 * Bounds of the probability of a wrong answer. For `single`: lower = p^N N q (1 - q)^(N-1), upper = p^N (1 - (1 - q)^N).
 * If all values are distinct, the lower bound of `single` and `plurality` is exact.
 */
export function wrongBounds(overwritten: number, options: OutcomeOptions): Bounds {
  return new OutcomeModel(options).bounds(overwritten).wrong;
}
