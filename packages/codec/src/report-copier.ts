import { STATE, type TelemetryBatch } from './batch.js';
import { FLAG, NOT_AVAILABLE, REPORT_BYTE_COLUMNS, REPORT_WORD_COLUMNS, type ReportWordColumn } from './columns.js';
import { HOP_COLUMNS, type HopColumn } from './fields.js';

/**
 * Columns that a {@link ReportCopier} copies. Other columns of the target are undefined; those of hops are all ones.
 */
export interface CopiedColumns {
  /** Default: all. `frame`, `flags` and `hopStart` are always there. */
  readonly report?: readonly ReportWordColumn[];
  /** Default: all. */
  readonly hop?: readonly HopColumn[];
  /**
   * True: the target refers to the bytes of the source instead of holding copies. It is valid as long as the source's
   * memory is, and holds reports of one source at a time. Default false.
   */
  readonly refer?: boolean;
}

/** From this number of rows without a gap on, a column is copied as a whole. */
const RUN = 32;
/** Frames that lie no further apart are copied together. The header of a capture's record fits between two of these. */
const GAP_BYTES = 64;

const ETHERNET = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('ethernet');
const DOMAIN_OFFSET = /* @__PURE__ */ HOP_COLUMNS.indexOf('domainOffset');
/** Written by {@link ReportCopier} itself. */
const NUMBERED: readonly ReportWordColumn[] = ['frame', 'flags', 'hopStart'];
/** Words of addresses that IPv4 lacks. */
const IPV6_ONLY: readonly ReportWordColumn[] = [
  'source1',
  'source2',
  'source3',
  'destination1',
  'destination2',
  'destination3',
];

const indexOf = (name: ReportWordColumn): number => REPORT_WORD_COLUMNS.indexOf(name);

/** Number of columns that are copied in one pass over the rows. The last group repeats its last column. */
const GROUP = 4;

function grouped(columns: readonly number[]): Int32Array {
  const groups = Math.ceil(columns.length / GROUP);
  return Int32Array.from({ length: groups * GROUP }, (_, at) => columns[Math.min(at, columns.length - 1)]!);
}

/**
 * Appends copies of reports of one batch to another: to take a part of a batch, to keep reports longer than the
 * source's memory is valid, or to hand them to another thread in shared memory.
 *
 * It copies reports with their hops and the times of their frames. Successive reports of one frame share one frame in
 * the target, too. If the target has memory for them (`capacity.bytes`), the bytes of the frames are copied as well,
 * and cells that are offsets in a frame are adjusted. Otherwise frames have length 0, and such cells are all ones. With
 * `refer` nothing of that is copied: the target's frames lie in the memory of the source.
 *
 * Allocates nothing per report.
 *
 * @example
 * const kept = new TelemetryBatch({ frames: 1024, bytes: 1 << 20 });
 * new ReportCopier().appendAll(batch, kept);
 */
export class ReportCopier {
  readonly #report: readonly number[];
  readonly #report6: readonly number[];
  /** The same in groups. */
  readonly #reportGroups: Int32Array;
  readonly #report6Groups: Int32Array;
  readonly #hop: readonly number[];
  /** The hop columns that hold something; filled anew in each call. */
  readonly #written: Int32Array;
  readonly #copiesEthernet: boolean;
  readonly #copiesDrop: boolean;
  readonly #refers: boolean;
  /** Row numbers, for {@link appendAll}. */
  #identity = new Uint32Array(0);
  /** For each row, how far its frame has moved, modulo 2^32. */
  #moved = new Uint32Array(256);
  /** Of the rows in hand: all bits of their flags, and whether rows and hops follow one another without a gap. */
  #flags = 0;
  #isRun = false;
  #firstHop = 0;

  constructor(columns: CopiedColumns = {}) {
    const report = (columns.report ?? REPORT_WORD_COLUMNS).filter((name) => !NUMBERED.includes(name));
    this.#report = report.filter((name) => !IPV6_ONLY.includes(name)).map(indexOf);
    this.#report6 = report.filter((name) => IPV6_ONLY.includes(name)).map(indexOf);
    this.#hop = [...new Set(columns.hop ?? HOP_COLUMNS)].map((name) => HOP_COLUMNS.indexOf(name));
    this.#reportGroups = grouped(this.#report);
    this.#report6Groups = grouped(this.#report6);
    this.#written = new Int32Array(Math.ceil(this.#hop.length / GROUP) * GROUP);
    this.#copiesEthernet = report.includes('ethernet');
    this.#copiesDrop = report.includes('drop');
    this.#refers = columns.refer === true;
  }

