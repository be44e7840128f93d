/** What a switch does to a probe. */
import { CODES } from '../codes.js';
import { MAX_PROBE_BYTES, MAX_PROBE_SWITCHES } from '../scan/gpint.js';
import { ProbeParts, readProbeParts } from './parts.js';

/** What a switch has to say of itself. */
export interface ProbeHop {
  /** 8 bits, extended 16; higher ones are cut off. */
  readonly switchId: number;
  /** Packets in its queue. Cut to the largest value of the layout (255 or 65535). */
  readonly queueDepth: number;
  /** The counters of the request's type, by index. One that is not there reads 0. */
  readonly counters: ArrayLike<number>;
}

/** One thread, no recursion: the parts of the probe in hand. */
const parts = /* @__PURE__ */ new ProbeParts();

/**
 * One hop (reliable GPINT, section III-C): takes the top entry off the SR stack, appends a DLV header and the counters
 * that the entry's range asks for.
 *
 * @param probe the whole UDP payload
 * @param out where the new payload goes: room for `MAX_PROBE_BYTES`; not `probe` itself
 * @returns its length; -1 if `probe` is no sound probe, if its SR stack is empty, or if it would grow beyond
 *   `MAX_PROBE_BYTES` bytes or {@link MAX_PROBE_SWITCHES} switches
 */
export function advanceProbe(probe: Uint8Array, hop: ProbeHop, extended: boolean, out: Uint8Array): number {
  if (readProbeParts(probe, 0, probe.length, extended, parts) !== CODES.OK || parts.routeCount === 0) return -1;
  const routeBytes = extended ? 4 : 3;
  const dlvBytes = extended ? 6 : 4;
  const { routeOffset, routeCount, switchOffset, switchCount, measurementOffset } = parts;
  const first = probe[routeOffset + routeBytes - 2]!;
  const count = probe[routeOffset + routeBytes - 1]!;
  const length = probe.length - routeBytes + dlvBytes + 4 * count;
  if (length > MAX_PROBE_BYTES || switchCount === MAX_PROBE_SWITCHES) return -1;
  if (out.length < length) throw new RangeError(`out has ${out.length} bytes, the probe needs ${length}`);

  out[0] = probe[0]!;
  out[1] = probe[1]!;
  put16(out, 2, routeCount - 1);
  let at = copy(probe, routeOffset + routeBytes, switchOffset - 2, out, 4);
  put16(out, at, switchCount + 1);
  at = copy(probe, switchOffset, measurementOffset - 2, out, at + 2);
  const most = extended ? 0xffff : 0xff;
  const depth = Math.min(Math.max(hop.queueDepth, 0), most);
  if (extended) {
    put16(out, at, hop.switchId);
    put16(out, at + 2, depth);
  } else {
    out[at] = hop.switchId;
    out[at + 1] = depth;
  }
  at += dlvBytes;
  put16(out, at - 2, count);
  put16(out, at, parts.measurementCount + count);
  at = copy(probe, measurementOffset, probe.length, out, at + 2);
  const { counters } = hop;
  for (let index = first; index < first + count; index++, at += 4) {
    const value = index < counters.length ? counters[index]! : 0;
    put16(out, at, value >>> 16);
    put16(out, at + 2, value);
  }
  return at;
}

/** A loop: probes are short, and a view for each copy would be an allocation. @returns where the copy ends */
function copy(from: Uint8Array, start: number, end: number, out: Uint8Array, to: number): number {
  let at = to;
  for (let i = start; i < end; i++) out[at++] = from[i]!;
  return at;
}

function put16(out: Uint8Array, at: number, value: number): void {
  out[at] = value >>> 8;
  out[at + 1] = value;
}
