/** What the numbers of windows and events are in, for readers of the topics. */
import type { DeviceProfile, MetricUnit } from '@int/network';
import type { FlowWindow, ImmediateEvent, NetworkWindow } from '@int/stream';

const METRICS = ['hopLatency', 'queueOccupancy'] as const;

/** Units by metric; of those that nobody said there are none. */
export type UnitsOfMessage = Readonly<Partial<Record<(typeof METRICS)[number], MetricUnit>>>;

/** The units of a switch, or of most switches; `undefined`: none is known. */
function unitsOf(device: DeviceProfile, switchId?: number | null): UnitsOfMessage | undefined {
  const known = METRICS.flatMap((metric) => {
    const unit = device.unit(metric, switchId ?? undefined);
    return unit === null ? [] : [[metric, unit] as const];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

const isSame = (a: UnitsOfMessage | undefined, b: UnitsOfMessage | undefined): boolean =>
  METRICS.every((metric) => a?.[metric]?.text === b?.[metric]?.text);

/**
 * A window or event with `units` of its latencies (`hopLatency`) and occupancies (`queueOccupancy`). Those of a flow's window are of
 * most switches; a hop whose switch has others has its own.
 */
export function withUnits(
  found: FlowWindow | NetworkWindow | ImmediateEvent,
  device: DeviceProfile,
): { readonly type: string; readonly hops?: readonly object[]; readonly units?: UnitsOfMessage } {
  if (found.type === 'flowWindow') {
    const units = unitsOf(device);
    const hops = found.hops.map((hop) => {
      const own = unitsOf(device, hop.nodeId);
      return own === undefined || isSame(own, units) ? hop : { ...hop, units: own };
    });
    return { ...found, hops, ...(units !== undefined && { units }) };
  }
  const isOfSwitch =
    found.type === 'switchWindow' || (found.type === 'immediate' && found.kind === 'persistentCongestion');
  const units = isOfSwitch ? unitsOf(device, found.nodeId) : undefined;
  return units === undefined ? found : { ...found, units };
}
