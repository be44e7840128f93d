import { ENCAPSULATIONS, FIELDS, type Field, FLAG, INT_VERSIONS, MODES, REPORT_VERSIONS } from '@int/codec';
import { MESSAGE_CODE, MessageDecoder } from './decoder.js';
import { FLOW_FIELD, HEADER_FIELD, INT_FIELD, REPORT_FIELD } from './protobuf-report.js';
import { WIRE } from './wire.js';
import { WireReader } from './wire-reader.js';

/** Fields by number, with the wire type that they have. Another wire type makes a field an unknown one. */
const key = (field: number, wire: number): number => (field << 3) | wire;

/** The fields of a hop by their numbers. */
const HOP_ITEMS: readonly (Field | undefined)[] = /* @__PURE__ */ FIELDS.reduce<(Field | undefined)[]>(
  (items, field) => {
    items[field.protobuf] = field;
    return items;
  },
  [],
);

const MOST_HIGH = 0x1f_ffff;
const WORD = 0x1_0000_0000;

/** Reads values of the topic `reports` that are messages `Report` of `proto/int.proto`, fields in any order. */
export class ProtobufDecoder extends MessageDecoder {
  readonly #reader = new WireReader();
  /** Set when a field holds what no report has. */
  #isBad = false;

  protected parse(value: Uint8Array): number {
    const reader = this.#reader;
    this.#isBad = false;
    reader.open(value);
    while (reader.next()) this.#reportField();
    const code = this.#result();
    if (code !== MESSAGE_CODE.OK) return code;
    if (this.fields.hasOwn && this.fields.version === 0) return MESSAGE_CODE.MALFORMED;
    // What a hop's items mean follows from the INT version, which may stand behind the hops.
    const hops = this.#hops(value, REPORT_FIELD.HOPS);
    return hops === MESSAGE_CODE.OK && this.fields.hasOwn ? this.#hops(value, REPORT_FIELD.METADATA) : hops;
  }

  #result(): number {
    if (this.#reader.failure === 'truncated') return MESSAGE_CODE.TRUNCATED;
    return this.#isBad || this.#reader.failure !== 0 ? MESSAGE_CODE.MALFORMED : MESSAGE_CODE.OK;
  }

