/** Writes what a scan holds to the rows of a batch. This is the general writer, which knows all layouts. */
import { STATE, type TelemetryBatch } from './batch.js';
import { CODES } from './codes.js';
import { FLAG, NOT_AVAILABLE } from './columns.js';
import { HOP_COLUMNS } from './fields.js';
import { LAYOUT, lowerBitsOf, OP, type Plan, planFor } from './plan.js';
import type { Scan } from './scan/state.js';

const DOMAIN_OFFSET = /* @__PURE__ */ HOP_COLUMNS.indexOf('domainOffset');
const NODE_ID = 0;
const QUEUE_ID = /* @__PURE__ */ HOP_COLUMNS.indexOf('queueId');
const QUEUE_OCCUPANCY = /* @__PURE__ */ HOP_COLUMNS.indexOf('queueOccupancy');
const ALL_COLUMNS = /* @__PURE__ */ (1 << HOP_COLUMNS.length) - 1;
const MODE_XD = 3;
const MODE_GPINT = 4;
const NOT_AVAILABLE_31 = 0x7fffffff;
/** NOT_AVAILABLE as a signed word. */
const ALL_ONES = -1;

/** Whether the scan holds something that has a row: a report, INT, or a probe. */
export function hasRow(scan: Scan): boolean {
  return scan.reportVersion !== 0 || scan.mode !== 0;
}

/** Whether the reporting node has values of its own that make a hop row. */
function hasOwnRow(scan: Scan): boolean {
  if (!scan.nodeKnown) return false;
  return scan.ownDomainWords > 0 || (scan.ownBits !== 0 && planFor(scan.ownLayout, scan.ownBits).mask !== 0);
}

/**
 * Index into MODES. A report is INT-XD if it has the node's own values, has no INT inside and does not report a drop.
 */
export function modeOf(scan: Scan): number {
  if (scan.mode !== 0 || scan.reportVersion === 0) return scan.mode;
  // A report of a packet with malformed INT is no INT-XD.
  if (scan.code !== CODES.OK && scan.code !== CODES.TRUNCATED) return 0;
  return scan.repType === 1 && (scan.reportFlags & FLAG.DROPPED) === 0 && scan.inner !== 1 ? MODE_XD : 0;
}

/** Own metadata bits in the numbering of report v2.0. */
function ownInstructions(scan: Scan): number {
  const bits = scan.ownBits;
  if (scan.ownLayout !== LAYOUT.REPORT10) return bits;
  // v1.0: ports, latency, queue, egress timestamp, drop, utilization.
  return (
    ((bits & 0x8000) >>> 1) |
    ((bits & 0x4000) >>> 1) |
    ((bits & 0x2000) >>> 1) |
    ((bits & 0x1000) >>> 2) |
    ((bits & 0x0800) >>> 11) |
    ((bits & 0x0400) >>> 2)
  );
}

/**
 * Appends the report or INT packet that the scan holds.
 * @param frame index of the frame since the batch was cleared
 * @returns false, with nothing changed, if the batch has no room
 */
export function appendRow(batch: TelemetryBatch, scan: Scan, frame: number): boolean {
  const { state } = batch;
  const row = state[STATE.REPORTS]!;
  const first = state[STATE.HOPS]!;
  const own = hasOwnRow(scan) ? 1 : 0;
  const hops = scan.hopCount + own;
  if (row >= batch.capacity.reports || first + hops > batch.capacity.hops) return false;
  const probe = scan.mode === MODE_GPINT;

  batch.code[row] = scan.code;
  batch.frame[row] = frame;
  batch.hopCount[row] = hops;
  batch.hopStart[row] = first;
  batch.nodeId[row] = scan.nodeId;
  batch.sequence[row] = scan.sequence;
  batch.reportTimestamp[row] = scan.timestamp;
  batch.instructions[row] = (scan.bitmap << 16) | ownInstructions(scan);
  batch.flags[row] =
    scan.reportVersion |
    scan.reportFlags |
    (modeOf(scan) << FLAG.MODE_SHIFT) |
    (scan.intVersion << FLAG.INT_VERSION_SHIFT) |
    (scan.encapsulation << FLAG.ENCAPSULATION_SHIFT) |
    scan.intFlags |
    (scan.flow ? FLAG.FLOW : 0) |
    (scan.flow && scan.ipv6 ? FLAG.IPV6 : 0) |
    (own === 1 ? FLAG.OWN : 0) |
    (scan.hwId << FLAG.HW_ID_SHIFT);
  batch.ethernet[row] = scan.ethernetOffset;
  writeFlow(batch, scan, row);

  if (state[STATE.DROPS] !== 0) batch.drop[row] = NOT_AVAILABLE;
  if (hops > 0) {
    if (probe) writeProbeHops(batch, scan, first);
    else if (scan.hopCount > 0) writeStack(batch, scan, first);
  }
  // A drop word alone has no hop row, but a column of the report.
  if (scan.ownBits !== 0 || own === 1) writeOwn(batch, scan, row, own === 1 ? first + scan.hopCount : -1);
  state[STATE.REPORTS] = row + 1;
  state[STATE.HOPS] = first + hops;
  return true;
}

