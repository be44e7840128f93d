/**
 * Records as JSON: a line of the NDJSON of the `int` command, without `frame` and `timeNs`.
 *
 * 64-bit values are decimal strings, bytes are hexadecimal, bitmaps are `0x` strings of four digits. MAC addresses are
 * left out.
 */
import type { Flow, GpintInfo, Hop, IntHeaderInfo, ReportInfo, TelemetryRecord, Tlv } from './model.js';

/** A hop in JSON. */
export type HopJson = Omit<Hop, 'ingressTimestamp' | 'egressTimestamp' | 'domain'> & {
  ingressTimestamp?: string | null;
  egressTimestamp?: string | null;
  domain?: string;
};

/** A report in JSON. */
export type ReportJson = Omit<ReportInfo, 'ingressTimestamp' | 'metadata' | 'tlvs'> & {
  ingressTimestamp: string | null;
  metadata: HopJson;
  tlvs?: { type: number; template: number; data: string }[];
};

/** An INT header in JSON. */
export type IntJson = Omit<
  IntHeaderInfo,
  'instructionBitmap' | 'domainInstructions' | 'domainFlags' | 'sourceMetadata'
> & {
  instructionBitmap: string;
  domainInstructions: string;
  domainFlags: string;
  sourceMetadata?: string;
};

/** A record in JSON. */
export interface RecordJson extends Omit<TelemetryRecord, 'report' | 'int' | 'hops' | 'flow' | 'ethernet'> {
  report: ReportJson | null;
  int: IntJson | GpintInfo | null;
  flow: Flow | null;
  hops: HopJson[];
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** @throws TypeError if the text is not an even number of hexadecimal digits */
function bytesOf(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) throw new TypeError(`not hexadecimal: ${text}`);
  return Uint8Array.from({ length: text.length / 2 }, (_, k) => Number.parseInt(text.slice(2 * k, 2 * k + 2), 16));
}

function bitmap(bits: number): string {
  return `0x${bits.toString(16).padStart(4, '0')}`;
}

/** @throws TypeError if it is no 16-bit number */
function bitmapOf(text: string, name: string): number {
  const bits = Number(text);
  if (typeof text !== 'string' || !Number.isInteger(bits) || bits < 0 || bits > 0xffff) {
    throw new TypeError(`${name}: ${text} is not a 16-bit bitmap such as "0xf800"`);
  }
  return bits;
}

function big(text: string | null, name: string): bigint | null {
  if (text === null) return null;
  if (typeof text !== 'string' || !/^\d+$/.test(text)) throw new TypeError(`${name}: ${text} is not a decimal string`);
  return BigInt(text);
}

function hopToJson(hop: Hop): HopJson {
  const { ingressTimestamp, egressTimestamp, domain, ...rest } = hop;
  const json: HopJson = rest;
  if (ingressTimestamp !== undefined) json.ingressTimestamp = ingressTimestamp?.toString() ?? null;
  if (egressTimestamp !== undefined) json.egressTimestamp = egressTimestamp?.toString() ?? null;
  if (domain !== undefined) json.domain = hex(domain);
  return json;
}

function hopFromJson(json: HopJson): Hop {
  const { ingressTimestamp, egressTimestamp, domain, ...rest } = json;
  const hop: Hop = rest;
  if (ingressTimestamp !== undefined) hop.ingressTimestamp = big(ingressTimestamp, 'ingressTimestamp');
  if (egressTimestamp !== undefined) hop.egressTimestamp = big(egressTimestamp, 'egressTimestamp');
  if (domain !== undefined) hop.domain = bytesOf(domain);
  return hop;
}

function reportToJson(report: ReportInfo): ReportJson {
  const { metadata, tlvs, ingressTimestamp, ...rest } = report;
  const json: ReportJson = {
    ...rest,
    ingressTimestamp: ingressTimestamp?.toString() ?? null,
    metadata: hopToJson(metadata),
  };
  if (tlvs !== undefined) json.tlvs = tlvs.map((tlv) => ({ ...tlv, data: hex(tlv.data) }));
  return json;
}

function reportFromJson(json: ReportJson): ReportInfo {
  const { metadata, tlvs, ingressTimestamp, ...rest } = json;
  const report: ReportInfo = {
    ...rest,
    ingressTimestamp: big(ingressTimestamp, 'report.ingressTimestamp'),
    metadata: hopFromJson(metadata),
  };
  if (tlvs !== undefined) report.tlvs = tlvs.map((tlv): Tlv => ({ ...tlv, data: bytesOf(tlv.data) }));
  return report;
}

function intToJson(int: IntHeaderInfo | GpintInfo): IntJson | GpintInfo {
  if (int.mode === 'gpint') return int;
  const { sourceMetadata, ...rest } = int;
  const json: IntJson = {
    ...rest,
    instructionBitmap: bitmap(int.instructionBitmap),
    domainInstructions: bitmap(int.domainInstructions),
    domainFlags: bitmap(int.domainFlags),
  };
  if (sourceMetadata !== undefined) json.sourceMetadata = hex(sourceMetadata);
  return json;
}

function intFromJson(json: IntJson | GpintInfo): IntHeaderInfo | GpintInfo {
  if (json.mode === 'gpint') return json;
  const { sourceMetadata, ...rest } = json;
  const int: IntHeaderInfo = {
    ...rest,
    instructionBitmap: bitmapOf(json.instructionBitmap, 'int.instructionBitmap'),
    domainInstructions: bitmapOf(json.domainInstructions, 'int.domainInstructions'),
    domainFlags: bitmapOf(json.domainFlags, 'int.domainFlags'),
  };
  if (sourceMetadata !== undefined) int.sourceMetadata = bytesOf(sourceMetadata);
  return int;
}

/** A record as a JSON value, ready for `JSON.stringify`. */
export function recordToJson(record: TelemetryRecord): RecordJson {
  return {
    index: record.index,
    status: record.status,
    error: record.error,
    report: record.report === null ? null : reportToJson(record.report),
    int: record.int === null ? null : intToJson(record.int),
    flow: record.flow,
    path: record.path,
    hops: record.hops.map(hopToJson),
  };
}

/**
 * A record from its JSON value. Missing `index`, `status`, `error`, `path` and `hops` get their defaults.
 * @throws TypeError for a bitmap, number or hexadecimal string that is none
 */
export function recordFromJson(json: RecordJson): TelemetryRecord {
  return {
    index: json.index ?? 0,
    status: json.status ?? 'ok',
    error: json.error ?? null,
    report: json.report == null ? null : reportFromJson(json.report),
    int: json.int == null ? null : intFromJson(json.int),
    flow: json.flow ?? null,
    path: json.path ?? [],
    hops: (json.hops ?? []).map(hopFromJson),
  };
}
