import { type Clustered, type Decision, type Demand, type LinkCapacity, TrafficEngineer } from '@int/knowledge';
import type { Topology } from '@int/network';
import type { FlowMatch } from '../intents/flow-match.js';
import type { PathIntent } from '../intents/intent.js';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { flowKey, flowTest, matchOfFlow } from './flow-test.js';
import { hottestOf, type LinkKey, type LinkMap, loadsOf } from './link-map.js';
import type { Measurement } from './measurement.js';
import { type FlowAggregate, SmallFlows } from './small-flows.js';

/** Flows that may be moved alone: the largest, and those of a tenth of a link at least. */
const MOST_ELEPHANTS = 200;
const ELEPHANT = 0.1;
/** An aggregate of less than this share of a link is not worth an entry. */
const LEAST_AGGREGATE = 0.005;

type Path = readonly number[];

/** Flows of one match shall take a path. */
export interface PathMove {
  readonly match: FlowMatch;
  readonly via: Path;
  readonly flows: readonly ObservedFlow[];
  /** `null`: a flow alone. */
  readonly aggregate: FlowAggregate | null;
}

export interface Moves {
  readonly moves: readonly PathMove[];
  /** Elephants within the aggregates that are moved: they stay on their paths. */
  readonly stays: readonly PathMove[];
  readonly decision: Decision;
  /** Small flows in no aggregate, by the reason. */
  readonly left: Clustered<unknown>['left'];
}

export interface Surroundings {
  /** Whether flows may be moved to a link. */
  isUsable(link: LinkKey): boolean;
  /** Flows that stay, by their key. */
  readonly pinned: ReadonlySet<string>;
  /** Intents whose flows are in no aggregate: they have their way. */
  readonly placed: readonly PathIntent[];
}

/** What may be moved, and the paths that it may take. */
interface Candidate extends Omit<PathMove, 'via'> {
  readonly paths: readonly Path[];
  /** Bits a second on each of the paths. */
  readonly rates: readonly number[];
  /** Bits a second when a move has taken effect. */
  readonly expectedBps: number;
}

/** Looks at the loads of links, and says which flows and aggregates of flows should move. */
export class Congestion {
  #above: number;
  #engineer: TrafficEngineer;
  readonly #small: SmallFlows;

  constructor(above: number, topology: Topology) {
    this.#above = above;
    this.#engineer = new TrafficEngineer({ above });
    this.#small = new SmallFlows(topology);
  }

