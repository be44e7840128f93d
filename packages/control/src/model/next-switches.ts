import type { Topology } from '@int/network';
import type { Entity } from '@int/p4runtime';

/** Ports to which an entry of int.p4 sends packets: one, or those of a group of next hops. */
function portsOf(entity: Entity, contents: readonly Entity[]): readonly number[] {
  const action = entity.kind === 'table-entry' ? entity.action : undefined;
  if (action === undefined || !('params' in action)) return [];
  const { port, group } = action.params;
  if (action.action === 'IntIngress.forward' && port !== undefined) return [Number(port)];
  if (action.action !== 'IntIngress.spread' || group === undefined) return [];
  const named = contents.find(
    (each) =>
      each.kind === 'table-entry' &&
      each.table === 'IntIngress.next_hops' &&
      numberOf(each.match.group) === Number(group),
  );
  const chosen = named?.kind === 'table-entry' && named.action !== undefined ? named.action : {};
  const members = contents.find((each) => 'group' in chosen && each.kind === 'group' && each.id === chosen.group);
  if (members?.kind !== 'group') return [];
  const ids = new Set(members.members.map(({ id }) => id));
  return contents.flatMap((each) =>
    each.kind === 'member' &&
    ids.has(each.id) &&
    each.action !== undefined &&
    'params' in each.action &&
    each.action.params.port !== undefined
      ? [Number(each.action.params.port)]
      : [],
  );
}

const numberOf = (match: unknown): number =>
  Number(typeof match === 'object' && match !== null && 'value' in match ? match.value : match);

/** The switches to which an entry of int.p4 sends packets. @param contents all entities of its switch */
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
