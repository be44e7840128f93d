import type { p4config } from '@int/p4runtime';
import type { ModelSwitch } from '../../model/network-model.js';
import { IntTables } from './int.js';
import { intPortsOf } from './int-next-hops.js';
import { IntmonTables, intmonPortsOf } from './intmon.js';
import type { Ground, PortsOf, SwitchTables } from './switch-tables.js';

type ProgramName = ModelSwitch['program'];

/** Each program that the compiler knows, with a table that no other one has. */
const PROGRAMS: Readonly<
  Record<ProgramName, { readonly mark: string; readonly tables: new (ground: Ground) => SwitchTables }>
> = {
  int: { mark: 'IntIngress.watch_ipv4', tables: IntTables },
  intmon: { mark: 'IntmonIngress.watch_ipv4', tables: IntmonTables },
};

/** The tables of each switch, by its program. */
export function tablesOf(ground: Ground): (switchId: number) => SwitchTables {
  const made = new Map<ProgramName, SwitchTables>();
  return (switchId) => {
    const name = ground.network.switches.get(switchId)!.program;
    let tables = made.get(name);
    if (tables === undefined) {
      tables = new PROGRAMS[name].tables(ground);
      made.set(name, tables);
    }
    return tables;
  };
}

/** The program that a P4Info describes; `null`: none whose tables the compiler knows. */
export function programOf({ tables }: p4config.P4Info): ProgramName | null {
  const names = new Set(tables.map(({ preamble }) => preamble?.name));
  for (const [name, { mark }] of Object.entries(PROGRAMS)) if (names.has(mark)) return name as ProgramName;
  return null;
}

/** Ports to which an entity sends packets. */
export const portsOf: PortsOf = (entity, contents) => [
  ...intPortsOf(entity, contents),
  ...intmonPortsOf(entity, contents),
];
