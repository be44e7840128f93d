/**
 * The inner loops: they count the values of a column in the bins of a metric. There is one for each kind of bins.
 *
 * V8 looks at an array (its map, length and base) in each turn of a loop, and after each call that is not inlined. So the
 * loops take four values a turn (eight where V8 still inlines all), read before they write, and leave turns with a missing
 * value to {@link tallyRest}. `| 0` and `>>> 0` say which numbers are 32-bit integers.
 */
import { BIN_KIND, logarithmicEdge, logarithmicIndex } from './bins.js';
import { DISTRIBUTION_HISTOGRAM, type HistogramPlan } from './layout.js';

/** Values to count, and where: their rows start at `bases[k]`. */
export interface Values {
  /** Where the words are that values are part of. */
  source: Int32Array;
  /** Offset of the first one's word. */
  at: number;
  /**
   * Offset of the first one's other word if the metric is one of a pair, else `at`. A value is missing if both are all
   * ones.
   */
  pair: number;
  bases: Int32Array;
  count: number;
}

/** The search among explicit edges starts from cells: logarithmic bins with 2^4 per octave. */
const CELL_BITS = 4;
const CELLS = /* @__PURE__ */ logarithmicIndex(-1, CELL_BITS) + 1;

/** What the loops need of a histogram. Bins count from the start of the histogram, not from the first bin. */
export class Tally {
  readonly kind: number;
  /** Cells from the metric's histogram in a row at 0 on. The index is the row's cell plus that in the histogram. */
  readonly cells: Float64Array;
  /** Index of the hop columns; 0 for the end-to-end latency. */
  readonly column: number;
  readonly pair: number;
  readonly from: number;
  /** Largest value of the last bin, less `from`. */
  readonly span: number;
  /** Whether the bins are logarithmic and hold all values of 32 bits: the default for a metric of 32 bits. */
  readonly isWhole: boolean;
  /** The cell below the first bin's, and that above the last. */
  readonly under: number;
  readonly over: number;
  /** Linear: a multiplier that divides by the width. */
  readonly inverse: number;
  /** Logarithmic: log2 of the bins per octave. */
  readonly bits: number;
  /** The cell of a bin is its number, as it is worked out, plus this. */
  readonly first: number;
  /** Explicit: all edges below 2^32. */
  readonly edges: Uint32Array;
  /** Explicit: for each search cell, the edges up to its start; then all edges. */
  readonly starts: Int32Array;

  constructor(cells: Float64Array, plan: HistogramPlan) {
    const { kind, metric, from, last, count, parameter, bins } = plan;
    const { COUNTS } = DISTRIBUTION_HISTOGRAM;
    this.kind = kind;
    this.cells = cells.subarray(plan.at);
    this.column = metric?.columnIndex ?? 0;
    this.pair = metric === null || metric.pairIndex < 0 ? this.column : metric.pairIndex;
    this.from = from;
    this.span = last - from;
    this.isWhole = kind === BIN_KIND.LOGARITHMIC && from === 0 && last >= 2 ** 32 - 1;
    this.under = COUNTS;
    this.over = COUNTS + count + 1;
    // A hair more than 1 / width, so that the product is never below a whole quotient. As quotient times width is at
    // most 2^32, it is off by less than 2^-17 / width and never reaches the next whole one.
    this.inverse = kind === BIN_KIND.LINEAR ? (1 / parameter) * (1 + 2 ** -50) : 0;
    this.bits = kind === BIN_KIND.LOGARITHMIC ? parameter : 0;
    if (kind === BIN_KIND.LINEAR) this.first = COUNTS + 1;
    else this.first = COUNTS + (kind === BIN_KIND.LOGARITHMIC ? 1 - logarithmicIndex(from, parameter) : 0);
    const edges = bins.kind === 'explicit' ? bins.edges.filter((edge) => edge < 2 ** 32) : [];
    this.edges = Uint32Array.from(edges);
    this.starts = new Int32Array(kind === BIN_KIND.EXPLICIT ? CELLS + 1 : 0);
    let below = 0;
    for (let cell = 0; cell < this.starts.length; cell++) {
      const start = logarithmicEdge(cell, CELL_BITS);
      while (below < edges.length && edges[below]! <= start) below++;
      this.starts[cell] = below;
    }
  }
}

/** Counts one value. @param bin its cell, from the start of the histogram */
function add(cells: Float64Array, base: number, bin: number, x: number): void {
  const at = (base + bin) | 0;
  cells[at] = cells[at]! + 1;
  cells[base] = cells[base]! + (x >>> 0);
}

