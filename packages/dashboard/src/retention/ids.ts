import type { TelemetryBatch } from '@int/codec';
import { type EventBatch, KIND, SCOPES } from '@int/detect';
import { crc32 } from '@int/hash';

const encoder = /* @__PURE__ */ new TextEncoder();
const words = /* @__PURE__ */ new Uint32Array(8);
const wordBytes = /* @__PURE__ */ new Uint8Array(words.buffer);

/** The form of an id of a report, and of an event. */
const REPORT = /^(\d{1,20})-([0-9a-f]{8})$/;
const EVENT = /^(\d{1,20})-([0-9a-f]{8})-([0-9a-f]{8})$/;

const HOP_SCOPE = /* @__PURE__ */ SCOPES.indexOf('hop');

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/**
 * The id of a report: its time in nanoseconds, and a checksum of its frame. It depends on nothing else, so a replay of the same
 * frames gives the same ids.
 * @param index of the report in its frame, from 0
 */
export function reportId(batch: TelemetryBatch, row: number, index: number): string {
  return `${batch.timeNs(row)}-${hex(reportHash(batch, row, index))}`;
}

/** The checksum in the id of a report. */
export function reportHash(batch: TelemetryBatch, row: number, index: number): number {
  const frame = batch.frame[row]!;
  const offset = batch.frameOffset[frame]!;
  const length = batch.frameLength[frame]!;
  words.fill(0);
  words[0] = index;
  // What has no frame is known by what it is about.
  if (length === 0) {
    words[1] = batch.nodeId[row]!;
    words[2] = batch.source0[row]!;
    words[3] = batch.destination0[row]!;
    words[4] = batch.ports[row]!;
    words[5] = batch.protocol[row]!;
    words[6] = batch.flags[row]!;
  }
  return crc32(batch.bytes, offset, length, crc32(wordBytes));
}

/** The id of an event: that of its report, and a checksum of its rule, hop, switch and state. */
export function eventId(events: EventBatch, row: number, report: string): string {
  const kind = events.kind[row]!;
  words.fill(0);
  words[0] = kind;
  // In other scopes these columns mean nothing.
  if (((kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK) === HOP_SCOPE) {
    words[1] = events.hop[row]!;
    words[2] = events.nodeId[row]!;
  }
  const name = encoder.encode(events.ruleName(row) ?? '');
  return `${report}-${hex(crc32(name, 0, name.length, crc32(wordBytes)))}`;
}

/** What an id says; `null`: it is none. */
export function parseId(
  id: string,
): { readonly timeNs: bigint; readonly hash: number; readonly event: boolean } | null {
  const match = REPORT.exec(id) ?? EVENT.exec(id);
  if (match === null) return null;
  return { timeNs: BigInt(match[1]!), hash: Number.parseInt(match[2]!, 16), event: match[3] !== undefined };
}
