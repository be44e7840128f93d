import { NOT_AVAILABLE } from '@int/codec';
import type { FlowHop, FlowWindow, Summary } from '../model/window.js';
import { type ByteFields, wordsOf } from '../partial/fields.js';
import type { ByteReader } from '../partial/reader.js';
import type { ByteWriter } from '../partial/writer.js';
import { Summaries } from '../slice/summaries.js';
import type { Paths } from './paths.js';
import { nodePath, type Trace } from './trace.js';

/** No record. */
export const NONE = -1;
/** The value of `#given` for a window that was not emitted yet. */
const OPEN = 0;

/** The contents of a window, as objects. */
export type WindowContents = Pick<
  FlowWindow,
  'reports' | 'drops' | 'late' | 'path' | 'pathChanges' | 'hops' | 'hopsBeyond' | 'endToEnd'
>;

/**
 * The statistics of flows, with a record for each flow and window. All flows share a fixed number of records. Any
 * number of windows may be open. Emitted windows stay as long as they can be corrected.
 */
export class FlowWindows {
  readonly #slots: number;
  /** First record of each row, and next record of each record. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  readonly #row: Int32Array;
  readonly #free: Int32Array;
  #freeCount: number;
  readonly #window: Float64Array;
  /** How often each window was emitted; {@link OPEN} if not yet. */
  readonly #given: Uint32Array;
  /** Whether the window has changed since it was emitted. */
  readonly #isChanged: Uint8Array;
  #changed = 0;
  #kept = 0;
  readonly #reports: Float64Array;
  readonly #drops: Float64Array;
  readonly #late: Float64Array;
  readonly #changes: Float64Array;
  readonly #beyond: Float64Array;
  readonly #used: Uint8Array;
  readonly #endToEnd: Summaries;
  readonly #pathTime: Float64Array;
  readonly #pathLength: Uint8Array;
  readonly #pathNodes: Uint32Array;
  readonly #nodes: Uint32Array;
  /** Two rows for each switch: latency and queue occupancy. */
  readonly #values: Summaries;
  readonly #congested: Float64Array;

  /**
   * @param records number of records for all flows together
   * @param slots number of switches with statistics, and of nodes of the path, for each record
   */
  constructor(flows: number, records: number, slots: number) {
    this.#slots = slots;
    this.#first = new Int32Array(flows).fill(NONE);
    this.#next = new Int32Array(records).fill(NONE);
    this.#row = new Int32Array(records).fill(NONE);
    this.#free = Int32Array.from({ length: records }, (_, record) => records - 1 - record);
    this.#freeCount = records;
    this.#window = new Float64Array(records);
    this.#given = new Uint32Array(records);
    this.#isChanged = new Uint8Array(records);
    this.#reports = new Float64Array(records);
    this.#drops = new Float64Array(records);
    this.#late = new Float64Array(records);
    this.#changes = new Float64Array(records);
    this.#beyond = new Float64Array(records);
    this.#used = new Uint8Array(records);
    this.#endToEnd = new Summaries(records);
    this.#pathTime = new Float64Array(records);
    this.#pathLength = new Uint8Array(records);
    this.#pathNodes = new Uint32Array(records * slots);
    this.#nodes = new Uint32Array(records * slots);
    this.#values = new Summaries(2 * records * slots);
    this.#congested = new Float64Array(records * slots);
  }

  get hasRoom(): boolean {
    return this.#freeCount > 0;
  }

  /** Whether an emitted window has changed. */
  get hasChanged(): boolean {
    return this.#changed > 0;
  }

