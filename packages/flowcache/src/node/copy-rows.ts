/**
 * Copying rows from a batch to the end of a slot: the hot loops. V8 does not move what stays the same out of a loop, so
 * that is done here by hand; all words are signed, for the reason given at BatchColumns.
 */
import { type BatchInput, FLAG } from '@int/codec';
import { type BatchColumns, REPORT } from '../cache/batch-columns.js';
import type { Slot } from './slot.js';

/** Report columns that are copied as they are. */
const COPIED = [REPORT.FLAGS, REPORT.NODE, REPORT.PORTS, REPORT.SOURCE, REPORT.DESTINATION] as const;
/** Of IPv6 flows also these. */
const COPIED_IPV6 = /* @__PURE__ */ [1, 2, 3].flatMap((word) => [REPORT.SOURCE + word, REPORT.DESTINATION + word]);

/** Times of reports that have none: all cells of it are the first one. */
const NO_TIMES: BatchInput = /* @__PURE__ */ {
  timestampsHigh: /* @__PURE__ */ new Uint32Array(1),
  timestampsLow: /* @__PURE__ */ new Uint32Array(1),
  first: 0,
};

/**
 * Copies the rows in `rows[first]` to `rows[first + left - 1]`, with four of the hop columns.
 * @returns how many, from the first on, the slot's hop rows had room for
 */
export function copyRows(
  source: BatchColumns,
  rows: Int32Array,
  first: number,
  left: number,
  slot: Slot,
  input: BatchInput | undefined,
  columns: Int32Array,
): number {
  const { report, hops: from, hopCount, protocol, reportStride: stride, hopStride } = source;
  const { report: to, hops: toHops, hopCount: toHopCount, protocol: toProtocol } = slot.columns;
  const { timesHigh, timesLow } = slot;
  const { reportStride: toStride, hopStride: toHopStride } = slot.columns;
  const { timestampsHigh, timestampsLow, first: firstFrame } = input ?? NO_TIMES;
  const frameMask = input === undefined ? 0 : -1;
  const frames = Math.imul(REPORT.FRAME, stride);
  const flagBits = Math.imul(REPORT.FLAGS, stride);
  const node = Math.imul(REPORT.NODE, stride);
  const start = Math.imul(REPORT.HOP_START, stride);
  const ports = Math.imul(REPORT.PORTS, stride);
  const address = Math.imul(REPORT.SOURCE, stride);
  const peer = Math.imul(REPORT.DESTINATION, stride);
  const toFrame = Math.imul(REPORT.FRAME, toStride);
  const toFlags = Math.imul(REPORT.FLAGS, toStride);
  const toNode = Math.imul(REPORT.NODE, toStride);
  const toStart = Math.imul(REPORT.HOP_START, toStride);
  const toPorts = Math.imul(REPORT.PORTS, toStride);
  const toAddress = Math.imul(REPORT.SOURCE, toStride);
  const toPeer = Math.imul(REPORT.DESTINATION, toStride);
  const fromA = Math.imul(columns[0]!, hopStride);
  const fromB = Math.imul(columns[1]!, hopStride);
  const fromC = Math.imul(columns[2]!, hopStride);
  const fromD = Math.imul(columns[3]!, hopStride);
  const toA = Math.imul(columns[0]!, toHopStride);
  const toB = Math.imul(columns[1]!, toHopStride);
  const toC = Math.imul(columns[2]!, toHopStride);
  const toD = Math.imul(columns[3]!, toHopStride);
  const mostHops = slot.batch.capacity.hops | 0;
  let hop = slot.hops | 0;
  let out = slot.reports | 0;
  let at = first | 0;
  const end = (first + left) | 0;
  for (; at < end; at = (at + 1) | 0) {
    const row = rows[at]!;
    const length = hopCount[row]!;
    const lastHop = (hop + length) | 0;
    if (lastHop > mostHops) break;
    const flags = report[(flagBits + row) | 0]!;
    to[(toFrame + out) | 0] = out;
    to[(toFlags + out) | 0] = flags;
    to[(toNode + out) | 0] = report[(node + row) | 0]!;
    to[(toStart + out) | 0] = hop;
    to[(toPorts + out) | 0] = report[(ports + row) | 0]!;
    to[(toAddress + out) | 0] = report[(address + row) | 0]!;
    to[(toPeer + out) | 0] = report[(peer + row) | 0]!;
    if ((flags & FLAG.IPV6) !== 0) copyAddresses(report, stride, row, to, toStride, out);
    toProtocol[out] = protocol[row]!;
    toHopCount[out] = length;
    const frame = (firstFrame + (report[(frames + row) | 0]! & frameMask)) | 0;
    timesHigh[out] = timestampsHigh[frame]! | 0;
    timesLow[out] = timestampsLow[frame]! | 0;
    let read = report[(start + row) | 0]!;
    for (; hop < lastHop; hop = (hop + 1) | 0) {
      toHops[(toA + hop) | 0] = from[(fromA + read) | 0]!;
      toHops[(toB + hop) | 0] = from[(fromB + read) | 0]!;
      toHops[(toC + hop) | 0] = from[(fromC + read) | 0]!;
      toHops[(toD + hop) | 0] = from[(fromD + read) | 0]!;
      read = (read + 1) | 0;
    }
    out = (out + 1) | 0;
  }
  slot.hops = hop;
  return at - first;
}

