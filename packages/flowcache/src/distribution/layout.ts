/**
 * The layout of distributions in memory, to the byte. Other threads read it; whoever changes it raises
 * {@link DISTRIBUTION_VERSION}.
 *
 * The whole starts at a multiple of 8 bytes; offsets count bytes from there unless said otherwise. Words are 32 bits,
 * cells 64-bit floating-point numbers that hold integers; both little-endian.
 *
 * | Part | At | Size |
 * |---|---|---|
 * | header | 0 | {@link DISTRIBUTION_HEADER}: 16 words |
 * | counters | 64 | {@link DISTRIBUTION_COUNTER}: 8 cells |
 * | histogram descriptions | 128 | {@link DISTRIBUTION_SPEC}: {@link SPEC_WORDS} words for each metric, in order, then for the end-to-end latency |
 * | edges | EDGES_AT | of each description with explicit bins, in order: all edges but the last, a word each |
 * | switch table | TABLE_AT | SLOTS x 2 words: node id; the switch's row, as its offset in cells, 0 for an empty slot; then 64 bytes of 0 |
 * | node ids | NODES_AT | a word for each of SWITCHES, in the order they were seen; USED of them hold one |
 * | end to end | END_TO_END_AT | one histogram |
 * | rows | ROWS_AT | ROW_STRIDE each: hops that do not name their switch; hops of switches that have no row; then one row a switch, as the node ids |
 *
 * Each part starts at a multiple of 64 bytes; up to the table, what is between parts is 0. A row holds one histogram for each metric, see
 * {@link DISTRIBUTION_HISTOGRAM}, at the offset that its description says. Rows of no switch yet are undefined.
 *
 * The table is open-addressed: a node id is looked for from slot `h` on, upwards and around, until it or an empty slot
 * is found, where `h = imul(id xor SEED, 0x9e3779b1) >>> (32 - log2(SLOTS))`.
 *
 * Cells count exactly up to 2^53, which takes 104 days at a billion a second, and then stay there. They never wrap.
 *
 * One thread writes; any number of others may read at the same time. What makes that safe:
 * - A word or a cell is read as it was at some time. (The language promises this of words, engines for 64-bit machines of
 *   aligned cells too.)
 * - CARRIES is odd while a sum is split up or counts are cleared, and larger afterwards. What was read between two equal,
 *   even values of CARRIES belongs together.
 * - A switch's row, its node id, then USED, then its slot in the table are written in this order.
 *
 * Different numbers may be of different instants: a sum can be some values ahead of the counts, or behind.
 */
import { METRICS, type Metric, type MetricName, metricOf } from '@int/codec';
import { DEFAULT_METRICS } from '../layout.js';
import { BIN_KIND, type Bins, type ResolvedBins, resolveBins } from './bins.js';
import { checkedInteger, DistributionError } from './errors.js';

/** Number of this layout. */
export const DISTRIBUTION_VERSION = 1;
/** "INDI" in memory. */
export const DISTRIBUTION_MAGIC = 0x49444e49;

/** Words of the header. */
export const DISTRIBUTION_HEADER = {
  MAGIC: 0,
  VERSION: 1,
  /** Bytes of everything. */
  BYTES: 2,
  /** Metrics followed at each hop. */
  METRICS: 3,
  /** Switches there is room for. */
  SWITCHES: 4,
  /** Of the switch table, a power of two. */
  SLOTS: 5,
  SEED: 6,
  EDGES_AT: 7,
  TABLE_AT: 8,
  NODES_AT: 9,
  END_TO_END_AT: 10,
  ROWS_AT: 11,
  /** In bytes. */
  ROW_STRIDE: 12,
  /** Switches seen. */
  USED: 13,
  CARRIES: 14,
} as const;
/** Words from here up to the first description change while values are recorded. */
export const FIRST_MUTABLE_WORD: number = DISTRIBUTION_HEADER.USED;

/** Cells with counters, from the start. */
export const DISTRIBUTION_COUNTER = {
  /** Rows of batches with code 0. */
  REPORTS: 8,
  /** Rows with another code. */
  NOT_OK: 9,
  /** Hops that carry values, but not their switch. */
  UNNAMED_HOPS: 10,
  /** Hops that carry values of a switch for which there was no row. */
  LOST_HOPS: 11,
} as const;
export const COUNTERS_END = 16;

