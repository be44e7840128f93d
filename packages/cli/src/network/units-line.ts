import type { DeviceProfile } from '@int/network';

/**
 * The first line of NDJSON: what the numbers of all further lines are in. The numbers themselves stay as the switches
 * reported them. `null`: no unit is known.
 */
export function unitsLine(device: DeviceProfile): string | null {
  const { switches, ...usual } = device.units();
  if (switches.length === 0 && Object.values(usual).every((unit) => unit === null)) return null;
  return unitsText(device);
}

/** The line, also where no unit is known. */
export function unitsText(device: DeviceProfile): string {
  return JSON.stringify({ type: 'units', units: device.units() });
}
