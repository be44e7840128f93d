import type { Topology } from '@int/network';

/**
 * The switches that a collector takes reports of: those of the topology. `null`: any, because there is no topology, because it
 * has no switches, or because unknown ones are kept.
 */
export function knownSwitches({ switches }: Topology, keepsUnknown = false): readonly number[] | null {
  return keepsUnknown || switches.size === 0 ? null : [...switches.keys()];
}
