import { formatIpv4, formatIpv6 } from './address.js';
import type { TelemetryBatch } from './batch.js';
import { CODE_NAMES, CODE_STATUS, type CodeName } from './codes.js';
import { ENCAPSULATIONS, FLAG, INT_VERSIONS, MODES, NOT_AVAILABLE, REPORT_VERSIONS } from './columns.js';
import { FIELDS, type Field, type NumberName, type TimeName } from './fields.js';
import type { Encapsulation, Flow, GpintInfo, IntHeaderInfo, IntVersion, ReportVersion, Status } from './model.js';

/** Reads the cells of one hop row. */
class HopCells {
  readonly #batch: TelemetryBatch;
  #row: number;

  /** @param row row of the hop columns */
  constructor(batch: TelemetryBatch, row: number) {
    this.#batch = batch;
    this.#row = row;
  }

  /** Points the same view at another row of the hop columns. */
  at(row: number): this {
    this.#row = row;
    return this;
  }

  /** The value of one of {@link FIELDS}: a `bigint` for those of 64 bits. */
  read({ bits, column, partner }: Field): number | bigint | null {
    const { hopWords, hopStride } = this.#batch;
    const word = hopWords[column * hopStride + this.#row]!;
    if (bits === 64) {
      const low = hopWords[(column + 1) * hopStride + this.#row]!;
      return word === NOT_AVAILABLE && low === NOT_AVAILABLE ? null : (BigInt(word) << 32n) | BigInt(low);
    }
    return word === NOT_AVAILABLE && hopWords[partner * hopStride + this.#row] === NOT_AVAILABLE ? null : word;
  }
}

/**
 * One hop of a {@link RecordView}, with a property for each of {@link FIELDS}. Every property reads the columns. `null`
 * means 'not carried' or 'not available'; the columns do not distinguish these.
 */
export type HopView = HopCells &
  Readonly<Record<NumberName, number | null>> &
  Readonly<Record<TimeName, bigint | null>>;

function withFields(): new (batch: TelemetryBatch, row: number) => HopView {
  class WithFields extends HopCells {}
  for (const field of FIELDS) {
    Object.defineProperty(WithFields.prototype, field.name, {
      get(this: HopCells) {
        return this.read(field);
      },
    });
  }
  return WithFields as unknown as new (
    batch: TelemetryBatch,
    row: number,
  ) => HopView;
}

/** A view of row `row` of the hop columns of `batch`. */
export const HopView: new (batch: TelemetryBatch, row: number) => HopView = /* @__PURE__ */ withFields();

/**
 * One report row as an object. Nothing is decoded or copied until a property is read. The view is valid as long as the
 * batch holds the row; `decodeFrame` gives objects that live longer.
 */
export class RecordView {
  readonly #batch: TelemetryBatch;
  #row: number;

  constructor(batch: TelemetryBatch, row = 0) {
    this.#batch = batch;
    this.#row = row;
  }

  /** Points the same view at another row, so that a loop needs only one view. */
  at(row: number): this {
    this.#row = row;
    return this;
  }

  get #flags(): number {
    return this.#batch.flags[this.#row]!;
  }

  /** When its frame was captured or arrived, nanoseconds since 1970-01-01 00:00:00 UTC; 0 if that is not known. */
  get timeNs(): bigint {
    return this.#batch.timeNs(this.#row);
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
  /** `null` for a packet that itself carries INT. */
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
  /** The reporting node; `null` if there is none, or if the report does not name it. */
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
    return new HopView(this.#batch, this.hopStart + index);
  }
  /** The reporting node's own values, if it gave any. */
  get own(): HopView | null {
    return (this.#flags & FLAG.OWN) === 0 ? null : new HopView(this.#batch, this.hopStart + this.hopCount);
  }
}