function writeFlow(batch: TelemetryBatch, scan: Scan, row: number): void {
  batch.protocol[row] = scan.flow ? scan.protocol : 0;
  batch.ports[row] = scan.flow ? (scan.sourcePort << 16) | scan.destinationPort : 0;
  if (!scan.flow) {
    batch.source0[row] = 0;
    batch.destination0[row] = 0;
    return;
  }
  const { view, sourceOffset: s, destinationOffset: d } = scan;
  batch.source0[row] = view.getInt32(s);
  batch.destination0[row] = view.getInt32(d);
  if (!scan.ipv6) return;
  batch.source1[row] = view.getInt32(s + 4);
  batch.source2[row] = view.getInt32(s + 8);
  batch.source3[row] = view.getInt32(s + 12);
  batch.destination1[row] = view.getInt32(d + 4);
  batch.destination2[row] = view.getInt32(d + 8);
  batch.destination3[row] = view.getInt32(d + 12);
}

/**
 * Sets rows to all ones, except in the columns `overwritten`, and notes that the columns `written` will hold values.
 * Only columns that were written before can hold old values.
 */
function claimRows(batch: TelemetryBatch, overwritten: number, written: number, first: number, count: number): void {
  const { hopWords, hopStride, state } = batch;
  for (let rest = state[STATE.WRITTEN]! & ~overwritten & ALL_COLUMNS; rest !== 0; rest &= rest - 1) {
    const base = (31 - Math.clz32(rest & -rest)) * hopStride + first;
    for (let row = base; row < base + count; row++) hopWords[row] = NOT_AVAILABLE;
  }
  state[STATE.WRITTEN]! |= written;
}

/** Writes the stack, source first. On the wire the last hop is first. */
function writeStack(batch: TelemetryBatch, scan: Scan, first: number): void {
  const { stackOffset, stride, hopCount, domainWords } = scan;
  const plan = planFor(scan.layout, scan.bitmap);
  const complement = hasComplement(scan);
  let mask = plan.mask;
  if (domainWords > 0 || scan.sourceBytes > 0) mask |= 1 << DOMAIN_OFFSET;
  claimRows(batch, plan.mask, mask, first, hopCount);
  const last = first + hopCount - 1;
  for (let k = 0; k < hopCount; k++) {
    const at = stackOffset + 4 * stride * k;
    // The block of the source also has what only the source adds. This stands in front of the complement.
    const extra = domainWords + (k === hopCount - 1 ? scan.sourceBytes >>> 2 : 0);
    writeBlock(batch, scan, plan, at, last - k, complement ? plan.words - 1 : plan.words, extra);
    if (extra > 0) {
      batch.hopWords[DOMAIN_OFFSET * batch.hopStride + last - k] = at + 4 * (complement ? plan.words - 1 : plan.words);
    }
  }
}

/** Whether each block ends with a Checksum Complement, behind the domain-specific words (INT v2.1 section 5.8). */
function hasComplement(scan: Scan): boolean {
  return scan.layout === LAYOUT.V2 && (scan.bitmap & 1) !== 0;
}

