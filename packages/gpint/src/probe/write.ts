/** Writes the packets that a monitor sends. */
import { gpintProbe } from '@int/codec';
import { gpintProbeExtended } from '@int/codec/internals';
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
  const visits = [...prefix, ...routes.probes[dispatch.probe]!.switches.slice(start)];
  const route = visits.map((node, hop) => {
    const next = visits[hop + 1];
    const isMeasured = hop >= prefix.length;
    return {
      nextPort: next === undefined ? 0 : portOf(node, next),
      firstMeasurement: isMeasured ? first[node]! : 0,
      measurementCount: isMeasured ? count[node]! : 0,
    };
  });
  const type = portPackets ? 'port-packets' : 'rule-hits';
  return (extended ? gpintProbeExtended : gpintProbe).encode({
    requestId,
    type,
    route,
    switches: [],
    measurements: [],
  });
}
