import type { Demand, LinkCapacity } from './network-load.js';
import { type Move, Search } from './search.js';

/** Moves, and what they are expected to do. */
export interface Placement {
  readonly moves: readonly Move[];
  /** Highest load of all links before and after. */
  readonly before: number;
  readonly after: number;
  /** Highest load that could be reached with more moves. */
  readonly goal: number;
}

/** A placement of all demands anew is worth its moves if the highest load is lower by this share. */
const WORTH = 0.02;

/**
 * Moves demands so that the highest load falls. First it searches without a limit, once from where the demands are and once from a
 * placement of all of them anew. Then it takes the moves towards the better of the two goals that help most, as many as are
 * allowed: a demand that moves now need not move again.
 *
 * @param mayMove whether a demand may take a path now
 */
export function placeDemands(
  links: readonly LinkCapacity[],
  demands: readonly Demand[],
  mostMoves: number,
  mayMove: (demand: Demand, path: number) => boolean = () => true,
): Placement {
  const near = new Search(links, demands, mayMove);
  near.improve();
  const far = new Search(links, demands, mayMove);
  far.placeAnew([...demands.keys()]);
  far.improve();
  // The near one needs fewer moves.
  const goal = far.highest < (1 - WORTH) * near.highest ? far : near;
  const way = new Search(links, demands, (demand, path) => goal.pathOf(demand) === path);
  const before = way.highest;
  for (let left = mostMoves; left > 0; ) {
    const made = way.step(left) || way.follow(goal, left);
    if (made === 0) break;
    left -= made;
  }
  return { moves: way.moves(), before, after: way.highest, goal: goal.highest };
}
