import { type DeviceProfile, type Measured, valueText } from '@int/network';
import { compact } from '../output/numbers.js';

/** Names of units that have no prefixes, in narrow columns. */
const NARROW: Readonly<Partial<Record<string, string>>> = { cells: 'cells', packets: 'pkts' };

/**
 * A value of a switch for a narrow column, at most 11 characters: `1.25 ms`, `12k cells`; a plain number if its unit is not
 * known, `-` without a value.
 *
 * @param value in device units
 * @param switchId `null`: of several switches, or of one that is not known
 */
export function measured(
  device: DeviceProfile,
  metric: Measured,
  value: number | null,
  switchId: number | null,
): string {
  const unit = switchId === null && !device.isUniform(metric) ? null : device.unit(metric, switchId ?? undefined);
  if (value === null || unit === null) return compact(value);
  const name = NARROW[unit.base];
  return name === undefined ? valueText(value, unit) : `${compact(value)} ${name}`;
}