function writeBlock(
  batch: TelemetryBatch,
  scan: Scan,
  plan: Plan,
  at: number,
  row: number,
  before: number,
  extra: number,
): void {
  const { view } = scan;
  for (let w = 0; w < plan.words; w++) {
    // Signed: V8 would box an unsigned word of 2^31 or more.
    const value = view.getInt32(at + 4 * (w < before ? w : w + extra));
    writeWord(batch, plan.ops[w]!, plan.columns[w]!, row, value);
  }
}

/** Writes a word, read as a signed number. */
function writeWord(batch: TelemetryBatch, op: number, column: number, row: number, value: number): void {
  const { hopWords, hopStride } = batch;
  const cell = column * hopStride + row;
  switch (op) {
    case OP.WORD:
      hopWords[cell] = value;
      break;
    case OP.TIMESTAMP32:
      hopWords[cell] = value === ALL_ONES ? NOT_AVAILABLE : 0;
      hopWords[cell + hopStride] = value;
      break;
    case OP.HALVES:
      hopWords[cell] = value === ALL_ONES ? NOT_AVAILABLE : value >>> 16;
      hopWords[cell + hopStride] = value === ALL_ONES ? NOT_AVAILABLE : value & 0xffff;
      break;
    case OP.VALUE31:
      hopWords[cell] = (value & NOT_AVAILABLE_31) === NOT_AVAILABLE_31 ? NOT_AVAILABLE : value & NOT_AVAILABLE_31;
      break;
    case OP.TIMESTAMP31: {
      const none = (value & NOT_AVAILABLE_31) === NOT_AVAILABLE_31;
      hopWords[cell] = none ? NOT_AVAILABLE : 0;
      hopWords[cell + hopStride] = none ? NOT_AVAILABLE : value & NOT_AVAILABLE_31;
      break;
    }
    case OP.SPLIT: {
      const bits = lowerBitsOf(column);
      hopWords[cell - hopStride] = value === ALL_ONES ? NOT_AVAILABLE : value >>> bits;
      hopWords[cell] = value === ALL_ONES ? NOT_AVAILABLE : value & ((1 << bits) - 1);
      break;
    }
    default:
  }
}

function writeOwn(batch: TelemetryBatch, scan: Scan, report: number, row: number): void {
  const plan = planFor(scan.ownLayout, scan.ownBits);
  if (row >= 0) {
    const mask = plan.mask | (1 << NODE_ID);
    claimRows(batch, mask, scan.ownDomainWords > 0 ? mask | (1 << DOMAIN_OFFSET) : mask, row, 1);
    batch.hopWords[NODE_ID * batch.hopStride + row] = scan.nodeId;
    if (scan.ownDomainWords > 0) batch.hopWords[DOMAIN_OFFSET * batch.hopStride + row] = scan.ownDomainOffset;
  }
  for (let w = 0; w < plan.words; w++) {
    const value = scan.view.getInt32(scan.ownOffset + 4 * w);
    if (plan.ops[w] === OP.DROP) {
      batch.drop[report] = value;
      batch.state[STATE.DROPS] = 1;
    } else if (row >= 0) {
      writeWord(batch, plan.ops[w]!, plan.columns[w]!, row, value);
    }
  }
}

/** Writes the DLV headers of a probe as hops: switch id and queue depth, in the order of the probe's route. */
function writeProbeHops(batch: TelemetryBatch, scan: Scan, first: number): void {
  const { view } = scan;
  const { hopWords, hopStride } = batch;
  const size = scan.probeExtended === 1 ? 6 : 4;
  const mask = (1 << NODE_ID) | (1 << QUEUE_ID) | (1 << QUEUE_OCCUPANCY);
  claimRows(batch, mask, mask, first, scan.hopCount);
  for (let k = 0; k < scan.hopCount; k++) {
    const at = scan.stackOffset + k * size;
    hopWords[NODE_ID * hopStride + first + k] = scan.probeExtended === 1 ? view.getUint16(at) : view.getUint8(at);
    const depth = scan.probeExtended === 1 ? view.getUint16(at + 2) : view.getUint8(at + 1);
    hopWords[QUEUE_ID * hopStride + first + k] = 0;
    hopWords[QUEUE_OCCUPANCY * hopStride + first + k] = depth;
  }
}
