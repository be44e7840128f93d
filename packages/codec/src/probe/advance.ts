/** What a switch does to a probe. */
import { CODES } from '../codes.js';
import { writeUint16, writeUint32 } from '../headers/codec.js';
import { dlvBytes, MAX_PROBE_BYTES, MAX_PROBE_SWITCHES, ProbeParts, readProbeParts, routeBytes } from './parts.js';

/** What a switch reports. */
export interface ProbeHop {
  /** 8 bits, extended 16; higher bits are cut off. */
  readonly switchId: number;
  /** Packets in its queue; at most the largest value of the layout (255 or 65535) is written. */
  readonly queueDepth: number;
  /** The counters of the request's type, by index. A missing one is 0. */
  readonly counters: ArrayLike<number>;
}

/** The parts of the probe in hand. */
const parts = /* @__PURE__ */ new ProbeParts();

/**
 * One hop (reliable GPINT, section III-C): takes the top entry off the SR stack, and appends a DLV header and the
 * counters in the range of the entry.
 *
 * @param probe the whole UDP payload
 * @param out receives the new payload; has room for `MAX_PROBE_BYTES` and is not `probe` itself
 * @returns its length; -1 if `probe` is no sound probe, if its SR stack is empty, or if it would grow beyond
 *   `MAX_PROBE_BYTES` bytes or {@link MAX_PROBE_SWITCHES} switches
 */
export function advanceProbe(probe: Uint8Array, hop: ProbeHop, extended: boolean, out: Uint8Array): number {
  if (readProbeParts(probe, 0, probe.length, extended, parts) !== CODES.OK || parts.routeCount === 0) return -1;
  const routeSize = routeBytes(extended);
  const { routeOffset, routeCount, switchOffset, switchCount, measurementOffset } = parts;
  const first = probe[routeOffset + routeSize - 2]!;
  const count = probe[routeOffset + routeSize - 1]!;
  const length = probe.length - routeSize + dlvBytes(extended) + 4 * count;
  if (length > MAX_PROBE_BYTES || switchCount === MAX_PROBE_SWITCHES) return -1;
  if (out.length < length) throw new RangeError(`out has ${out.length} bytes, the probe needs ${length}`);

  out[0] = probe[0]!;
  out[1] = probe[1]!;
  writeUint16(out, 2, routeCount - 1);
  let at = copy(probe, routeOffset + routeSize, switchOffset - 2, out, 4);
  writeUint16(out, at, switchCount + 1);
  at = copy(probe, switchOffset, measurementOffset - 2, out, at + 2);
  const most = extended ? 0xffff : 0xff;
  const depth = Math.min(Math.max(hop.queueDepth, 0), most);
  if (extended) {
    writeUint16(out, at, hop.switchId);
    writeUint16(out, at + 2, depth);
  } else {
    out[at] = hop.switchId;
    out[at + 1] = depth;
  }
  at += dlvBytes(extended);
  writeUint16(out, at - 2, count);
  writeUint16(out, at, parts.measurementCount + count);
  at = copy(probe, measurementOffset, probe.length, out, at + 2);
  const { counters } = hop;
  for (let index = first; index < first + count; index++, at += 4) {
    writeUint32(out, at, index < counters.length ? counters[index]! : 0);
  }
  return at;
}

/** Copies in a loop, because probes are short and a view would be an allocation. @returns where the copy ends */
function copy(from: Uint8Array, start: number, end: number, out: Uint8Array, to: number): number {
  let at = to;
  for (let i = start; i < end; i++) out[at++] = from[i]!;
  return at;
}
