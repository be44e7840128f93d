import { FLAG, type TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';
import type { MessageSlab } from './slab.js';

/** The longest key: two IPv6 addresses, protocol, two ports. */
export const MAX_KEY_BYTES = 37;

const M = 0x5bd1e995;
const SEED = 0x9747b28c | 0;

/**
 * Murmur2 as Kafka's default partitioner computes it, without the sign: the partition of a key is this modulo the number
 * of partitions, for every producer with the default partitioner.
 */
export function partitionHash(view: DataView, start: number, end: number): number {
  const length = end - start;
  let hash = SEED ^ length;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    let k = Math.imul(view.getInt32(at, true), M);
    k = Math.imul(k ^ (k >>> 24), M);
    hash = Math.imul(hash, M) ^ k;
  }
  const rest = end - at;
  if (rest > 2) hash ^= view.getUint8(at + 2) << 16;
  if (rest > 1) hash ^= view.getUint8(at + 1) << 8;
  if (rest > 0) hash = Math.imul(hash ^ view.getUint8(at), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return (hash ^ (hash >>> 15)) & 0x7fff_ffff;
}

/** Writes the key of an IPv4 flow, 13 bytes. @returns the position behind it */
export function putKey4(
  view: DataView,
  at: number,
  source: number,
  destination: number,
  protocol: number,
  ports: number,
): number {
  view.setInt32(at, source);
  view.setInt32(at + 4, destination);
  view.setUint8(at + 8, protocol);
  view.setInt32(at + 9, ports);
  return at + 13;
}

/**
 * Writes the key of an IPv6 flow, 37 bytes.
 * @param source index of the source's first word
 * @param step from one word of an address to the next
 */
export function putKey6(
  view: DataView,
  at: number,
  words: Int32Array | Uint32Array,
  source: number,
  destination: number,
  step: number,
  protocol: number,
  ports: number,
): number {
  for (let k = 0; k < 4; k++) {
    view.setInt32(at + 4 * k, words[source + k * step]! | 0);
    view.setInt32(at + 16 + 4 * k, words[destination + k * step]! | 0);
  }
  view.setUint8(at + 32, protocol);
  view.setInt32(at + 33, ports);
  return at + 37;
}

const SOURCE = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');
const DESTINATION = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('destination0');

/** Writes the key of report row `row`: of its flow, or else of its node. @returns the position behind it */
export function putReportKey(view: DataView, at: number, batch: TelemetryBatch, row: number): number {
  const flags = batch.flags[row]! | 0;
  if ((flags & FLAG.FLOW) === 0) {
    view.setInt32(at, batch.nodeId[row]! | 0);
    return at + 4;
  }
  const protocol = batch.protocol[row]!;
  const ports = batch.ports[row]! | 0;
  if ((flags & FLAG.IPV6) === 0) {
    return putKey4(view, at, batch.source0[row]! | 0, batch.destination0[row]! | 0, protocol, ports);
  }
  const stride = batch.reportStride;
  const { reportWords } = batch;
  return putKey6(view, at, reportWords, SOURCE * stride + row, DESTINATION * stride + row, stride, protocol, ports);
}

/** Enters a message whose key was written at `slab.used` and ends at `keyEnd`, and whose value ends at `valueEnd`. */
export function enter(slab: MessageSlab, kind: number, keyEnd: number, valueEnd: number, timeMs: number): void {
  const row = slab.count;
  const start = slab.used;
  slab.keyStart[row] = start;
  slab.keyEnd[row] = keyEnd;
  slab.valueStart[row] = keyEnd;
  slab.valueEnd[row] = valueEnd;
  slab.kind[row] = kind;
  slab.partitionHash[row] = partitionHash(slab.view, start, keyEnd);
  slab.timeMs[row] = timeMs;
  slab.used = valueEnd;
  slab.count = row + 1;
}
