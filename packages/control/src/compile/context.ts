import type { Prefix } from '@int/network';
import type { AvoidIntent } from '../intents/intent.js';
import type { Edge } from '../model/network-graph.js';
import type { LinkCost } from '../model/shortest-paths.js';
import type { Draft, Unplaced } from './draft.js';
import type { Ground, Refusal, SwitchTables } from './programs/switch-tables.js';

/** What all parts of the compiler work on. */
export interface Context extends Ground {
  readonly draft: Draft;
  /** The tables of a switch of the network. */
  readonly tables: (switchId: number) => SwitchTables;
  /** Avoided links, both directions, with the intents that avoid them. */
  readonly avoided: ReadonlyMap<Edge, readonly AvoidIntent[]>;
  /** One per link; more for links that are avoided, or that lead over a switch whose tables cannot be changed now. */
  readonly cost: LinkCost;
}

/** What a switch refuses, by name. @param intent `null`: it is the network's own */
export function refused(intent: string | null, switchId: number, { code, message }: Refusal): Unplaced {
  return { intent, switchId, code, message: `switch ${switchId} ${message}` };
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
