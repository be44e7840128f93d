import type { Incident } from '@int/knowledge';
import { operandTexts } from '@int/knowledge/internals';
import type { DeviceProfile } from '@int/network';

/** A share, for people: `12.3 %`. */
export const percentText = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** A rate, for people: `9.100 Mbit/s`. */
export const rateText = (bps: number): string => `${(bps / 1e6).toFixed(3)} Mbit/s`;

/** `1 flow`, `12 flows`. */
export const flowsText = (count: number): string => `${count} flow${count === 1 ? '' : 's'}`;

/** A time span, for people: `350 ms`, `1.5 s`, `12 min`. */
export function spanText(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${Number((ms / 1000).toFixed(1))} s`;
  return ms < 7_200_000 ? `${Number((ms / 60_000).toFixed(1))} min` : `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** Why an incident was found, with its arithmetic. */
export function incidentReason(incident: Incident, device: DeviceProfile): string {
  const { kind, entity, formula } = incident;
  const numbers = Object.entries(operandTexts(incident, device)).map(([name, text]) => `${name} = ${text}`);
  return `${kind} at ${entity}: ${formula}, with ${numbers.join(', ')}`;
}
