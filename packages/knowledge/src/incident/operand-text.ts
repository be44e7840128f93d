import { DeviceProfile, type MetricUnit, valueText } from '@int/network';
import { METRIC_NAMES } from '../network/metrics.js';
import type { Finding } from './incident.js';

const BYTES: MetricUnit = { text: 'B', base: 'bytes', factor: 1 };

/** Operands that are numbers of bytes, by detector. */
const BYTE_COUNTS: Readonly<Record<string, readonly string[]>> = { 'bytes-to-new-destination': ['bytes', 'usual'] };

/**
 * The operands of a finding for people, by name: with their units where these are known.
 * @param device says what one of a switch's numbers is
 */
export function operandTexts(
  { detector, entity, operands }: Pick<Finding, 'detector' | 'entity' | 'operands'>,
  device: DeviceProfile = DeviceProfile.NONE,
): Readonly<Record<string, string>> {
  const metric = METRIC_NAMES.find((name) => name === operands.metric);
  const switchId = /^(?:switch|queue|port):(\d+)/.exec(entity)?.[1];
  const unitOf = (name: string): MetricUnit | null => {
    if (BYTE_COUNTS[detector]?.includes(name) === true) return BYTES;
    const isMeasured = metric !== undefined && switchId !== undefined && (name === 'value' || name === 'usual');
    return isMeasured ? device.unit(metric, Number(switchId)) : null;
  };
  return Object.fromEntries(
    Object.entries(operands).map(([name, value]) => {
      if (typeof value !== 'number') return [name, String(value)];
      const unit = unitOf(name);
      // What is below one is a share or a score: it keeps its digits.
      return [name, unit === null && !Number.isInteger(value) ? String(value) : valueText(value, unit)];
    }),
  );
}
