import { STATE, type TelemetryBatch } from '../batch.js';
import { FLAG, NOT_AVAILABLE } from '../columns.js';
import { LAYOUT } from '../plan.js';
import { PORT, type ReportMarks } from './marks.js';
import { PlanTable, SLOT_BYTES } from './plans.js';

/** Report v2.0, mode md, INT version 2, flow known. */
const BASE_FLAGS: number =
  (3 << FLAG.REPORT_SHIFT) | (1 << FLAG.MODE_SHIFT) | (3 << FLAG.INT_VERSION_SHIFT) | FLAG.FLOW;
const OVER_UDP = 1 << FLAG.ENCAPSULATION_SHIFT;
const OVER_TCP = 2 << FLAG.ENCAPSULATION_SHIFT;
const OVER_NEW_UDP = 3 << FLAG.ENCAPSULATION_SHIFT;

/** Bytes of an INT shim and the metadata header behind it. */
const INT_HEADERS_BYTES = 16;
/** Bytes from the start of the inner IPv4 header to the stack, at least: IPv4 20, UDP 8, shim 4, metadata header 12. */
const INNER_BYTES = 28 + INT_HEADERS_BYTES;

/** Bytes of the shortest payload that can be accepted: report headers 20, inner packet 44. */
const SHORTEST_PAYLOAD = 20 + INNER_BYTES;

/** Upper six bits of the shim: type 1 (MD) and next protocol type. */
const SHIM_MD_NPT0 = (1 << 2) | 0;
const SHIM_MD_NPT1 = (1 << 2) | 1;
const SHIM_MD_NPT2 = (1 << 2) | 2;

/** Bits of RepMdBits that the fast path refuses: 0 (reserved) and 15 (drop reason). */
const REPORT_BITS_REFUSED = 0x8001;

const TCP = 6;
const UDP = 17;

/** Instruction bits 0 to 3: node id, level-1 interfaces, hop latency, queue id and occupancy. */
const FIRST_FOUR = 0xf000;
/** What they ask for, as a set of words. */
const FIRST_WORDS = 0xf;

/** All ones, as a signed word. */
const ALL_ONES = -1;

/**
 * Takes apart words that hold two fields. The words have been written as they are on the wire, into the columns of their
 * upper fields. The lower fields go to the next columns.
 *
 * @param table start of the words' slot
 * @param words set of the words
 */
function splitWords(
  { columns, splits }: PlanTable,
  table: number,
  words: number,
  hopWords: Uint32Array,
  stride: number,
  row: number,
  rows: number,
): void {
  for (let rest = words; rest !== 0; rest &= rest - 1) {
    const at = table + 31 - Math.clz32(rest & -rest);
    const bits = splits[at]!;
    const mask = (1 << bits) - 1;
    const first = (Math.imul(columns[at]!, stride) + row) | 0;
    const end = (first + rows) | 0;
    for (let cell = first; cell < end; cell = (cell + 1) | 0) {
      const value = hopWords[cell]! | 0;
      hopWords[cell] = value >>> bits;
      hopWords[(cell + stride) | 0] = value & mask;
      if (value === ALL_ONES) {
        hopWords[cell] = ALL_ONES;
        hopWords[(cell + stride) | 0] = ALL_ONES;
      }
    }
  }
}

/** Fills a byte column. A loop is faster than the built-in fill for short runs, which mixed traffic has. */
function fillRows(column: Uint8Array, value: number, row: number, end: number): void {
  if (end - row > 24) {
    column.fill(value, row, end);
  } else {
    for (let k = row; k < end; k++) column[k] = value;
  }
}

/** Fills rows `row` to `end - 1` of the hop columns in the set `columns` with all ones. */
function blankRows(hopWords: Uint32Array, stride: number, columns: number, row: number, end: number): void {
  let rest = columns;
  while (rest !== 0) {
    const column = 31 - Math.clz32(rest);
    rest &= ~(1 << column);
    // There are few rows as a rule, for which a loop is faster than the built-in fill.
    const stop = column * stride + end;
    for (let cell = column * stride + row; cell < stop; cell++) hopWords[cell] = NOT_AVAILABLE;
  }
}

/**
 * Decodes frames of the most frequent kind directly into columns, and leaves all other frames to the general rules.
 *
 * It accepts a telemetry report v2.0 with one individual report of RepType 1 and the tracked-flow bit. The packet in it is
 * Ethernet/IPv4 or IPv4, and carries INT-MD version 2 without domain-specific metadata over UDP or TCP, or in front of
 * UDP or TCP behind a new UDP header (wire-format sections 3.1 to 3.3, 4.3, 5.6, 9.1 to 9.3).
 */