/** Words that describe a histogram. */
export const DISTRIBUTION_SPEC = {
  /** Number of the metric, see METRICS of the codec; all ones for the end-to-end latency. */
  METRIC: 0,
  /** 0 linear, 1 logarithmic, 2 explicit. */
  KIND: 1,
  /** Least value of the first bin. */
  FROM: 2,
  /** Largest value of the last bin. */
  LAST: 3,
  /** Bins. */
  COUNT: 4,
  /** Linear: width. Logarithmic: log2 of the bins per octave. Explicit: 0. */
  PARAMETER: 5,
  /** Offset of the edges; 0 if there are none. */
  EDGES: 6,
  /** Offset of the histogram from the start of its row; 0 for the end-to-end latency. */
  HISTOGRAM: 7,
} as const;
export const SPEC_WORDS = 8;
/** Word of the first description. */
export const SPECS_AT = 32;

/** Cells of a histogram; an empty one is all zeros. */
export const DISTRIBUTION_HISTOGRAM = {
  /** Sum of the values: SUM + 2^52 * CARRIED. */
  SUM: 0,
  CARRIED: 1,
  /** Values below the first bin; of each bin; above the last bin. */
  COUNTS: 2,
} as const;

/** Cells of a histogram with so many bins. */
export function histogramCells(bins: number): number {
  return DISTRIBUTION_HISTOGRAM.COUNTS + bins + 2;
}

/** Counting ends here: adding 1 has no effect. */
export const MAX_COUNT: number = 2 ** 53;

/** Row of the hops that do not name their switch. */
export const UNNAMED_ROW = 0;
/** Row of the hops whose switch has no row. */
export const OTHERS_ROW = 1;
/** Row of the first switch. */
export const FIRST_SWITCH_ROW = 2;

/** Offsets fit into 31 bits. */
const MAX_BYTES = 2 ** 31 - 1;
const MAX_SWITCHES = 2 ** 24;

/** Name of a distribution: of a metric at the hops, or of the sum of the hop latencies of a report. */
export type DistributionName = MetricName | 'endToEnd';

/** What decides the layout. */
export interface DistributionDimensions {
  /** Metrics followed at each hop, at least one. Default: hop latency, queue occupancy and egress utilization. */
  readonly metrics?: readonly MetricName[];
  /** Default: logarithmic, 16 bins per octave, over the width of the metric; no value is outside. */
  readonly bins?: { readonly [K in DistributionName]?: Bins };
  /** Switches there is room for, 1 to 2^24. Default 1024. */
  readonly switches?: number;
  /**
   * Seed of the switch table's hash, 32 bits. If outsiders do not know it, they cannot slow the table down. Default 0.
   */
  readonly seed?: number;
}

/** One histogram of a row. */
export interface HistogramPlan extends ResolvedBins {
  readonly name: DistributionName;
  /** `null` for the end-to-end latency. */
  readonly metric: Metric | null;
  /** Word of the first edge; 0 if there is none. */
  readonly edgesAt: number;
  /** Cell from the start of the row. */
  readonly at: number;
}

/** Dimensions, checked, and what follows from them. */
export interface DistributionPlan {
  readonly metrics: readonly HistogramPlan[];
  readonly endToEnd: HistogramPlan;
  readonly switches: number;
  readonly seed: number;
  readonly slots: number;
  /** Words. */
  readonly tableAt: number;
  readonly nodesAt: number;
  /** Cells. */
  readonly endToEndAt: number;
  readonly rowsAt: number;
  readonly rowStride: number;
  readonly byteLength: number;
}

/** Rounds up to whole cache lines. */
function lines(size: number, perLine: 8 | 16): number {
  return Math.ceil(size / perLine) * perLine;
}

function checkedMetrics(names: readonly MetricName[]): Metric[] {
  if (!Array.isArray(names) || names.length < 1 || names.length > METRICS.length) {
    throw new DistributionError('ERR_DISTRIBUTION_METRICS', `metrics must be a list of 1 to ${METRICS.length}`);
  }
  return names.map((name, index) => {
    if (names.indexOf(name) !== index)
      throw new DistributionError('ERR_DISTRIBUTION_METRICS', `metric '${name}' is named twice`);
    const known = METRICS.some((metric) => metric.name === name);
    if (!known) throw new DistributionError('ERR_DISTRIBUTION_METRICS', `unknown metric '${String(name)}'`);
    return metricOf(name);
  });
}

