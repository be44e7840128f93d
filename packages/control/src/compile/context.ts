import type { Prefix } from '@int/network';
import type { AvoidIntent } from '../intents/intent.js';
import type { Edge, NetworkGraph } from '../model/network-graph.js';
import type { NetworkModel } from '../model/network-model.js';
import type { LinkCost } from '../model/shortest-paths.js';
import type { Draft } from './draft.js';
import type { NextHops } from './next-hops.js';
import type { Settings } from './options.js';

/** What all parts of the compiler work on. */
export interface Context {
  readonly network: NetworkModel;
  readonly graph: NetworkGraph;
  readonly settings: Settings;
  readonly draft: Draft;
  readonly nextHops: NextHops;
  /** Avoided links, both directions, with the intents that avoid them. */
  readonly avoided: ReadonlyMap<Edge, readonly AvoidIntent[]>;
  /** One per link; more for links that are avoided, or that lead over a switch whose tables cannot be changed now. */
  readonly cost: LinkCost;
  /** Where reports are sent: the switch and port by switch, `null`: there is no way, or no collector. */
  readonly collectorPort: (switchId: number) => number | null;
}

/** Stages of installation: what others lead to is there first, and INT begins last. */
export const STAGE = { settings: 0, access: 10, watch: 400_000_000 } as const;
const STEER = 1_000_000;
const ROUTE = 300_000_000;
/** No way is longer. */
const MOST_HOPS = 999;

/** Priorities of one intent's entries, for those that decide among each other. */
const LEVELS = 256;

/** The priority of an entry: that of the intent first. @param level below 256 */
export const priorityOf = (priority: number, level: number): number => priority * LEVELS + level;

/** Above all intents: telemetry itself is neither watched nor bounded. */
export const REPORTS_PRIORITY = 1001 * LEVELS;

/**
 * The stage of an entry that steers. What wins over another is there before that, or the packets of both would meet half of a way.
 * And steering before routes: a switch that begins anew would send the packets of a path back by its route.
 *
 * @param hops to the destination
 */
export function steerStage(priority: number, hops: number): number {
  return STEER + (REPORTS_PRIORITY - priority) * (MOST_HOPS + 1) + Math.min(hops, MOST_HOPS);
}

/** The stage of a route: longer prefixes win over shorter ones. @param hops to the destination */
export function routeStage({ bytes, length }: Prefix, hops: number): number {
  return ROUTE + (8 * bytes.length - length) * (MOST_HOPS + 1) + Math.min(hops, MOST_HOPS);
}
