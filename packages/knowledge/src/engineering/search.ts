import { mix32 } from '@int/random';
import { type Demand, type LinkCapacity, NetworkLoad, NOWHERE, placeOf } from './network-load.js';

/** A demand takes another path. */
export interface Move {
  readonly demand: string;
  /** Indices of its paths; from -1: it was spread over several. */
  readonly from: number;
  readonly to: number;
}

/** A step that gains less than this share of the cost is not worth a move. */
const LEAST_GAIN = 1e-3;
/** Steps of the search, per demand: it ends by itself long before. */
const MOST_STEPS = 4;
/** A demand is divided into so many parts, and these move so often at most. */
const PARTS = 8;
const PASSES = 16;
/** So many orders are tried to relieve the hottest link. */
const ATTEMPTS = 12;
/** So many steps that gain nothing are made in a row, and a demand stays where such a step has put it for so many at least. */
const DETOUR = 200;
const STAY = 8;
/**
 * A state of the network, from which steps lead to better ones. They lower the cost of the network, in which hot links count for
 * almost all: local search on a smooth form of the highest load, as Fortz and Thorup search with their piecewise one (INFOCOM 2000).
 */
export class Search {
  readonly #demands: readonly Demand[];
  readonly #mayMove: (demand: Demand, path: number) => boolean;
  readonly #load: NetworkLoad;
  readonly #links: number;
  readonly #taken: number[];
  /** Where the demands were. */
  readonly #first: readonly number[];
  readonly #indices: ReadonlyMap<Demand, number>;

