import type { Bins, ResolvedBins } from './bins.js';
import { edgesOf } from './bins.js';
import { DistributionError } from './errors.js';
import { DISTRIBUTION_HISTOGRAM, type DistributionName, type HistogramPlan } from './layout.js';

/**
 * What {@link Histogram.exportTo} needs of a histogram of another library: hdr-histogram-js and its relatives have it.
 */
export interface HistogramRecorder {
  recordValueWithCount(value: number, count: number): void;
}

/** The smallest range known to hold a value. Both ends belong to it. */
export interface ValueRange {
  readonly least: number;
  readonly most: number;
}

/** A {@link Histogram} in JSON. */
export interface HistogramJson {
  readonly metric: DistributionName;
  readonly bins: Bins;
  readonly total: number;
  readonly underflow: number;
  readonly overflow: number;
  /** A decimal number. */
  readonly sum: string;
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** The bins that hold values: least value, first value beyond, count. */
  readonly counts: readonly (readonly [number, number, number])[];
}

/** What a {@link Histogram} is made of. */
interface Contents {
  /** Below the bins, in each of them, above them. */
  readonly all: readonly number[];
  readonly sum: bigint;
  readonly least: number;
  readonly most: number;
}

/** `p / 100 * total`, rounded up, but not because of the last digits of a floating-point number. */
function rankOf(p: number, total: number): number {
  const exact = (p * total) / 100;
  const near = Math.round(exact);
  const rank = Math.abs(exact - near) <= exact * 2 ** -50 ? near : Math.ceil(exact);
  return Math.min(Math.max(rank, 1), total);
}

/**
 * How the values of a metric are distributed: a copy, which later values do not change.
 *
 * Counts are exact up to 2^53. Values that no bin holds are in `underflow` and `overflow`, and part of all else: total,
 * sum, mean, extremes, percentiles.
 */
export class Histogram {
  readonly metric: DistributionName;
  /** The bins, with all defaults filled in. */
  readonly bins: Bins;
  /** Bin k holds the values from `edges[k]` up to, and without, `edges[k + 1]`: one edge more than bins. */
  readonly edges: readonly number[];
  /** Values in each bin. */
  readonly counts: readonly number[];
  /** Values below the first bin. */
  readonly underflow: number;
  /** Values above the last bin. */
  readonly overflow: number;
  /** All values. */
  readonly total: number;
  /** Sum of all values, exact. */
  readonly sum: bigint;
  /** `null` if there is no value. The extremes are exact. */
  readonly min: number | null;
  readonly max: number | null;
  readonly #plan: HistogramPlan;
  readonly #contents: Contents;

  private constructor(plan: HistogramPlan, contents: Contents) {
    const { all, sum, least, most } = contents;
    this.#plan = plan;
    this.#contents = contents;
    this.metric = plan.name;
    this.bins = plan.bins;
    this.edges = edgesOf(plan);
    this.counts = all.slice(1, -1);
    this.underflow = all[0]!;
    this.overflow = all.at(-1)!;
    this.total = all.reduce((total, count) => total + count, 0);
    this.sum = sum;
    this.min = this.total === 0 ? null : least;
    this.max = this.total === 0 ? null : most;
  }

  /** Reads copied cells of a histogram. @internal */
  static read(plan: HistogramPlan, copy: Float64Array): Histogram {
    const { COUNTS, SUM, CARRIED, MOST, LEAST } = DISTRIBUTION_HISTOGRAM;
    const sum = BigInt(copy[SUM]!) + (BigInt(copy[CARRIED]!) << 52n);
    return new Histogram(plan, { all: [...copy.subarray(COUNTS)], sum, least: copy[LEAST]!, most: copy[MOST]! });
  }