export class FastReport2 {
  readonly #marks: ReportMarks;
  readonly #stackPlans = new PlanTable(LAYOUT.V2);
  readonly #ownPlans = new PlanTable(LAYOUT.REPORT20);
  #view: DataView = new DataView(new ArrayBuffer(0));

  /** @param marks what marks a report and an INT packet */
  constructor(marks: ReportMarks) {
    this.#marks = marks;
  }

  /**
   * Decodes frame `from`, `from + 1`, ... up to `to` (exclusive), appending to the batch.
   *
   * Stops at the first frame that is not of this kind, or for which there are not enough rows. Such a frame leaves no
   * trace in the batch. Never throws, never reads outside the bytes of a frame.
   *
   * @param offsets first byte of each frame, relative to `bytes`
   * @param lengths bytes of each frame
   * @returns index of the frame it stopped at, or `to`
   */
  run(
    batch: TelemetryBatch,
    bytes: Uint8Array,
    offsets: Uint32Array,
    lengths: Uint32Array,
    from: number,
    to: number,
  ): number {
    const { isEthernet, isAnyPort, ports: kinds, tosMask, tosValue } = this.#marks;
    if (this.#view.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    const view = this.#view;
    const base = bytes.byteOffset;
    const limit = bytes.length;
    // The positions below are 32-bit integers. Input beyond them is for the general path.
    if (base + limit > 0x7fffffff || from < 0) return from;

    const { slotOf, words: slotWords, masks: slotMasks, columns: slotColumns } = this.#stackPlans;
    const { splitMasks: slotSplitMasks } = this.#stackPlans;
    const own = this.#ownPlans;
    const { hopCount, protocol: protocols, reportWords: report, hopWords, state, capacity } = batch;
    const rs = batch.reportStride | 0;
    const rs2 = rs * 2;
    const rs4 = rs * 4;
    const stride = batch.hopStride | 0;
    const hopCapacity = capacity.hops | 0;

    let frame = state[STATE.FRAMES]! | 0;
    let row = state[STATE.REPORTS]! | 0;
    let hopRow = state[STATE.HOPS]! | 0;
    let written = state[STATE.WRITTEN]! | 0;
    const drops = state[STATE.DROPS]! | 0;

    // Whatever is used up first ends the loop: frames asked for, frames described, rows of frames, rows of reports.
    let stop = Math.min(to, offsets.length, lengths.length);
    stop = Math.min(stop, from + capacity.frames - frame, from + capacity.reports - row) | 0;

    // The plan of the last frame: for traffic of one kind it is looked up once.
    let planBitmap = -1;
    let planWords = 0;
    let planMask = 0;
    let planColumns = 0;
    let planSplits = 0;
    let planReciprocal = 0;

    let index = from | 0;
    for (; index < stop; index++) {
      const offset = offsets[index]!;
      const length = lengths[index]!;
      if (offset + length > limit || length < SHORTEST_PAYLOAD) break;
      let start = (base + offset) | 0;
      let end = (start + length) | 0;
      // A payload that no port marks as a report is one only if its reserved bits are 0, too.
      let refusedBits = 0;
      if (isEthernet) {
        if (
          view.getUint16(start + 12) !== 0x0800 ||
          view.getUint8(start + 14) !== 0x45 ||
          view.getUint8(start + 23) !== UDP ||
          (view.getUint16(start + 20) & 0x3fff) !== 0
        ) {
          break;
        }
        const kind = kinds[view.getUint16(start + 36)]!;
        if ((kind & (PORT.REPORT | PORT.GENERAL)) !== PORT.REPORT) {
          if (!isAnyPort || kind !== 0 || (view.getUint8(start + 15) & tosMask) === tosValue) break;
          refusedBits = 15;
        }
        const total = view.getUint16(start + 16);
        if (view.getUint16(start + 38) + 20 !== total || total + 14 > length || total < 28 + SHORTEST_PAYLOAD) break;
        end = (start + 14 + total) | 0;
        start = (start + 42) | 0;
      }

      // Group header, individual report header, fixed main contents.
      const group = view.getInt32(start);
      const header = view.getInt32(start + 8);
      const type = header >>> 24;
      const reportWordsAfter = (header >>> 16) & 255;
      if (
        group >>> 28 !== 2 ||
        (type !== 0x13 && type !== 0x14) ||
        (header & 0x20) === 0 ||
        (header & refusedBits) !== 0 ||
        reportWordsAfter === 255 ||
        12 + 4 * reportWordsAfter !== end - start ||
        view.getUint16(start + 16) !== 0
      ) {
        break;
      }
      const reportBits = view.getUint16(start + 12);
      const ownWords = (header >>> 8) & 255;
      let ownSlot = 0;
      if (reportBits !== 0) {
        if ((reportBits & REPORT_BITS_REFUSED) !== 0) break;
        ownSlot = own.slotOf[reportBits]!;
        if (ownSlot === 0) ownSlot = own.compile(reportBits);
        if (own.words[ownSlot] !== ownWords) break;
      } else if (ownWords !== 0) {
        break;
      }

      // Monitored packet: [Ethernet] IPv4, UDP or TCP.
      let ip = (start + 20 + 4 * ownWords) | 0;
      if (type === 0x13) {
        ip = (ip + 14) | 0;
        if (ip + INNER_BYTES > end || view.getUint16(ip - 2) !== 0x0800) break;
      } else if (ip + INNER_BYTES > end) {
        break;
      }
      const ip0 = view.getInt32(ip);
      if (ip0 >>> 24 !== 0x45 || (view.getUint16(ip + 6) & 0x3fff) !== 0) break;
      let protocol: number = view.getUint8(ip + 9);
      let ports = view.getInt32(ip + 20);
      let encapsulation = OVER_UDP;
      let shimAt = (ip + 28) | 0;
      let isMarkedByPort = false;
      if (protocol === UDP) {
        const kind = kinds[ports & 0xffff]!;
        if ((kind & PORT.GENERAL) !== 0) break;
        isMarkedByPort = (kind & PORT.INT) !== 0;
      } else {
        if (protocol !== TCP) break;
        const headerWords = view.getUint8(ip + 32) >>> 4;
        if (headerWords < 5) break;
        encapsulation = OVER_TCP;
        shimAt = (ip + 20 + 4 * headerWords) | 0;
        if (shimAt + INT_HEADERS_BYTES > end) break;
      }

      // Shim: type 1; NPT by the kind of marking.
      const shim = view.getInt32(shimAt);
      const kind = shim >>> 26;
      const shimWords = (shim >>> 16) & 255;
      const innerEnd = (shimAt + 4 + 4 * shimWords) | 0;
      if (shimWords < 3 || innerEnd > end || innerEnd - ip > (ip0 & 0xffff)) break;
      if (!isMarkedByPort) {
        if (((ip0 >>> 16) & tosMask) !== tosValue || kind !== SHIM_MD_NPT0) break;
      } else if (kind === SHIM_MD_NPT1) {
        ports = (ports & 0xffff0000) | (shim & 0xffff);
      } else {
        // The original transport header stands behind the stack.
        protocol = shim & 0xff;
        if (kind !== SHIM_MD_NPT2 || (protocol !== TCP && protocol !== UDP)) break;
        if (innerEnd + 4 > end || innerEnd + 4 - ip > (ip0 & 0xffff)) break;
        ports = view.getInt32(innerEnd);
        encapsulation = OVER_NEW_UDP;
      }

      // Metadata header.
      const head = view.getInt32(shimAt + 4);
      const bitmap = view.getUint16(shimAt + 8);
      if (head >>> 28 !== 2 || view.getUint16(shimAt + 12) !== 0) break;
      if (bitmap !== planBitmap) {
        let slot = slotOf[bitmap]!;
        if (slot === 0) slot = this.#stackPlans.compile(bitmap);
        planBitmap = bitmap;
        planWords = slotWords[slot]!;
        planMask = slotMasks[slot]!;
        planColumns = slot * SLOT_BYTES;
        planSplits = slotSplitMasks[slot]!;
        // ceil(2^16 / words): exact for dividends up to 252.
        planReciprocal = planWords === 0 ? 0 : (65535 / planWords + 1) | 0;
      }
      if (((head >>> 8) & 31) !== planWords || planWords === 0) break;
      const stackWords = (shimWords - 3) | 0;
      const hops = Math.imul(stackWords, planReciprocal) >>> 16;
      if (Math.imul(hops, planWords) !== stackWords) break;
      const rows = ownWords !== 0 ? hops + 1 : hops;
      if (hopRow + rows > hopCapacity) break;

      // Accepted. Byte columns with the same value in every row are filled after the loop.
      hopCount[row] = rows;
      protocols[row] = protocol;
      let flags =
        BASE_FLAGS |
        encapsulation |
        ((header & 0xf0) >>> 2) |
        ((head >>> 10) & (7 << 15)) |
        ((group << 2) & 0x3f000000);
      if (ownWords !== 0) flags |= FLAG.OWN;
      const nodeId = view.getInt32(start + 4);
      let cell = row;
      report[cell] = frame;
      report[cell + rs] = flags;
      report[cell + rs2] = nodeId;
      report[cell + rs + rs2] = group & 0x3fffff;
      cell = (cell + rs4) | 0;
      report[cell] = (bitmap << 16) | reportBits;
      report[cell + rs] = hopRow;
      report[cell + rs2] = ports;
      report[cell + rs + rs2] = view.getInt32(ip + 12);
      report[cell + rs4 + rs + rs2] = view.getInt32(ip + 16);
      cell = (cell + rs4 + rs4 + rs4) | 0;
      if (drops !== 0) report[cell] = NOT_AVAILABLE;
      report[cell + rs] = type === 0x13 ? ip - 14 - base : NOT_AVAILABLE;

      // Hop rows in path order: the first block on the wire is the last hop.
      const stale = written & ~planMask;
      if (stale !== 0) blankRows(hopWords, stride, stale, hopRow, hopRow + hops);
      const stack = (shimAt + INT_HEADERS_BYTES) | 0;
      const blockBytes = planWords << 2;
      const lastRow = (hopRow + hops - 1) | 0;
      let word = 0;
      let splits = planSplits;
      if ((bitmap & FIRST_FOUR) === FIRST_FOUR) {
        // Most stacks begin with these four, whose columns are known.
        let hop = lastRow;
        for (let at = stack; at < innerEnd; at = (at + blockBytes) | 0) {
          let cell = hop;
          hop = (hop - 1) | 0;
          hopWords[cell] = view.getInt32(at);
          const l1 = view.getInt32(at + 4);
          cell = (cell + stride) | 0;
          hopWords[cell] = l1 >>> 16;
          hopWords[(cell + stride) | 0] = l1 & 0xffff;
          if (l1 === ALL_ONES) {
            hopWords[cell] = ALL_ONES;
            hopWords[(cell + stride) | 0] = ALL_ONES;
          }
          cell = (cell + stride + stride) | 0;
          hopWords[cell] = view.getInt32(at + 8);
          const queue = view.getInt32(at + 12);
          cell = (cell + stride) | 0;
          hopWords[cell] = queue >>> 24;
          hopWords[(cell + stride) | 0] = queue & 0xffffff;
          if (queue === ALL_ONES) {
            hopWords[cell] = ALL_ONES;
            hopWords[(cell + stride) | 0] = ALL_ONES;
          }
        }
        word = 4;
        splits &= ~FIRST_WORDS;
      }
      for (; word + 4 <= planWords; word += 4) {
        const table = planColumns + word;
        let c0 = (Math.imul(slotColumns[table]!, stride) + lastRow) | 0;
        let c1 = (Math.imul(slotColumns[table + 1]!, stride) + lastRow) | 0;
        let c2 = (Math.imul(slotColumns[table + 2]!, stride) + lastRow) | 0;
        let c3 = (Math.imul(slotColumns[table + 3]!, stride) + lastRow) | 0;
        for (let at = (stack + word * 4) | 0; at < innerEnd; at = (at + blockBytes) | 0) {
          hopWords[c0--] = view.getInt32(at);
          hopWords[c1--] = view.getInt32(at + 4);
          hopWords[c2--] = view.getInt32(at + 8);
          hopWords[c3--] = view.getInt32(at + 12);
        }
      }
      for (; word < planWords; word++) {
        let cell = (Math.imul(slotColumns[planColumns + word]!, stride) + lastRow) | 0;
        for (let at = (stack + word * 4) | 0; at < innerEnd; at = (at + blockBytes) | 0) {
          hopWords[cell--] = view.getInt32(at);
        }
      }
      if (splits !== 0) splitWords(this.#stackPlans, planColumns, splits, hopWords, stride, hopRow, hops);
      hopRow = (hopRow + hops) | 0;
      written |= planMask;

      if (ownWords !== 0) {
        const ownMask = own.masks[ownSlot]! | 1;
        const ownStale = written & ~ownMask;
        if (ownStale !== 0) blankRows(hopWords, stride, ownStale, hopRow, hopRow + 1);
        hopWords[hopRow] = nodeId;
        const table = ownSlot * SLOT_BYTES;
        for (let k = 0; k < ownWords; k++) {
          hopWords[Math.imul(own.columns[table + k]!, stride) + hopRow] = view.getInt32(start + 20 + 4 * k);
        }
        const ownSplits = own.splitMasks[ownSlot]!;
        if (ownSplits !== 0) splitWords(own, table, ownSplits, hopWords, stride, hopRow, 1);
        hopRow = (hopRow + 1) | 0;
        written |= ownMask;
      }
      frame = (frame + 1) | 0;
      row = (row + 1) | 0;
    }

    fillRows(batch.frameCode, 0, state[STATE.FRAMES]!, frame);
    fillRows(batch.code, 0, state[STATE.REPORTS]!, row);
    state[STATE.FRAMES] = frame;
    state[STATE.REPORTS] = row;
    state[STATE.HOPS] = hopRow;
    state[STATE.WRITTEN] = written;
    return index;
  }
}
