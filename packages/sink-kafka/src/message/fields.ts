import {
  FLAG,
  HOP_COLUMNS,
  type HopColumn,
  INT_VERSIONS,
  MODES,
  NOT_AVAILABLE,
  STATE,
  type TelemetryBatch,
} from '@int/codec';

const column = (name: HopColumn): number => HOP_COLUMNS.indexOf(name);

const NODE = /* @__PURE__ */ column('nodeId');
const L1 = /* @__PURE__ */ column('l1Interfaces');
const LATENCY = /* @__PURE__ */ column('hopLatency');
const QUEUE = /* @__PURE__ */ column('queue');
const INGRESS = /* @__PURE__ */ column('ingressTimestampHigh');
const EGRESS = /* @__PURE__ */ column('egressTimestampHigh');
const L2 = /* @__PURE__ */ column('l2IngressInterface');
const UTILIZATION = /* @__PURE__ */ column('egressUtilization');
const BUFFER = /* @__PURE__ */ column('buffer');
const CHECKSUM = /* @__PURE__ */ column('checksumComplement');
const CONGESTION = /* @__PURE__ */ column('congestion');
const RESERVED8 = /* @__PURE__ */ column('reserved8');
const ALL_COLUMNS = /* @__PURE__ */ (1 << HOP_COLUMNS.length) - 1;
const MODE_XD = /* @__PURE__ */ MODES.indexOf('xd');
const INT_MON = /* @__PURE__ */ INT_VERSIONS.indexOf('intmon');

/** All ones, as a signed word: not there. */
const NONE = -1;

/** Id and value as one word; values wider than 24 bits have no id. */
function packed(id: number, value: number): number {
  if (id === NONE) return value;
  return (id << 24) | (value & 0xff_ffff);
}

/** Writes a cell, unless the item is not there. @returns the bit of the column, if it was */
function put(words: Uint32Array, stride: number, row: number, index: number, word: number): number {
  if (word === NONE) return 0;
  words[index * stride + row] = word;
  return 1 << index;
}

/** The items of a hop, as signed 32-bit words; -1 is 'not there'. */
export class HopFields {
  node = NONE;
  l1Ingress = NONE;
  l1Egress = NONE;
  latency = NONE;
  queueId = NONE;
  queueOccupancy = NONE;
  ingressHigh = NONE;
  ingressLow = NONE;
  egressHigh = NONE;
  egressLow = NONE;
  l2Ingress = NONE;
  l2Egress = NONE;
  utilization = NONE;
  bufferId = NONE;
  bufferOccupancy = NONE;
  congestionId = NONE;
  congestion = NONE;
  checksum = NONE;
  /** Items 8 to 15. */
  readonly reserved: Int32Array = new Int32Array(8).fill(NONE);
  #hasReserved = false;

  clear(): void {
    this.node = NONE;
    this.l1Ingress = NONE;
    this.l1Egress = NONE;
    this.latency = NONE;
    this.queueId = NONE;
    this.queueOccupancy = NONE;
    this.ingressHigh = NONE;
    this.ingressLow = NONE;
    this.egressHigh = NONE;
    this.egressLow = NONE;
    this.l2Ingress = NONE;
    this.l2Egress = NONE;
    this.utilization = NONE;
    this.bufferId = NONE;
    this.bufferOccupancy = NONE;
    this.congestionId = NONE;
    this.congestion = NONE;
    this.checksum = NONE;
    if (this.#hasReserved) {
      this.reserved.fill(NONE);
      this.#hasReserved = false;
    }
  }

  setReserved(index: number, word: number): void {
    this.reserved[index] = word;
    this.#hasReserved = true;
  }

  /** Whether the columns can hold these values: 16-bit interfaces, 8-bit ids, 24-bit depths but for IntMon's. */
  fits(isWide: boolean): boolean {
    return (
      isWithin(this.l1Ingress, 16) &&
      isWithin(this.l1Egress, 16) &&
      isWithin(this.queueId, 8) &&
      isWithin(this.bufferId, 8) &&
      isWithin(this.congestionId, 8) &&
      isWithin(this.bufferOccupancy, 24) &&
      (isWide || (isWithin(this.queueOccupancy, 24) && isWithin(this.congestion, 24)))
    );
  }

  /** Writes the items as hop row `row`, and all ones where there is none. */
  write(batch: TelemetryBatch, row: number): void {
    const { hopWords, hopStride, state } = batch;
    // Columns that never held anything hold all ones; of the others, what stands there may be stale.
    for (let rest = state[STATE.WRITTEN]! & ALL_COLUMNS; rest !== 0; rest &= rest - 1) {
      hopWords[(31 - Math.clz32(rest & -rest)) * hopStride + row] = NOT_AVAILABLE;
    }
    let mask =
      put(hopWords, hopStride, row, NODE, this.node) |
      put(hopWords, hopStride, row, LATENCY, this.latency) |
      put(hopWords, hopStride, row, QUEUE, packed(this.queueId, this.queueOccupancy)) |
      put(hopWords, hopStride, row, INGRESS, this.ingressHigh) |
      put(hopWords, hopStride, row, INGRESS + 1, this.ingressLow) |
      put(hopWords, hopStride, row, EGRESS, this.egressHigh) |
      put(hopWords, hopStride, row, EGRESS + 1, this.egressLow) |
      put(hopWords, hopStride, row, L2, this.l2Ingress) |
      put(hopWords, hopStride, row, L2 + 1, this.l2Egress) |
      put(hopWords, hopStride, row, UTILIZATION, this.utilization) |
      put(hopWords, hopStride, row, BUFFER, packed(this.bufferId, this.bufferOccupancy)) |
      put(hopWords, hopStride, row, CONGESTION, packed(this.congestionId, this.congestion)) |
      put(hopWords, hopStride, row, CHECKSUM, this.checksum);
    if ((this.l1Ingress & this.l1Egress) !== NONE) {
      mask |= put(hopWords, hopStride, row, L1, (this.l1Ingress << 16) | (this.l1Egress & 0xffff));
    }
    if (this.#hasReserved) {
      for (let k = 0; k < 8; k++) mask |= put(hopWords, hopStride, row, RESERVED8 + k, this.reserved[k]!);
    }
    state[STATE.WRITTEN]! |= mask;
  }
}

