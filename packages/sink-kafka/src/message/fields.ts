import { FIELDS, type Field, FLAG, HOP_COLUMNS, MODES, NOT_AVAILABLE, STATE, type TelemetryBatch } from '@int/codec';

const NODE = /* @__PURE__ */ FIELDS.findIndex(({ name }) => name === 'nodeId');
const ALL_COLUMNS = /* @__PURE__ */ (1 << HOP_COLUMNS.length) - 1;
/** Fields of fewer than 32 bits. */
const LIMITED: readonly Field[] = /* @__PURE__ */ FIELDS.filter(({ most }) => most < 0xffff_ffff);
const MODE_XD = /* @__PURE__ */ MODES.indexOf('xd');

/** All ones, as a signed word: not there. */
const NONE = -1;

export class HopFields {
  /** By column, as signed words; -1 is 'not there'. */
  readonly words: Int32Array = new Int32Array(HOP_COLUMNS.length).fill(NONE);

  clear(): void {
    this.words.fill(NONE);
  }

  set node(word: number) {
    this.words[NODE] = word;
  }

  /** Whether no value is larger than any version of INT can carry. */
  fits(): boolean {
    for (const { column, most } of LIMITED) {
      const word = this.words[column]!;
      if (word !== NONE && word >>> 0 > most) return false;
    }
    return true;
  }

  /** Writes the items as hop row `row`, and all ones where there is none. */
  write(batch: TelemetryBatch, row: number): void {
    const { hopWords, hopStride, state } = batch;
    const { words } = this;
    // Columns that never held anything hold all ones; of the others, what stands there may be stale.
    let mask = 0;
    for (let column = 0; column < words.length; column++) {
      if (words[column] !== NONE) mask |= 1 << column;
    }
    for (let rest = (state[STATE.WRITTEN]! | mask) & ALL_COLUMNS; rest !== 0; rest &= rest - 1) {
      const column = 31 - Math.clz32(rest & -rest);
      hopWords[column * hopStride + row] = words[column]!;
    }
    state[STATE.WRITTEN]! |= mask;
  }
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
