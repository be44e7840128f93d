import { formatIpv4, formatIpv6 } from './address.js';
import type { TelemetryBatch } from './batch.js';
import { CODE_NAMES, CODE_STATUS, type CodeName } from './codes.js';
import { ENCAPSULATIONS, FLAG, INT_VERSIONS, MODES, NOT_AVAILABLE, REPORT_VERSIONS } from './columns.js';
import type { Encapsulation, Flow, GpintInfo, IntHeaderInfo, IntVersion, ReportVersion, Status } from './model.js';

/**
 * One hop of a {@link RecordView}. Every getter reads the columns; `null` is 'not carried' or 'not available', which the
 * columns do not tell apart.
 *
 * IntMon's values have 31 bits. The columns hold all of them but those of the two level-1 interfaces: of these the
 * lower 16 bits are left, and where they are all ones the interface reads `null`.
 */
export class HopView {
  readonly #batch: TelemetryBatch;
  #row: number;
  /** Queue and congestion words are one value, interfaces are two. */
  readonly #intMon: boolean;

  /**
   * @param row row of the hop columns
   * @param intVersion the report's INT version: IntMon's columns mean something else. Default: any other
   */
  constructor(batch: TelemetryBatch, row: number, intVersion: IntVersion | null = null) {
    this.#batch = batch;
    this.#row = row;
    this.#intMon = intVersion === 'intmon';
  }

  /** Points the same view at another row of the hop columns, of a report with the same INT version. */
  at(row: number): this {
    this.#row = row;
    return this;
  }

  #word(column: keyof TelemetryBatch['hop']): number | null {
    const value = this.#batch.hop[column][this.#row]!;
    return value === NOT_AVAILABLE ? null : value;
  }

  #part(column: keyof TelemetryBatch['hop'], shift: number, mask: number): number | null {
    const value = this.#batch.hop[column][this.#row]!;
    return value === NOT_AVAILABLE ? null : (value >>> shift) & mask;
  }

  /** Half of the interfaces word; IntMon's halves are 'not available' one by one. */
  #interface(shift: number): number | null {
    const half = this.#part('l1Interfaces', shift, 0xffff);
    return this.#intMon && half === 0xffff ? null : half;
  }

  /** The upper 8 bits of a queue word; IntMon has no queue ids. */
  #queue(column: 'queue' | 'congestion'): number | null {
    return this.#intMon ? null : this.#part(column, 24, 0xff);
  }

  /** What a queue word says of the queue: 24 bits, or all of IntMon's. */
  #depth(column: 'queue' | 'congestion'): number | null {
    return this.#intMon ? this.#word(column) : this.#part(column, 0, 0xffffff);
  }

  #time(high: number, low: number): bigint | null {
    return high === NOT_AVAILABLE && low === NOT_AVAILABLE ? null : (BigInt(high) << 32n) | BigInt(low);
  }

  #pair(column: 'l2IngressInterface' | 'l2EgressInterface'): number | null {
    const { l2IngressInterface, l2EgressInterface } = this.#batch.hop;
    const none = l2IngressInterface[this.#row] === NOT_AVAILABLE && l2EgressInterface[this.#row] === NOT_AVAILABLE;
    return none ? null : this.#batch.hop[column][this.#row]!;
  }

  get nodeId(): number | null {
    return this.#word('nodeId');
  }
  get l1IngressInterface(): number | null {
    return this.#interface(16);
  }
  get l1EgressInterface(): number | null {
    return this.#interface(0);
  }
  get hopLatency(): number | null {
    return this.#word('hopLatency');
  }
  get queueId(): number | null {
    return this.#queue('queue');
  }
  get queueOccupancy(): number | null {
    return this.#depth('queue');
  }
  get ingressTimestamp(): bigint | null {
    const { ingressTimestampHigh, ingressTimestampLow } = this.#batch.hop;
    return this.#time(ingressTimestampHigh[this.#row]!, ingressTimestampLow[this.#row]!);
  }
  get egressTimestamp(): bigint | null {
    const { egressTimestampHigh, egressTimestampLow } = this.#batch.hop;
    return this.#time(egressTimestampHigh[this.#row]!, egressTimestampLow[this.#row]!);
  }
  get l2IngressInterface(): number | null {
    return this.#pair('l2IngressInterface');
  }
  get l2EgressInterface(): number | null {
    return this.#pair('l2EgressInterface');
  }
  get egressUtilization(): number | null {
    return this.#word('egressUtilization');
  }
  get bufferId(): number | null {
    return this.#part('buffer', 24, 0xff);
  }
  get bufferOccupancy(): number | null {
    return this.#part('buffer', 0, 0xffffff);
  }
  get checksumComplement(): number | null {
    return this.#word('checksumComplement');
  }
  get congestionQueueId(): number | null {
    return this.#queue('congestion');
  }
  get queueCongestion(): number | null {
    return this.#depth('congestion');
  }
}

/**
 * An object-like view of one report row: nothing is decoded or copied until a property is read. It is valid as long as
 * the batch holds the row; take `decodeFrame` for objects that live longer.
 */
export class RecordView {
  readonly #batch: TelemetryBatch;
  #row: number;

  constructor(batch: TelemetryBatch, row = 0) {
    this.#batch = batch;
    this.#row = row;
  }

