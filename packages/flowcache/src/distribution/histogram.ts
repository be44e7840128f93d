import type { Bins, ResolvedBins } from './bins.js';
import { edgesOf } from './bins.js';
import { DistributionError } from './errors.js';
import { DISTRIBUTION_HISTOGRAM, type DistributionName, type HistogramPlan } from './layout.js';

/** What {@link Histogram.exportTo} needs of another library's histogram, such as that of hdr-histogram-js. */
export interface HistogramRecorder {
  recordValueWithCount(value: number, count: number): void;
}

/** The smallest range known to hold a value, both ends included. */
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
  /** The bins that hold values: least value, first value beyond, count. */
  readonly counts: readonly (readonly [number, number, number])[];
}

/** `p / 100 * total`, at least 1: rounded up, except where only the last digits of a float exceed a whole number. */
function rankOf(p: number, total: number): number {
  const exact = (p * total) / 100;
  const near = Math.round(exact);
  const rank = Math.abs(exact - near) <= exact * 2 ** -50 ? near : Math.ceil(exact);
  return Math.min(Math.max(rank, 1), total);
}

/**
 * The distribution of the values of a metric: a copy, which later values do not change.
 *
 * `underflow` and `overflow` count the values outside the bins, which are part of total, sum, mean and percentiles.
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
  readonly #plan: HistogramPlan;
  /** Values below the bins, in each of them, above them. */
  readonly #all: readonly number[];

  private constructor(plan: HistogramPlan, all: readonly number[], sum: bigint) {
    this.#plan = plan;
    this.#all = all;
    this.metric = plan.name;
    this.bins = plan.bins;
    this.edges = edgesOf(plan);
    this.counts = all.slice(1, -1);
    this.underflow = all[0]!;
    this.overflow = all.at(-1)!;
    this.total = all.reduce((total, count) => total + count, 0);
    this.sum = sum;
  }

  /** Reads copied cells of a histogram. @internal */
  static read(plan: HistogramPlan, copy: Float64Array): Histogram {
    const { COUNTS, SUM, CARRIED } = DISTRIBUTION_HISTOGRAM;
    const sum = BigInt(copy[SUM]!) + (BigInt(copy[CARRIED]!) << 52n);
    return new Histogram(plan, [...copy.subarray(COUNTS)], sum);
  }

  /**
   * The sum of histograms of one metric with equal bins, such as those of several switches.
   * @throws DistributionError `ERR_DISTRIBUTION_OTHER_BINS`; RangeError for an empty list
   */
  static merged(histograms: readonly Histogram[]): Histogram {
    const [first, ...others] = histograms;
    if (first === undefined) throw new RangeError('at least one histogram');
    const all = [...first.#all];
    let { sum } = first;
    for (const other of others) {
      if (other.metric !== first.metric || !haveEqualBins(other.#plan, first.#plan)) {
        throw new DistributionError(
          'ERR_DISTRIBUTION_OTHER_BINS',
          `${other.metric} has other bins than ${first.metric}`,
        );
      }
      other.#all.forEach((count, bin) => {
        all[bin]! += count;
      });
      sum += other.sum;
    }
    return new Histogram(first.#plan, all, sum);
  }

  /** The exact sum divided by the total, rounded once. `null` if there is no value. */
  get mean(): number | null {
    return this.total === 0 ? null : Number(this.sum) / this.total;
  }

  /**
   * The value at or below which `p` percent of the values lie: the `ceil(p / 100 * total)`-th smallest; for p = 0 the
   * smallest.
   *
   * It is known which bin holds that value. Within the bin, values count as spread evenly, each in the middle of its
   * share. So the error is less than the width of the bin: none if a bin holds a single value, less than `1 /
   * perOctave` of the true value for logarithmic bins. All values above the last bin count as the least possible one.
   *
   * @param p from 0 to 100
   * @returns not always an integer; `null` if there is no value
   * @throws RangeError if `p` is out of range
   */
  percentile(p: number): number | null {
    const place = this.#placeOf(p);
    if (place === null) return null;
    const { bin, share } = place;
    const { least, most } = this.#rangeOf(bin);
    return bin > this.counts.length ? least : least + (most - least) * share;
  }

  /**
   * The values of the bin that holds the exact percentile.
   * @throws RangeError if `p` is out of range
   */
  percentileRange(p: number): ValueRange | null {
    const place = this.#placeOf(p);
    return place === null ? null : this.#rangeOf(place.bin);
  }

  /**
   * Records the values into a histogram of another library, each as the middle of its bin, rounded down: off by at most
   * half of the bin's width, and by the error of the other histogram. Values above the last bin are recorded as the
   * least of them.
   */
  exportTo(target: HistogramRecorder): void {
    this.#all.forEach((count, bin) => {
      if (count === 0) return;
      const { least, most } = this.#rangeOf(bin);
      target.recordValueWithCount(bin > this.counts.length ? least : Math.floor((least + most) / 2), count);
    });
  }

  toJSON(): HistogramJson {
    const { metric, bins, total, underflow, overflow, sum, mean, edges } = this;
    const counts = this.counts.flatMap((count, bin) =>
      count === 0 ? [] : [[edges[bin]!, edges[bin + 1]!, count] as const],
    );
    return { metric, bins, total, underflow, overflow, sum: String(sum), mean, counts };
  }

  /** The bin that holds a percentile, and where it lies in the bin, from 0 to 1. */
  #placeOf(p: number): { bin: number; share: number } | null {
    if (!(p >= 0 && p <= 100)) throw new RangeError(`a percentile is from 0 to 100, not ${p}`);
    if (this.total === 0) return null;
    const rank = rankOf(p, this.total);
    let below = 0;
    let bin = 0;
    while (bin < this.#all.length - 1 && below + this.#all[bin]! < rank) {
      below += this.#all[bin]!;
      bin++;
    }
    return { bin, share: (rank - below - 0.5) / this.#all[bin]! };
  }

  /** The values that a bin may hold. Bin 0 is below the first bin. */
  #rangeOf(bin: number): ValueRange {
    const { from, last, metric } = this.#plan;
    const largest = 2 ** (metric?.width ?? 32) - 1;
    if (bin === 0) return { least: 0, most: from - 1 };
    if (bin > this.counts.length) return { least: last + 1, most: largest };
    return { least: this.edges[bin - 1]!, most: Math.min(this.edges[bin]! - 1, largest) };
  }
}

/** Whether two have the same bins. */
export function haveEqualBins(a: ResolvedBins, b: ResolvedBins): boolean {
  if (a.kind !== b.kind || a.from !== b.from || a.last !== b.last) return false;
  if (a.count !== b.count || a.parameter !== b.parameter) return false;
  const { bins } = b;
  return (
    a.bins.kind !== 'explicit' ||
    (bins.kind === 'explicit' && a.bins.edges.every((edge, index) => edge === bins.edges[index]))
  );
}