  /** What may be reached, as a share of the capacity; another value begins anew. */
  set above(above: number) {
    if (above === this.#above) return;
    this.#above = above;
    this.#engineer = new TrafficEngineer({ above });
  }

  look(measurement: Measurement, links: LinkMap, surroundings: Surroundings): Moves | null {
    const { flows, seconds, timeMs, ageMs, loss } = measurement;
    const loads = loadsOf(flows, seconds, links);
    if (hottestOf(loads, links) === null) return null;
    const { elephants, small } = divide(measurement, links, surroundings.pinned);
    const { aggregates, left } = this.#small.cluster(small, timeMs, surroundings.placed);
    const candidates = new Map<string, Candidate>();
    for (const each of elephants) candidates.set(flowKey(each.flow), elephantOf(each, links, surroundings));
    for (const aggregate of aggregates) {
      const candidate = aggregateOf(aggregate, links, surroundings);
      if (candidate !== null) candidates.set(aggregate.key, candidate);
    }
    const demands: Demand[] = [];
    const own = new Map<LinkKey, number>();
    for (const [key, { flows: moved, paths, rates, expectedBps }] of candidates) {
      const bps = rates.reduce((sum, each) => sum + each, 0);
      const rise = expectedBps / bps;
      const ways = { key, bps: expectedBps, paths: paths.map((path) => links.linksOf(path)) };
      const only = rates.indexOf(bps);
      demands.push(
        only >= 0 ? { ...ways, path: only } : { ...ways, path: -1, spread: rates.map((rate) => rate * rise) },
      );
      for (const { path, bytes } of moved) {
        for (const link of links.linksOf(path)) own.set(link, (own.get(link) ?? 0) + (8 * bytes) / seconds);
      }
    }
    // The rest stays where it is: a demand of one path for each link.
    const between: LinkCapacity[] = [];
    for (const [key, capacityBps] of links.capacities) {
      between.push({ key, capacityBps });
      const rest = (loads.get(key) ?? 0) - (own.get(key) ?? 0);
      if (rest > 0) demands.push({ key: `rest ${key}`, bps: rest, path: 0, paths: [[key]] });
    }
    const decision = this.#engineer.step({ links: between, demands, ageMs, loss }, timeMs);
    const chosen = new Set(decision.moves.map(({ demand }) => demand));
    const moves = decision.moves.flatMap(({ demand, to }): PathMove[] => {
      const found = candidates.get(demand);
      return found === undefined ? [] : [{ ...found, via: found.paths[to]! }];
    });
    const wide = moves.filter(({ aggregate }) => aggregate !== null).map(({ match }) => flowTest(match));
    const stays = [...candidates].flatMap(
      ([
        key,
        {
          match,
          flows: [flow],
          aggregate,
        },
      ]): PathMove[] => {
        if (aggregate !== null || chosen.has(key) || !wide.some((isMeant) => isMeant(flow!))) return [];
        return [{ match, via: flow!.path, flows: [flow!], aggregate: null }];
      },
    );
    return { moves, stays, decision, left };
  }
}

interface RatedFlow {
  readonly flow: ObservedFlow;
  readonly bps: number;
  /** The smallest capacity on its path. */
  readonly leastBps: number;
}

/** Flows that may be moved alone, and those that are too small for it. */
function divide(
  { flows, seconds }: Measurement,
  links: LinkMap,
  pinned: ReadonlySet<string>,
): { readonly elephants: readonly RatedFlow[]; readonly small: readonly RatedFlow[] } {
  const elephants = new Map<string, RatedFlow>();
  const small: RatedFlow[] = [];
  let large = 0;
  for (const flow of flows.filter(({ path }) => path.length > 1).sort((a, b) => b.bytes - a.bytes)) {
    const leastBps = leastOf(flow.path, links);
    if (leastBps === null) continue;
    const bps = (8 * flow.bytes) / seconds;
    const key = flowKey(flow);
    if (large === MOST_ELEPHANTS || bps < ELEPHANT * leastBps) small.push({ flow, bps, leastBps });
    else {
      large++;
      if (!pinned.has(key) && !elephants.has(key)) elephants.set(key, { flow, bps, leastBps });
    }
  }
  return { elephants: [...elephants.values()], small };
}

/** The smallest capacity on a path; `null`: one of its links is not known. */
function leastOf(path: Path, links: LinkMap): number | null {
  const known = links.linksOf(path).filter((link) => links.capacities.has(link));
  return known.length === path.length - 1 ? Math.min(...known.map((link) => links.capacities.get(link)!)) : null;
}

/** Paths that flows on some other paths may take instead. */
function othersOf(paths: readonly Path[], links: LinkMap, { isUsable }: Surroundings): readonly Path[] {
  const [first] = paths;
  const taken = new Set(paths.map((path) => path.join()));
  return links
    .paths(first![0]!, first!.at(-1)!)
    .filter((path) => !taken.has(path.join()))
    .filter((path) => links.linksOf(path).every((link) => links.capacities.has(link) && isUsable(link)));
}

function elephantOf({ flow, bps }: RatedFlow, links: LinkMap, surroundings: Surroundings): Candidate {
  const paths = [flow.path, ...othersOf([flow.path], links, surroundings)];
  const rates = paths.map((_, index) => (index === 0 ? bps : 0));
  return { match: matchOfFlow(flow), flows: [flow], aggregate: null, paths, rates, expectedBps: bps };
}

/** `null`: it is too small to be worth an entry, or a link that it uses has failed: then that comes first. */
function aggregateOf(aggregate: FlowAggregate, links: LinkMap, surroundings: Surroundings): Candidate | null {
  const { source, destination, sourcePorts, bps, riseBps } = aggregate;
  if (aggregate.flows.every(({ leastBps }) => bps < LEAST_AGGREGATE * leastBps)) return null;
  const spread = new Map<string, { readonly path: Path; bps: number }>();
  for (const { flow, bps: rate } of aggregate.flows) {
    const key = flow.path.join();
    const known = spread.get(key) ?? { path: flow.path, bps: 0 };
    known.bps += rate;
    spread.set(key, known);
  }
  const taken = [...spread.values()];
  if (!taken.every(({ path }) => links.linksOf(path).every(surroundings.isUsable))) return null;
  const others = othersOf(
    taken.map(({ path }) => path),
    links,
    surroundings,
  );
  return {
    match: { source, destination, ...(sourcePorts !== null && { sourcePort: sourcePorts }) },
    flows: aggregate.flows.map(({ flow }) => flow),
    aggregate,
    paths: [...taken.map(({ path }) => path), ...others],
    rates: [...taken.map((each) => each.bps), ...others.map(() => 0)],
    expectedBps: bps + riseBps,
  };
}