function isWithin(word: number, bits: number): boolean {
  return word === NONE || word >>> bits === 0;
}

/** The fields of a report beside its hops. Words are signed; -1 is 'not there'. */
export class ReportFields {
  instanceHigh = 0;
  instanceLow = 0;
  number = 0;
  timeHigh = 0;
  timeLow = 0;
  /** Index in REPORT_VERSIONS; 0: no report. */
  version = 0;
  hwId = 0;
  sequence = 0;
  node = NONE;
  /** Bits 2 to 5 and 15 to 17 of the flags. */
  states = 0;
  reportTimestamp = 0;
  dropReason = NONE;
  dropQueue = NONE;
  metadataBitmap = 0;
  /** Index in MODES; 0: no INT. */
  mode = 0;
  intVersion = 0;
  encapsulation = 0;
  bitmap = 0;
  hasFlow = false;
  isIpv6 = false;
  /** Source, then destination, four words each. */
  readonly addresses: Int32Array = new Int32Array(8);
  protocol = 0;
  sourcePort = 0;
  destinationPort = 0;
  hasOwn = false;

  clear(): void {
    this.instanceHigh = 0;
    this.instanceLow = 0;
    this.number = 0;
    this.timeHigh = 0;
    this.timeLow = 0;
    this.version = 0;
    this.hwId = 0;
    this.sequence = 0;
    this.node = NONE;
    this.states = 0;
    this.reportTimestamp = 0;
    this.dropReason = NONE;
    this.dropQueue = NONE;
    this.metadataBitmap = 0;
    this.mode = 0;
    this.intVersion = 0;
    this.encapsulation = 0;
    this.bitmap = 0;
    this.hasFlow = false;
    this.isIpv6 = false;
    this.protocol = 0;
    this.sourcePort = 0;
    this.destinationPort = 0;
    this.hasOwn = false;
  }

  /** Whether queues and interfaces are IntMon's. */
  get isWide(): boolean {
    return this.mode !== MODE_XD && this.intVersion === INT_MON;
  }

  /** Writes the fields as report row `row`, whose hops are the rows from `hopStart` on. */
  write(batch: TelemetryBatch, row: number, frame: number, hopStart: number, hopCount: number): void {
    const isXd = this.mode === MODE_XD;
    batch.code[row] = 0;
    batch.frame[row] = frame;
    batch.hopStart[row] = hopStart;
    batch.hopCount[row] = hopCount;
    batch.nodeId[row] = this.node;
    batch.sequence[row] = this.sequence;
    batch.reportTimestamp[row] = this.reportTimestamp;
    // INT-XD has no INT header: what stands there in a message is taken from the report.
    batch.instructions[row] = ((isXd ? 0 : this.bitmap) << 16) | this.metadataBitmap;
    batch.flags[row] =
      this.version |
      this.states |
      (this.mode << FLAG.MODE_SHIFT) |
      ((isXd ? 0 : this.intVersion) << FLAG.INT_VERSION_SHIFT) |
      (this.encapsulation << FLAG.ENCAPSULATION_SHIFT) |
      (this.hasFlow ? FLAG.FLOW : 0) |
      (this.hasFlow && this.isIpv6 ? FLAG.IPV6 : 0) |
      (this.hasOwn ? FLAG.OWN : 0) |
      (this.hwId << FLAG.HW_ID_SHIFT);
    batch.ethernet[row] = NOT_AVAILABLE;
    this.#writeFlow(batch, row);
    if (this.dropReason !== NONE || this.dropQueue !== NONE) {
      batch.drop[row] = ((this.dropQueue & 0xff) << 24) | ((this.dropReason & 0xff) << 16);
      batch.state[STATE.DROPS] = 1;
    } else if (batch.state[STATE.DROPS] !== 0) {
      batch.drop[row] = NOT_AVAILABLE;
    }
  }

  #writeFlow(batch: TelemetryBatch, row: number): void {
    const { addresses } = this;
    if (!this.hasFlow) {
      batch.protocol[row] = 0;
      batch.ports[row] = 0;
      batch.source0[row] = 0;
      batch.destination0[row] = 0;
      return;
    }
    batch.protocol[row] = this.protocol;
    batch.ports[row] = (this.sourcePort << 16) | this.destinationPort;
    batch.source0[row] = addresses[0]!;
    batch.destination0[row] = addresses[4]!;
    if (!this.isIpv6) return;
    batch.source1[row] = addresses[1]!;
    batch.source2[row] = addresses[2]!;
    batch.source3[row] = addresses[3]!;
    batch.destination1[row] = addresses[5]!;
    batch.destination2[row] = addresses[6]!;
    batch.destination3[row] = addresses[7]!;
  }
}
