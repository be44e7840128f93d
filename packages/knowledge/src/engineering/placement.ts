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
/** So many first moves are tried where no placement of all is within reach. */
const BEGINNINGS = 8;

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
  const anew = new Search(links, demands, mayMove);
  anew.placeAnew([...demands.keys()]);
  anew.improve();
  // The near one needs fewer moves.
  const goal = anew.highest < (1 - WORTH) * near.highest ? anew : near;
  const way = new Search(links, demands, (demand, path) => goal.pathOf(demand) === path);
  const before = way.highest;
  for (let left = mostMoves; left > 0; ) {
    const made = way.step(left) || way.follow(goal, left);
    if (made === 0) break;
    left -= made;
  }
  const far = (1 + WORTH) * goal.highest;
  if (way.highest <= far) return { moves: way.moves(), before, after: way.highest, goal: goal.highest };
  // The goal is out of reach: then what these few moves reach counts, and no longer where they lead to.
  let best = way;
  for (const first of new Search(links, demands, mayMove).firstSteps(BEGINNINGS)) {
    const few = new Search(links, demands, mayMove);
    few.spend(mostMoves, first);
    few.exchange();
    if (few.highest < (best === way ? 1 - WORTH : 1) * best.highest) best = few;
    if (best.highest <= far) break;
  }
  return { moves: best.moves(), before, after: best.highest, goal: Math.min(goal.highest, best.highest) };
}
