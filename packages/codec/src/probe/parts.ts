/** Where the parts of a probe lie. */
import { CODES } from '../codes.js';
import { MAX_PROBE_BYTES, probeSizes } from '../scan/gpint.js';

/**
 * Offsets and counts of a probe's three stacks, filled by {@link readProbeParts}. Offsets count from the start of the
 * array that was read, not of the probe. One object serves any number of probes.
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
 * Finds the parts of the probe that fills `[start, end)`. Reads nothing outside, never throws; time linear in the number
 * of DLV headers.
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
  // The sizes of probeSizes, without an object for each probe.
  const routeBytes = extended ? 4 : 3;
  const dlvBytes = extended ? 6 : 4;
  if (limit - start > MAX_PROBE_BYTES) return CODES.BAD_PROBE;
  if (start < 0 || start + 4 > limit) return CODES.TRUNCATED;
  parts.routeOffset = start + 4;
  parts.routeCount = uint16(bytes, start + 2);
  const counts = parts.routeOffset + parts.routeCount * routeBytes;
  if (counts + 2 > limit) return CODES.TRUNCATED;
  parts.switchOffset = counts + 2;
  parts.switchCount = uint16(bytes, counts);
  const total = parts.switchOffset + parts.switchCount * dlvBytes;
  if (total + 2 > limit) return CODES.TRUNCATED;
  let expected = 0;
  for (let at = parts.switchOffset + dlvBytes - 2; at < total; at += dlvBytes) expected += uint16(bytes, at);
  parts.measurementOffset = total + 2;
  parts.measurementCount = uint16(bytes, total);
  if (parts.measurementCount !== expected) return CODES.BAD_PROBE;
  const close = parts.measurementOffset + 4 * parts.measurementCount;
  if (close > limit) return CODES.TRUNCATED;
  return close === limit ? CODES.OK : CODES.TRAILING_BYTES;
}

/**
 * Port that the switch at the top of the SR stack sends the probe to; -1 if the stack is empty (the probe is on its way
 * home) or the bytes are no probe's.
 */
export function nextHopOf(probe: Uint8Array, extended: boolean): number {
  const { route } = probeSizes(extended);
  if (probe.length < 6 + route || uint16(probe, 2) === 0) return -1;
  return extended ? uint16(probe, 4) : probe[4]!;
}

/** Switch id of DLV header `index` of a probe whose parts are known. */
export function dlvSwitchId(bytes: Uint8Array, parts: ProbeParts, index: number, extended: boolean): number {
  return extended ? uint16(bytes, parts.switchOffset + 6 * index) : bytes[parts.switchOffset + 4 * index]!;
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
