import { STATE, type TelemetryBatch } from './batch.js';
import { FLAG, NOT_AVAILABLE, REPORT_BYTE_COLUMNS, REPORT_WORD_COLUMNS, type ReportWordColumn } from './columns.js';
import { HOP_COLUMNS, type HopColumn } from './fields.js';

/** Which columns a {@link ReportCopier} copies. The others of the target are undefined, those of hops all ones. */
export interface CopiedColumns {
  /** Default: all. `frame`, `flags` and `hopStart` are always there. */
  readonly report?: readonly ReportWordColumn[];
  /** Default: all. */
  readonly hop?: readonly HopColumn[];
}

/** Rows without a gap from which on a column is copied as a whole. */
const RUN = 32;
/** Frames of the source that lie no further apart are copied together: the header of a capture's record fits between. */
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

/**
 * Copies reports from one batch to the end of another: a part of a batch, a batch that outlives the source's memory, or one in
 * memory that threads share.
 *
 * Reports come with their hops and their frames' times. Reports of one frame that follow one another keep one frame. If the
 * target has memory for them (`capacity.bytes`), frames come with their bytes as well, and cells that say where something
 * stands in a frame follow; without that memory frames have length 0 and such cells are all ones.
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
  readonly #hop: readonly number[];
  readonly #copiesEthernet: boolean;
  readonly #copiesDrop: boolean;
  /** Row numbers, for {@link appendAll}. */
  #identity = new Uint32Array(0);
  /** How far the frame of each row has moved, modulo 2^32. */
  #moved = new Uint32Array(256);
  /** Of the rows at hand: all bits of their flags, and whether rows and hops follow one another without a gap. */
  #flags = 0;
  #isRun = false;
  #firstHop = 0;

  constructor(columns: CopiedColumns = {}) {
    const report = (columns.report ?? REPORT_WORD_COLUMNS).filter((name) => !NUMBERED.includes(name));
    this.#report = report.filter((name) => !IPV6_ONLY.includes(name)).map(indexOf);
    this.#report6 = report.filter((name) => IPV6_ONLY.includes(name)).map(indexOf);
    this.#hop = [...new Set(columns.hop ?? HOP_COLUMNS)].map((name) => HOP_COLUMNS.indexOf(name));
    this.#copiesEthernet = report.includes('ethernet');
    this.#copiesDrop = report.includes('drop');
  }

  /**
   * Appends all reports of a batch.
   * @returns how many, from `from` on, there was room for
   */
  appendAll(source: TelemetryBatch, target: TelemetryBatch, from = 0, to: number = source.reports): number {
    if (this.#identity.length < to)
      this.#identity = Uint32Array.from({ length: source.capacity.reports }, (_, row) => row);
    return this.append(source, target, this.#identity, from, to);
  }

  /**
   * Appends the reports in `rows[from]` to `rows[to - 1]`, which are rows of the source in ascending order.
   * @returns how many, from the first on, there was room for. Clear the target and go on from there
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
    const report6 = (this.#flags & FLAG.IPV6) === 0 ? [] : this.#report6;
    if (this.#isRun && count >= RUN) {
      this.#copyRun(source, target, rows[from]!, first, count, report6);
    } else {
      this.#copyRows(source, target, rows, from, first, count, report6);
    }
    this.#copyHops(source, target, rows, from, count, firstHop, hops);
    this.#moveOffsets(source, target, first, count);
    if (this.#copiesDrop) state[STATE.DROPS] = state[STATE.DROPS]! | source.state[STATE.DROPS]!;
    state[STATE.LINK] = source.state[STATE.LINK]!;
    state[STATE.TIMED] = source.state[STATE.TIMED]!;
    return count;
  }

  /** Numbers frames and hops anew and copies flags, times and bytes. @returns how many rows there is room for */
  #place(source: TelemetryBatch, target: TelemetryBatch, rows: Uint32Array, from: number, to: number): number {
    const { frame, flags, hopCount, hopStart, frameTimeHigh, frameTimeLow, frameOffset, frameLength } = source;
    const { state, capacity } = target;
    if (this.#moved.length < to - from) this.#moved = new Uint32Array(2 ** Math.ceil(Math.log2(to - from)));
    const moved = this.#moved;
    const hasBytes = capacity.bytes > 0;
    let out = state[STATE.REPORTS]!;
    let outFrame = state[STATE.FRAMES]! - 1;
    let hop = state[STATE.HOPS]!;
    let used = state[STATE.BYTES]!;
    /** Where the run of bytes at hand begins in the source, where it ends, and how far it moves. */
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
      if (hop + length > capacity.hops) break;
      const own = frame[row]!;
      if (own !== last) {
        if (outFrame + 1 >= capacity.frames) break;
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
        } else {
          target.frameOffset[outFrame + 1] = 0;
          target.frameLength[outFrame + 1] = 0;
        }
        last = own;
        outFrame++;
        target.frameCode[outFrame] = source.frameCode[own]!;
        target.frameTimeHigh[outFrame] = frameTimeHigh[own]!;
        target.frameTimeLow[outFrame] = frameTimeLow[own]!;
      }
      const rowFlags = flags[row]!;
      bits |= rowFlags;
      target.frame[out] = outFrame;
      target.flags[out] = rowFlags;
      target.hopStart[out] = hop;
      moved[at - from] = move;
      // Where a report has no hops, the cell of its first hop means nothing.
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

  #copyRun(
    source: TelemetryBatch,
    target: TelemetryBatch,
    row: number,
    first: number,
    count: number,
    report6: readonly number[],
  ): void {
    for (const name of REPORT_BYTE_COLUMNS) target[name].set(source[name].subarray(row, row + count), first);
    for (const columns of [this.#report, report6]) {
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
    report6: readonly number[],
  ): void {
    const { code, hopCount, protocol } = source;
    for (let k = 0; k < count; k++) {
      const row = rows[from + k]!;
      target.code[first + k] = code[row]!;
      target.hopCount[first + k] = hopCount[row]!;
      target.protocol[first + k] = protocol[row]!;
    }
    for (const column of this.#report) copyCells(source, target, rows, from, first, count, column);
    for (const column of report6) copyCells(source, target, rows, from, first, count, column);
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
    for (const column of this.#hop) {
      const bit = 1 << column;
      const to = column * target.hopStride + firstHop;
      if ((written & bit) === 0) {
        // It holds nothing; what earlier reports have left goes.
        if ((before & bit) !== 0) target.hopWords.fill(NOT_AVAILABLE, to, to + hops);
        continue;
      }
      now |= bit;
      if (this.#isRun) {
        const start = column * source.hopStride + this.#firstHop;
        target.hopWords.set(source.hopWords.subarray(start, start + hops), to);
      } else copyHopCells(source, target, rows, from, count, column, to);
    }
    target.state[STATE.WRITTEN] = now;
  }

  /** Cells that say where something stands in the frames' bytes follow the frames. */
  #moveOffsets(source: TelemetryBatch, target: TelemetryBatch, first: number, count: number): void {
    const { reportWords, reportStride, hopWords, hopStart, hopCount } = target;
    const moved = this.#moved;
    const hasBytes = target.capacity.bytes > 0;
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

/** Copies one report column of rows. */
function copyCells(
  { reportWords: cells, reportStride }: TelemetryBatch,
  target: TelemetryBatch,
  rows: Uint32Array,
  from: number,
  first: number,
  count: number,
  column: number,
): void {
  const to = target.reportWords;
  const base = column * reportStride;
  let out = column * target.reportStride + first;
  for (let at = from; at < from + count; at++) to[out++] = cells[base + rows[at]!]!;
}

/** Copies one hop column of rows, to the cells from `out` on. */
function copyHopCells(
  { hopWords: cells, hopStride, hopStart, hopCount }: TelemetryBatch,
  target: TelemetryBatch,
  rows: Uint32Array,
  from: number,
  count: number,
  column: number,
  out: number,
): void {
  const to = target.hopWords;
  const base = column * hopStride;
  let next = out;
  for (let at = from; at < from + count; at++) {
    const row = rows[at]!;
    const start = base + hopStart[row]!;
    const end = start + hopCount[row]!;
    for (let cell = start; cell < end; cell++) to[next++] = cells[cell]!;
  }
}