  #reportField(): void {
    const reader = this.#reader;
    const { fields } = this;
    switch (key(reader.field, reader.wire)) {
      case key(REPORT_FIELD.INSTANCE, WIRE.FIXED64):
        fields.instanceLow = reader.fixed64();
        fields.instanceHigh = reader.high;
        break;
      case key(REPORT_FIELD.NUMBER, WIRE.VARINT): {
        const low = reader.varint();
        if (reader.high >>> 0 > MOST_HIGH) this.#isBad = true;
        fields.number = (reader.high >>> 0) * WORD + (low >>> 0);
        break;
      }
      case key(REPORT_FIELD.TIME, WIRE.FIXED64):
        fields.timeLow = reader.fixed64();
        fields.timeHigh = reader.high;
        break;
      case key(REPORT_FIELD.REPORT, WIRE.BYTES):
        this.#within(() => this.#headerField());
        if (fields.version === 0) this.#isBad = true;
        break;
      case key(REPORT_FIELD.INT, WIRE.BYTES):
        this.#within(() => this.#intField());
        if (fields.mode === 0) this.#isBad = true;
        break;
      case key(REPORT_FIELD.FLOW, WIRE.BYTES):
        this.#flow();
        break;
      case key(REPORT_FIELD.METADATA, WIRE.BYTES):
        fields.hasOwn = true;
        reader.skip();
        break;
      default:
        reader.skip();
    }
  }

  #within(read: () => void): void {
    const reader = this.#reader;
    const length = reader.length();
    const outer = reader.end;
    reader.end = reader.at + length;
    while (reader.next()) read();
    reader.end = outer;
  }

  /** A number of at most `most`, else the report is bad. */
  #number(most: number): number {
    const word = this.#reader.varint();
    if (this.#reader.high !== 0 || word >>> 0 > most) this.#isBad = true;
    return word;
  }

  #state(bit: number): void {
    const low = this.#reader.varint();
    if ((low | this.#reader.high) !== 0) this.fields.states |= bit;
    else this.fields.states &= ~bit;
  }

  #headerField(): void {
    const reader = this.#reader;
    const { fields } = this;
    switch (key(reader.field, reader.wire)) {
      case key(HEADER_FIELD.VERSION, WIRE.VARINT):
        fields.version = this.#number(REPORT_VERSIONS.length - 1);
        break;
      case key(HEADER_FIELD.HW_ID, WIRE.VARINT):
        fields.hwId = this.#number(FLAG.HW_ID_MASK);
        break;
      case key(HEADER_FIELD.SEQUENCE, WIRE.VARINT):
        fields.sequence = this.#number(0xffff_ffff);
        break;
      case key(HEADER_FIELD.NODE, WIRE.VARINT):
        fields.node = this.#number(0xffff_ffff);
        break;
      case key(HEADER_FIELD.DROPPED, WIRE.VARINT):
        this.#state(FLAG.DROPPED);
        break;
      case key(HEADER_FIELD.CONGESTED, WIRE.VARINT):
        this.#state(FLAG.QUEUE_CONGESTED);
        break;
      case key(HEADER_FIELD.TRACKED, WIRE.VARINT):
        this.#state(FLAG.TRACKED_FLOW);
        break;
      case key(HEADER_FIELD.INTERMEDIATE, WIRE.VARINT):
        this.#state(FLAG.INTERMEDIATE);
        break;
      case key(HEADER_FIELD.INGRESS, WIRE.FIXED32):
        fields.reportTimestamp = reader.fixed32();
        break;
      case key(HEADER_FIELD.DROP_REASON, WIRE.VARINT):
        fields.dropReason = this.#number(0xff);
        break;
      case key(HEADER_FIELD.DROP_QUEUE, WIRE.VARINT):
        fields.dropQueue = this.#number(0xff);
        break;
      case key(HEADER_FIELD.METADATA_BITMAP, WIRE.VARINT):
        fields.metadataBitmap = this.#number(0xffff);
        break;
      default:
        reader.skip();
    }
  }

  #intField(): void {
    const reader = this.#reader;
    const { fields } = this;
    switch (key(reader.field, reader.wire)) {
      case key(INT_FIELD.MODE, WIRE.VARINT):
        fields.mode = this.#number(MODES.length - 1);
        break;
      case key(INT_FIELD.VERSION, WIRE.VARINT):
        fields.intVersion = this.#number(INT_VERSIONS.length - 1);
        break;
      case key(INT_FIELD.ENCAPSULATION, WIRE.VARINT):
        fields.encapsulation = this.#number(ENCAPSULATIONS.length - 1);
        break;
      case key(INT_FIELD.BITMAP, WIRE.VARINT):
        fields.bitmap = this.#number(0xffff);
        break;
      case key(INT_FIELD.DISCARD, WIRE.VARINT):
        this.#state(FLAG.DISCARD);
        break;
      case key(INT_FIELD.HOP_EXCEEDED, WIRE.VARINT):
        this.#state(FLAG.HOP_EXCEEDED);
        break;
      case key(INT_FIELD.MTU_EXCEEDED, WIRE.VARINT):
        this.#state(FLAG.MTU_EXCEEDED);
        break;
      default:
        reader.skip();
    }
  }

  #flow(): void {
    const { fields } = this;
    let source = 0;
    let destination = 0;
    this.#within(() => {
      const reader = this.#reader;
      switch (key(reader.field, reader.wire)) {
        case key(FLOW_FIELD.SOURCE, WIRE.BYTES):
          source = this.#address(0);
          break;
        case key(FLOW_FIELD.DESTINATION, WIRE.BYTES):
          destination = this.#address(4);
          break;
        case key(FLOW_FIELD.PROTOCOL, WIRE.VARINT):
          fields.protocol = this.#number(0xff);
          break;
        case key(FLOW_FIELD.SOURCE_PORT, WIRE.VARINT):
          fields.sourcePort = this.#number(0xffff);
          break;
        case key(FLOW_FIELD.DESTINATION_PORT, WIRE.VARINT):
          fields.destinationPort = this.#number(0xffff);
          break;
        default:
          reader.skip();
      }
    });
    if (source !== destination || (source !== 4 && source !== 16)) this.#isBad = true;
    fields.hasFlow = true;
    fields.isIpv6 = source === 16;
  }

  /** Reads an address into four words. @returns its bytes */
  #address(first: number): number {
    const reader = this.#reader;
    const length = reader.length();
    const { bytes, at } = reader;
    reader.at = at + length;
    if (length !== 4 && length !== 16) return 0;
    for (let k = 0; k < length; k += 4) {
      this.fields.addresses[first + (k >>> 2)] =
        (bytes[at + k]! << 24) | (bytes[at + k + 1]! << 16) | (bytes[at + k + 2]! << 8) | bytes[at + k + 3]!;
    }
    return length;
  }

  /** Reads the hops of all fields `field` of the report. */
  #hops(value: Uint8Array, field: number): number {
    const reader = this.#reader;
    const { hop, fields } = this;
    const isOwn = field === REPORT_FIELD.METADATA;
    reader.open(value);
    hop.clear();
    while (reader.next()) {
      if (reader.field !== field || reader.wire !== WIRE.BYTES) {
        reader.skip();
        continue;
      }
      // Pieces of one message are merged, elements of a list are not.
      if (!isOwn) hop.clear();
      const length = reader.length();
      reader.end = reader.at + length;
      while (reader.next()) this.#hopField();
      reader.end = value.length;
      const code = this.#result();
      if (code !== MESSAGE_CODE.OK) return code;
      if (isOwn) continue;
      const appended = this.appendHop();
      if (appended !== MESSAGE_CODE.OK) return appended;
    }
    if (!isOwn) return this.#result();
    hop.node = fields.node;
    return this.appendHop();
  }

  #hopField(): void {
    const reader = this.#reader;
    const item = HOP_ITEMS[reader.field];
    const wire = item?.bits === 64 ? WIRE.FIXED64 : WIRE.VARINT;
    if (item === undefined || reader.wire !== wire) {
      reader.skip();
      return;
    }
    const { words } = this.hop;
    if (item.bits === 64) {
      words[item.column + 1] = reader.fixed64();
      words[item.column] = reader.high;
    } else {
      words[item.column] = this.#number(0xffff_ffff);
    }
  }
}
