import { FLAG, MODES, STATE, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import type { RecordIds } from '@int/collector';
import { instructionsOf, intVersionOf } from '@int/collector/internals';
import type { NodeNames } from './node-names.js';
import { HOP_BYTES, putHop } from './protobuf-hop.js';
import type { MessageSlab } from './slab.js';
import { closeField, putField, putFixed64, putTextField, putVarint53, tagOf, WIRE } from './wire.js';

export const REPORT_FIELD = {
  INSTANCE: 1,
  NUMBER: 2,
  TIME: 3,
  REPORT: 4,
  INT: 5,
  FLOW: 6,
  HOPS: 7,
  METADATA: 8,
} as const;

export const HEADER_FIELD = {
  VERSION: 1,
  HW_ID: 2,
  SEQUENCE: 3,
  NODE: 4,
  DROPPED: 5,
  CONGESTED: 6,
  TRACKED: 7,
  INTERMEDIATE: 8,
  INGRESS: 9,
  DROP_REASON: 10,
  DROP_QUEUE: 11,
  METADATA_BITMAP: 12,
  NODE_NAME: 13,
} as const;

export const INT_FIELD = {
  MODE: 1,
  VERSION: 2,
  ENCAPSULATION: 3,
  BITMAP: 4,
  DISCARD: 5,
  HOP_EXCEEDED: 6,
  MTU_EXCEEDED: 7,
} as const;

export const FLOW_FIELD = { SOURCE: 1, DESTINATION: 2, PROTOCOL: 3, SOURCE_PORT: 4, DESTINATION_PORT: 5 } as const;

const varint = (field: number): number => tagOf(field, WIRE.VARINT);
const TAG_INSTANCE = /* @__PURE__ */ tagOf(REPORT_FIELD.INSTANCE, WIRE.FIXED64);
const TAG_NUMBER = /* @__PURE__ */ varint(REPORT_FIELD.NUMBER);
const TAG_TIME = /* @__PURE__ */ tagOf(REPORT_FIELD.TIME, WIRE.FIXED64);
const TAG_REPORT = /* @__PURE__ */ tagOf(REPORT_FIELD.REPORT, WIRE.BYTES);
const TAG_INT = /* @__PURE__ */ tagOf(REPORT_FIELD.INT, WIRE.BYTES);
const TAG_FLOW = /* @__PURE__ */ tagOf(REPORT_FIELD.FLOW, WIRE.BYTES);
const TAG_HOPS = /* @__PURE__ */ tagOf(REPORT_FIELD.HOPS, WIRE.BYTES);
const TAG_METADATA = /* @__PURE__ */ tagOf(REPORT_FIELD.METADATA, WIRE.BYTES);

const NONE = -1;
const REPORT_BYTES = 256;

export function reportBound(batch: TelemetryBatch, row: number, names: NodeNames | null): number {
  const hops = batch.hopCount[row]!;
  const named = names === null ? 0 : names.nodeBytes + hops * names.hopBytes;
  return REPORT_BYTES + hops * HOP_BYTES + named;
}

/** The fields that all records begin with: instance and number. */
export function putId({ bytes, view }: MessageSlab, start: number, ids: RecordIds): number {
  const number = ids.next;
  const at = putFixed64(view, start, TAG_INSTANCE, ids.instanceHigh | 0, ids.instanceLow | 0);
  if (number === 0) return at;
  bytes[at] = TAG_NUMBER;
  return putVarint53(bytes, at + 1, number);
}

/** A field whose value is left out when it is 0. */
function putPlain(bytes: Uint8Array, at: number, tag: number, word: number): number {
  return word === 0 ? at : putField(bytes, at, tag, word);
}

/**
 * Writes a flow as a field.
 * @param tag of the field
 * @param words holds both addresses, one or four words each, `step` apart
 * @param source index of the source's first word
 */
export function putFlow(
  { bytes, view }: MessageSlab,
  start: number,
  tag: number,
  words: Int32Array | Uint32Array,
  source: number,
  destination: number,
  step: number,
  isIpv6: boolean,
  protocol: number,
  ports: number,
): number {
  bytes[start] = tag;
  const body = start + 2;
  let at = putAddress(view, body, tagOf(FLOW_FIELD.SOURCE, WIRE.BYTES), words, source, step, isIpv6);
  at = putAddress(view, at, tagOf(FLOW_FIELD.DESTINATION, WIRE.BYTES), words, destination, step, isIpv6);
  at = putPlain(bytes, at, varint(FLOW_FIELD.PROTOCOL), protocol);
  at = putPlain(bytes, at, varint(FLOW_FIELD.SOURCE_PORT), ports >>> 16);
  at = putPlain(bytes, at, varint(FLOW_FIELD.DESTINATION_PORT), ports & 0xffff);
  bytes[start + 1] = at - body;
  return at;
}

function putAddress(
  view: DataView,
  at: number,
  tag: number,
  words: Int32Array | Uint32Array,
  word: number,
  step: number,
  isIpv6: boolean,
): number {
  view.setUint8(at, tag);
  view.setUint8(at + 1, isIpv6 ? 16 : 4);
  view.setInt32(at + 2, words[word]! | 0);
  if (!isIpv6) return at + 6;
  for (let k = 1; k < 4; k++) view.setInt32(at + 2 + 4 * k, words[word + k * step]! | 0);
  return at + 18;
}

/** Writes the flow of report row `row` as a field, if it is known. */
export function putReportFlow(slab: MessageSlab, at: number, tag: number, batch: TelemetryBatch, row: number): number {
  const flags = batch.flags[row]! | 0;
  if ((flags & FLAG.FLOW) === 0) return at;
  const isIpv6 = (flags & FLAG.IPV6) !== 0;
  const { reportWords, reportStride } = batch;
  const source = SOURCE * reportStride + row;
  const destination = DESTINATION * reportStride + row;
  const ports = batch.ports[row]! | 0;
  return putFlow(slab, at, tag, reportWords, source, destination, reportStride, isIpv6, batch.protocol[row]!, ports);
}

/** Columns of the addresses' first words. */
const SOURCE = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');
const DESTINATION = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('destination0');

function putHeader(
  { bytes, view }: MessageSlab,
  start: number,
  batch: TelemetryBatch,
  row: number,
  flags: number,
  names: NodeNames | null,
): number {
  const version = flags & FLAG.REPORT_MASK;
  if (version === 0) return start;
  bytes[start] = TAG_REPORT;
  const body = start + 2;
  let at = putField(bytes, body, varint(HEADER_FIELD.VERSION), version);
  at = putPlain(bytes, at, varint(HEADER_FIELD.HW_ID), (flags >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK);
  at = putPlain(bytes, at, varint(HEADER_FIELD.SEQUENCE), batch.sequence[row]! | 0);
  const node = batch.nodeId[row]! | 0;
  if (node !== NONE) at = putField(bytes, at, varint(HEADER_FIELD.NODE), node);
  if ((flags & FLAG.DROPPED) !== 0) at = putField(bytes, at, varint(HEADER_FIELD.DROPPED), 1);
  if ((flags & FLAG.QUEUE_CONGESTED) !== 0) at = putField(bytes, at, varint(HEADER_FIELD.CONGESTED), 1);
  if ((flags & FLAG.TRACKED_FLOW) !== 0) at = putField(bytes, at, varint(HEADER_FIELD.TRACKED), 1);
  if ((flags & FLAG.INTERMEDIATE) !== 0) at = putField(bytes, at, varint(HEADER_FIELD.INTERMEDIATE), 1);
  if (version < 3) {
    bytes[at] = tagOf(HEADER_FIELD.INGRESS, WIRE.FIXED32);
    view.setInt32(at + 1, batch.reportTimestamp[row]! | 0, true);
    at += 5;
  }
  const drop = batch.state[STATE.DROPS] === 0 ? NONE : batch.drop[row]! | 0;
  if (drop !== NONE) {
    at = putField(bytes, at, varint(HEADER_FIELD.DROP_REASON), (drop >>> 16) & 0xff);
    at = putField(bytes, at, varint(HEADER_FIELD.DROP_QUEUE), drop >>> 24);
  }
  at = putPlain(bytes, at, varint(HEADER_FIELD.METADATA_BITMAP), batch.instructions[row]! & 0xffff);
  if (names !== null && node !== NONE) at = putTextField(bytes, at, HEADER_FIELD.NODE_NAME, names.node(node));
  return closeField(bytes, body, at);
}

function putInt(bytes: Uint8Array, start: number, flags: number, instructions: number): number {
  const mode = (flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK;
  if (mode === 0 || mode >= MODES.length) return start;
  const encapsulation = (flags >>> FLAG.ENCAPSULATION_SHIFT) & FLAG.ENCAPSULATION_MASK;
  bytes[start] = TAG_INT;
  const body = start + 2;
  let at = putField(bytes, body, varint(INT_FIELD.MODE), mode);
  at = putPlain(bytes, at, varint(INT_FIELD.VERSION), intVersionOf(flags));
  at = putPlain(bytes, at, varint(INT_FIELD.ENCAPSULATION), encapsulation);
  at = putPlain(bytes, at, varint(INT_FIELD.BITMAP), instructionsOf(flags, instructions));
  if ((flags & FLAG.DISCARD) !== 0) at = putField(bytes, at, varint(INT_FIELD.DISCARD), 1);
  if ((flags & FLAG.HOP_EXCEEDED) !== 0) at = putField(bytes, at, varint(INT_FIELD.HOP_EXCEEDED), 1);
  if ((flags & FLAG.MTU_EXCEEDED) !== 0) at = putField(bytes, at, varint(INT_FIELD.MTU_EXCEEDED), 1);
  bytes[start + 1] = at - body;
  return at;
}

/**
 * Writes report row `row` as a message `Report`.
 * @param start where; {@link reportBound} bytes are there
 * @returns the position behind it
 */
export function putReport(
  slab: MessageSlab,
  start: number,
  batch: TelemetryBatch,
  row: number,
  ids: RecordIds,
  names: NodeNames | null,
): number {
  const flags = batch.flags[row]! | 0;
  const frame = batch.frame[row]!;
  let at = putId(slab, start, ids);
  at = putFixed64(slab.view, at, TAG_TIME, batch.frameTimeHigh[frame]! | 0, batch.frameTimeLow[frame]! | 0);
  at = putHeader(slab, at, batch, row, flags, names);
  at = putInt(slab.bytes, at, flags, batch.instructions[row]! | 0);
  at = putReportFlow(slab, at, TAG_FLOW, batch, row);
  const hops = batch.hopStart[row]! | 0;
  const own = (flags & FLAG.OWN) === 0 ? 0 : 1;
  const end = hops + batch.hopCount[row]! - own;
  const { nodeId } = batch.hop;
  for (let hop = hops; hop < end; hop++) {
    at = putHop(slab, at, TAG_HOPS, batch, hop, false, nodeId[hop]! | 0, names);
  }
  return own === 0 ? at : putHop(slab, at, TAG_METADATA, batch, end, true, batch.nodeId[row]! | 0, names);
}
