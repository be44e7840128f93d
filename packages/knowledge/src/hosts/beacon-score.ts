/** What {@link beaconScore} is made of: each from 0 to 1. */
export interface BeaconScore {
  /** The mean of the six. */
  readonly score: number;
  /** Symmetry of the gaps (Bowley's skewness), their steadiness, and how often there is a connection. */
  readonly gapSkew: number;
  readonly gapSpread: number;
  readonly gapCount: number;
  /** The same for sizes, and how small the usual size is. */
  readonly sizeSkew: number;
  readonly sizeSpread: number;
  readonly sizeSmall: number;
}

/** A median deviation of so many milliseconds, or bytes, is no longer steady. */
const MOST_GAP_SPREAD_MS = 30_000;
const MOST_SIZE_SPREAD = 32;
/** One connection in so many milliseconds counts as often. */
const OFTEN_MS = 10_000;
const LARGE = 65_535;

/**
 * How much connections of a pair of hosts look like those of a program that calls home: the score of RITA (Active
 * Countermeasures), from gaps between connections and from sizes.
 * @param gapsMs gaps between the beginnings, milliseconds; sorted in place
 * @param sizes bytes that the inside host sent, per connection; sorted in place
 */
export function beaconScore(gapsMs: Float64Array, sizes: Float64Array): BeaconScore {
  gapsMs.sort();
  sizes.sort();
  const total = gapsMs.reduce((sum, gap) => sum + gap, 0);
  const gapSkew = 1 - Math.abs(bowley(gapsMs));
  const gapSpread = Math.max(0, 1 - medianDeviation(gapsMs) / MOST_GAP_SPREAD_MS);
  const gapCount = Math.min(1, sizes.length / Math.max(1, total / OFTEN_MS));
  const sizeSkew = 1 - Math.abs(bowley(sizes));
  const sizeSpread = Math.max(0, 1 - medianDeviation(sizes) / MOST_SIZE_SPREAD);
  const sizeSmall = Math.max(0, 1 - mode(sizes) / LARGE);
  const score = (gapSkew + gapSpread + gapCount + sizeSkew + sizeSpread + sizeSmall) / 6;
  return { score, gapSkew, gapSpread, gapCount, sizeSkew, sizeSpread, sizeSmall };
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
