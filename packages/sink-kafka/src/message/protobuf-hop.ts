import { HOP_COLUMNS, type HopColumn, STATE, type TelemetryBatch } from '@int/codec';
import { closeField, putField, putFixed64, putVarint, tagOf, WIRE } from './wire.js';

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
/** Columns that few devices use: looked at only if the batch has ever held something there. */
const RARE = /* @__PURE__ */ (1 << CHECKSUM) | (1 << CONGESTION) | (0xff << RESERVED8) | (1 << BUFFER) | (3 << L2);

/** All ones, as a signed word. */
const NONE = -1;

/** Field numbers of the message `Hop`. */
export const HOP_FIELD = {
  NODE: 1,
  L1_INGRESS: 2,
  L1_EGRESS: 3,
  LATENCY: 4,
  QUEUE_ID: 5,
  QUEUE_OCCUPANCY: 6,
  INGRESS: 7,
  EGRESS: 8,
  L2_INGRESS: 9,
  L2_EGRESS: 10,
  UTILIZATION: 11,
  BUFFER_ID: 12,
  BUFFER_OCCUPANCY: 13,
  CONGESTION_ID: 14,
  CONGESTION: 15,
  CHECKSUM: 16,
  RESERVED8: 17,
  RESERVED15: 24,
} as const;

const varint = (field: number): number => tagOf(field, WIRE.VARINT);
const TAG_NODE = /* @__PURE__ */ varint(HOP_FIELD.NODE);
const TAG_L1_INGRESS = /* @__PURE__ */ varint(HOP_FIELD.L1_INGRESS);
const TAG_L1_EGRESS = /* @__PURE__ */ varint(HOP_FIELD.L1_EGRESS);
const TAG_LATENCY = /* @__PURE__ */ varint(HOP_FIELD.LATENCY);
const TAG_QUEUE_ID = /* @__PURE__ */ varint(HOP_FIELD.QUEUE_ID);
const TAG_QUEUE_OCCUPANCY = /* @__PURE__ */ varint(HOP_FIELD.QUEUE_OCCUPANCY);
const TAG_INGRESS = /* @__PURE__ */ tagOf(HOP_FIELD.INGRESS, WIRE.FIXED64);
const TAG_EGRESS = /* @__PURE__ */ tagOf(HOP_FIELD.EGRESS, WIRE.FIXED64);
const TAG_L2_INGRESS = /* @__PURE__ */ varint(HOP_FIELD.L2_INGRESS);
const TAG_L2_EGRESS = /* @__PURE__ */ varint(HOP_FIELD.L2_EGRESS);
const TAG_UTILIZATION = /* @__PURE__ */ varint(HOP_FIELD.UTILIZATION);
const TAG_BUFFER_ID = /* @__PURE__ */ varint(HOP_FIELD.BUFFER_ID);
const TAG_BUFFER_OCCUPANCY = /* @__PURE__ */ varint(HOP_FIELD.BUFFER_OCCUPANCY);
const TAG_CONGESTION_ID = /* @__PURE__ */ varint(HOP_FIELD.CONGESTION_ID);
const TAG_CONGESTION = /* @__PURE__ */ varint(HOP_FIELD.CONGESTION);

/** Bytes of a hop at most, with its tag and length. */
export const HOP_BYTES = 176;

/** A field whose tag takes two bytes. */
function putHighField(bytes: Uint8Array, at: number, field: number, word: number): number {
  return putVarint(bytes, putVarint(bytes, at, tagOf(field, WIRE.VARINT)), word);
}

