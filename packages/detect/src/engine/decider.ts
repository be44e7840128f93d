import { FLAG, type TelemetryBatch } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import { flowCrc32Columns } from '@int/hash';
import type { Accelerator } from './accelerator/accelerator.js';
import type { BatchView } from './batch-view.js';
import { type FlowTable, FOUND } from './flow-table.js';
import type { RuleBook } from './rule-book.js';
import type { StatePool } from './state.js';
import type { SwitchTable } from './switch-table.js';

/** Values of {@link BatchView.decisions} that are no slot. */
export const UNMATCHED = -1;
export const NOT_OK = -2;
/** With `decide: all`: each rule is asked whether it matches. */
const EACH = -3;
/** Clock of the tables: 2^20 ns, in 32 bits. */
export const TICK_NS: number = 1 << 20;

/** For each report, finds the rule that decides it and the cells of its flow and switches. */
export class Decider {
  /** Whether all rows prepared last have the decision of the first. */
  isUniform = false;
  /** Exact state: flows and switches forgotten, for being idle and for lack of room. */
  aged = 0;
  evicted = 0;
  readonly #book: RuleBook;
  readonly #pool: StatePool;
  readonly #flows: FlowTable | null;
  readonly #switches: SwitchTable | null;
  readonly #flowCells: number;
  /** Number of cells minus one if that is a mask, else -1. */
  readonly #flowMask: number;
  #isTimed = false;
  /** Calls so far: the clock where no times are given. */
  #calls = 0;
  #switchTick = 0;
  /** Exact state: the cell to forget before the next row; -1: none. */
  #forget = -1;

  /** @param flows, switches exact state; `null`: registers */
  constructor(
    book: RuleBook,
    pool: StatePool,
    flows: FlowTable | null,
    switches: SwitchTable | null,
    flowCells: number,
  ) {
    this.#book = book;
    this.#pool = pool;
    this.#flows = flows;
    this.#switches = switches;
    this.#flowCells = flowCells;
    this.#flowMask = (flowCells & (flowCells - 1)) === 0 ? flowCells - 1 : -1;
  }

