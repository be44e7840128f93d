import { exportTables } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { DeviceProfile, type MetricUnit, Topology } from '@int/network';
import type { SwitchInfo } from '../../client/index.js';

/**
 * Rules as commands that fill the tables of a switch, as `int detect --tables` has them.
 * @throws RulesError for rules that cannot be read
 */
export function tablesOf(
  yaml: string,
  switches: readonly SwitchInfo[],
): { readonly commands: string; readonly refused: readonly string[] } {
  const named = switches.flatMap(({ id, name }) => (name === null ? [] : [[String(id), { name }] as const]));
  const rules = readRules(yaml, {
    profile: profileOf(switches[0]),
    ...(named.length === 0 ? {} : { topology: new Topology({ switches: Object.fromEntries(named) }) }),
  });
  const { commands, refused } = exportTables(rules, { unsupported: 'report' });
  return { commands: `${commands.join('\n')}\n`, refused: refused.map(({ rule, reason }) => `${rule}: ${reason}`) };
}

/** Units that hold where the rules have none of their own. */
function profileOf(first: SwitchInfo | undefined): DeviceProfile {
  if (first?.units === undefined) return DeviceProfile.NONE;
  const { hopLatency, queueOccupancy, egressUtilization } = first.units;
  return new DeviceProfile({
    units: {
      ...(hopLatency === null ? {} : { hopLatency: `${hopLatency.factor * 1e12}ps` }),
      ...(queueOccupancy === null ? {} : { queueOccupancy: occupancy(queueOccupancy) }),
      ...(egressUtilization === null ? {} : { egressUtilization: { full: Math.round(1 / egressUtilization.factor) } }),
    },
  });
}

const occupancy = ({ base, factor }: MetricUnit): string | { cell: string } =>
  base === 'bytes' ? { cell: `${factor}B` } : base;
