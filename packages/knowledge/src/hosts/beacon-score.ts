/** What {@link beaconScore} is made of: each from 0 to 1. */
export interface BeaconScore {
  /** The mean of the six. */
  readonly score: number;
  /** Symmetry of the gaps (Bowley's skewness), their steadiness, and whether each period has a connection. */
  readonly gapSkew: number;
  readonly gapSpread: number;
  readonly gapCount: number;
  /** The same for sizes, and how small the usual size is. */
  readonly sizeSkew: number;
  readonly sizeSpread: number;
  readonly sizeSmall: number;
  /**
   * Whether so many gaps are near the usual one that connections which come independently of each other would not do that:
   * in less than 1 of 10 million cases. No part of the score.
   */
  readonly isPeriodic: boolean;
}

/** A median deviation of so many bytes is no longer steady. */
const MOST_SIZE_SPREAD = 32;
const LARGE = 65_535;
/** A gap is near the usual one within this share of it. */
const NEAR = 0.25;
/**
 * Share of gaps that are near the median if connections come independently, with gaps of an exponential distribution:
 * `2^-(1 - near) - 2^-(1 + near)`.
 */
const NEAR_BY_CHANCE = 2 ** -(1 - NEAR) - 2 ** -(1 + NEAR);
/** Standard deviations above that: 1e-7 of a normal distribution. */
const DEVIATIONS = 5.2;

/**
 * How much connections of a pair of hosts look like those of a program that calls home: after the score of RITA (Active
 * Countermeasures), from gaps between connections and from sizes. Gaps are measured by the usual one and not by a fixed
 * time, so that a period of an hour counts as one of half a minute does.
 * @param gapsMs gaps between the beginnings, milliseconds; sorted in place
 * @param sizes bytes that the inside host sent, per connection; sorted in place
 */
export function beaconScore(gapsMs: Float64Array, sizes: Float64Array): BeaconScore {
  gapsMs.sort();
  sizes.sort();
  const usual = quantile(gapsMs, 0.5);
  const total = gapsMs.reduce((sum, gap) => sum + gap, 0);
  const gapSkew = 1 - Math.abs(bowley(gapsMs));
  const gapSpread = usual > 0 ? Math.max(0, 1 - medianDeviation(gapsMs) / usual) : 0;
  const gapCount = total > 0 ? Math.min(1, (gapsMs.length * usual) / total) : 0;
  const sizeSkew = 1 - Math.abs(bowley(sizes));
  const sizeSpread = Math.max(0, 1 - medianDeviation(sizes) / MOST_SIZE_SPREAD);
  const sizeSmall = Math.max(0, 1 - mode(sizes) / LARGE);
  const score = (gapSkew + gapSpread + gapCount + sizeSkew + sizeSpread + sizeSmall) / 6;
  return {
    score,
    gapSkew,
    gapSpread,
    gapCount,
    sizeSkew,
    sizeSpread,
    sizeSmall,
    isPeriodic: isPeriodic(gapsMs, usual),
  };
}

function isPeriodic(gapsMs: Float64Array, usual: number): boolean {
  const near = gapsMs.reduce((count, gap) => count + (Math.abs(gap - usual) <= NEAR * usual ? 1 : 0), 0);
  const chance = gapsMs.length * NEAR_BY_CHANCE;
  return usual > 0 && near > chance + DEVIATIONS * Math.sqrt(chance * (1 - NEAR_BY_CHANCE));
}

/** @param sorted at least one value */
function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))]!;
}

/** `(Q1 + Q3 - 2 Q2) / (Q3 - Q1)`; 0 if Q2 is one of the others. */
function bowley(sorted: Float64Array): number {
  const [low, middle, high] = [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)];
  return middle === low || middle === high ? 0 : (low + high - 2 * middle) / (high - low);
}

function medianDeviation(sorted: Float64Array): number {
  const middle = quantile(sorted, 0.5);
  return quantile(sorted.map((value) => Math.abs(value - middle)).sort(), 0.5);
}

/** The value that is there most often; of several the smallest. */
function mode(sorted: Float64Array): number {
  let best = sorted[0]!;
  let most = 0;
  let run = 0;
  for (let k = 0; k < sorted.length; k++) {
    run = k > 0 && sorted[k] === sorted[k - 1] ? run + 1 : 1;
    if (run <= most) continue;
    most = run;
    best = sorted[k]!;
  }
  return best;
}
