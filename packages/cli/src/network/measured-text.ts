/** Values of switches as text, with the units of a device profile. */
import { type BaseUnit, type DeviceProfile, type Measured, type MetricUnit, valueText } from '@int/network';
import { compact, factor, grouped } from '../output/numbers.js';

/** Names of units that have no prefixes, in narrow columns. */
const NARROW: Readonly<Partial<Record<BaseUnit, string>>> = { cells: 'cells', packets: 'pkts' };

/** @param switchId `null`: of several switches, or of one that is not known */
function unitAt(device: DeviceProfile, metric: Measured, switchId: number | null): MetricUnit | null {
  if (switchId !== null) return device.unit(metric, switchId);
  return device.isUniform(metric) ? device.unit(metric) : null;
}

/**
 * A value for a narrow column, at most 11 characters: `1.25 ms`, `12k cells`; a plain number if its unit is not known, `-`
 * without a value.
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
  const unit = unitAt(device, metric, switchId);
  if (value === null || unit === null) return compact(value);
  const name = NARROW[unit.base];
  return name === undefined ? valueText(value, unit) : `${compact(value)} ${name}`;
}

/**
 * A value in a line of text: `1.25 ms`, `1,200 cells`; a plain number if its unit is not known.
 *
 * @param metric `null`: a plain number
 * @param value in device units
 * @param switchId `null`: of several switches, or of one that is not known
 */
export function inUnits(
  device: DeviceProfile,
  metric: Measured | null,
  value: number,
  switchId: number | null,
): string {
  const unit = metric === null ? null : unitAt(device, metric, switchId);
  return unit === null ? grouped(value) : valueText(value, unit);
}

/** A mean in a line of text, as {@link inUnits}. */
export function meanInUnits(device: DeviceProfile, metric: Measured, value: number, switchId: number | null): string {
  return unitAt(device, metric, switchId) === null ? factor(value) : inUnits(device, metric, value, switchId);
}

/** A timestamp, to the nanosecond: `12.000001500 s`; a plain number if its unit is not known. */
export function timestampText(device: DeviceProfile, value: number | bigint, switchId: number | null): string {
  const isKnown = unitAt(device, 'timestamps', switchId) !== null;
  const tick = isKnown ? device.scale('timestamps', switchId ?? undefined)?.per.get('time') : undefined;
  if (tick === undefined) return String(value);
  // Exactly: seconds since 1970 in nanoseconds are more digits than a number has.
  const [numerator, denominator] = [BigInt(value) * tick.numerator, 1000n * tick.denominator];
  const ns = String((2n * numerator + denominator) / (2n * denominator)).padStart(10, '0');
  return `${ns.slice(0, -9)}.${ns.slice(-9)} s`;
}

/** A value in base units, so that those of different switches can be compared; as it is if its unit is not known. */
export function comparable(device: DeviceProfile, metric: Measured, value: number, switchId: number | null): number {
  return value * (unitAt(device, metric, switchId)?.factor ?? 1);
}

/** Which columns hold plain numbers, and how to name their units; `null` if all units are known. */
export function plainColumns(device: DeviceProfile, columns: readonly (readonly [string, Measured])[]): string | null {
  const plain = columns.filter(([, metric]) => device.unit(metric) === null);
  if (plain.length === 0) return null;
  const names = plain.map(([name]) => name).join(', ');
  return `${names}: as the switches count; name a unit with --unit ${plain[0]![1]}=UNIT or --device`;
}
