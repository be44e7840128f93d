/** Averages over the ages of keys: queries are for all keys, not only for the oldest. */

/**
 * Most halvings. Smooth functions need tens. Without a limit, halving would not end where rounding exceeds the
 * tolerance.
 */
const MOST_HALVINGS = 1000;

/** Nodes above 0 and weights of Gauss-Legendre quadrature with eight nodes on [-1, 1] (NIST DLMF, table 3.5.3). */
const RULE = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.31370664587788727],
  [0.7966664774136267, 0.22238103445337448],
  [0.9602898564975363, 0.10122853629037626],
] as const;

function panel(f: (x: number) => number, from: number, to: number): number {
  const [middle, half] = [(from + to) / 2, (to - from) / 2];
  let sum = 0;
  for (const [x, weight] of RULE) sum += weight * (f(middle - half * x) + f(middle + half * x));
  return sum * half;
}

/** The integral over [from, to]. The interval is halved while the halves differ from the whole by more than `error`. */
function integrate(
  f: (x: number) => number,
  from: number,
  to: number,
  whole: number,
  error: number,
  budget: { panels: number },
): number {
  const middle = (from + to) / 2;
  const [left, right] = [panel(f, from, middle), panel(f, middle, to)];
  budget.panels--;
  if (budget.panels <= 0 || Math.abs(left + right - whole) <= error) return left + right;
  const part = error * 0.7;
  return integrate(f, from, middle, left, part, budget) + integrate(f, middle, to, right, part, budget);
}

/** A range of ages: 0 is the key written last, 1 the first of the epoch. */
export interface AgeRange {
  readonly from: number;
  readonly to: number;
}

/** All keys. */
export const ALL_AGES: AgeRange = { from: 0, to: 1 };

/**
 * The ages of the keys written first.
 *
 * @param fraction their share, above 0 and at most 1; 0.01 is the oldest hundredth
 */
export function oldest(fraction: number): AgeRange {
  if (!(fraction > 0 && fraction <= 1)) throw new RangeError(`fraction must be above 0 up to 1, not ${fraction}`);
  return { from: 1 - fraction, to: 1 };
}

/**
 * The mean of f over ages u, uniformly distributed: (1 / (to - from)) * integral of f(u) du. Keys of an epoch are
 * uniformly distributed over u in [0, 1]; u K other keys were written after a key of age u. The integral is numerical:
 * Gauss-Legendre, halved where needed, after the substitution u = t^3 for functions that are steep near 0. The relative
 * error is about 1e-10 for smooth functions.
 *
 * @param f a function of the age, such as a probability of this folder
 *
 * @example
 * const model = new OutcomeModel({ copies: 4 });
 * averageOverAges((age) => model.distinct(-Math.expm1(-4 * 0.08 * age)).success); // 0.99867...
 */
export function averageOverAges(f: (age: number) => number, { from, to }: AgeRange = ALL_AGES): number {
  if (!(from >= 0 && from <= to && to <= 1)) throw new RangeError(`ages ${from} to ${to} are not inside 0 to 1`);
  if (from === to) return f(from);
  const g = (t: number): number => 3 * t * t * f(t * t * t);
  const [low, high] = [Math.cbrt(from), Math.cbrt(to)];
  const middle = (low + high) / 2;
  const halves = [panel(g, low, middle), panel(g, middle, high)] as const;
  // The tolerance is relative to the whole, so that rounding in a negligible part does not matter.
  const error = 1e-11 * Math.abs(halves[0] + halves[1]);
  const budget = { panels: MOST_HALVINGS };
  const upper = integrate(g, middle, high, halves[1], error, budget);
  const whole = upper + integrate(g, low, middle, halves[0], error, budget);
  return whole / (to - from);
}
