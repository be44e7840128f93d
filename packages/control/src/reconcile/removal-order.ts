import type { Entity } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { Difference } from './differences.js';

/**
 * The switches to which an entry sends packets, as far as that is known.
 *
 * @param contents all entities of its switch
 */
export type LeadsTo = (switchId: number, entity: Entity, contents: readonly Entity[]) => readonly number[];

/**
 * Removals in the order in which they are safe: by their stages, the largest first, and in any case what sends packets to an entry of
 * the same intent or route before that. A path that was changed twice can have entries of both forms, whose stages do not fit.
 *
 * @param found by id of the switch: all entities that it has
 */
export function removalSteps(
  removals: readonly Difference[],
  found: ReadonlyMap<number, readonly Entity[]>,
  leadsTo: LeadsTo = () => [],
): Change[][] {
  const byPlace = new Map<string, Difference>();
  const placeOf = (switchId: number, { name, key }: Difference): string => `${switchId} ${name} ${key}`;
  for (const each of removals) byPlace.set(placeOf(each.change.switchId, each), each);
  const ranks = new Map<Difference, number>();
  const rankOf = (each: Difference): number => {
    const known = ranks.get(each);
    if (known !== undefined) return known;
    // A circle has no order.
    ranks.set(each, each.stage);
    const { switchId, before } = each.change;
    let rank = each.stage;
    if (each.isEntry) {
      for (const next of leadsTo(switchId, before!, found.get(switchId) ?? [])) {
        const behind = byPlace.get(placeOf(next, each));
        if (behind !== undefined) rank = Math.max(rank, rankOf(behind) + 1);
      }
    }
    ranks.set(each, rank);
    return rank;
  };
  const byRank = new Map<number, Difference[]>();
  for (const each of removals) {
    const rank = rankOf(each);
    const group = byRank.get(rank);
    if (group === undefined) byRank.set(rank, [each]);
    else group.push(each);
  }
  return [...byRank]
    .sort(([one], [other]) => other - one)
    .map(([, group]) => group.sort((one, other) => one.rank - other.rank).map(({ change }) => change));
}