  /** Releases all records of a row. */
  reset(row: number): void {
    while (this.#first[row] !== NONE) this.#release(this.#first[row]!);
  }

  /** The record of a flow's window; {@link NONE} if there is none. */
  find(row: number, window: number): number {
    let record = this.#first[row]!;
    while (record !== NONE && this.#window[record] !== window) record = this.#next[record]!;
    return record;
  }

  /** Makes a record, which begins with the flow's present path. Call it only while there is room. */
  begin(row: number, window: number, paths: Paths): number {
    const record = this.#take(row, window);
    this.#pathTime[record] = NONE;
    this.#pathLength[record] = paths.copyTo(row, this.#pathNodes, record * this.#slots);
    return record;
  }

  #take(row: number, window: number): number {
    const record = this.#free[--this.#freeCount]!;
    this.#next[record] = this.#first[row]!;
    this.#first[row] = record;
    this.#row[record] = row;
    this.#window[record] = window;
    this.#given[record] = OPEN;
    this.#isChanged[record] = 0;
    this.#reports[record] = 0;
    this.#drops[record] = 0;
    this.#late[record] = 0;
    this.#changes[record] = 0;
    this.#beyond[record] = 0;
    this.#used[record] = 0;
    this.#endToEnd.reset(record);
    return record;
  }

  #release(record: number): void {
    const row = this.#row[record]!;
    let before = NONE;
    for (let at = this.#first[row]!; at !== record; at = this.#next[at]!) before = at;
    if (before === NONE) this.#first[row] = this.#next[record]!;
    else this.#next[before] = this.#next[record]!;
    if (this.#given[record] !== OPEN) this.#kept--;
    if (this.#isChanged[record] === 1) this.#changed--;
    this.#row[record] = NONE;
    this.#free[this.#freeCount++] = record;
  }

  /** The first window with a record, from `from` on; infinity if there is none. Costs a pass over all records. */
  earliest(from: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (let record = 0; record < this.#row.length; record++) {
      const window = this.#window[record]!;
      if (this.#row[record] !== NONE && window >= from && window < earliest) earliest = window;
    }
    return earliest;
  }

  /** The latest window with a record; -1 if there is none. Costs a pass over all records. */
  latest(): number {
    let latest = NONE;
    for (let record = 0; record < this.#row.length; record++) {
      if (this.#row[record] !== NONE && this.#window[record]! > latest) latest = this.#window[record]!;
    }
    return latest;
  }

  /** Drops emitted windows before `window`. Costs a pass over all records, if any are kept. */
  letGo(window: number): void {
    if (this.#kept === 0) return;
    for (let record = 0; record < this.#row.length; record++) {
      if (this.#row[record] === NONE || this.#given[record] === OPEN || this.#window[record]! >= window) continue;
      this.#release(record);
    }
  }

  /** Calls `visit` for each record that has changed since its window was closed, row by row. */
  changed(visit: (row: number, window: number, record: number) => void): void {
    if (this.#changed === 0) return;
    for (let row = 0; row < this.#first.length; row++) {
      for (let record = this.#first[row]!; record !== NONE; record = this.#next[record]!) {
        if (this.#isChanged[record] === 1) visit(row, this.#window[record]!, record);
      }
    }
  }

  /**
   * Marks a window as emitted.
   * @param isKept whether it can be corrected
   * @returns how often it was emitted before
   */
  give(record: number, isKept: boolean): number {
    const before = this.#given[record]!;
    if (this.#isChanged[record] === 1) {
      this.#isChanged[record] = 0;
      this.#changed--;
    }
    if (before === OPEN) this.#kept++;
    this.#given[record] = before + 1;
    if (!isKept) this.#release(record);
    return before;
  }

  /** Marks a closed window as changed. It is then emitted again, or for the first time. */
  change(record: number): void {
    if (this.#isChanged[record] === 1) return;
    this.#isChanged[record] = 1;
    this.#changed++;
  }

  /** Marks an emitted window that is kept as changed. Costs a pass over all records, if any are kept. */
  changeKept(window: number): void {
    if (this.#kept === 0) return;
    for (let record = 0; record < this.#row.length; record++) {
      if (this.#row[record] === NONE || this.#given[record] === OPEN || this.#window[record] !== window) continue;
      this.change(record);
    }
  }

  report(record: number, isDrop: boolean): void {
    this.#reports[record]!++;
    if (isDrop) this.#drops[record]!++;
  }

  /** Counts a report whose own window can no longer be corrected. */
  late(record: number): void {
    this.#late[record]!++;
  }

  pathChange(record: number): void {
    this.#changes[record]!++;
  }

  /** Notes the path of a packet in the window. */
  path(record: number, { nodes, length }: Trace, timeUs: number): void {
    if (timeUs < this.#pathTime[record]!) return;
    this.#pathTime[record] = timeUs;
    const kept = Math.min(length, this.#slots);
    this.#pathLength[record] = kept;
    const start = record * this.#slots;
    for (let at = 0; at < kept; at++) this.#pathNodes[start + at] = nodes[at]!;
  }

  /** @param latency sum of hop latencies; it saturates at 2^32 - 1 */
  endToEnd(record: number, latency: number): void {
    this.#endToEnd.add(record, Math.min(latency, 0xffffffff));
  }

  /**
   * Adds a flow's values at one switch.
   * @param guess the likely slot: the position on the path
   * @param latency all ones if unknown
   * @param occupancy all ones if unknown
   */
  hop(record: number, guess: number, nodeId: number, latency: number, occupancy: number, isCongested: boolean): void {
    const slot = this.#slotOf(record, guess, nodeId);
    if (slot < 0) {
      this.#beyond[record]!++;
      return;
    }
    if (latency !== NOT_AVAILABLE) this.#values.add(2 * slot, latency);
    if (occupancy !== NOT_AVAILABLE) this.#values.add(2 * slot + 1, occupancy);
    if (isCongested) this.#congested[slot]!++;
  }

  #slotOf(record: number, guess: number, nodeId: number): number {
    const nodes = this.#nodes;
    const start = record * this.#slots;
    const used = this.#used[record]!;
    if (guess < used && nodes[start + guess] === nodeId) return start + guess;
    for (let slot = start; slot < start + used; slot++) if (nodes[slot] === nodeId) return slot;
    if (used === this.#slots) return NONE;
    this.#used[record] = used + 1;
    const slot = start + used;
    nodes[slot] = nodeId;
    this.#values.reset(2 * slot);
    this.#values.reset(2 * slot + 1);
    this.#congested[slot] = 0;
    return slot;
  }

  /** The contents of a record. Allocates. */
  contents(record: number): WindowContents {
    const start = record * this.#slots;
    const hops: FlowHop[] = [];
    for (let slot = start; slot < start + this.#used[record]!; slot++) {
      const nodeId = this.#nodes[slot]!;
      hops.push({
        nodeId: nodeId === NOT_AVAILABLE ? null : nodeId,
        latency: this.#summary(this.#values, 2 * slot),
        queueOccupancy: this.#summary(this.#values, 2 * slot + 1),
        congested: this.#congested[slot]!,
      });
    }
    const length = this.#pathLength[record]!;
    return {
      reports: this.#reports[record]!,
      drops: this.#drops[record]!,
      late: this.#late[record]!,
      path: length === 0 ? null : nodePath(this.#pathNodes, start, length),
      pathChanges: this.#changes[record]!,
      hops,
      hopsBeyond: this.#beyond[record]!,
      endToEnd: this.#summary(this.#endToEnd, record),
    };
  }

  #summary(summaries: Summaries, row: number): Summary | null {
    return summaries.count(row) === 0 ? null : summaries.read(row);
  }

  /** Writes the open windows of a row. Emitted windows are not part of the state. */
  write(row: number, writer: ByteWriter): void {
    const open: number[] = [];
    for (let record = this.#first[row]!; record !== NONE; record = this.#next[record]!) {
      if (this.#given[record] === OPEN) open.push(record);
    }
    open.sort((a, b) => this.#window[a]! - this.#window[b]!);
    writer.number(open.length);
    for (const record of open) {
      writer.number(this.#window[record]!);
      this.#passRecord(record, writer);
    }
  }

  /** Reads into a row that was reset. */
  read(row: number, reader: ByteReader): void {
    const count = reader.between(0, this.#freeCount, 'windows');
    let before = NONE;
    for (let index = 0; index < count; index++) {
      const window = reader.number();
      if (window <= before) reader.fail('windows that do not ascend');
      before = window;
      this.#passRecord(this.#take(row, window), reader);
    }
  }

  #passRecord(record: number, fields: ByteFields): void {
    for (const column of [this.#reports, this.#drops, this.#late, this.#changes, this.#beyond]) {
      column[record] = fields.number(column[record]!);
    }
    this.#endToEnd.pass(record, fields);
    this.#pathTime[record] = fields.signed(this.#pathTime[record]!);
    const length = fields.between(0, this.#slots, 'nodes', this.#pathLength[record]!);
    this.#pathLength[record] = length;
    const start = record * this.#slots;
    wordsOf(fields, this.#pathNodes, start, start + length);
    const used = fields.between(0, this.#slots, 'switches', this.#used[record]!);
    this.#used[record] = used;
    for (let slot = start; slot < start + used; slot++) {
      wordsOf(fields, this.#nodes, slot, slot + 1);
      this.#values.pass(2 * slot, fields);
      this.#values.pass(2 * slot + 1, fields);
      this.#congested[slot] = fields.number(this.#congested[slot]!);
    }
  }
}