  /**
   * The sum of histograms of equal bins, as of one metric at several switches.
   * @throws DistributionError DIFFERENT_BINS; RangeError for an empty list
   */
  static merged(histograms: readonly Histogram[]): Histogram {
    const [first, ...others] = histograms;
    if (first === undefined) throw new RangeError('at least one histogram');
    const all = [...first.#contents.all];
    let { sum, least, most } = first.#contents;
    for (const other of others) {
      if (other.metric !== first.metric || !haveEqualBins(other.#plan, first.#plan)) {
        throw new DistributionError('DIFFERENT_BINS', `${other.metric} has other bins than ${first.metric}`);
      }
      other.#contents.all.forEach((count, bin) => {
        all[bin]! += count;
      });
      sum += other.sum;
      least = Math.min(least, other.#contents.least);
      most = Math.max(most, other.#contents.most);
    }
    return new Histogram(first.#plan, { all, sum, least, most });
  }

  /** Exact up to the rounding of the quotient: the sum is no estimate. `null` if there is no value. */
  get mean(): number | null {
    return this.total === 0 ? null : Number(this.sum) / this.total;
  }

  /**
   * The value below or at which `p` percent of the values lie: the `ceil(p / 100 * total)`-th smallest, for p = 0 the
   * smallest.
   *
   * The bin of that value is known; within it, cut off at `min` and `max`, values are taken to be spread evenly, each in
   * the middle of its share. The error is thus less than the bin is wide, and none where a bin holds a single value; for
   * logarithmic bins it is less than `1 / perOctave` of the true value. The smallest and the largest value are exact.
   *
   * @param p from 0 to 100
   * @returns not always an integer; `null` if there is no value
   * @throws RangeError if `p` is out of range
   */
  percentile(p: number): number | null {
    const place = this.#placeOf(p);
    if (place === null) return null;
    const { rank, bin, below } = place;
    if (rank === 1) return this.min;
    if (rank === this.total) return this.max;
    const { least, most } = this.#rangeOf(bin);
    return least + ((most - least) * (rank - below - 0.5)) / this.#contents.all[bin]!;
  }

  /**
   * The range that certainly holds the exact percentile.
   * @throws RangeError if `p` is out of range
   */
  percentileRange(p: number): ValueRange | null {
    const place = this.#placeOf(p);
    if (place === null) return null;
    const { rank, bin } = place;
    const { least, most } = this.#rangeOf(bin);
    return { least: rank === this.total ? most : least, most: rank === 1 ? least : most };
  }

  /**
   * Records the values into a histogram of another library.
   *
   * The least and the largest value are recorded as they are, every other one as the middle of its bin, rounded down:
   * off by at most half of the bin's width. To this comes the other histogram's own error.
   */
  exportTo(target: HistogramRecorder): void {
    const { all } = this.#contents;
    const { min, max } = this;
    if (min === null || max === null) return;
    let left = this.total;
    target.recordValueWithCount(min, 1);
    if (left > 1) target.recordValueWithCount(max, 1);
    all.forEach((count, bin) => {
      if (count === 0) return;
      const isFirst = left === this.total;
      left -= count;
      const middle = count - (isFirst ? 1 : 0) - (left === 0 && this.total > 1 ? 1 : 0);
      const { least, most } = this.#rangeOf(bin);
      if (middle > 0) target.recordValueWithCount(Math.floor((least + most) / 2), middle);
    });
  }

  toJSON(): HistogramJson {
    const { metric, bins, total, underflow, overflow, sum, mean, min, max, edges } = this;
    const counts = this.counts.flatMap((count, bin) =>
      count === 0 ? [] : [[edges[bin]!, edges[bin + 1]!, count] as const],
    );
    return { metric, bins, total, underflow, overflow, sum: String(sum), mean, min, max, counts };
  }

  /** The bin that holds a percentile, and the values below that bin. */
  #placeOf(p: number): { rank: number; bin: number; below: number } | null {
    if (!(p >= 0 && p <= 100)) throw new RangeError(`a percentile is from 0 to 100, not ${p}`);
    const { all } = this.#contents;
    if (this.total === 0) return null;
    const rank = rankOf(p, this.total);
    let below = 0;
    let bin = 0;
    while (bin < all.length - 1 && below + all[bin]! < rank) {
      below += all[bin]!;
      bin++;
    }
    return { rank, bin, below };
  }

  /** What values a bin may hold, cut off at the extremes. */
  #rangeOf(bin: number): ValueRange {
    const { from, last } = this.#plan;
    const { least, most } = this.#contents;
    const isOver = bin === this.counts.length + 1;
    const low = bin === 0 ? 0 : isOver ? last + 1 : this.edges[bin - 1]!;
    const high = bin === 0 ? from - 1 : isOver ? 2 ** 32 - 1 : this.edges[bin]! - 1;
    // Extremes that contradict the counts (they may be of another instant) do not count.
    return least > high || most < low || least > most
      ? { least: low, most: high }
      : { least: Math.max(low, least), most: Math.min(high, most) };
  }
}

/** Whether each bin of one is a bin of the other. */
export function haveEqualBins(a: ResolvedBins, b: ResolvedBins): boolean {
  if (a.kind !== b.kind || a.from !== b.from || a.last !== b.last) return false;
  if (a.count !== b.count || a.parameter !== b.parameter) return false;
  const { bins } = b;
  return (
    a.bins.kind !== 'explicit' ||
    (bins.kind === 'explicit' && a.bins.edges.every((edge, index) => edge === bins.edges[index]))
  );
}