/** The words of IPv6 addresses that IPv4 lacks: three columns behind the first of each address. */
function copyAddresses(
  report: Int32Array,
  stride: number,
  row: number,
  to: Int32Array,
  toStride: number,
  out: number,
): void {
  let read = (Math.imul(REPORT.SOURCE, stride) + row) | 0;
  let write = (Math.imul(REPORT.SOURCE, toStride) + out) | 0;
  const peer = Math.imul(REPORT.DESTINATION - REPORT.SOURCE, stride);
  const toPeer = Math.imul(REPORT.DESTINATION - REPORT.SOURCE, toStride);
  for (let word = 1; word < 4; word = (word + 1) | 0) {
    read = (read + stride) | 0;
    write = (write + toStride) | 0;
    to[write] = report[read]!;
    to[(write + toPeer) | 0] = report[(read + peer) | 0]!;
  }
}

/** Copies one hop column of rows that {@link copyRows} has copied, to the hop rows from `hops` on. */
export function copyColumn(
  source: BatchColumns,
  rows: Int32Array,
  first: number,
  count: number,
  slot: Slot,
  hops: number,
  column: number,
): void {
  const { report, hops: from, hopCount } = source;
  const to = slot.columns.hops;
  const start = Math.imul(REPORT.HOP_START, source.reportStride);
  const base = Math.imul(column, source.hopStride);
  let out = (Math.imul(column, slot.columns.hopStride) + hops) | 0;
  for (let at = first; at < first + count; at++) {
    const row = rows[at]!;
    let hop = (base + report[(start + row) | 0]!) | 0;
    const end = (hop + hopCount[row]!) | 0;
    for (; hop < end; hop = (hop + 1) | 0) {
      to[out] = from[hop]!;
      out = (out + 1) | 0;
    }
  }
}

/**
 * How many rows can be copied by {@link copyRun}: those whose hop rows follow one another, as a decoder leaves them, and
 * have room in the slot.
 */
export function runLength(source: BatchColumns, from: number, left: number, slot: Slot): number {
  const { report, hopCount } = source;
  const start = Math.imul(REPORT.HOP_START, source.reportStride);
  const room = (slot.batch.capacity.hops - slot.hops) | 0;
  let hops = 0;
  let next = 0;
  let row = from | 0;
  for (const end = (from + left) | 0; row < end; row = (row + 1) | 0) {
    const length = hopCount[row]!;
    // Where a report has no hops, the cell means nothing.
    if (length === 0) continue;
    const first = report[(start + row) | 0]!;
    if ((hops !== 0 && first !== next) || ((hops + length) | 0) > room) break;
    hops = (hops + length) | 0;
    next = (first + length) | 0;
  }
  return row - from;
}

/** Copies rows that follow one another, each column at once, which takes a view of each. */
export function copyRun(
  source: BatchColumns,
  from: number,
  count: number,
  slot: Slot,
  input: BatchInput | undefined,
  hopColumns: readonly number[],
): void {
  const { columns, hops, reports } = slot;
  let first = from;
  while (first < from + count - 1 && source.hopCount[first] === 0) first++;
  const firstHop = source.report[REPORT.HOP_START * source.reportStride + first]!;
  const flags = numberRun(source, from, count, slot, input);
  for (const column of COPIED) copyReportCells(source, column, from, count, slot);
  if ((flags & FLAG.IPV6) !== 0) for (const column of COPIED_IPV6) copyReportCells(source, column, from, count, slot);
  columns.protocol.set(source.protocol.subarray(from, from + count), reports);
  columns.hopCount.set(source.hopCount.subarray(from, from + count), reports);
  const hopRows = slot.hops - hops;
  if (hopRows === 0) return;
  for (const column of hopColumns) {
    const start = column * source.hopStride + firstHop;
    columns.hops.set(source.hops.subarray(start, start + hopRows), column * columns.hopStride + hops);
  }
}

function copyReportCells(source: BatchColumns, column: number, from: number, count: number, slot: Slot): void {
  const start = column * source.reportStride + from;
  const cells = source.report.subarray(start, start + count);
  slot.columns.report.set(cells, column * slot.columns.reportStride + slot.reports);
}

/** Numbers frames and hop rows anew, and copies the times. @returns all bits set in the flags of the rows */
function numberRun(
  source: BatchColumns,
  from: number,
  count: number,
  slot: Slot,
  input: BatchInput | undefined,
): number {
  const { report, hopCount } = source;
  const { timesHigh, timesLow } = slot;
  const { timestampsHigh, timestampsLow, first } = input ?? NO_TIMES;
  const frameMask = input === undefined ? 0 : -1;
  const frames = Math.imul(REPORT.FRAME, source.reportStride);
  const flagBits = Math.imul(REPORT.FLAGS, source.reportStride);
  const to = slot.columns.report;
  const toFrame = Math.imul(REPORT.FRAME, slot.columns.reportStride);
  const toStart = Math.imul(REPORT.HOP_START, slot.columns.reportStride);
  let flags = 0;
  let hops = slot.hops | 0;
  let out = slot.reports | 0;
  let row = from | 0;
  for (const end = (from + count) | 0; row < end; row = (row + 1) | 0) {
    flags |= report[(flagBits + row) | 0]!;
    to[(toFrame + out) | 0] = out;
    to[(toStart + out) | 0] = hops;
    const frame = (first + (report[(frames + row) | 0]! & frameMask)) | 0;
    timesHigh[out] = timestampsHigh[frame]! | 0;
    timesLow[out] = timestampsLow[frame]! | 0;
    hops = (hops + hopCount[row]!) | 0;
    out = (out + 1) | 0;
  }
  slot.hops = hops;
  return flags;
}
