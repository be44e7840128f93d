import type { EventBatch } from '@int/detect';
import type { Plan } from './cases.js';

function mix(start: number, cells: Uint32Array, count: number): number {
  let sum = start;
  for (let k = 0; k < count; k++) sum = (Math.imul(sum + cells[k]!, 0x9e3779b1) + 1) | 0;
  return sum;
}

/** Goes on with a checksum over the event cells that detectors of this kind define; the C program computes the same one. */
export function mixEvents(start: number, events: EventBatch, kind: Plan['kind']): number {
  const { count } = events;
  let sum = start;
  for (const column of [events.report, events.rule, events.kind]) sum = mix(sum, column, count);
  if (kind === 'noop' || kind === 'pathChange' || kind === 'complex') return sum;
  if (kind === 'perHop' || kind === 'threshold' || kind === 'change') {
    sum = mix(sum, events.hop, count);
    sum = mix(sum, events.nodeId, count);
  }
  sum = mix(sum, events.value, count);
  if (kind !== 'threshold') sum = mix(sum, events.previous, count);
  return mix(sum, events.threshold, count);
}
