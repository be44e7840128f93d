/** Finds the row of the distributions for each value of a batch. */
import type { TelemetryBatch } from '@int/codec';
import { REPORT_COLUMN, SignedColumns } from '@int/codec/internals';
import { LATENCY_COLUMN, NODE_COLUMN } from '../layout.js';
import { DISTRIBUTION_COUNTER } from './layout.js';
import type { DistributionMemory } from './memory.js';
import { Tally, tallyValues, type Values } from './tally.js';

/** Report rows of one call of the loops. */
const BLOCK = 256;
/** Hop rows whose places are found before their values are counted. At least those of the deepest report. */
const HOPS = 2048;
/** So many values of 32 bits take a sum from 2^52 to 2^53. */
const UNSPLIT = 2 ** 20;

/** Counts the values of batches. Allocates nothing once it has seen a batch. */
export class Recorder {
  readonly #memory: DistributionMemory;
  readonly #tallies: readonly Tally[];
  readonly #endToEnd: Tally;
  /** Row of each hop at hand. */
  readonly #bases = new Int32Array(HOPS);
  readonly #values: Values;
  /** The end-to-end latencies of a block, then as many zeros, which say that none is missing. */
  readonly #latencies: Values;
  readonly #known = new WeakMap<TelemetryBatch, SignedColumns>();
  #columns: SignedColumns | null = null;
  /** How many values a sum may have taken since it was last below 2^52. */
  #unsplit = UNSPLIT;

  constructor(memory: DistributionMemory) {
    const { plan, cells } = memory;
    this.#memory = memory;
    this.#tallies = plan.metrics.map((metric) => new Tally(cells, metric));
    this.#endToEnd = new Tally(cells, plan.endToEnd);
    this.#values = { source: new Int32Array(0), at: 0, pair: 0, bases: this.#bases, count: 0 };
    const bases = new Int32Array(BLOCK).fill(plan.endToEndAt);
    this.#latencies = { source: new Int32Array(2 * BLOCK), at: 0, pair: BLOCK, bases, count: 0 };
  }

  /** Counts the values of report rows `from` to `to - 1`. */
  record(batch: TelemetryBatch, from: number, to: number): void {
    const columns = this.#columnsOf(batch);
    this.#values.source = columns.hops;
    for (let row = from; row < to; row += BLOCK) this.#block(columns, row, Math.min(row + BLOCK, to));
  }

  #columnsOf(batch: TelemetryBatch): SignedColumns {
    if (this.#columns?.batch === batch) return this.#columns;
    const columns = this.#known.get(batch) ?? new SignedColumns(batch);
    this.#known.set(batch, columns);
    this.#columns = columns;
    return columns;
  }

  #block(columns: SignedColumns, from: number, to: number): void {
    const { code, report, hopCount, hops } = columns;
    const starts = (REPORT_COLUMN.HOP_START * columns.reportStride) | 0;
    const { cells } = this.#memory;
    const sums = this.#latencies.source;
    const latencies = (LATENCY_COLUMN * columns.hopStride) | 0;
    let notOk = 0;
    let summed = 0;
    // Hop rows that lie one behind the other, as decoding leaves them, are counted in one go.
    let first = 0;
    let end = 0;
    for (let row = from; row < to; row = (row + 1) | 0) {
      if (code[row] !== 0) {
        notOk++;
        continue;
      }
      const start = report[(starts + row) | 0]!;
      const next = (start + hopCount[row]!) | 0;
      if (start !== end || ((next - first) | 0) > HOPS) {
        this.#hops(columns, first, end);
        first = start;
      }
      end = next;
      // The end-to-end latency, its lower and upper halves apart, so that all numbers are 32-bit integers.
      let low = 0;
      let high = 0;
      let carries = 0;
      for (let at = (latencies + start) | 0; at < ((latencies + next) | 0); at = (at + 1) | 0) {
        const word = hops[at]!;
        if (word === -1) continue;
        low = (low + (word & 0xffff)) | 0;
        high = (high + (word >>> 16)) | 0;
        carries = 1;
      }
      high = (high + (low >>> 16)) | 0;
      sums[summed] = high > 0xffff ? -1 : (high << 16) | (low & 0xffff);
      summed = (summed + carries) | 0;
    }
    this.#hops(columns, first, end);
    this.#latencies.count = summed;
    tallyValues(this.#endToEnd, this.#latencies);
    cells[DISTRIBUTION_COUNTER.REPORTS]! += to - from - notOk;
    cells[DISTRIBUTION_COUNTER.NOT_OK]! += notOk;
  }

