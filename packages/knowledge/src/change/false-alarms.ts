/** Excess of a sum over its barrier, for normal values (Siegmund 1985). */
const EXCESS = 1.166;

/**
 * Mean number of samples until a two-sided CUSUM on normal values of deviation 1 alarms although nothing has changed:
 * Siegmund's `(exp(2k(h + 1.166)) - 2k(h + 1.166) - 1) / (2k^2)` for one side, half of it for two.
 * @param h threshold of the sum
 * @param k slack, in deviations
 */
export function samplesToFalseAlarm(h: number, k: number): number {
  const x = 2 * k * (h + EXCESS);
  return (Math.exp(x) - x - 1) / (2 * k * k) / 2;
}

/**
 * The threshold of a two-sided CUSUM for the false alarms that one can bear.
 * @param perDay false alarms a day, of all metrics together; above 0
 * @param metrics how many there are
 * @param samplesPerDay of each
 * @param k slack, in deviations
 */
export function thresholdFor(perDay: number, metrics: number, samplesPerDay: number, k: number): number {
  const wanted = (metrics * samplesPerDay) / perDay;
  let low = 0;
  let high = 64 / k;
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (samplesToFalseAlarm(middle, k) < wanted) low = middle;
    else high = middle;
  }
  return high;
}
