import type { DeviceProfile, Topology } from '@int/network';
import type { Units } from './units.js';

/** What the readers of a rule set know beside its text. */
export interface Known {
  /** Of the format. */
  readonly version: 1 | 2;
  readonly units: Units;
  readonly topology: Topology | null;
}

/** What a rule set may refer to, and does not say itself. */
export interface RulesContext {
  /** What one device unit is where the rules have no `units`: those of the rules win, metric by metric. */
  readonly profile?: DeviceProfile;
  /** Names of switches and groups of hosts that a match may have. */
  readonly topology?: Topology;
}

/** Keys of version 2 as messages about a file of version 1 tell of them. */
export function laterKeys(keys: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(keys).map((key) => [key, 'into a file of version 2: write version: 2 at its top']),
  );
}
