import { HOP_COLUMNS, type HopColumn, STATE, type TelemetryBatch } from '@int/codec';
import { type PackedText, packText, putText, putUint32, putUint64 } from './ascii.js';
import { RESERVED_ITEMS } from './report-record.js';

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

const KEY_NODE = /* @__PURE__ */ packText(',"nodeId":');
const KEY_L1_INGRESS = /* @__PURE__ */ packText(',"l1IngressInterface":');
const KEY_L1_EGRESS = /* @__PURE__ */ packText(',"l1EgressInterface":');
const KEY_LATENCY = /* @__PURE__ */ packText(',"hopLatency":');
const KEY_QUEUE_ID = /* @__PURE__ */ packText(',"queueId":');
const KEY_QUEUE_OCCUPANCY = /* @__PURE__ */ packText(',"queueOccupancy":');
const KEY_INGRESS = /* @__PURE__ */ packText(',"ingressTimestamp":"');
const KEY_EGRESS = /* @__PURE__ */ packText(',"egressTimestamp":"');
const KEY_L2_INGRESS = /* @__PURE__ */ packText(',"l2IngressInterface":');
const KEY_L2_EGRESS = /* @__PURE__ */ packText(',"l2EgressInterface":');
const KEY_UTILIZATION = /* @__PURE__ */ packText(',"egressUtilization":');
const KEY_BUFFER_ID = /* @__PURE__ */ packText(',"bufferId":');
const KEY_BUFFER_OCCUPANCY = /* @__PURE__ */ packText(',"bufferOccupancy":');
const KEY_CHECKSUM = /* @__PURE__ */ packText(',"checksumComplement":');
const KEY_CONGESTION_ID = /* @__PURE__ */ packText(',"congestionQueueId":');
const KEY_CONGESTION = /* @__PURE__ */ packText(',"queueCongestion":');
const KEYS_RESERVED: readonly PackedText[] = /* @__PURE__ */ RESERVED_ITEMS.map((name) => packText(`,"${name}":`));

const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Bytes of a hop at most. */
export const HOP_JSON_BYTES = 640;

function putItem(view: DataView, at: number, key: PackedText, word: number): number {
  return putUint32(view, putText(view, at, key), word);
}

function putTime(view: DataView, at: number, key: PackedText, high: number, low: number): number {
  const next = putUint64(view, putText(view, at, key), high, low);
  view.setUint8(next, QUOTE);
  return next + 1;
}

/** A word of an 8-bit id and a 24-bit value. */
function putPair(view: DataView, at: number, id: PackedText, value: PackedText, word: number): number {
  return putItem(view, putItem(view, at, id, word >>> 24), value, word & 0xff_ffff);
}

function putRare(view: DataView, start: number, batch: TelemetryBatch, row: number, isWide: boolean): number {
  const { hopWords, hopStride } = batch;
  let at = start;
  const checksum = hopWords[CHECKSUM * hopStride + row]! | 0;
  if (checksum !== NONE) at = putItem(view, at, KEY_CHECKSUM, checksum);
  const congestion = hopWords[CONGESTION * hopStride + row]! | 0;
  if (congestion !== NONE) {
    at = isWide
      ? putItem(view, at, KEY_CONGESTION, congestion)
      : putPair(view, at, KEY_CONGESTION_ID, KEY_CONGESTION, congestion);
  }
  for (let k = 0; k < KEYS_RESERVED.length; k++) {
    const word = hopWords[(RESERVED8 + k) * hopStride + row]! | 0;
    if (word !== NONE) at = putItem(view, at, KEYS_RESERVED[k]!, word);
  }
  return at;
}

/** Level-1 interfaces of IntMon: a half is missing by itself. */
function putWideInterfaces(view: DataView, start: number, word: number): number {
  let at = start;
  if (word >>> 16 !== 0xffff) at = putItem(view, at, KEY_L1_INGRESS, word >>> 16);
  if ((word & 0xffff) !== 0xffff) at = putItem(view, at, KEY_L1_EGRESS, word & 0xffff);
  return at;
}

/**
 * Writes hop row `row` as `JSON.stringify` would write the hop of a `ReportRecord`.
 * @param isWide the row is one of an IntMon stack
 * @param isOwn the row holds the reporting node's own values, without its id
 */
export function putHop(
  view: DataView,
  start: number,
  batch: TelemetryBatch,
  row: number,
  isWide: boolean,
  isOwn: boolean,
): number {
  const { hopWords, hopStride } = batch;
  let at = start;
  // Each item brings the comma in front of it; the first one's becomes the brace.
  const node = hopWords[NODE * hopStride + row]! | 0;
  if (node !== NONE && !isOwn) at = putItem(view, at, KEY_NODE, node);
  const l1 = hopWords[L1 * hopStride + row]! | 0;
  if (l1 !== NONE) {
    at = isWide
      ? putWideInterfaces(view, at, l1)
      : putItem(view, putItem(view, at, KEY_L1_INGRESS, l1 >>> 16), KEY_L1_EGRESS, l1 & 0xffff);
  }
  const latency = hopWords[LATENCY * hopStride + row]! | 0;
  if (latency !== NONE) at = putItem(view, at, KEY_LATENCY, latency);
  const queue = hopWords[QUEUE * hopStride + row]! | 0;
  if (queue !== NONE) {
    at = isWide
      ? putItem(view, at, KEY_QUEUE_OCCUPANCY, queue)
      : putPair(view, at, KEY_QUEUE_ID, KEY_QUEUE_OCCUPANCY, queue);
  }
  const ingressHigh = hopWords[INGRESS * hopStride + row]! | 0;
  const ingressLow = hopWords[(INGRESS + 1) * hopStride + row]! | 0;
  if ((ingressHigh & ingressLow) !== NONE) at = putTime(view, at, KEY_INGRESS, ingressHigh, ingressLow);
  const egressHigh = hopWords[EGRESS * hopStride + row]! | 0;
  const egressLow = hopWords[(EGRESS + 1) * hopStride + row]! | 0;
  if ((egressHigh & egressLow) !== NONE) at = putTime(view, at, KEY_EGRESS, egressHigh, egressLow);
  const isRare = (batch.state[STATE.WRITTEN]! & RARE) !== 0;
  if (isRare) {
    const l2Ingress = hopWords[L2 * hopStride + row]! | 0;
    const l2Egress = hopWords[(L2 + 1) * hopStride + row]! | 0;
    if ((l2Ingress & l2Egress) !== NONE) {
      at = putItem(view, putItem(view, at, KEY_L2_INGRESS, l2Ingress), KEY_L2_EGRESS, l2Egress);
    }
  }
  const utilization = hopWords[UTILIZATION * hopStride + row]! | 0;
  if (utilization !== NONE) at = putItem(view, at, KEY_UTILIZATION, utilization);
  if (isRare) {
    const buffer = hopWords[BUFFER * hopStride + row]! | 0;
    if (buffer !== NONE) at = putPair(view, at, KEY_BUFFER_ID, KEY_BUFFER_OCCUPANCY, buffer);
    at = putRare(view, at, batch, row, isWide);
  }
  if (at === start) at++;
  view.setUint8(start, OPEN);
  view.setUint8(at, CLOSE);
  return at + 1;
}
