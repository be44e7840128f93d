/** Writes the packets that a monitor sends. */
import type { SendRecord } from '../recovery/model.js';
import type { ProbeRoutes } from './route.js';

/** A packet to send: a part of a probe, and the prefix before it. */
export type Dispatch = Pick<SendRecord, 'probe' | 'start' | 'prefix'> & { readonly requestId: number };

/**
 * UDP payload of a probe before its first visit: request meta, an SR entry for each switch, no DLV headers, no
 * measurements. Entry i has the port from switch i to switch i + 1, or 0 at the last; entries of the prefix request no
 * counters.
 */
export function writeProbe(routes: ProbeRoutes, dispatch: Dispatch, portPackets: boolean): Uint8Array {
  const { extended, first, count, portOf } = routes;
  const { prefix, start, requestId } = dispatch;
  const { switches } = routes.probes[dispatch.probe]!;
  const hops = prefix.length + switches.length - start;
  const bytes = new Uint8Array(8 + hops * (extended ? 4 : 3));
  bytes[0] = requestId >>> 7;
  bytes[1] = (requestId << 1) | (portPackets ? 1 : 0);
  bytes[2] = hops >>> 8;
  bytes[3] = hops;
  let at = 4;
  for (let hop = 0; hop < hops; hop++) {
    const measured = start + hop - prefix.length;
    const node = hop < prefix.length ? prefix[hop]! : switches[measured]!;
    const last = hop === hops - 1;
    const next = hop + 1 < prefix.length ? prefix[hop + 1]! : switches[measured + 1]!;
    const port = last ? 0 : portOf(node, next);
    if (extended) bytes[at++] = port >>> 8;
    bytes[at++] = port;
    if (hop >= prefix.length) {
      bytes[at] = first[node]!;
      bytes[at + 1] = count[node]!;
    }
    at += 2;
  }
  return bytes;
}