/**
 * The layout of distributions.
 * @throws DistributionError `ERR_DISTRIBUTION_` METRICS, BINS or SIZE
 */
export function planOf(dimensions: DistributionDimensions): DistributionPlan {
  const metrics = checkedMetrics(dimensions.metrics ?? DEFAULT_METRICS);
  const switches = checkedInteger('ERR_DISTRIBUTION_SIZE', 'switches', dimensions.switches ?? 1024, 1, MAX_SWITCHES);
  const seed = checkedInteger('ERR_DISTRIBUTION_SIZE', 'seed', dimensions.seed ?? 0, 0, 2 ** 32 - 1);
  for (const name of Object.keys(dimensions.bins ?? {})) {
    if (name !== 'endToEnd' && !metrics.some((metric) => metric.name === name)) {
      throw new DistributionError('ERR_DISTRIBUTION_BINS', `bins of ${name}, which is not one of the metrics`);
    }
  }
  const edgesAt = lines(SPECS_AT + (metrics.length + 1) * SPEC_WORDS, 16);
  let edge = edgesAt;
  let at = 0;
  const plan = (name: DistributionName, metric: Metric | null): HistogramPlan => {
    const bins = dimensions.bins?.[name] ?? { kind: 'logarithmic', to: 2 ** (metric?.width ?? 32) };
    const resolved = resolveBins(name, bins);
    const isExplicit = resolved.kind === BIN_KIND.EXPLICIT;
    const made = { ...resolved, name, metric, edgesAt: isExplicit ? edge : 0, at: metric === null ? 0 : at };
    if (isExplicit) edge += resolved.count;
    if (metric !== null) at += histogramCells(resolved.count);
    return made;
  };
  const plans = metrics.map((metric) => plan(metric.name, metric));
  const endToEnd = plan('endToEnd', null);
  const rowStride = lines(at, 8);
  // At most a quarter full: nearly all searches end in the first slot.
  const slots = Math.max(16, 2 ** Math.ceil(Math.log2(4 * switches)));
  const tableAt = lines(edge, 16);
  // A line stays empty: a search can look at two slots without going around.
  const nodesAt = tableAt + 2 * slots + 16;
  const endToEndAt = lines(nodesAt + switches, 16) / 2;
  const rowsAt = lines(endToEndAt + histogramCells(endToEnd.count), 8);
  const byteLength = 8 * (rowsAt + (FIRST_SWITCH_ROW + switches) * rowStride);
  if (byteLength > MAX_BYTES) {
    throw new DistributionError(
      'ERR_DISTRIBUTION_SIZE',
      `${switches} switches need ${byteLength} bytes, at most ${MAX_BYTES}`,
    );
  }
  return {
    metrics: plans,
    endToEnd,
    switches,
    seed,
    slots,
    tableAt,
    nodesAt,
    endToEndAt,
    rowsAt,
    rowStride,
    byteLength,
  };
}

/** Words of everything before the switch table, as they are when no value has been recorded. */
export function preambleOf(plan: DistributionPlan): Int32Array {
  const words = new Int32Array(plan.tableAt);
  words.set([
    DISTRIBUTION_MAGIC,
    DISTRIBUTION_VERSION,
    plan.byteLength,
    plan.metrics.length,
    plan.switches,
    plan.slots,
    plan.seed,
    4 * lines(SPECS_AT + (plan.metrics.length + 1) * SPEC_WORDS, 16),
    4 * plan.tableAt,
    4 * plan.nodesAt,
    8 * plan.endToEndAt,
    8 * plan.rowsAt,
    8 * plan.rowStride,
  ]);
  [...plan.metrics, plan.endToEnd].forEach((one, index) => {
    const { metric, kind, from, last, count, parameter, edgesAt, at, bins } = one;
    words.set(
      [metric?.id ?? -1, kind, from, last, count, parameter, 4 * edgesAt, 8 * at],
      SPECS_AT + index * SPEC_WORDS,
    );
    if (bins.kind === 'explicit') words.set(bins.edges.slice(0, -1), edgesAt);
  });
  return words;
}
