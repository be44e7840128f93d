/** How far off a count or mean may be: five standard deviations, passed by chance once in 1.7 million. */
export const SIGMAS = 5;

/** Bound for the distance of a count of `n` trials of probability `p` from `n * p`. */
export function binomialBound(n: number, p: number): number {
  return SIGMAS * Math.sqrt(n * p * (1 - p)) + 1;
}
