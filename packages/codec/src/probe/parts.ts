/** Where the parts of a GPINT probe lie (reliable GPINT, section IV), and how long they can be. */
import { CODES } from '../codes.js';
import { readUint16 } from '../headers/codec.js';

/** A probe is never longer (UDP payload). */
export const MAX_PROBE_BYTES = 2200;
/** DLV headers that are accepted: the hop-count column of a batch has 8 bits. */
export const MAX_PROBE_SWITCHES = 255;
/** DSCP of a feedback. Its UDP payload is the request meta alone. */
export const FEEDBACK_DSCP = 0x19;
export const FEEDBACK_BYTES = 2;

/** Bytes of an entry of the SR stack. */
export const routeBytes = (extended: boolean): number => (extended ? 4 : 3);
/** Bytes of a DLV header. */
export const dlvBytes = (extended: boolean): number => (extended ? 6 : 4);

/**
 * Offsets and counts of a probe's three stacks. {@link readProbeParts} fills it, for any number of probes. Offsets
 * count from the start of the array that was read, not of the probe.
 */
export class ProbeParts {
  /** Entries of the SR stack: switches that the probe has yet to visit. */
  routeCount = 0;
  /** First entry of the SR stack. */
  routeOffset = 0;
  /** DLV headers: switches that the probe has visited. */
  switchCount = 0;
  /** First DLV header. */
  switchOffset = 0;
  measurementCount = 0;
  /** First measurement. */
  measurementOffset = 0;
}

/**
 * Finds the parts of the probe that fills `[start, end)`. It reads nothing outside and never throws. The time is linear
 * in the number of DLV headers.
 *
 * @returns 0, or the status code of a batch that says what is wrong: `TRUNCATED`, `BAD_PROBE` (longer than
 *   `MAX_PROBE_BYTES`, or the counts do not agree), `TRAILING_BYTES`. `parts` then holds what was read so far
 */
export function readProbeParts(
  bytes: Uint8Array,
  start: number,
  end: number,
  extended: boolean,
  parts: ProbeParts,
): number {
  const limit = Math.min(end, bytes.length);
  const dlv = dlvBytes(extended);
  if (limit - start > MAX_PROBE_BYTES) return CODES.BAD_PROBE;
  if (start < 0 || start + 4 > limit) return CODES.TRUNCATED;
  parts.routeOffset = start + 4;
  parts.routeCount = readUint16(bytes, start + 2);
  const counts = parts.routeOffset + parts.routeCount * routeBytes(extended);
  if (counts + 2 > limit) return CODES.TRUNCATED;
  parts.switchOffset = counts + 2;
  parts.switchCount = readUint16(bytes, counts);
  const total = parts.switchOffset + parts.switchCount * dlv;
  if (total + 2 > limit) return CODES.TRUNCATED;
  let expected = 0;
  for (let at = parts.switchOffset + dlv - 2; at < total; at += dlv) expected += readUint16(bytes, at);
  parts.measurementOffset = total + 2;
  parts.measurementCount = readUint16(bytes, total);
  if (parts.measurementCount !== expected) return CODES.BAD_PROBE;
  const close = parts.measurementOffset + 4 * parts.measurementCount;
  if (close > limit) return CODES.TRUNCATED;
  return close === limit ? CODES.OK : CODES.TRAILING_BYTES;
}

/**
 * Port to which the switch at the top of the SR stack sends the probe. -1 if the stack is empty (the probe is on its
 * way home), or if the bytes are not those of a probe.
 */
export function nextHopOf(probe: Uint8Array, extended: boolean): number {
  if (probe.length < 6 + routeBytes(extended) || readUint16(probe, 2) === 0) return -1;
  return extended ? readUint16(probe, 4) : probe[4]!;
}

/** Switch id of DLV header `index` of a probe whose parts are known. */
export function dlvSwitchId(bytes: Uint8Array, parts: ProbeParts, index: number, extended: boolean): number {
  const at = parts.switchOffset + dlvBytes(extended) * index;
  return extended ? readUint16(bytes, at) : bytes[at]!;
}

/**
 * The most bytes that a probe has at any point of its route. At each hop it loses an SR entry, and gains a DLV header
 * and the measurements.
 *
 * @param measurementCounts measurements asked of each switch (0 to 255), in the order of the route
 */
export function probeBytes(measurementCounts: ArrayLike<number>, extended: boolean): number {
  // Request meta and the three counts. A DLV header is longer than an SR entry, so the probe is longest at the end.
  let length = 8;
  for (let hop = 0; hop < measurementCounts.length; hop++) length += dlvBytes(extended) + 4 * measurementCounts[hop]!;
  return length;
}
