/** What theory says of keys that are not written into all of their slots. Symbols as in theory/overwriting.ts of `@int/dart`. */
import { type AdaptiveCopies, type AgeRange, OutcomeModel, type OutcomeOptions, type Outcomes } from '@int/dart';
import { averageOverAges } from '@int/dart/internals';

const ALL_AGES: AgeRange = { from: 0, to: 1 };

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

/**
 * The distribution of D, the number of distinct copies written by random-copy writes: a switch writes each of the R
 * reports of a key into one of the N slots at random (section 6 of the DART paper: the switch draws n). By the
 * recursion
 *
 * P(D = d after R + 1) = P(d after R) * d / N + P(d - 1 after R) * (N - d + 1) / N. Exact.
 *
 * @param copies N
 * @param reports R, a whole number
 * @param loss probability that a report is lost on its way, independently; 0 if absent
 * @returns P(D = d) for d = 0..N
 */
export function distinctSlots(copies: number, reports: number, loss = 0): number[] {
  const chances = new Array<number>(copies + 1).fill(0);
  chances[0] = 1;
  for (let report = 0; report < reports; report++) {
    for (let written = copies; written >= 0; written--) {
      const stays = chances[written]! * (loss + ((1 - loss) * written) / copies);
      const rises = written === 0 ? 0 : (chances[written - 1]! * (1 - loss) * (copies - written + 1)) / copies;
      chances[written] = stays + rises;
    }
  }
  return chances;
}

/**
 * The distribution of D for one packet per copy, each lost independently with probability `loss`:
 * P(D = d) = C(N, d) (1 - loss)^d loss^(N - d). Exact.
 */
export function arrivingCopies(copies: number, loss: number): number[] {
  let ways = 1;
  return Array.from({ length: copies + 1 }, (_, written) => {
    if (written > 0) ways = (ways * (copies - written + 1)) / written;
    return ways * (1 - loss) ** written * loss ** (copies - written);
  });
}

/** The mean of a distribution over 0, 1, 2...; for written slots, the mean N to use in overwriting probabilities. */
export function meanOf(chances: readonly number[]): number {
  return chances.reduce((sum, chance, count) => sum + chance * count, 0);
}

/**
 * Slots written by the keys up to a load, divided by M: the integral W of `copiesAt` from 0 to `load`. The fraction of
 * empty slots is exp(-W).
 */
export function writesUpTo({ thresholds }: AdaptiveCopies, load: number): number {
  return thresholds.reduce((writes, threshold) => writes + Math.min(load, threshold), 0);
}

interface AdaptiveOutcomeOptions extends Omit<OutcomeOptions, 'copies' | 'written'> {
  /** Keys of the epoch / slots, at the time of the queries. */
  readonly load: number;
  readonly adaptive: AdaptiveCopies;
  readonly ages?: AgeRange;
}

/**
 * The outcomes of keys written with `AdaptiveCopies`, for distinct values. A key that was written at load x wrote
 * n(x) of its slots; each has since been overwritten with probability p = 1 - exp(-(W(load) - W(x))), W being
 * {@link writesUpTo}; its other slots hold foreign keys with probability 1 - exp(-W(load)). The
 * approximation is that for a fixed number: Poisson, without terms of order 1 / M.
 */
export function adaptiveOutcomes({ load, adaptive, ages = ALL_AGES, ...options }: AdaptiveOutcomeOptions): Outcomes {
  const { mostCopies, thresholds } = adaptive;
  const models = Array.from({ length: mostCopies }, (_, index) => {
    const written = Array.from({ length: mostCopies + 1 }, (_, count) => (count === index + 1 ? 1 : 0));
    return new OutcomeModel({ ...options, copies: mostCopies, written });
  });
  const all = writesUpTo(adaptive, load);
  const foreign = -Math.expm1(-all);
  // Integrate piecewise: the curve is smooth only between ages at which the number of copies changes.
  const ends = thresholds
    .map((threshold) => 1 - Math.min(1, threshold / load))
    .filter((age) => age > ages.from && age < ages.to);
  const edges = [ages.from, ...new Set(ends), ages.to];
  const total = { success: 0, absent: 0, conflict: 0, wrong: 0 };
  for (let piece = 0; piece + 1 < edges.length; piece++) {
    const range = { from: edges[piece]!, to: edges[piece + 1]! };
    const share = range.from === range.to ? 1 : (range.to - range.from) / (ages.to - ages.from);
    const model = models[adaptive.copiesAt(load * (1 - (range.from + range.to) / 2)) - 1]!;
    for (const outcome of ['success', 'absent', 'conflict', 'wrong'] as const) {
      const at = (age: number): number => {
        const since = all - writesUpTo(adaptive, load * (1 - age));
        return model.distinct(-Math.expm1(-since), foreign, Math.exp(-since))[outcome];
      };
      total[outcome] += share * averageOverAges(at, range);
    }
  }
  return total;
}
