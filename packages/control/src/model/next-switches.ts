import type { Topology } from '@int/network';
import type { Entity } from '@int/p4runtime';
import { portsOf } from '../compile/programs/programs.js';

/** The switches to which an entry sends packets. @param contents all entities of its switch */
export function nextSwitches(
  topology: Topology,
  switchId: number,
  entity: Entity,
  contents: readonly Entity[],
): readonly number[] {
  const next = portsOf(entity, contents).flatMap((port) => {
    const to = topology.peer(switchId, port);
    return to?.kind === 'switch' ? [to.switchId] : [];
  });
  return [...new Set(next)];
}
