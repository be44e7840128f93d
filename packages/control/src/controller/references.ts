import type { Entity } from '@int/p4runtime';
import type { DesiredState } from '../change/desired-state.js';

const NEXT_HOPS = 'IntIngress.next_hops';
const COLLECTOR = 'IntReport.collector';

/** An entity that uses one that is not there. */
export interface Dangling {
  readonly switchId: number;
  readonly user: Entity;
  /** What is missing: see {@link placeOf}. */
  readonly place: string;
}

const numberOf = (value: unknown): string =>
  `${typeof value === 'object' && value !== null && 'value' in value ? value.value : value}`;

/** The name by which others on its switch use an entity; `null`: nothing uses it. */
export function placeOf(entity: Entity): string | null {
  if (entity.kind === 'member' || entity.kind === 'group') return `${entity.kind} ${entity.id}`;
  if (entity.kind !== 'table-entry' || entity.isDefault === true) return null;
  if (entity.table === NEXT_HOPS) return `next hops ${numberOf(entity.match.group)}`;
  return entity.table === COLLECTOR ? `reports by port ${numberOf(entity.match.egress_port)}` : null;
}

/** What an entity of int.p4 uses on its switch, by {@link placeOf}. */
function usesOf(entity: Entity): readonly string[] {
  if (entity.kind === 'clone-session') return entity.replicas.map(({ port }) => `reports by port ${port}`);
  if (entity.kind === 'group') return entity.members.map(({ id }) => `member ${id}`);
  const action = entity.kind === 'table-entry' ? entity.action : undefined;
  if (action === undefined) return [];
  if ('group' in action) return [`group ${action.group}`];
  if ('member' in action) return [`member ${action.member}`];
  const isSpread = 'params' in action && action.action === 'IntIngress.spread' && action.params.group !== undefined;
  return isSpread ? [`next hops ${numberOf(action.params.group)}`] : [];
}

/** Uses of what is not there. @param switches those that are looked at */
export function danglingUses(desired: DesiredState, switches: ReadonlySet<number>): readonly Dangling[] {
  return [...switches].flatMap((switchId) => {
    const entities = (desired.get(switchId) ?? []).map(({ entity }) => entity);
    const places = new Set(entities.map(placeOf));
    return entities.flatMap((user) =>
      usesOf(user)
        .filter((place) => !places.has(place))
        .map((place) => ({ switchId, user, place })),
    );
  });
}
