import type { EventThreshold } from '@int/control';
import type { Topology } from '@int/network';
import { printable } from '../output/printable.js';

/** The threshold of a rule in a switch, on one line. */
export function thresholdText(each: EventThreshold, topology: Topology): string {
  const { intent, switchId, threshold, minimum, maximum, rate, target, status, isLearning } = each;
  const name = printable(`${intent} at ${topology.switchText(switchId)}`);
  if (isLearning) return `${name}: learning what is usual`;
  const events = `${Number(rate.toPrecision(3))} events/s, ${target} wanted`;
  return `${name}: threshold ${threshold} of ${minimum} to ${maximum}, ${events}, ${status}`;
}
