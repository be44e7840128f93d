import { type Demand, type LinkCapacity, NetworkLoad } from './network-load.js';

/** A demand takes another path. */
export interface Move {
  readonly demand: string;
  readonly from: number;
  readonly to: number;
}

/** Moves, and what they are expected to do. */
export interface Placement {
  readonly moves: readonly Move[];
  /** Highest load of all links before and after. */
  readonly before: number;
  readonly after: number;
  /** Highest load that could be reached with more moves. */
  readonly goal: number;
}

/** A step that gains less than this share of the cost is not worth a move. */
const LEAST_GAIN = 1e-3;
/** Steps of the search, per demand: it ends by itself long before. */
const MOST_STEPS = 4;

/**
 * Moves demands so that the highest load falls. First it searches without a limit, by the step that lowers the cost of the
 * network most, in which hot links count for almost all: local search on a smooth form of the highest load, as Fortz and
 * Thorup search with their piecewise one (INFOCOM 2000). Then it takes the moves towards this goal that help most, as many as
 * are allowed: a demand that moves now need not move again.
 *
 * @param mayMove whether a demand may take a path now
 */
export function placeDemands(
  links: readonly LinkCapacity[],
  demands: readonly Demand[],
  mostMoves: number,
  mayMove: (demand: Demand, path: number) => boolean = () => true,
): Placement {
  const goal = new Search(links, demands, mayMove);
  for (let step = 0; step < MOST_STEPS * demands.length && goal.step(); step++);
  const way = new Search(links, demands, (demand, path) => goal.pathOf(demand) === path);
  const before = way.highest;
  for (let move = 0; move < mostMoves && way.step(); move++);
  return { moves: way.moves(), before, after: way.highest, goal: goal.highest };
}

/** A state of the network, from which steps lead to better ones. */
class Search {
  readonly #demands: readonly Demand[];
  readonly #mayMove: (demand: Demand, path: number) => boolean;
  readonly #load: NetworkLoad;
  readonly #taken: number[];
  readonly #indices: ReadonlyMap<Demand, number>;

  constructor(
    links: readonly LinkCapacity[],
    demands: readonly Demand[],
    mayMove: (demand: Demand, path: number) => boolean,
  ) {
    this.#demands = demands;
    this.#mayMove = mayMove;
    this.#load = new NetworkLoad(links, demands);
    this.#taken = demands.map(({ path }) => path);
    this.#indices = new Map(demands.map((demand, index) => [demand, index]));
  }

  get highest(): number {
    return this.#load.hottest().load;
  }

  pathOf(demand: Demand): number {
    return this.#taken[this.#indices.get(demand)!]!;
  }

  moves(): Move[] {
    return this.#demands.flatMap(({ key, path }, index) => {
      const to = this.#taken[index]!;
      return to === path ? [] : [{ demand: key, from: path, to }];
    });
  }

  /** Makes the step that gains most. @returns false if none gains anything */
  step(): boolean {
    const best = this.#best();
    if (best === null) return false;
    this.#take(best.index, best.to);
    return true;
  }

  #take(index: number, to: number): void {
    const load = this.#load;
    const { bps, paths } = this.#demands[index]!;
    load.add(paths[this.#taken[index]!] ?? [], -bps);
    load.add(paths[to]!, bps);
    this.#taken[index] = to;
  }

  /** The step that gains most; `null` if none is worth a move. */
  #best(): Step | null {
    const load = this.#load;
    let found: Step | null = null;
    let most = LEAST_GAIN * load.hottest().load ** 16;
    for (const [index, demand] of this.#demands.entries()) {
      const { bps, paths } = demand;
      const current = paths[this.#taken[index]!] ?? [];
      if (bps <= 0 || current.length === 0) continue;
      const cost = load.cost(current);
      load.add(current, -bps);
      const gained = cost - load.cost(current);
      // What leaving the old path gains is the most that the move can gain.
      if (gained > most) {
        for (const [to, path] of paths.entries()) {
          if (to === this.#taken[index] || !this.#mayMove(demand, to)) continue;
          const gain = gained - (load.cost(path, bps) - load.cost(path));
          if (gain <= most) continue;
          most = gain;
          found = { index, to };
        }
      }
      load.add(current, bps);
    }
    return found;
  }
}

/** A demand takes a path, which lowers the cost. */
interface Step {
  readonly index: number;
  readonly to: number;
}