  /** Begins a call. */
  open(batch: TelemetryBatch): void {
    const { isTimed } = batch;
    this.#calls = (this.#calls + 1) | 0;
    this.#isTimed = isTimed;
    if (this.#flows !== null) this.#flows.ages = isTimed;
    if (this.#switches !== null) this.#switches.ages = isTimed;
  }

  /** Forgets the cell that had to wait until the rows prepared last were looked at. */
  settle(): void {
    if (this.#forget >= 0) this.#pool.forget(this.#forget, false);
    this.#forget = -1;
  }

  /** Frees idle flows, see Detector. */
  sweep(tick: number, maxSets: number): number {
    const aged = this.#flows?.sweep(tick, maxSets) ?? 0;
    this.aged += aged;
    return aged;
  }

  /** Exact state: the cell of a switch. */
  switchCell(id: number): number {
    const table = this.#switches!;
    const entry = table.find(id, this.#switchTick);
    if (table.outcome !== FOUND.KNOWN) {
      this.#note(table.outcome);
      this.#pool.forget(entry, true);
    }
    return entry;
  }

  #note(outcome: number): void {
    if (outcome === FOUND.AGED) this.aged++;
    else if (outcome === FOUND.EVICTED) this.evicted++;
  }

  /**
   * Finds rule and flow cell of rows from `from` on, up to `to`: as many as have room for their events, and as need no
   * cell that an earlier one of them still uses.
   * @returns the end of those rows
   */
  prepare(view: BatchView, from: number, to: number, room: number, accelerator: Accelerator | null): number {
    const { everything, needsFlow } = this.#book;
    const isSingle = everything >= 0 && this.#switches === null;
    this.isUniform = false;
    if (isSingle && accelerator !== null) {
      const end = accelerator.prepare(from, to, room, everything, needsFlow);
      this.isUniform = accelerator.isUniform;
      return end;
    }
    const { hopCount } = view;
    let end = from;
    for (let left = room; end < to; end++) {
      left -= hopCount[end]! || 1;
      if (left < 0) break;
    }
    if (needsFlow || this.#switches !== null) {
      if (accelerator === null) flowCrc32Columns(view.batch, from, end, view.hashes);
      else accelerator.hashRows(from, end);
    }
    if (isSingle) {
      this.#prepareSingle(view, from, end, everything, needsFlow);
      return end;
    }
    this.#switchTick = this.#tick(view, from);
    return this.#prepareEach(view, from, end);
  }

  /** Register state and a rule that matches everything. */
  #prepareSingle(view: BatchView, from: number, to: number, slot: number, needsFlow: boolean): void {
    const { code, report, reportStride, cells, decisions, hashes } = view;
    const flags = REPORT_COLUMN.FLAGS * reportStride;
    for (let row = from; row < to; row++) {
      const bits = report[flags + row]!;
      decisions[row] = code[row] === 0 ? slot : NOT_OK;
      if (needsFlow) {
        const hash = hashes[row]! | 0;
        cells[row] = (bits & FLAG.FLOW) === 0 ? -1 : this.#registerCell(hash);
      }
    }
  }

  #prepareEach(view: BatchView, from: number, to: number): number {
    const { code, report, reportStride, decisions, batch } = view;
    const { everything, classifier, needsFlow } = this.#book;
    const { isAll, specials } = this.#book;
    const bytes = classifier.usesMac ? batch.bytes : null;
    for (let row = from; row < to; row++) {
      if (code[row] !== 0) {
        decisions[row] = NOT_OK;
        continue;
      }
      const bits = report[REPORT_COLUMN.FLAGS * reportStride + row]!;
      if ((bits & FLAG.FLOW) === 0) view.cells[row] = -1;
      else if (this.#switches === null) {
        if (needsFlow) view.cells[row] = this.#registerCell(view.hashes[row]! | 0);
      } else if (!this.#findFlow(view, row, row === from)) return row;
      let slot = everything;
      if (isAll) slot = EACH;
      else if (slot < 0) {
        const ethernet = bytes === null ? -1 : report[REPORT_COLUMN.ETHERNET * reportStride + row]!;
        slot = classifier.lookup(batch, row, bytes, ethernet);
        if (specials.length > 0) slot = this.#book.decide(view, row, slot);
      }
      decisions[row] = slot;
    }
    return to;
  }

  /** @param hash as a signed word */
  #registerCell(hash: number): number {
    return this.#flowMask < 0 ? (hash >>> 0) % this.#flowCells : hash & this.#flowMask;
  }

  /**
   * Exact state: finds the cell of a row's flow.
   * @param isFirst whether no row before this one still has to be looked at
   * @returns false if the rows before must be looked at first, because they may use the cell under its old flow
   */
  #findFlow(view: BatchView, row: number, isFirst: boolean): boolean {
    const flows = this.#flows!;
    const cell = flows.find(view, row, view.hashes[row]! | 0, this.#tick(view, row));
    view.cells[row] = cell;
    const { outcome } = flows;
    if (outcome === FOUND.KNOWN) return true;
    this.#note(outcome);
    if (outcome === FOUND.NEW || isFirst) {
      this.#pool.forget(cell, false);
      return true;
    }
    this.#forget = cell;
    return false;
  }

  /** Time of a row in units of 2^20 ns, or the number of calls where no times are given. */
  #tick(view: BatchView, row: number): number {
    if (!this.#isTimed) return this.#calls;
    const frame = view.report[REPORT_COLUMN.FRAME * view.reportStride + row]!;
    return (view.batch.frameTimeHigh[frame]! << 12) | (view.batch.frameTimeLow[frame]! >>> 20);
  }
}