  constructor(
    links: readonly LinkCapacity[],
    demands: readonly Demand[],
    mayMove: (demand: Demand, path: number) => boolean,
  ) {
    this.#demands = demands;
    this.#mayMove = mayMove;
    this.#load = new NetworkLoad(links, demands);
    this.#links = links.length;
    this.#taken = demands.map(placeOf);
    this.#first = [...this.#taken];
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
      return to === this.#first[index] ? [] : [{ demand: key, from: path, to }];
    });
  }

  /**
   * Makes the step that gains most: one demand takes another path; or where none gains anything, one leaves the hottest link, and
   * one makes room for it.
   *
   * @param most moves that may be made
   * @returns how many were made; 0: none gains anything
   */
  step(most: number): number {
    const one = this.#best();
    if (one !== null) {
      this.#take(one);
      return 1;
    }
    const two = most < 2 ? null : this.#bestPair();
    for (const each of two ?? []) this.#take(each);
    return two === null ? 0 : 2;
  }

  /**
   * Makes all moves that are left to another state, if they are no more than `most` and gain something together.
   * @returns how many were made
   */
  follow(goal: Search, most: number): number {
    const left = [...goal.#taken.entries()].filter(([index, to]) => to !== this.#taken[index]);
    if (left.length > most || goal.highest >= this.highest) return 0;
    for (const [index, to] of left) this.#take({ index, to });
    return left.length;
  }

  /** Makes the steps that gain most, until so many moves are made or none gains anything. @param first made before all others */
  spend(most: number, first?: Step): void {
    if (first !== undefined) this.#take(first);
    for (let left = most - (first === undefined ? 0 : 1); left > 0; ) {
      const made = this.step(left);
      if (made === 0) return;
      left -= made;
    }
  }

  /** The steps that gain most, of each demand its best: one of them may lead to others that gain more together. */
  firstSteps(most: number): readonly Step[] {
    const least = this.#least();
    const found = [...this.#demands.keys()].flatMap((index) => this.#bestOf([index], least) ?? []);
    return found
      .sort((a, b) => b.gain - a.gain)
      .slice(0, most)
      .map(({ step }) => step);
  }

  /**
   * Takes back a move at a time and makes the step that gains most instead, until none gains more than what it replaces: steps that
   * seemed best one after the other are seldom the best few together. The moves do not become more.
   */
  exchange(): void {
    const load = this.#load;
    for (let pass = 0; pass < PASSES; pass++) {
      let hasGained = false;
      for (const [index, path] of this.#first.entries()) {
        const to = this.#taken[index]!;
        if (to === path) continue;
        const cost = load.total();
        this.#take({ index, to: path });
        const other = this.#best();
        const before = other === null ? 0 : this.#taken[other.index]!;
        if (other !== null) this.#take(other);
        if (load.total() < cost * (1 - LEAST_GAIN)) {
          hasGained = true;
          continue;
        }
        if (other !== null) this.#take({ index: other.index, to: before });
        this.#take({ index, to });
      }
      if (!hasGained) return;
    }
  }

  /** Steps until none gains anything. */
  #descend(): void {
    for (let step = 0; step < MOST_STEPS * this.#demands.length && this.step(2) > 0; step++);
  }

  /**
   * Steps until none gains anything, places those anew that have a path over the hottest link, and so on while that helps. Then it goes
   * on over steps that gain nothing.
   */
  improve(): void {
    this.#descend();
    for (let attempt = 0; attempt < ATTEMPTS; ) attempt = this.#relieve(attempt) ? 0 : attempt + 1;
    this.#detour();
  }

  /**
   * Of the demands on the hottest link the one leaves for which that costs least, also where it gains nothing, and stays away for a
   * while; so does one of those in its way, and so on (tabu search: Glover, ORSA Journal on Computing 1989). It ends in the best
   * state that it came by.
   */
  #detour(): void {
    let best = this.highest;
    let found = [...this.#taken];
    const until = new Int32Array(this.#demands.length);
    for (let step = 1, last = 0; step - last <= DETOUR; step++) {
      const users = this.#usersOfLinks()[this.#load.hottest().number]!;
      const next = this.#bestOf(
        users.filter((index) => until[index]! < step),
        Number.NEGATIVE_INFINITY,
      );
      if (next === null) continue;
      this.#take(next.step);
      until[next.step.index] = step + STAY + (mix32(step) % STAY);
      if (this.highest >= best * (1 - LEAST_GAIN)) continue;
      best = this.highest;
      found = [...this.#taken];
      last = step;
    }
    for (const [index, to] of found.entries()) if (to !== this.#taken[index]) this.#take({ index, to });
  }

  /** @returns false, and all are where they were, if the highest load has not fallen */
  #relieve(attempt: number): boolean {
    const { number: hot, load } = this.#load.hottest();
    const before = [...this.#taken];
    this.placeAnew(
      this.#load.ways.flatMap((paths, index) => (paths.some(({ links }) => links.includes(hot)) ? [index] : [])),
      attempt,
    );
    this.#descend();
    if (this.highest < load * (1 - LEAST_GAIN)) return true;
    for (const [index, to] of before.entries()) if (to !== this.#taken[index]) this.#take({ index, to });
    return false;
  }

  /**
   * Places demands anew: first in parts, each of which takes the path that costs least, until none wants another one; then whole,
   * the largest first, each where it costs least beside the parts of the others (as one rounds a linear program).
   */
  placeAnew(indices: readonly number[], attempt = 0): void {
    const load = this.#load;
    const movable = indices.filter((index) => this.#isMovable(index));
    const parts = new Map(
      movable.map((index) => {
        const counts = new Array<number>(this.#load.ways[index]!.length).fill(0);
        counts[this.#taken[index]!] = PARTS;
        return [index, counts];
      }),
    );
    for (let pass = 0; pass < PASSES && this.#moveParts(parts); pass++);
    const rank = (index: number): number =>
      this.#demands[index]!.bps * (1 + (attempt === 0 ? 0 : variation(index, attempt)));
    movable.sort((a, b) => rank(b) - rank(a) || a - b);
    for (const index of movable) {
      const { bps } = this.#demands[index]!;
      const paths = this.#load.ways[index]!;
      for (const [to, count] of parts.get(index)!.entries()) load.add(paths[to]!, (-bps * count) / PARTS);
      this.#taken[index] = this.#cheapest(index, bps);
      load.add(paths[this.#taken[index]!]!, bps);
    }
  }

  /** Lets every demand move parts of it. @returns whether one did */
  #moveParts(parts: ReadonlyMap<number, number[]>): boolean {
    let hasMoved = false;
    for (const [index, counts] of parts) {
      const { bps } = this.#demands[index]!;
      const paths = this.#load.ways[index]!;
      const part = bps / PARTS;
      for (const [from, count] of counts.entries()) {
        for (let k = 0; k < count; k++) {
          this.#load.add(paths[from]!, -part);
          const to = this.#cheapest(index, part, from);
          this.#load.add(paths[to]!, part);
          if (to === from) break;
          counts[from]!--;
          counts[to]!++;
          hasMoved = true;
        }
      }
    }
    return hasMoved;
  }

  #isMovable(index: number): boolean {
    const { bps } = this.#demands[index]!;
    const paths = this.#load.ways[index]!;
    return bps > 0 && (paths[this.#taken[index]!] ?? NOWHERE).links.length > 0;
  }

  /** The path on which a rate of a demand costs least; of several alike `first`. */
  #cheapest(index: number, bps: number, first: number = this.#taken[index]!): number {
    const load = this.#load;
    const demand = this.#demands[index]!;
    const paths = load.ways[index]!;
    const costsOf = (path: number): number => load.cost(paths[path]!, bps) - load.cost(paths[path]!);
    let cheapest = first;
    let least = costsOf(first);
    for (const to of paths.keys()) {
      if (to === first || (to !== this.#first[index] && !this.#mayMove(demand, to))) continue;
      const costs = costsOf(to);
      if (costs >= least * (1 - 1e-9)) continue;
      least = costs;
      cheapest = to;
    }
    return cheapest;
  }

  #take({ index, to }: Step): void {
    const load = this.#load;
    const { bps } = this.#demands[index]!;
    const paths = this.#load.ways[index]!;
    load.add(paths[this.#taken[index]!] ?? NOWHERE, -bps);
    load.add(paths[to]!, bps);
    this.#taken[index] = to;
  }

  /** The step that gains most; `null` if none is worth a move. */
  #best(): Step | null {
    const least = this.#least();
    return this.#bestOf(this.#demands.keys(), least)?.step ?? null;
  }

  /** What a step gains at least that is worth a move. */
  #least(): number {
    return LEAST_GAIN * this.#load.hottest().load ** 16;
  }

  /** The step of some demands that gains most, if that is more than `least`. */
  #bestOf(indices: Iterable<number>, least: number): { readonly step: Step; readonly gain: number } | null {
    const load = this.#load;
    let step: Step | null = null;
    let gain = least;
    for (const index of indices) {
      const demand = this.#demands[index]!;
      const { bps } = demand;
      const paths = load.ways[index]!;
      const current = paths[this.#taken[index]!] ?? NOWHERE;
      if (bps <= 0 || current.links.length === 0) continue;
      const cost = load.cost(current);
      load.add(current, -bps);
      const gained = cost - load.cost(current);
      // What leaving the old path gains is the most that the move can gain.
      if (gained > gain) {
        for (const [to, path] of paths.entries()) {
          if (to === this.#taken[index] || !this.#mayMove(demand, to)) continue;
          const gains = gained - (load.cost(path, bps) - load.cost(path));
          if (gains <= gain) continue;
          gain = gains;
          step = { index, to };
        }
      }
      load.add(current, bps);
    }
    return step === null ? null : { step, gain };
  }

  /** Two steps that gain most together: the first away from the hottest link, the second from a link that it leads to. */
  #bestPair(): readonly [Step, Step] | null {
    const load = this.#load;
    const hot = load.hottest().number;
    const users = this.#usersOfLinks();
    let found: readonly [Step, Step] | null = null;
    let most = this.#least();
    for (const index of users[hot] ?? []) {
      const demand = this.#demands[index]!;
      const { bps } = demand;
      const paths = load.ways[index]!;
      const from = this.#taken[index]!;
      const current = paths[from]!;
      const cost = load.cost(current);
      load.add(current, -bps);
      const gained = cost - load.cost(current);
      for (const [to, path] of paths.entries()) {
        if (to === from || path.links.includes(hot) || !this.#mayMove(demand, to)) continue;
        const costs = load.cost(path, bps) - load.cost(path);
        load.add(path, bps);
        const others = new Set(Array.from(path.links).flatMap((link) => users[link]!));
        others.delete(index);
        const second = this.#bestOf(others, most - (gained - costs));
        if (second !== null) {
          most = gained - costs + second.gain;
          found = [{ index, to }, second.step];
        }
        load.add(path, -bps);
      }
      load.add(current, bps);
    }
    return found;
  }

  /** Of each link, the indices of the demands that use it. */
  #usersOfLinks(): number[][] {
    const users: number[][] = Array.from({ length: this.#links }, () => []);
    for (const [index, { bps }] of this.#demands.entries()) {
      if (bps <= 0) continue;
      for (const link of (this.#load.ways[index]![this.#taken[index]!] ?? NOWHERE).links) users[link]!.push(index);
    }
    return users;
  }
}

/** 0 to 1, another for each attempt. */
function variation(index: number, attempt: number): number {
  return mix32(index ^ Math.imul(attempt, 0x9e3779b1)) / 2 ** 32;
}

/** A demand takes a path, which lowers the cost. */
export interface Step {
  readonly index: number;
  readonly to: number;
}
