/** Means and their confidence intervals by Student's t distribution. */

/** A mean of independent values, and half the width of its confidence interval. */
export interface Estimate {
  readonly mean: number;
  /** 0 for one value: nothing is known of its spread. */
  readonly halfWidth: number;
  readonly count: number;
}

/** Logarithm of the gamma function for x > 0 (Lanczos, 7 and 9 terms): 14 digits or more. */
function logGamma(x: number): number {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
    -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
  ];
  const base = x - 1;
  let sum = 0.9999999999998099;
  for (const [i, term] of terms.entries()) sum += term / (base + i + 1);
  const t = base + terms.length - 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (base + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The continued fraction of the incomplete beta function (Lentz; Press et al., Numerical Recipes, section 6.4). */
function betaFraction(a: number, b: number, x: number): number {
  const tiny = 1e-300;
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/** Regularised incomplete beta function. */
function beta(a: number, b: number, x: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(a, b, x)) / a;
  return 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

/**
 * The value that Student's t exceeds in size with probability 1 - `confidence`: 2.093 for 19 degrees of freedom and 0.95.
 *
 * @throws RangeError unless `freedom` is 1 or more and `confidence` is between 0 and 1
 */
export function studentQuantile(freedom: number, confidence: number): number {
  if (!(freedom >= 1)) throw new RangeError(`degrees of freedom must be 1 or more, not ${freedom}`);
  if (!(confidence > 0 && confidence < 1))
    throw new RangeError(`confidence must be between 0 and 1, not ${confidence}`);
  const outside = (t: number): number => beta(freedom / 2, 0.5, freedom / (freedom + t * t));
  let high = 1;
  while (outside(high) > 1 - confidence) high *= 2;
  let low = 0;
  for (let i = 0; i < 100 && high - low > 1e-12 * high; i++) {
    const middle = (low + high) / 2;
    if (outside(middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Mean and confidence interval of independent values, at least one of them. */
export function estimate(values: readonly number[], confidence = 0.95): Estimate {
  const count = values.length;
  if (count === 0) throw new RangeError('there are no values');
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count === 1) return { mean, halfWidth: 0, count };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  return { mean, halfWidth: studentQuantile(count - 1, confidence) * Math.sqrt(variance / count), count };
}
