/** The number of a key's N slots that are written if some writes are not made or do not arrive. */

/** C(n, k), exact up to 2^53. */
export function choose(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
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
  if (!(Number.isInteger(reports) && reports >= 0)) throw new RangeError(`reports must be a whole number: ${reports}`);
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
  return Array.from(
    { length: copies + 1 },
    (_, written) => choose(copies, written) * (1 - loss) ** written * loss ** (copies - written),
  );
}

/** The mean of a distribution over 0, 1, 2...; for written slots, the mean N to use in overwriting probabilities. */
export function meanOf(chances: readonly number[]): number {
  return chances.reduce((sum, chance, count) => sum + chance * count, 0);
}