function putRare(bytes: Uint8Array, start: number, batch: TelemetryBatch, row: number, isWide: boolean): number {
  const { hopWords, hopStride } = batch;
  let at = start;
  const buffer = hopWords[BUFFER * hopStride + row]! | 0;
  if (buffer !== NONE) {
    at = putField(bytes, at, TAG_BUFFER_ID, buffer >>> 24);
    at = putField(bytes, at, TAG_BUFFER_OCCUPANCY, buffer & 0xff_ffff);
  }
  const congestion = hopWords[CONGESTION * hopStride + row]! | 0;
  if (congestion !== NONE) {
    if (!isWide) at = putField(bytes, at, TAG_CONGESTION_ID, congestion >>> 24);
    at = putField(bytes, at, TAG_CONGESTION, isWide ? congestion : congestion & 0xff_ffff);
  }
  const checksum = hopWords[CHECKSUM * hopStride + row]! | 0;
  if (checksum !== NONE) at = putHighField(bytes, at, HOP_FIELD.CHECKSUM, checksum);
  for (let k = 0; k < 8; k++) {
    const word = hopWords[(RESERVED8 + k) * hopStride + row]! | 0;
    if (word !== NONE) at = putHighField(bytes, at, HOP_FIELD.RESERVED8 + k, word);
  }
  return at;
}

/** Level-1 interfaces of IntMon: a half is missing by itself. */
function putWideInterfaces(bytes: Uint8Array, start: number, word: number): number {
  let at = start;
  if (word >>> 16 !== 0xffff) at = putField(bytes, at, TAG_L1_INGRESS, word >>> 16);
  if ((word & 0xffff) !== 0xffff) at = putField(bytes, at, TAG_L1_EGRESS, word & 0xffff);
  return at;
}

/**
 * Writes hop row `row` as a field of type `Hop`.
 * @param tag of the field
 * @param isWide the row is one of an IntMon stack
 * @param isOwn the row holds the reporting node's own values, without its id
 */
export function putHop(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  tag: number,
  batch: TelemetryBatch,
  row: number,
  isWide: boolean,
  isOwn: boolean,
): number {
  const { hopWords, hopStride } = batch;
  bytes[start] = tag;
  const body = start + 2;
  let at = body;
  const node = hopWords[NODE * hopStride + row]! | 0;
  if (node !== NONE && !isOwn) at = putField(bytes, at, TAG_NODE, node);
  const l1 = hopWords[L1 * hopStride + row]! | 0;
  if (l1 !== NONE) {
    if (isWide) {
      at = putWideInterfaces(bytes, at, l1);
    } else {
      at = putField(bytes, at, TAG_L1_INGRESS, l1 >>> 16);
      at = putField(bytes, at, TAG_L1_EGRESS, l1 & 0xffff);
    }
  }
  const latency = hopWords[LATENCY * hopStride + row]! | 0;
  if (latency !== NONE) at = putField(bytes, at, TAG_LATENCY, latency);
  const queue = hopWords[QUEUE * hopStride + row]! | 0;
  if (queue !== NONE) {
    if (!isWide) at = putField(bytes, at, TAG_QUEUE_ID, queue >>> 24);
    at = putField(bytes, at, TAG_QUEUE_OCCUPANCY, isWide ? queue : queue & 0xff_ffff);
  }
  const ingressHigh = hopWords[INGRESS * hopStride + row]! | 0;
  const ingressLow = hopWords[(INGRESS + 1) * hopStride + row]! | 0;
  if ((ingressHigh & ingressLow) !== NONE) at = putFixed64(view, at, TAG_INGRESS, ingressHigh, ingressLow);
  const egressHigh = hopWords[EGRESS * hopStride + row]! | 0;
  const egressLow = hopWords[(EGRESS + 1) * hopStride + row]! | 0;
  if ((egressHigh & egressLow) !== NONE) at = putFixed64(view, at, TAG_EGRESS, egressHigh, egressLow);
  const isRare = (batch.state[STATE.WRITTEN]! & RARE) !== 0;
  if (isRare) {
    const l2Ingress = hopWords[L2 * hopStride + row]! | 0;
    const l2Egress = hopWords[(L2 + 1) * hopStride + row]! | 0;
    if ((l2Ingress & l2Egress) !== NONE) {
      at = putField(bytes, at, TAG_L2_INGRESS, l2Ingress);
      at = putField(bytes, at, TAG_L2_EGRESS, l2Egress);
    }
  }
  const utilization = hopWords[UTILIZATION * hopStride + row]! | 0;
  if (utilization !== NONE) at = putField(bytes, at, TAG_UTILIZATION, utilization);
  if (isRare) at = putRare(bytes, at, batch, row, isWide);
  return closeField(bytes, body, at);
}
