import { type MetricName, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import { checkOffset, readDimensions } from './attach.js';
import { DistributionError } from './errors.js';
import { Histogram, haveEqualBins } from './histogram.js';
import {
  COUNTERS_END,
  DISTRIBUTION_COUNTER,
  DISTRIBUTION_HEADER,
  DISTRIBUTION_HISTOGRAM,
  type DistributionDimensions,
  type DistributionName,
  FIRST_SWITCH_ROW,
  type HistogramPlan,
  OTHERS_ROW,
  planOf,
  preambleOf,
  UNNAMED_ROW,
} from './layout.js';
import { DistributionMemory } from './memory.js';
import { Recorder } from './recorder.js';

/** Settings of {@link Distributions}. */
export interface DistributionOptions extends DistributionDimensions {
  /**
   * Memory of {@link Distributions.byteLength} bytes, which are overwritten. Other threads can read a
   * SharedArrayBuffer. Default: an ArrayBuffer.
   */
  readonly buffer?: ArrayBufferLike;
  /** First byte to use, a multiple of 8. Default 0. */
  readonly byteOffset?: number;
}

/** The distributions of a switch by its node id, or one of two others. */
export type DistributionNode =
  | number
  /** Hops that do not name their switch. */
  | 'unnamed'
  /** Hops of switches for which there was no room. */
  | 'others';

/** Hops and the values they carry. */
export interface HopTotals {
  /** Only hops that carry a value count. */
  readonly hops: number;
  readonly values: number;
}

/**
 * Counters of {@link Distributions}. Every value counts once: hops carried `values`, those of `unnamed`, and those of
 * `lost.tooManySwitches`.
 */
export interface DistributionTotals {
  /** Rows of batches with code 0. */
  readonly reports: number;
  /** Rows with another code, which are skipped. */
  readonly notOk: number;
  /** Switches that have distributions. */
  readonly switches: number;
  /** Values in the distributions of switches. */
  readonly values: number;
  /** Hops that do not name their switch; their values are in the distributions of `unnamed`. */
  readonly unnamed: HopTotals;
  /** Hops without distributions of their switch, by reason. Their values are in the distributions of `others`. */
  readonly lost: { readonly tooManySwitches: HopTotals };
  /** Values below and above the bins, of all hops. */
  readonly underflow: number;
  readonly overflow: number;
  /** Reports in the distribution of the end-to-end latency, and those below and above its bins. */
  readonly endToEnd: { readonly values: number; readonly underflow: number; readonly overflow: number };
}

const KEEP: unique symbol = /* @__PURE__ */ Symbol('keep what is in the buffer') as never;

/**
 * The distribution of each metric at each switch, and that of the end-to-end latency: the sum of the hop latencies of a
 * report, saturating at 2^32 - 1.
 *
 * {@link record} is the hot path: columns in, counts up; it allocates nothing once it has seen a batch. {@link observe}
 * is the comfort path: a record in, by the same code. Both skip a metric that a hop lacks: its word, or both words of a
 * pair, are all ones.
 *
 * No value is dropped. Values outside the bins are counted below and above. Hops without a switch id, and those of
 * switches beyond the capacity, have distributions of their own.
 *
 * All memory is one buffer, whose size the options fix; layout.ts describes it. One thread may write while others
 * {@link attach} and read.
 */
export class Distributions {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  /** Bytes of memory in use from `byteOffset` on. */
  readonly byteLength: number;
  /** Metrics followed at each hop. */
  readonly metrics: readonly MetricName[];
  /** Switches there is room for. */
  readonly capacity: number;
  readonly #memory: DistributionMemory;
  /** Made at the first record. */
  #recorder: Recorder | null = null;
  /** What {@link observe} works with. */
  #single: TelemetryBatch | null = null;

  /** @throws DistributionError `ERR_DISTRIBUTION_` METRICS, BINS, SIZE or BUFFER */
  constructor(options: DistributionOptions = {}) {
    const plan = planOf(options);
    const { byteOffset = 0 } = options;
    checkOffset(byteOffset, options.buffer?.byteLength ?? 2 ** 31);
    const buffer = options.buffer ?? new ArrayBuffer(byteOffset + plan.byteLength);
    const room = buffer.byteLength - byteOffset;
    if (room < plan.byteLength) {
      throw new DistributionError(
        'ERR_DISTRIBUTION_BUFFER',
        `the buffer leaves ${room} bytes, ${plan.byteLength} are needed`,
      );
    }
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.byteLength = plan.byteLength;
    this.metrics = plan.metrics.map(({ metric }) => metric!.name);
    this.capacity = plan.switches;
    this.#memory = new DistributionMemory(buffer, byteOffset, plan);
    if (KEEP in options) return;
    this.#memory.words.set(preambleOf(plan));
    this.clear();
  }

  /**
   * Bytes that distributions of these dimensions need.
   * @throws DistributionError `ERR_DISTRIBUTION_` METRICS, BINS or SIZE
   */
  static byteLength(dimensions: DistributionDimensions = {}): number {
    return planOf(dimensions).byteLength;
  }

  /**
   * The distributions in a buffer: those of another thread, to read, or a copy, to go on with.
   *
   * Every number read was there at some time. While the other thread records, two numbers may be of different instants:
   * a mean can be off by the few values in between.
   *
   * @param byteOffset where they start
   * @throws DistributionError `ERR_DISTRIBUTION_` BUFFER, TRUNCATED, MAGIC, VERSION, LAYOUT, TABLE or COUNT
   */
  static attach(buffer: ArrayBufferLike, byteOffset = 0): Distributions {
    const options = { ...readDimensions(buffer, byteOffset), buffer, byteOffset, [KEEP]: true };
    return new Distributions(options);
  }

  /**
   * The sum of distributions with equal metrics and bins, in memory of its own.
   * @param options `switches`: room for so many. Default: for all there are, and at least for as many as the first has
   * @throws DistributionError `ERR_DISTRIBUTION_` OTHER_BINS or SWITCHES; RangeError for an empty list
   */
  static merged(
    all: readonly Distributions[],
    options: Pick<DistributionOptions, 'switches' | 'buffer' | 'byteOffset'> = {},
  ): Distributions {
    const [first] = all;
    if (first === undefined) throw new RangeError('at least one');
    const { plan } = first.#memory;
    const nodes = new Set(all.flatMap((each) => each.switches()));
    const bins: { [K in DistributionName]?: HistogramPlan['bins'] } = {};
    for (const { name, bins: own } of [...plan.metrics, plan.endToEnd]) bins[name] = own;
    const sum = new Distributions({
      metrics: first.metrics,
      bins,
      seed: plan.seed,
      switches: Math.max(plan.switches, nodes.size),
      ...options,
    });
    for (const each of all) sum.merge(each);
    return sum;
  }

  /**
   * Counts the values of report rows `from` to `to - 1`; skips rows whose code is not 0.
   * @throws RangeError for rows that the batch does not hold
   */
  record(batch: TelemetryBatch, from = 0, to: number = batch.reports): void {
    if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch holds ${batch.reports}`);
    }
    this.#recorder ??= new Recorder(this.#memory);
    this.#recorder.record(batch, from, to);
  }

  /** Counts the values of one record, decoded or made by hand; skips one whose status is not `ok`. */
  observe(record: TelemetryRecord): void {
    this.#single ??= new TelemetryBatch({ frames: 1 });
    writeRecord(this.#single, record);
    this.record(this.#single, 0, 1);
  }

  /** Node ids of the switches that have distributions, in the order they were seen. */
  switches(): number[] {
    return Array.from({ length: this.#memory.used }, (_, k) => this.#memory.node(k) >>> 0);
  }

  /**
   * The distribution of a metric at a switch.
   * @returns `null` for a switch that has none
   * @throws RangeError for a metric that is not followed
   */
  histogram(node: DistributionNode, metric: MetricName): Histogram | null {
    const plan = this.#metric(metric);
    const row = this.#rowOf(node);
    return row === 0 ? null : this.#read(plan, row + plan.at);
  }

  /**
   * The distribution of a metric at all hops, those of unnamed and other switches among them.
   * @throws RangeError for a metric that is not followed
   */
  overall(metric: MetricName): Histogram {
    const plan = this.#metric(metric);
    return Histogram.merged(this.#allRows().map((row) => this.#read(plan, row + plan.at)));
  }

  /** The distribution of the end-to-end latency. */
  endToEnd(): Histogram {
    const { endToEnd, endToEndAt } = this.#memory.plan;
    return this.#read(endToEnd, endToEndAt);
  }

  /** The counters. Adds up all bins, which takes time with many switches. */
  totals(): DistributionTotals {
    const { REPORTS, NOT_OK, UNNAMED_HOPS, LOST_HOPS } = DISTRIBUTION_COUNTER;
    const counters = this.#memory.copy(0, COUNTERS_END);
    const { endToEnd, endToEndAt, metrics } = this.#memory.plan;
    const rows = this.#allRows();
    const values = [0, 0, 0];
    let underflow = 0;
    let overflow = 0;
    rows.forEach((at, row) => {
      for (const plan of metrics) {
        const counts = this.#countsOf(plan, at + plan.at);
        values[Math.min(row, FIRST_SWITCH_ROW)]! += counts.values;
        underflow += counts.underflow;
        overflow += counts.overflow;
      }
    });
    return {
      reports: counters[REPORTS]!,
      notOk: counters[NOT_OK]!,
      switches: rows.length - FIRST_SWITCH_ROW,
      values: values[FIRST_SWITCH_ROW]!,
      unnamed: { hops: counters[UNNAMED_HOPS]!, values: values[UNNAMED_ROW]! },
      lost: { tooManySwitches: { hops: counters[LOST_HOPS]!, values: values[OTHERS_ROW]! } },
      underflow,
      overflow,
      endToEnd: this.#countsOf(endToEnd, endToEndAt),
    };
  }

  /**
   * Adds all counts of other distributions, which stay as they are. The sum of parts is what one would have counted
   * that saw all, except for hops of switches that a part had no room for: they stay in `others`.
   *
   * @throws DistributionError `ERR_DISTRIBUTION_` OTHER_BINS or SWITCHES, with nothing changed
   */
  merge(other: Distributions): void {
    const mine = this.#memory;
    const theirs = other.#memory;
    const plans = [...mine.plan.metrics, mine.plan.endToEnd];
    const others = [...theirs.plan.metrics, theirs.plan.endToEnd];
    const isSame = (plan: HistogramPlan, index: number): boolean =>
      plan.name === others[index]!.name && haveEqualBins(plan, others[index]!);
    if (plans.length !== others.length || !plans.every(isSame)) {
      throw new DistributionError('ERR_DISTRIBUTION_OTHER_BINS', 'distributions of other metrics, or with other bins');
    }
    const nodes = other.switches();
    const news = nodes.filter((node) => mine.find(node | 0) === 0).length;
    const room = this.capacity - mine.used;
    if (news > room) throw new DistributionError('ERR_DISTRIBUTION_SWITCHES', `${news} new switches, room for ${room}`);
    const counters = theirs.copy(0, COUNTERS_END);
    for (const at of Object.values(DISTRIBUTION_COUNTER)) mine.addCount(at, counters[at]!);
    mine.addHistogram(mine.plan.endToEndAt, theirs.copyHistogram(theirs.plan.endToEndAt, theirs.plan.endToEnd));
    const addRow = (to: number, from: number): void => {
      for (const plan of mine.plan.metrics) {
        mine.addHistogram(to + plan.at, theirs.copyHistogram(from + plan.at, plan));
      }
    };
    addRow(mine.unnamed, theirs.unnamed);
    addRow(mine.others, theirs.others);
    nodes.forEach((node, k) => {
      addRow(mine.findOrAdd(node | 0), theirs.rowAt(FIRST_SWITCH_ROW + k));
    });
  }

  /**
   * Forgets all values and switches. Another thread that reads meanwhile may still see some of them; one that attaches
   * meanwhile may find the table of switches half empty, and fail.
   */
  clear(): void {
    const memory = this.#memory;
    const { tableAt, endToEnd, endToEndAt } = memory.plan;
    Atomics.store(memory.words, DISTRIBUTION_HEADER.USED, 0);
    memory.words.fill(0, tableAt, 2 * endToEndAt);
    memory.cells.fill(0, DISTRIBUTION_COUNTER.REPORTS, COUNTERS_END);
    memory.clearHistogram(endToEndAt, endToEnd);
    memory.clearRow(memory.unnamed);
    memory.clearRow(memory.others);
  }

  #metric(name: MetricName): HistogramPlan {
    const plan = this.#memory.plan.metrics.find((each) => each.name === name);
    if (plan === undefined) throw new RangeError(`metric '${name}' is not followed: ${this.metrics.join(', ')}`);
    return plan;
  }

  #rowOf(node: DistributionNode): number {
    if (node === 'unnamed') return this.#memory.unnamed;
    if (node === 'others') return this.#memory.others;
    return Number.isInteger(node) && node >= 0 && node < 2 ** 32 - 1 ? this.#memory.find(node | 0) : 0;
  }

  #allRows(): number[] {
    return Array.from({ length: FIRST_SWITCH_ROW + this.#memory.used }, (_, row) => this.#memory.rowAt(row));
  }

  #read(plan: HistogramPlan, at: number): Histogram {
    return Histogram.read(plan, this.#memory.copyHistogram(at, plan));
  }

  #countsOf(plan: HistogramPlan, at: number): { values: number; underflow: number; overflow: number } {
    const counts = this.#memory.copyHistogram(at, plan).subarray(DISTRIBUTION_HISTOGRAM.COUNTS);
    const values = counts.reduce((sum, count) => sum + count, 0);
    return { values, underflow: counts[0]!, overflow: counts.at(-1)! };
  }
}