  /**
   * Appends all reports of a batch.
   * @returns how many were appended: as many, from `from` on, as there was room for
   */
  appendAll(source: TelemetryBatch, target: TelemetryBatch, from = 0, to: number = source.reports): number {
    if (this.#identity.length < to)
      this.#identity = Uint32Array.from({ length: source.capacity.reports }, (_, row) => row);
    return this.append(source, target, this.#identity, from, to);
  }

  /**
   * Appends the reports in `rows[from]` to `rows[to - 1]`, which are rows of the source in ascending order.
   * @returns how many were appended: as many, from the first on, as there was room for. Clear the target and go on
   */
  append(
    source: TelemetryBatch,
    target: TelemetryBatch,
    rows: Uint32Array,
    from = 0,
    to: number = rows.length,
  ): number {
    const { state } = target;
    const first = state[STATE.REPORTS]!;
    const firstHop = state[STATE.HOPS]!;
    const count = this.#place(source, target, rows, from, Math.min(to, from + target.capacity.reports - first));
    if (count === 0) return 0;
    const hops = state[STATE.HOPS]! - firstHop;
    if (this.#isRun && count >= RUN) this.#copyRun(source, target, rows[from]!, first, count);
    else this.#copyRows(source, target, rows, from, first, count);
    this.#copyHops(source, target, rows, from, count, firstHop, hops);
    this.#moveOffsets(source, target, first, count);
    if (this.#copiesDrop) state[STATE.DROPS] = state[STATE.DROPS]! | source.state[STATE.DROPS]!;
    state[STATE.LINK] = source.state[STATE.LINK]!;
    state[STATE.TIMED] = source.state[STATE.TIMED]!;
    return count;
  }

  /** Numbers frames and hops anew and copies flags, times and bytes. @returns how many rows there is room for */
  #place(source: TelemetryBatch, target: TelemetryBatch, rows: Uint32Array, from: number, to: number): number {
    const { frame, flags, hopCount, hopStart, frameCode } = source;
    const { frameTimeHigh, frameTimeLow, frameOffset, frameLength } = source;
    const { state, capacity, frame: toFrame, flags: toFlags, hopStart: toHopStart } = target;
    const { frameCode: toFrameCode, frameTimeHigh: toTimeHigh, frameTimeLow: toTimeLow } = target;
    const { hops: mostHops, frames: mostFrames } = capacity;
    if (this.#moved.length < to - from) this.#moved = new Uint32Array(2 ** Math.ceil(Math.log2(to - from)));
    const moved = this.#moved;
    const refers = this.#refers;
    const hasBytes = capacity.bytes > 0 && !refers;
    if (refers) target.bytes = source.bytes;
    let out = state[STATE.REPORTS]!;
    let outFrame = state[STATE.FRAMES]! - 1;
    let hop = state[STATE.HOPS]!;
    let used = state[STATE.BYTES]!;
    // The run of bytes in hand: its start and end in the source, and how far it moves.
    let runStart = 0;
    let runEnd = -1;
    let move = 0;
    let last = -1;
    let bits = 0;
    let nextHop = -1;
    let isRun = true;
    let at = from;
    for (; at < to; at++) {
      const row = rows[at]!;
      const length = hopCount[row]!;
      if (hop + length > mostHops) break;
      const own = frame[row]!;
      if (own !== last) {
        if (outFrame + 1 >= mostFrames) break;
        if (hasBytes) {
          const start = frameOffset[own]!;
          const end = start + frameLength[own]!;
          const isNear = runEnd >= 0 && start >= runEnd && start - runEnd <= GAP_BYTES;
          const needed = isNear ? end - runEnd : end - start;
          if (used + needed > capacity.bytes) break;
          if (!isNear) {
            if (runEnd > runStart) target.bytes.set(source.bytes.subarray(runStart, runEnd), runStart + move);
            runStart = start;
            move = used - start;
          }
          used += needed;
          runEnd = end;
          target.frameOffset[outFrame + 1] = start + move;
          target.frameLength[outFrame + 1] = frameLength[own]!;
        } else if (refers) {
          target.frameOffset[outFrame + 1] = frameOffset[own]!;
          target.frameLength[outFrame + 1] = frameLength[own]!;
        }
        last = own;
        outFrame++;
        toFrameCode[outFrame] = frameCode[own]!;
        toTimeHigh[outFrame] = frameTimeHigh[own]!;
        toTimeLow[outFrame] = frameTimeLow[own]!;
      }
      const rowFlags = flags[row]!;
      bits |= rowFlags;
      toFrame[out] = outFrame;
      toFlags[out] = rowFlags;
      toHopStart[out] = hop;
      if (hasBytes || refers) moved[at - from] = move;
      // If a report has no hops, its `hopStart` has no meaning.
      if (length > 0) {
        const start = hopStart[row]!;
        if (nextHop < 0) this.#firstHop = start;
        else if (start !== nextHop) isRun = false;
        nextHop = start + length;
        hop += length;
      }
      out++;
    }
    if (runEnd > runStart) target.bytes.set(source.bytes.subarray(runStart, runEnd), runStart + move);
    const count = at - from;
    this.#flags = bits;
    this.#isRun = isRun && count > 0 && rows[at - 1]! - rows[from]! === count - 1;
    state[STATE.FRAMES] = outFrame + 1;
    state[STATE.REPORTS] = out;
    state[STATE.HOPS] = hop;
    state[STATE.BYTES] = used;
    return count;
  }

  #copyRun(source: TelemetryBatch, target: TelemetryBatch, row: number, first: number, count: number): void {
    for (const name of REPORT_BYTE_COLUMNS) target[name].set(source[name].subarray(row, row + count), first);
    const isIpv6 = (this.#flags & FLAG.IPV6) !== 0;
    for (const columns of isIpv6 ? [this.#report, this.#report6] : [this.#report]) {
      for (const column of columns) {
        const start = column * source.reportStride + row;
        const cells = source.reportWords.subarray(start, start + count);
        target.reportWords.set(cells, column * target.reportStride + first);
      }
    }
  }

  #copyRows(
    source: TelemetryBatch,
    target: TelemetryBatch,
    rows: Uint32Array,
    from: number,
    first: number,
    count: number,
  ): void {
    const { code, hopCount, protocol } = source;
    const { code: toCode, hopCount: toHopCount, protocol: toProtocol } = target;
    for (let k = 0; k < count; k++) {
      const row = rows[from + k]!;
      toCode[first + k] = code[row]!;
      toHopCount[first + k] = hopCount[row]!;
      toProtocol[first + k] = protocol[row]!;
    }
    const report = this.#reportGroups;
    for (let at = 0; at < report.length; at += GROUP) copyCells(source, target, rows, from, first, count, report, at);
    if ((this.#flags & FLAG.IPV6) === 0) return;
    const report6 = this.#report6Groups;
    for (let at = 0; at < report6.length; at += GROUP) copyCells(source, target, rows, from, first, count, report6, at);
  }

  #copyHops(
    source: TelemetryBatch,
    target: TelemetryBatch,
    rows: Uint32Array,
    from: number,
    count: number,
    firstHop: number,
    hops: number,
  ): void {
    if (hops === 0) return;
    const written = source.state[STATE.WRITTEN]!;
    const before = target.state[STATE.WRITTEN]!;
    let now = before;
    let columns = 0;
    for (const column of this.#hop) {
      const bit = 1 << column;
      const to = column * target.hopStride + firstHop;
      if ((written & bit) === 0) {
        // The column holds nothing in the source. Values of earlier reports in the target are removed.
        if ((before & bit) !== 0) target.hopWords.fill(NOT_AVAILABLE, to, to + hops);
        continue;
      }
      now |= bit;
      if (this.#isRun) {
        const start = column * source.hopStride + this.#firstHop;
        target.hopWords.set(source.hopWords.subarray(start, start + hops), to);
      } else this.#written[columns++] = column;
    }
    target.state[STATE.WRITTEN] = now;
    if (columns === 0) return;
    for (let pad = columns; pad % GROUP !== 0; pad++) this.#written[pad] = this.#written[columns - 1]!;
    for (let at = 0; at < columns; at += GROUP) {
      copyHopCells(source, target, rows, from, count, firstHop, this.#written, at);
    }
  }

  /** Adjusts cells that are offsets in the frames' bytes to the new places of the frames. */
  #moveOffsets(source: TelemetryBatch, target: TelemetryBatch, first: number, count: number): void {
    const { reportWords, reportStride, hopWords, hopStart, hopCount } = target;
    const moved = this.#moved;
    const hasBytes = target.capacity.bytes > 0 || this.#refers;
    if (this.#copiesEthernet) {
      const column = ETHERNET * reportStride + first;
      for (let k = 0; k < count; k++) {
        const cell = reportWords[column + k]!;
        if (cell !== NOT_AVAILABLE) reportWords[column + k] = hasBytes ? cell + moved[k]! : NOT_AVAILABLE;
      }
    }
    if (((source.state[STATE.WRITTEN]! >>> DOMAIN_OFFSET) & 1) === 0 || !this.#hop.includes(DOMAIN_OFFSET)) return;
    const column = DOMAIN_OFFSET * target.hopStride;
    for (let k = 0; k < count; k++) {
      const start = column + hopStart[first + k]!;
      for (let cell = start; cell < start + hopCount[first + k]!; cell++) {
        const offset = hopWords[cell]!;
        if (offset !== NOT_AVAILABLE) hopWords[cell] = hasBytes ? offset + moved[k]! : NOT_AVAILABLE;
      }
    }
  }
}

/** Copies four report columns of the rows: those from `at` on in `columns`. */
function copyCells(
  { reportWords: cells, reportStride }: TelemetryBatch,
  { reportWords: to, reportStride: toStride }: TelemetryBatch,
  rows: Uint32Array,
  from: number,
  first: number,
  count: number,
  columns: Int32Array,
  at: number,
): void {
  const fromA = Math.imul(columns[at]!, reportStride);
  const fromB = Math.imul(columns[at + 1]!, reportStride);
  const fromC = Math.imul(columns[at + 2]!, reportStride);
  const fromD = Math.imul(columns[at + 3]!, reportStride);
  const toA = (Math.imul(columns[at]!, toStride) + first) | 0;
  const toB = (Math.imul(columns[at + 1]!, toStride) + first) | 0;
  const toC = (Math.imul(columns[at + 2]!, toStride) + first) | 0;
  const toD = (Math.imul(columns[at + 3]!, toStride) + first) | 0;
  for (let k = 0; k < count; k = (k + 1) | 0) {
    const row = rows[from + k]! | 0;
    to[(toA + k) | 0] = cells[(fromA + row) | 0]!;
    to[(toB + k) | 0] = cells[(fromB + row) | 0]!;
    to[(toC + k) | 0] = cells[(fromC + row) | 0]!;
    to[(toD + k) | 0] = cells[(fromD + row) | 0]!;
  }
}

/** Copies four hop columns of the rows, those from `at` on in `columns`, to the hop rows from `firstHop` on. */
function copyHopCells(
  { hopWords: cells, hopStride, hopStart, hopCount }: TelemetryBatch,
  { hopWords: to, hopStride: toStride }: TelemetryBatch,
  rows: Uint32Array,
  from: number,
  count: number,
  firstHop: number,
  columns: Int32Array,
  at: number,
): void {
  const fromA = Math.imul(columns[at]!, hopStride);
  const fromB = Math.imul(columns[at + 1]!, hopStride);
  const fromC = Math.imul(columns[at + 2]!, hopStride);
  const fromD = Math.imul(columns[at + 3]!, hopStride);
  const toA = Math.imul(columns[at]!, toStride);
  const toB = Math.imul(columns[at + 1]!, toStride);
  const toC = Math.imul(columns[at + 2]!, toStride);
  const toD = Math.imul(columns[at + 3]!, toStride);
  let out = firstHop | 0;
  for (let k = from; k < from + count; k++) {
    const row = rows[k]!;
    let hop = hopStart[row]! | 0;
    const end = (out + hopCount[row]!) | 0;
    for (; out < end; out = (out + 1) | 0) {
      to[(toA + out) | 0] = cells[(fromA + hop) | 0]!;
      to[(toB + out) | 0] = cells[(fromB + hop) | 0]!;
      to[(toC + out) | 0] = cells[(fromC + hop) | 0]!;
      to[(toD + out) | 0] = cells[(fromD + hop) | 0]!;
      hop = (hop + 1) | 0;
    }
  }
}
