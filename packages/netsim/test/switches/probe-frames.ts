import { decodeFrame, GPINT_DSCP, type GpintInfo, type GpintProbe, gpintProbe } from '@int/codec';
import { gpintMeta, gpintProbeExtended } from '@int/codec/internals';
import { type BuildOptions, type BuiltNetwork, buildNetwork } from '@int/netsim';

/** One SR entry: next port, first measurement, measurement count. */
export type Entry = readonly [number, number, number];

/** UDP payload of a probe that has visited no switch yet. */
export function probeOf(
  requestId: number,
  entries: readonly Entry[],
  options: { extended?: boolean; type?: GpintProbe['type'] } = {},
): Uint8Array {
  const codec = options.extended === true ? gpintProbeExtended : gpintProbe;
  return codec.encode({
    requestId,
    type: options.type ?? 'port-packets',
    route: entries.map(([nextPort, firstMeasurement, measurementCount]) => ({
      nextPort,
      firstMeasurement,
      measurementCount,
    })),
    switches: [],
    measurements: [],
  });
}

/** SR entries of a walk: the port towards the next switch, 0 at the end; no measurements. */
export function walk(built: BuiltNetwork, visits: readonly number[], measurements = 0): Entry[] {
  return visits.map((at, i) => [i + 1 < visits.length ? built.portOf(at, visits[i + 1]!) : 0, 0, measurements]);
}

/** What a monitor got. */
export interface Return {
  readonly dscp: number;
  readonly requestId: number;
  /** Switches visited; empty for feedback. */
  readonly switches: readonly number[];
  readonly measurements: readonly number[];
  /** Next ports of the SR entries left. */
  readonly route: readonly number[];
  readonly port: number;
  readonly timeNs: number;
}

export const { PROBE, FEEDBACK, RECOVERY } = GPINT_DSCP;

/** A network that keeps what comes back to its monitor. */
export function monitored(options: BuildOptions): BuiltNetwork & { returns: Return[] } {
  const built = buildNetwork(options);
  const returns: Return[] = [];
  built.monitor.onPayload = (payload, dscp, port, timeNs) => {
    if (dscp === FEEDBACK) {
      const { requestId } = gpintMeta.decode(payload);
      returns.push({ dscp, requestId, switches: [], measurements: [], route: [], port, timeNs });
      return;
    }
    const { requestId, switches, measurements, route } = (built.extended ? gpintProbeExtended : gpintProbe).decode(
      payload,
      0,
    );
    returns.push({
      dscp,
      requestId,
      switches: switches.map((each) => each.switchId),
      measurements,
      route: route.map((each) => each.nextPort),
      port,
      timeNs,
    });
  };
  return { ...built, returns };
}

/** Switches 0 to n - 1 in a row. */
export function line(count: number): [number, number][] {
  return Array.from({ length: count - 1 }, (_, i) => [i, i + 1]);
}

/** What a frame is as a probe. */
export function gpintOf(frame: Uint8Array): GpintInfo {
  const [record] = decodeFrame(frame);
  if (record?.status !== 'ok' || record.int?.mode !== 'gpint') throw new Error(`no probe: ${record?.status}`);
  return record.int;
}