  #hops(columns: SignedColumns, first: number, end: number): void {
    if (first === end) return;
    const count = end - first;
    // There are at most as many end-to-end latencies as hops; those of the block at hand are still to come.
    if (this.#unsplit + count + BLOCK > UNSPLIT) {
      this.#memory.splitSums();
      this.#unsplit = 0;
    }
    this.#unsplit += count;
    this.#locate(columns, first, end);
    const values = this.#values;
    const tallies = this.#tallies;
    values.count = count;
    for (let index = 0; index < tallies.length; index++) {
      const tally = tallies[index]!;
      values.at = tally.column * columns.hopStride + first;
      values.pair = tally.pair * columns.hopStride + first;
      tallyValues(tally, values);
    }
  }

  /** Finds the row of each hop. */
  #locate(columns: SignedColumns, first: number, end: number): void {
    const { words, plan } = this.#memory;
    const bases = this.#bases;
    const { hops } = columns;
    const table = plan.tableAt | 0;
    const seed = plan.seed | 0;
    const shift = this.#memory.shift | 0;
    const nodes = (NODE_COLUMN * columns.hopStride + first) | 0;
    const count = (end - first) | 0;
    const fours = (count & ~3) | 0;
    for (let k = 0; k < fours; k = (k + 4) | 0) {
      const a = rowOf(words, table, seed, shift, hops[(nodes + k) | 0]!);
      const b = rowOf(words, table, seed, shift, hops[(nodes + k + 1) | 0]!);
      const c = rowOf(words, table, seed, shift, hops[(nodes + k + 2) | 0]!);
      const d = rowOf(words, table, seed, shift, hops[(nodes + k + 3) | 0]!);
      bases[k] = a;
      bases[(k + 1) | 0] = b;
      bases[(k + 2) | 0] = c;
      bases[(k + 3) | 0] = d;
      if (a === 0 || b === 0 || c === 0 || d === 0) this.#place(columns, first, k, k + 4);
    }
    this.#place(columns, first, fours, count);
  }

  /** Finds the rows of hops one by one: of those that are not in their first two slots, or not in the table. */
  #place({ hops, hopStride }: SignedColumns, first: number, from: number, to: number): void {
    const memory = this.#memory;
    for (let k = from; k < to; k++) {
      const id = hops[NODE_COLUMN * hopStride + first + k]!;
      let base = id === -1 ? 0 : memory.find(id);
      if (base === 0) base = this.#carriesValue(hops, hopStride, first + k) ? this.#rowFor(id) : memory.unnamed;
      this.#bases[k] = base;
    }
  }

  /** The row of a hop that has no row yet and carries a value. Without a value it would count nowhere. */
  #rowFor(id: number): number {
    const memory = this.#memory;
    if (id === -1) {
      memory.cells[DISTRIBUTION_COUNTER.UNNAMED_HOPS]!++;
      return memory.unnamed;
    }
    const added = memory.findOrAdd(id);
    if (added !== 0) return added;
    memory.cells[DISTRIBUTION_COUNTER.LOST_HOPS]!++;
    return memory.others;
  }

  #carriesValue(hops: Int32Array, hopStride: number, hop: number): boolean {
    const tallies = this.#tallies;
    for (let index = 0; index < tallies.length; index++) {
      const { column, pair } = tallies[index]!;
      if (hops[column * hopStride + hop] !== -1 || hops[pair * hopStride + hop] !== -1) return true;
    }
    return false;
  }
}

/** The row of a switch if it is in its first slot or the next; else 0. An id of all ones is in none. */
function rowOf(words: Int32Array, table: number, seed: number, shift: number, id: number): number {
  const slot = (table + 2 * (Math.imul(id ^ seed, 0x9e3779b1) >>> shift)) | 0;
  if (words[slot] === id) return words[(slot + 1) | 0]!;
  return words[(slot + 2) | 0] === id ? words[(slot + 3) | 0]! : 0;
}
