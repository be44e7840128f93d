/** How much a probe can carry, and where a path has to be cut. */
import { MAX_PROBE_BYTES, MAX_PROBE_SWITCHES, probeSizes } from '../scan/gpint.js';

export { MAX_PROBE_SWITCHES };

/** Request meta and the three counts. */
const FIXED_BYTES = 8;

/**
 * The most bytes that a probe ever has on its way along a route: at each hop an SR entry goes, and a DLV header and the
 * measurements come.
 *
 * @param measurementCounts measurements asked of each switch (0 to 255), in the order of the route
 */
export function probeBytes(measurementCounts: ArrayLike<number>, extended: boolean): number {
  const { route, dlv } = probeSizes(extended);
  let length = FIXED_BYTES + route * measurementCounts.length;
  // A DLV header is longer than an SR entry in both layouts, so it is longest at the end.
  for (let hop = 0; hop < measurementCounts.length; hop++) length += dlv - route + 4 * measurementCounts[hop]!;
  return length;
}

/**
 * Cuts a route into as few probes as can carry it: each at most `MAX_PROBE_BYTES` and {@link MAX_PROBE_SWITCHES}
 * on its whole way.
 *
 * @param measurementCounts measurements asked of each switch (0 to 255), in the order of the route
 * @returns index of the first hop of each probe: empty for an empty route. One hop always fits
 */
export function probeParts(measurementCounts: ArrayLike<number>, extended: boolean): number[] {
  const { dlv } = probeSizes(extended);
  const starts: number[] = [];
  let length = MAX_PROBE_BYTES;
  let hops = 0;
  for (let hop = 0; hop < measurementCounts.length; hop++) {
    const more = dlv + 4 * measurementCounts[hop]!;
    if (starts.length === 0 || length + more > MAX_PROBE_BYTES || hops === MAX_PROBE_SWITCHES) {
      starts.push(hop);
      length = FIXED_BYTES;
      hops = 0;
    }
    length += more;
    hops++;
  }
  return starts;
}
