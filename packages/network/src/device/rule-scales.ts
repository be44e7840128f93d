import type { MetricName } from '@int/codec';
import { MEASURED_METRICS, type MetricScale, type Scale, type Scales } from '../units/scale.js';
import type { DeviceProfile } from './profile.js';

/** Most switches with a scale of their own, for each metric. */
const MOST_SWITCHES = 65_536;

/**
 * The scales of a profile's metrics, for rules that name none. A metric has none if no unit of most switches is known, or if
 * more than 65,536 switches have one of their own.
 */
export function scalesOf(device: DeviceProfile): Scales {
  const scales = new Map<MetricName, MetricScale>();
  for (const metric of MEASURED_METRICS) {
    const usual = device.scale(metric);
    if (usual === null) continue;
    const switches = new Map<number, Scale>();
    const own = device.ownScales(metric);
    if (own.reduce((sum, { range }) => sum + range.to - range.from + 1, 0) > MOST_SWITCHES) continue;
    for (const { range, scale } of own) {
      // The first that has an id counts.
      for (let id = range.from; id <= range.to; id++) if (!switches.has(id)) switches.set(id, scale);
    }
    scales.set(metric, { default: usual, switches: new Map([...switches].sort(([a], [b]) => a - b)) });
  }
  return scales;
}
