import type { MetricName } from '@int/codec';
import type { DeviceProfile } from '@int/network';
import { MEASURED_METRICS, type MetricScale, type Scale } from '@int/network/internals';
import { RulesError } from '../errors.js';
import type { Units } from './units.js';

/** Of switches whose unit nobody said: no quantity with a unit fits. */
const PLAIN: Scale = { text: 'plain numbers', per: /* @__PURE__ */ new Map() };

/** A threshold is kept for each switch that has a scale of its own: so many at most. */
const MOST_SWITCHES = 65_536;

/** The scales of the rules, and those of a device profile for metrics that the rules say nothing about. */
export function withProfile(units: Units, profile: DeviceProfile | undefined): Units {
  if (profile === undefined) return units;
  const scales = new Map(units.scales);
  for (const metric of MEASURED_METRICS) {
    if (scales.has(metric) || units.broken.has(metric)) continue;
    const scale = scaleOf(metric, profile);
    if (scale !== null) scales.set(metric, scale);
  }
  return { scales, broken: units.broken };
}

function scaleOf(metric: MetricName, profile: DeviceProfile): MetricScale | null {
  const usual = profile.scale(metric);
  const own = profile.ownScales(metric);
  if (usual === null && own.length === 0) return null;
  const switches = new Map<number, Scale>();
  for (const { range, scale } of own) {
    if (switches.size + range.to - range.from >= MOST_SWITCHES) {
      const message = `the device profile gives ${metric} another unit at more than ${MOST_SWITCHES} switches: rules take fewer`;
      throw new RulesError([{ code: 'CAPACITY', path: [], message }]);
    }
    // As in the profile, the first that names a switch holds.
    for (let id = range.from; id <= range.to; id++) if (!switches.has(id)) switches.set(id, scale);
  }
  return { default: usual ?? PLAIN, switches: new Map([...switches].sort(([a], [b]) => a - b)) };
}