function linearBin(
  x: number,
  from: number,
  span: number,
  inverse: number,
  first: number,
  under: number,
  over: number,
): number {
  const above = (x - from) >>> 0;
  if (above <= span) return (((above * inverse) | 0) + first) | 0;
  return x >>> 0 < from ? under : over;
}

function logarithmicBin(
  x: number,
  from: number,
  span: number,
  least: number,
  most: number,
  first: number,
  under: number,
  over: number,
): number {
  if ((x - from) >>> 0 <= span) return wholeBin(x, least, most, first);
  return x >>> 0 < from ? under : over;
}

function wholeBin(x: number, least: number, most: number, first: number): number {
  const octave = (most - Math.clz32(x | least)) | 0;
  // A product takes one step, a shift by a variable three.
  return (Math.imul(octave, least) + (x >>> octave) + first) | 0;
}

/** The bin is the number of edges up to x. Most search cells hold no edge, and need no search. */
function explicitBin(x: number, edges: Uint32Array, starts: Int32Array, first: number): number {
  const octave = (27 - Math.clz32(x | 16)) | 0;
  const cell = (Math.imul(octave, 16) + (x >>> octave)) | 0;
  let bin = starts[cell]!;
  let end = starts[(cell + 1) | 0]!;
  while (bin < end) {
    const middle = (bin + end) >>> 1;
    if (edges[middle]! <= x >>> 0) bin = (middle + 1) | 0;
    else end = middle;
  }
  return (bin + first) | 0;
}

/** The cell of the bin of a value, from the start of the histogram. @param x as a signed word */
function binOf(tally: Tally, x: number): number {
  const { kind, from, span, first, under, over, bits } = tally;
  if (kind === BIN_KIND.LINEAR) return linearBin(x, from, span, tally.inverse, first, under, over);
  if (kind === BIN_KIND.EXPLICIT) return explicitBin(x, tally.edges, tally.starts, first);
  return logarithmicBin(x, from, span, 1 << bits, 31 - bits, first, under, over);
}

/** Counts values one by one; skips missing ones. */
function tallyRest(tally: Tally, { source, at, pair, bases }: Values, from: number, to: number): void {
  const { cells } = tally;
  for (let k = from; k < to; k++) {
    const x = source[at + k]!;
    if (x === -1 && source[pair + k] === -1) continue;
    add(cells, bases[k]!, binOf(tally, x), x);
  }
}

/** Counts the values of a column. */
export function tallyValues(tally: Tally, values: Values): void {
  if (tally.isWhole) tallyWhole(tally, values);
  else if (tally.kind === BIN_KIND.LOGARITHMIC) tallyLogarithmic(tally, values);
  else if (tally.kind === BIN_KIND.LINEAR) tallyLinear(tally, values);
  else tallyExplicit(tally, values);
}

function tallyLinear(tally: Tally, values: Values): void {
  const { cells, inverse } = tally;
  const from = tally.from >>> 0;
  const span = tally.span >>> 0;
  const under = tally.under | 0;
  const over = tally.over | 0;
  const { source, bases } = values;
  const first = tally.first | 0;
  const at = values.at | 0;
  const fours = (values.count & ~3) | 0;
  for (let k = 0; k < fours; k = (k + 4) | 0) {
    const a = source[(at + k) | 0]!;
    const b = source[(at + k + 1) | 0]!;
    const c = source[(at + k + 2) | 0]!;
    const d = source[(at + k + 3) | 0]!;
    if (a === -1 || b === -1 || c === -1 || d === -1) {
      tallyRest(tally, values, k, k + 4);
      continue;
    }
    const aBase = bases[k]!;
    const bBase = bases[(k + 1) | 0]!;
    const cBase = bases[(k + 2) | 0]!;
    const dBase = bases[(k + 3) | 0]!;
    const aBin = linearBin(a, from, span, inverse, first, under, over);
    const bBin = linearBin(b, from, span, inverse, first, under, over);
    const cBin = linearBin(c, from, span, inverse, first, under, over);
    const dBin = linearBin(d, from, span, inverse, first, under, over);
    add(cells, aBase, aBin, a);
    add(cells, bBase, bBin, b);
    add(cells, cBase, cBin, c);
    add(cells, dBase, dBin, d);
  }
  tallyRest(tally, values, fours, values.count);
}

