import {
  DISTRIBUTION_HEADER,
  DISTRIBUTION_HISTOGRAM,
  type DistributionPlan,
  FIRST_SWITCH_ROW,
  type HistogramPlan,
  histogramCells,
  MAX_COUNT,
  OTHERS_ROW,
  UNNAMED_ROW,
} from './layout.js';

/** A sum that reaches this is split up; what is left is exact to the last value. */
const SPLIT = 2 ** 52;
/** So often a reader tries again while the writer splits up a sum or clears, which takes far less time. */
const TRIES = 1000;

/** Distributions in their buffer: words and cells, and what changes them besides counting values. */
export class DistributionMemory {
  readonly plan: DistributionPlan;
  readonly words: Int32Array;
  readonly cells: Float64Array;
  /** Bits by which a hash is shifted to be a slot. */
  readonly shift: number;
  /** Cells of the two rows that are no switch's. */
  readonly unnamed: number;
  readonly others: number;

  constructor(buffer: ArrayBufferLike, byteOffset: number, plan: DistributionPlan) {
    this.plan = plan;
    this.words = new Int32Array(buffer, byteOffset, plan.byteLength / 4);
    this.cells = new Float64Array(buffer, byteOffset, plan.byteLength / 8);
    this.shift = 32 - Math.log2(plan.slots);
    this.unnamed = this.rowAt(UNNAMED_ROW);
    this.others = this.rowAt(OTHERS_ROW);
  }

  /** Cell of a row. */
  rowAt(row: number): number {
    return this.plan.rowsAt + row * this.plan.rowStride;
  }

  /** Switches that have a row; whatever a buffer says, never more than there is room for. */
  get used(): number {
    const used = Atomics.load(this.words, DISTRIBUTION_HEADER.USED);
    return Math.min(Math.max(used, 0), this.plan.switches);
  }

  /** Node id of the k-th switch, as a signed word. */
  node(k: number): number {
    return this.words[this.plan.nodesAt + k]!;
  }

  /** Cell of a switch's row; 0 if it has none. @param id as a signed word */
  find(id: number): number {
    const slot = this.#slotOf(id);
    return this.words[slot] === id ? Atomics.load(this.words, slot + 1) : 0;
  }

  /** Cell of a switch's row, a new one if it has none; 0 if there is no room. @param id as a signed word */
  findOrAdd(id: number): number {
    const { words, plan } = this;
    const found = this.find(id);
    if (found !== 0) return found;
    const slot = this.#slotOf(id);
    let used = this.used;
    // A writer that died before it filled the slot has left its switch as the last one.
    const isLeft = used > 0 && this.node(used - 1) === id;
    if (isLeft) used--;
    else if (used === plan.switches) return 0;
    const at = this.rowAt(FIRST_SWITCH_ROW + used);
    if (!isLeft) this.clearRow(at);
    words[plan.nodesAt + used] = id;
    Atomics.store(words, DISTRIBUTION_HEADER.USED, used + 1);
    words[slot] = id;
    Atomics.store(words, slot + 1, at);
    return at;
  }

  /** Empties the histograms of a row. */
  clearRow(at: number): void {
    for (const histogram of this.plan.metrics) this.clearHistogram(at + histogram.at, histogram);
  }

  clearHistogram(at: number, { count }: HistogramPlan): void {
    this.exclusively(() => {
      this.cells.fill(0, at, at + histogramCells(count));
    });
  }

  /** Makes a change that readers see as a whole or not at all. */
  exclusively(change: () => void): void {
    // Not an addition: a writer that died here has left an odd number.
    Atomics.or(this.words, DISTRIBUTION_HEADER.CARRIES, 1);
    change();
    Atomics.add(this.words, DISTRIBUTION_HEADER.CARRIES, 1);
  }

  /**
   * Copies cells that belong together. If a writer died in between, the reader does not hang: after many tries it takes
   * the cells as they are.
   */
  copy(at: number, count: number): Float64Array {
    let copy = new Float64Array(0);
    for (let tries = 0; tries < TRIES; tries++) {
      const before = Atomics.load(this.words, DISTRIBUTION_HEADER.CARRIES);
      copy = this.cells.slice(at, at + count);
      if ((before & 1) === 0 && Atomics.load(this.words, DISTRIBUTION_HEADER.CARRIES) === before) break;
    }
    return copy;
  }

  copyHistogram(at: number, { count }: HistogramPlan): Float64Array {
    return this.copy(at, histogramCells(count));
  }

  /** Adds a copied histogram to the one at `at`. */
  addHistogram(at: number, copy: Float64Array): void {
    const { SUM, CARRIED, COUNTS } = DISTRIBUTION_HISTOGRAM;
    const { cells } = this;
    // Both below 2^52, so that their sum is exact.
    this.#split(at);
    const carried = Math.floor(copy[SUM]! / SPLIT);
    this.exclusively(() => {
      cells[at + SUM]! += copy[SUM]! - carried * SPLIT;
      this.addCount(at + CARRIED, copy[CARRIED]! + carried);
    });
    this.#split(at);
    for (let k: number = COUNTS; k < copy.length; k++) this.addCount(at + k, copy[k]!);
  }

  /** Adds to a count, which stays at 2^53. */
  addCount(at: number, count: number): void {
    this.cells[at] = Math.min(this.cells[at]! + count, MAX_COUNT);
  }

  /** Brings all sums below 2^52. */
  splitSums(): void {
    const { plan, used } = this;
    for (let row = 0; row < FIRST_SWITCH_ROW + used; row++) {
      for (let index = 0; index < plan.metrics.length; index++) this.#split(this.rowAt(row) + plan.metrics[index]!.at);
    }
    this.#split(plan.endToEndAt);
  }

  #split(at: number): void {
    const { SUM, CARRIED } = DISTRIBUTION_HISTOGRAM;
    const { cells } = this;
    const sum = cells[at + SUM]!;
    if (sum < SPLIT) return;
    const carried = Math.floor(sum / SPLIT);
    this.exclusively(() => {
      cells[at + SUM] = sum - carried * SPLIT;
      this.addCount(at + CARRIED, carried);
    });
  }

  /** The slot (a word) that holds an id, or the empty one where it belongs. */
  #slotOf(id: number): number {
    const { words, plan } = this;
    let slot = Math.imul(id ^ plan.seed, 0x9e3779b1) >>> this.shift;
    // At most a quarter of the slots are in use, so one is empty. The limit is for a table that others spoil.
    for (let left = plan.slots; left > 0; left--) {
      const at = plan.tableAt + 2 * slot;
      if (words[at + 1] === 0 || words[at] === id) return at;
      slot = (slot + 1) & (plan.slots - 1);
    }
    return plan.tableAt + 2 * slot;
  }
}
