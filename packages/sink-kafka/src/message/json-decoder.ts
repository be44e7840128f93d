import { ENCAPSULATIONS, FIELDS, FLAG, INT_VERSIONS, MODES, REPORT_VERSIONS } from '@int/codec';
import { parseIpv4, parseIpv6 } from '@int/codec/internals';
import { MESSAGE_CODE, MessageDecoder } from './decoder.js';
import type { HopFields } from './fields.js';

type Fields = Readonly<Record<string, unknown>>;

/** A value that no report has. */
class Malformed extends Error {
  override readonly name = 'Malformed';
}

/** The batch has no room for another hop. */
class Full extends Error {
  override readonly name = 'Full';
}

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });
const NONE = -1;
const MOST_TIME = 0xffff_ffff_ffff_ffffn;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object, or `null` if there is none. */
function object(value: unknown): Fields | null {
  if (value === null || value === undefined) return null;
  if (!isObject(value)) throw new Malformed();
  return value;
}

/** An integer from 0 to `most`; -1 if there is none. */
function number(value: unknown, most: number): number {
  if (value === null || value === undefined) return NONE;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > most) throw new Malformed();
  return value | 0;
}

function required(value: unknown, most: number): number {
  if (value === null || value === undefined) throw new Malformed();
  return number(value, most);
}

/** A 64-bit number in decimal; `null` if there is none. */
function time(value: unknown): bigint | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw new Malformed();
  const parsed = BigInt(value);
  if (parsed > MOST_TIME) throw new Malformed();
  return parsed;
}

function bitmap(value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,4}$/i.test(value)) throw new Malformed();
  return Number.parseInt(value, 16);
}

/** The place of a value in a list. */
function placeOf(list: readonly unknown[], value: unknown): number {
  const place = list.indexOf(value ?? null);
  if (place < 0) throw new Malformed();
  return place;
}

function lowOf(value: bigint): number {
  return Number(BigInt.asIntN(32, value));
}

function highOf(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n));
}

function readHop(hop: HopFields, json: Fields): void {
  hop.clear();
  for (const { name, bits, column } of FIELDS) {
    if (bits !== 64) {
      hop.words[column] = number(json[name], 0xffff_ffff);
      continue;
    }
    const value = time(json[name]);
    if (value === null) continue;
    hop.words[column] = highOf(value);
    hop.words[column + 1] = lowOf(value);
  }
}

/** Reads values of the topic `reports` that are a `ReportRecord` of @int/collector as JSON. */
export class JsonDecoder extends MessageDecoder {
  protected parse(value: Uint8Array): number {
    try {
      const json: unknown = JSON.parse(decoder.decode(value));
      if (!isObject(json) || json.type !== 'report') return MESSAGE_CODE.MALFORMED;
      this.#read(json);
      return MESSAGE_CODE.OK;
    } catch (error) {
      // Syntax, encoding, addresses: whatever it is, it is no report.
      return error instanceof Full ? MESSAGE_CODE.FULL : MESSAGE_CODE.MALFORMED;
    }
  }

  #read(json: Fields): void {
    this.#readId(json.id);
    const { fields } = this;
    const at = time(json.timeNs) ?? 0n;
    fields.timeHigh = highOf(at);
    fields.timeLow = lowOf(at);
    this.#readInt(object(json.int));
    const report = object(json.report);
    const metadata = report === null ? null : object(report.metadata);
    if (report !== null) this.#readHeader(report);
    this.#readFlow(object(json.flow));
    const hops = json.hops ?? [];
    if (!Array.isArray(hops)) throw new Malformed();
    for (const hop of hops) {
      if (!isObject(hop)) throw new Malformed();
      readHop(this.hop, hop);
      this.#append();
    }
    if (metadata === null) return;
    fields.hasOwn = true;
    readHop(this.hop, metadata);
    this.hop.node = fields.node;
    this.#append();
  }

  #append(): void {
    const code = this.appendHop();
    if (code === MESSAGE_CODE.FULL) throw new Full();
    if (code !== MESSAGE_CODE.OK) throw new Malformed();
  }

  #readId(id: unknown): void {
    if (id === undefined) return;
    const parts = typeof id === 'string' ? /^([0-9a-f]{8})([0-9a-f]{8})-(\d{1,16})$/.exec(id) : null;
    const count = Number(parts?.[3]);
    if (parts === null || !Number.isSafeInteger(count)) throw new Malformed();
    this.fields.instanceHigh = Number.parseInt(parts[1]!, 16) | 0;
    this.fields.instanceLow = Number.parseInt(parts[2]!, 16) | 0;
    this.fields.number = count;
  }

  #readHeader(json: Fields): void {
    const { fields } = this;
    fields.version = placeOf(REPORT_VERSIONS, json.version);
    if (fields.version === 0) throw new Malformed();
    fields.hwId = required(json.hwId, FLAG.HW_ID_MASK);
    fields.sequence = required(json.sequence, 0xffff_ffff);
    fields.node = number(json.nodeId, 0xffff_ffff);
    this.#readState(json.dropped, FLAG.DROPPED);
    this.#readState(json.queueCongested, FLAG.QUEUE_CONGESTED);
    this.#readState(json.trackedFlow, FLAG.TRACKED_FLOW);
    this.#readState(json.intermediate, FLAG.INTERMEDIATE);
    const ingress = time(json.ingressTimestamp);
    if (ingress !== null && REPORT_VERSIONS[fields.version] !== '2.0') {
      if (ingress > 0xffff_ffffn) throw new Malformed();
      fields.reportTimestamp = lowOf(ingress);
    }
    fields.dropReason = number(json.dropReason, 0xff);
    fields.dropQueue = number(json.dropQueueId, 0xff);
    fields.metadataBitmap = bitmap(json.metadataBitmap);
  }

  #readState(value: unknown, bit: number): void {
    if (value === true) this.fields.states |= bit;
    else if (value !== false && value !== undefined) throw new Malformed();
  }

  #readInt(json: Fields | null): void {
    if (json === null) return;
    const { fields } = this;
    fields.mode = placeOf(MODES, json.mode);
    if (fields.mode === 0) throw new Malformed();
    fields.intVersion = placeOf(INT_VERSIONS, json.version);
    fields.encapsulation = placeOf(ENCAPSULATIONS, json.encapsulation ?? 'none');
    fields.bitmap = bitmap(json.instructionBitmap);
    this.#readState(json.discard, FLAG.DISCARD);
    this.#readState(json.hopExceeded, FLAG.HOP_EXCEEDED);
    this.#readState(json.mtuExceeded, FLAG.MTU_EXCEEDED);
  }

  #readFlow(json: Fields | null): void {
    if (json === null) return;
    const { fields } = this;
    const { source, destination } = json;
    if (typeof source !== 'string' || typeof destination !== 'string') throw new Malformed();
    fields.hasFlow = true;
    fields.isIpv6 = source.includes(':');
    if (fields.isIpv6 !== destination.includes(':')) throw new Malformed();
    if (fields.isIpv6) {
      fields.addresses.set(parseIpv6(source), 0);
      fields.addresses.set(parseIpv6(destination), 4);
    } else {
      fields.addresses[0] = parseIpv4(source);
      fields.addresses[4] = parseIpv4(destination);
    }
    fields.protocol = required(json.protocol, 0xff);
    fields.sourcePort = required(json.sourcePort, 0xffff);
    fields.destinationPort = required(json.destinationPort, 0xffff);
  }
}