function tallyLogarithmic(tally: Tally, values: Values): void {
  const { cells } = tally;
  const from = tally.from >>> 0;
  const span = tally.span >>> 0;
  const least = 1 << tally.bits;
  const most = (31 - tally.bits) | 0;
  const under = tally.under | 0;
  const over = tally.over | 0;
  const { source, bases } = values;
  const first = tally.first | 0;
  const at = values.at | 0;
  const fours = (values.count & ~3) | 0;
  for (let k = 0; k < fours; k = (k + 4) | 0) {
    const a = source[(at + k) | 0]!;
    const b = source[(at + k + 1) | 0]!;
    const c = source[(at + k + 2) | 0]!;
    const d = source[(at + k + 3) | 0]!;
    if (a === -1 || b === -1 || c === -1 || d === -1) {
      tallyRest(tally, values, k, k + 4);
      continue;
    }
    const aBase = bases[k]!;
    const bBase = bases[(k + 1) | 0]!;
    const cBase = bases[(k + 2) | 0]!;
    const dBase = bases[(k + 3) | 0]!;
    const aBin = logarithmicBin(a, from, span, least, most, first, under, over);
    const bBin = logarithmicBin(b, from, span, least, most, first, under, over);
    const cBin = logarithmicBin(c, from, span, least, most, first, under, over);
    const dBin = logarithmicBin(d, from, span, least, most, first, under, over);
    add(cells, aBase, aBin, a);
    add(cells, bBase, bBin, b);
    add(cells, cBase, cBin, c);
    add(cells, dBase, dBin, d);
  }
  tallyRest(tally, values, fours, values.count);
}

function tallyWhole(tally: Tally, values: Values): void {
  const { cells } = tally;
  const least = 1 << tally.bits;
  const most = (31 - tally.bits) | 0;
  const { source, bases } = values;
  const first = tally.first | 0;
  const at = values.at | 0;
  const eights = (values.count & ~7) | 0;
  for (let k = 0; k < eights; k = (k + 8) | 0) {
    const a = source[(at + k) | 0]!;
    const b = source[(at + k + 1) | 0]!;
    const c = source[(at + k + 2) | 0]!;
    const d = source[(at + k + 3) | 0]!;
    const e = source[(at + k + 4) | 0]!;
    const f = source[(at + k + 5) | 0]!;
    const g = source[(at + k + 6) | 0]!;
    const h = source[(at + k + 7) | 0]!;
    if (a === -1 || b === -1 || c === -1 || d === -1 || e === -1 || f === -1 || g === -1 || h === -1) {
      tallyRest(tally, values, k, k + 8);
      continue;
    }
    const aBase = bases[k]!;
    const bBase = bases[(k + 1) | 0]!;
    const cBase = bases[(k + 2) | 0]!;
    const dBase = bases[(k + 3) | 0]!;
    const eBase = bases[(k + 4) | 0]!;
    const fBase = bases[(k + 5) | 0]!;
    const gBase = bases[(k + 6) | 0]!;
    const hBase = bases[(k + 7) | 0]!;
    const aBin = wholeBin(a, least, most, first);
    const bBin = wholeBin(b, least, most, first);
    const cBin = wholeBin(c, least, most, first);
    const dBin = wholeBin(d, least, most, first);
    const eBin = wholeBin(e, least, most, first);
    const fBin = wholeBin(f, least, most, first);
    const gBin = wholeBin(g, least, most, first);
    const hBin = wholeBin(h, least, most, first);
    add(cells, aBase, aBin, a);
    add(cells, bBase, bBin, b);
    add(cells, cBase, cBin, c);
    add(cells, dBase, dBin, d);
    add(cells, eBase, eBin, e);
    add(cells, fBase, fBin, f);
    add(cells, gBase, gBin, g);
    add(cells, hBase, hBin, h);
  }
  tallyRest(tally, values, eights, values.count);
}

function tallyExplicit(tally: Tally, values: Values): void {
  const { cells, edges, starts } = tally;
  const { source, bases } = values;
  const first = tally.first | 0;
  const at = values.at | 0;
  const fours = (values.count & ~3) | 0;
  for (let k = 0; k < fours; k = (k + 4) | 0) {
    const a = source[(at + k) | 0]!;
    const b = source[(at + k + 1) | 0]!;
    const c = source[(at + k + 2) | 0]!;
    const d = source[(at + k + 3) | 0]!;
    if (a === -1 || b === -1 || c === -1 || d === -1) {
      tallyRest(tally, values, k, k + 4);
      continue;
    }
    const aBase = bases[k]!;
    const bBase = bases[(k + 1) | 0]!;
    const cBase = bases[(k + 2) | 0]!;
    const dBase = bases[(k + 3) | 0]!;
    const aBin = explicitBin(a, edges, starts, first);
    const bBin = explicitBin(b, edges, starts, first);
    const cBin = explicitBin(c, edges, starts, first);
    const dBin = explicitBin(d, edges, starts, first);
    add(cells, aBase, aBin, a);
    add(cells, bBase, bBin, b);
    add(cells, cBase, cBin, c);
    add(cells, dBase, dBin, d);
  }
  tallyRest(tally, values, fours, values.count);
}
