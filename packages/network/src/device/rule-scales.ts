import type { MetricName } from '@int/codec';
import { MEASURED_METRICS, type MetricScale, type Scale, type Scales } from '../units/scale.js';
import type { DeviceProfile } from './profile.js';

/** Most switches with a scale of their own, for each metric. */
const MOST_SWITCHES = 65_536;

/**
 * The scales of a profile's metrics, for rules that name none. A metric of which no unit of most switches is known has none.
 * @throws RangeError for more than 65,536 switches with a unit of their own
 */
export function scalesOf(device: DeviceProfile): Scales {
  const scales = new Map<MetricName, MetricScale>();
  for (const metric of MEASURED_METRICS) {
    const usual = device.scale(metric);
    if (usual === null) continue;
    const switches = new Map<number, Scale>();
    for (const { range, scale } of device.ownScales(metric)) {
      if (switches.size + range.to - range.from >= MOST_SWITCHES) {
        throw new RangeError(`${metric}: rules know at most ${MOST_SWITCHES} switches with a unit of their own`);
      }
      // The first that has an id counts.
      for (let id = range.from; id <= range.to; id++) if (!switches.has(id)) switches.set(id, scale);
    }
    scales.set(metric, { default: usual, switches: new Map([...switches].sort(([a], [b]) => a - b)) });
  }
  return scales;
}
