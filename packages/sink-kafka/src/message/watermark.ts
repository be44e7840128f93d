/** Watermarks: messages among the reports that tell a sink's progress. */
import { MESSAGE_HEADERS, MESSAGE_TYPES, type MessageFormat } from './encoder.js';
import { putField, putFixed64, putVarint53, tagOf, WIRE } from './wire.js';
import { WireReader } from './wire-reader.js';

/** What the header `type` of a watermark says. */
export const WATERMARK_TYPE = 'watermark';

/**
 * A message that tells the time up to which all reports of a sink are in its partition. A sink writes one to each
 * partition of the topic of reports at intervals, also without input.
 */
export interface Watermark {
  /** Of the sink: the beginning of its records' ids. Upper and lower 32 bits. */
  readonly instanceHigh: number;
  readonly instanceLow: number;
  /** All reports with an earlier time are before this message in the partition, or dropped. Milliseconds since the epoch. */
  readonly timeMs: number;
  /** The time of the pipeline when it was written, milliseconds since the epoch: no report offered before has a later one. */
  readonly clockMs: number;
  /** Reports that the sink has dropped so far, for any reason. */
  readonly dropped: number;
  /** The sink is closed: this is its last message in the partition. */
  readonly ended: boolean;
}

const FIELD = { INSTANCE: 1, TIME: 2, CLOCK: 3, DROPPED: 4, ENDED: 5 } as const;
/** Bytes of the longest one, in both formats. */
export const WATERMARK_BYTES = 256;

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

/** Whole microseconds: what comes behind the point in a number of milliseconds is not exact. */
function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.floor(timeMs * 1000)) * 1000n;
}

/** What lies between microseconds is not told. */
function milliseconds(timeNs: bigint): number {
  return Number(timeNs / 1000n) / 1000;
}

export function encodeWatermark(watermark: Watermark, format: MessageFormat): Uint8Array {
  const { instanceHigh, instanceLow, timeMs, clockMs, dropped, ended } = watermark;
  if (format === 'json') {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
    const instance = hex(instanceHigh) + hex(instanceLow);
    const [timeNs, clockNs] = [String(nanoseconds(timeMs)), String(nanoseconds(clockMs))];
    return encoder.encode(JSON.stringify({ type: WATERMARK_TYPE, instance, timeNs, clockNs, dropped, ended }));
  }
  const bytes = new Uint8Array(WATERMARK_BYTES);
  const view = new DataView(bytes.buffer);
  const fixed = (at: number, field: number, value: bigint): number =>
    putFixed64(view, at, tagOf(field, WIRE.FIXED64), Number(value >> 32n), Number(value & 0xffff_ffffn));
  let at = putFixed64(view, 0, tagOf(FIELD.INSTANCE, WIRE.FIXED64), instanceHigh, instanceLow);
  at = fixed(at, FIELD.TIME, nanoseconds(timeMs));
  at = fixed(at, FIELD.CLOCK, nanoseconds(clockMs));
  if (dropped > 0) {
    bytes[at] = tagOf(FIELD.DROPPED, WIRE.VARINT);
    at = putVarint53(bytes, at + 1, dropped);
  }
  if (ended) at = putField(bytes, at, tagOf(FIELD.ENDED, WIRE.VARINT), 1);
  return bytes.slice(0, at);
}

/** The value of a message of type `watermark`; `null` if it is none. Whatever the bytes are, it does not throw. */
export function decodeWatermark(value: Uint8Array, format: MessageFormat): Watermark | null {
  const watermark = format === 'json' ? fromJson(value) : fromProtobuf(value);
  if (watermark === null) return null;
  const { timeMs, clockMs, dropped } = watermark;
  return timeMs <= clockMs && Number.isSafeInteger(dropped) && dropped >= 0 ? watermark : null;
}

function fromProtobuf(value: Uint8Array): Watermark | null {
  const reader = new WireReader();
  reader.open(value);
  let [instanceHigh, instanceLow, timeMs, clockMs, dropped, ended, seen] = [0, 0, 0, 0, 0, false, 0];
  while (reader.next()) {
    const { field, wire } = reader;
    if (field <= FIELD.CLOCK && wire === WIRE.FIXED64) {
      const low = reader.fixed64();
      seen |= 1 << field;
      if (field === FIELD.INSTANCE) [instanceHigh, instanceLow] = [reader.high >>> 0, low >>> 0];
      else if (field === FIELD.TIME) timeMs = milliseconds(BigInt(reader.high >>> 0) * 2n ** 32n + BigInt(low >>> 0));
      else clockMs = milliseconds(BigInt(reader.high >>> 0) * 2n ** 32n + BigInt(low >>> 0));
    } else if (field === FIELD.DROPPED && wire === WIRE.VARINT) {
      const low = reader.varint();
      dropped = (reader.high >>> 0) * 2 ** 32 + (low >>> 0);
    } else if (field === FIELD.ENDED && wire === WIRE.VARINT) {
      ended = reader.varint() !== 0;
    } else {
      reader.skip();
    }
  }
  const needed = (1 << FIELD.INSTANCE) | (1 << FIELD.TIME) | (1 << FIELD.CLOCK);
  if (reader.failure !== 0 || (seen & needed) !== needed) return null;
  return { instanceHigh, instanceLow, timeMs, clockMs, dropped, ended };
}

function fromJson(value: Uint8Array): Watermark | null {
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(value));
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { type, instance, timeNs, clockNs, dropped, ended } = json as Readonly<Record<string, unknown>>;
  if (type !== WATERMARK_TYPE || typeof instance !== 'string' || !/^[0-9a-f]{16}$/.test(instance)) return null;
  const [timeMs, clockMs] = [millisecondsOf(timeNs), millisecondsOf(clockNs)];
  if (timeMs === null || clockMs === null || typeof dropped !== 'number' || typeof ended !== 'boolean') return null;
  const [instanceHigh, instanceLow] = [instance.slice(0, 8), instance.slice(8)].map((hex) => Number.parseInt(hex, 16));
  return { instanceHigh: instanceHigh!, instanceLow: instanceLow!, timeMs, clockMs, dropped, ended };
}

function millisecondsOf(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return null;
  return milliseconds(BigInt(text));
}

/** What the headers of a message of the topic `reports` say: its type, and how its value is written; null: nothing that is known. */
export function messageKind(headers: Iterable<readonly [Uint8Array | null, Uint8Array | null]>): {
  readonly type: 'report' | 'watermark' | 'other' | null;
  readonly format: MessageFormat | null;
} {
  let type: 'report' | 'watermark' | 'other' | null = null;
  let format: MessageFormat | null = null;
  for (const [name, value] of headers) {
    if (name === null || value === null) continue;
    if (isText(name, MESSAGE_HEADERS.TYPE)) {
      type = isText(value, MESSAGE_TYPES.reports) ? 'report' : isText(value, WATERMARK_TYPE) ? 'watermark' : 'other';
    } else if (isText(name, MESSAGE_HEADERS.FORMAT)) {
      format = isText(value, 'json') ? 'json' : isText(value, 'protobuf') ? 'protobuf' : null;
    }
  }
  return { type, format };
}

function isText(bytes: Uint8Array, text: string): boolean {
  if (bytes.length !== text.length) return false;
  for (let at = 0; at < text.length; at++) if (bytes[at] !== text.charCodeAt(at)) return false;
  return true;
}