  /** Points the same view at another row, so that a loop needs one view only. */
  at(row: number): this {
    this.#row = row;
    return this;
  }

  get #flags(): number {
    return this.#batch.flags[this.#row]!;
  }

  /** Index of the frame since the batch was cleared. */
  get frame(): number {
    return this.#batch.frame[this.#row]!;
  }
  get status(): Status {
    return CODE_STATUS[this.#batch.code[this.#row]!]!;
  }
  get code(): CodeName {
    return CODE_NAMES[this.#batch.code[this.#row]!]!;
  }
  /** `null`: a packet that carries INT itself. */
  get reportVersion(): ReportVersion | null {
    return REPORT_VERSIONS[(this.#flags >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK] ?? null;
  }
  get mode(): (IntHeaderInfo | GpintInfo)['mode'] | null {
    return MODES[(this.#flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK] ?? null;
  }
  get intVersion(): IntVersion | null {
    return INT_VERSIONS[(this.#flags >>> FLAG.INT_VERSION_SHIFT) & FLAG.INT_VERSION_MASK] ?? null;
  }
  get encapsulation(): Encapsulation {
    return ENCAPSULATIONS[(this.#flags >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK]!;
  }
  get dropped(): boolean {
    return (this.#flags & FLAG.DROPPED) !== 0;
  }
  get queueCongested(): boolean {
    return (this.#flags & FLAG.QUEUE_CONGESTED) !== 0;
  }
  get trackedFlow(): boolean {
    return (this.#flags & FLAG.TRACKED_FLOW) !== 0;
  }
  get intermediate(): boolean {
    return (this.#flags & FLAG.INTERMEDIATE) !== 0;
  }
  get discard(): boolean {
    return (this.#flags & FLAG.DISCARD) !== 0;
  }
  get hopExceeded(): boolean {
    return (this.#flags & FLAG.HOP_EXCEEDED) !== 0;
  }
  get mtuExceeded(): boolean {
    return (this.#flags & FLAG.MTU_EXCEEDED) !== 0;
  }
  get hwId(): number {
    return (this.#flags >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK;
  }
  /** The reporting node; `null` if there is none or it is not named. */
  get nodeId(): number | null {
    const id = this.#batch.nodeId[this.#row]!;
    return id === NOT_AVAILABLE ? null : id;
  }
  get sequence(): number {
    return this.#batch.sequence[this.#row]!;
  }
  get instructionBitmap(): number {
    return this.#batch.instructions[this.#row]! >>> 16;
  }
  get dropReason(): number | null {
    const word = this.#batch.drop[this.#row]!;
    return word === NOT_AVAILABLE ? null : (word >>> 16) & 0xff;
  }
  get dropQueueId(): number | null {
    const word = this.#batch.drop[this.#row]!;
    return word === NOT_AVAILABLE ? null : word >>> 24;
  }
  /** Byte offset of the monitored packet's Ethernet header in the input: destination MAC first. `null` if none. */
  get ethernetOffset(): number | null {
    const offset = this.#batch.ethernet[this.#row]!;
    return offset === NOT_AVAILABLE ? null : offset;
  }
  get flow(): Flow | null {
    const batch = this.#batch;
    const row = this.#row;
    const flags = this.#flags;
    if ((flags & FLAG.FLOW) === 0) return null;
    const six = (flags & FLAG.IPV6) !== 0;
    const s = batch.source0[row]!;
    const d = batch.destination0[row]!;
    const ports = batch.ports[row]!;
    return {
      source: six ? formatIpv6(s, batch.source1[row]!, batch.source2[row]!, batch.source3[row]!) : formatIpv4(s),
      destination: six
        ? formatIpv6(d, batch.destination1[row]!, batch.destination2[row]!, batch.destination3[row]!)
        : formatIpv4(d),
      protocol: batch.protocol[row]!,
      sourcePort: ports >>> 16,
      destinationPort: ports & 0xffff,
    };
  }

  /** Hops of the embedded stack, in path order; the reporting node's own row is {@link own}. */
  get hopCount(): number {
    return this.#batch.hopCount[this.#row]! - ((this.#flags & FLAG.OWN) === 0 ? 0 : 1);
  }
  /** First row of the report in the hop columns. */
  get hopStart(): number {
    return this.#batch.hopStart[this.#row]!;
  }
  /** Hop `index` of the embedded stack, 0 = INT source. @throws RangeError if there is none */
  hop(index: number): HopView {
    if (!(index >= 0 && index < this.hopCount)) throw new RangeError(`no hop ${index} of ${this.hopCount}`);
    return new HopView(this.#batch, this.hopStart + index, this.intVersion);
  }
  /** The reporting node's own values, if it gave any. */
  get own(): HopView | null {
    return (this.#flags & FLAG.OWN) === 0 ? null : new HopView(this.#batch, this.hopStart + this.hopCount);
  }
}

/**
 * A view of report row `row`.
 * @throws RangeError if the batch does not hold that row
 */
export function viewRecord(batch: TelemetryBatch, row: number): RecordView {
  if (!(row >= 0 && row < batch.reports)) throw new RangeError(`no report row ${row} of ${batch.reports}`);
  return new RecordView(batch, row);
}
