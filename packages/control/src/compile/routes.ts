import type { Host, Prefix } from '@int/network';
import { familyOf } from '../intents/flow-space.js';
import type { Attachment, Edge } from '../model/network-graph.js';
import { oneHop, WaysTo } from '../model/shortest-paths.js';
import { type Context, priorityOf, refused, routeStage, steerStage } from './context.js';
import type { Piece } from './draft.js';
import { isRefusal, type Refusal } from './programs/switch-tables.js';

/** Ways to hosts, computed once per set of switches that they are attached to. */
class HostWays {
  readonly #context: Pick<Context, 'graph' | 'cost'>;
  readonly #known = new Map<string, WaysTo>();

  constructor(context: Pick<Context, 'graph' | 'cost'>) {
    this.#context = context;
  }

  to(attachments: readonly Attachment[]): WaysTo {
    const ids = [...new Set(attachments.map(({ switchId }) => switchId))].sort((a, b) => a - b);
    const key = ids.join();
    const ways = this.#known.get(key) ?? new WaysTo(this.#context.graph, ids, this.#context.cost);
    this.#known.set(key, ways);
    return ways;
  }
}

/** Ports by which a switch sends to a host, ascending; none: there is no way. */
function portsTo(switchId: number, attachments: readonly Attachment[], ways: WaysTo): readonly number[] {
  const local = attachments.filter((each) => each.switchId === switchId).map(({ port }) => port);
  return local.length > 0 ? local : ways.nextHops(switchId).map(({ port }) => port);
}

/** Hops to hosts by switch, for the stages of an installation: all cheapest ways have as many. */
class Hops {
  readonly #known = new Map<WaysTo, Map<number, number>>();

  to(ways: WaysTo, switchId: number): number {
    const known = this.#known.get(ways) ?? new Map<number, number>();
    this.#known.set(ways, known);
    let hops = known.get(switchId);
    if (hops === undefined) {
      const [next] = ways.nextHops(switchId);
      hops = next === undefined ? 0 : 1 + this.to(ways, next.to);
      known.set(switchId, hops);
    }
    return hops;
  }
}

/** The route to a prefix at a switch, in the table of routes or in that of steering. */
function routePieces(
  { tables, settings }: Context,
  switchId: number,
  host: Host,
  prefix: Prefix,
  ports: readonly number[],
  hops: number,
): readonly Piece[] | Refusal {
  const own = tables(switchId);
  const owner = `route:${host.name}`;
  if (settings.routes === 'managed') {
    return own.route(switchId, { owner, prefix, ports, stage: routeStage(prefix, hops) });
  }
  // Below all paths: those over an avoided link are refused, the others may stay.
  const priority = priorityOf(0, prefix.length + 1);
  const all = { protocol: null, sourcePort: [0, 0xffff], destinationPort: [0, 0xffff], source: null } as const;
  const space = { ...all, family: familyOf(prefix), destination: prefix };
  return own.steer!(switchId, { owner, space, priority, ports, stage: steerStage(priority, hops) });
}

const sameEdges = (a: readonly Edge[], b: readonly Edge[]): boolean =>
  a.length === b.length && a.every((edge, index) => edge === b[index]);

/**
 * Routes to all hosts, by all cheapest ways. Where somebody else has the routes, those to all hosts are laid over them if
 * a link is avoided: then every switch agrees on the ways, and there is no loop.
 */
export function placeRoutes(context: Context): void {
  const { graph, draft, avoided, settings, tables } = context;
  const isOverlay = settings.routes === 'external';
  if (isOverlay && avoided.size === 0) return;
  const found = new HostWays(context);
  const distances = new Hops();
  const usual = new HostWays({ graph, cost: oneHop });
  const avoidIds = [...new Set([...avoided.values()].flat().map(({ id }) => id))].sort();
  const fixed = isOverlay ? graph.switchIds.find((switchId) => tables(switchId).steer === null) : undefined;
  if (fixed !== undefined) {
    const message = `runs ${tables(fixed).file}, which sends packets by their routes alone, and these are somebody else's`;
    draft.unplaced.push(...avoidIds.map((id) => refused(id, fixed, { code: 'NOT_SUPPORTED', message })));
    return;
  }
  for (const host of graph.hosts) {
    if (host.prefixes.length === 0) continue;
    const attachments = graph.attachments(host.name);
    if (attachments.length === 0) {
      draft.unplaced.push({
        intent: null,
        switchId: null,
        code: 'NO_HOST',
        message: `${host.name} is attached to no switch`,
      });
      continue;
    }
    const ways = found.to(attachments);
    const only = new Map<string, number>();
    for (const switchId of graph.switchIds) {
      const ports = portsTo(switchId, attachments, ways);
      if (ports.length === 0) {
        const message = `there is no way from switch ${switchId} to ${host.name}`;
        draft.unplaced.push({ intent: null, switchId, code: 'NO_PATH', message });
        continue;
      }
      const hops = distances.to(ways, switchId);
      const edges = ways.nextHops(switchId);
      for (const edge of edges) {
        for (const { id } of avoided.get(edge) ?? []) if (!only.has(id)) only.set(id, switchId);
      }
      const isChanged = avoidIds.length > 0 && !sameEdges(edges, usual.to(attachments).nextHops(switchId));
      for (const prefix of host.prefixes) {
        const pieces = routePieces(context, switchId, host, prefix, ports, hops);
        const problem = isRefusal(pieces) ? refused(null, switchId, pieces) : draft.place(pieces, null);
        if (problem !== null) draft.unplaced.push({ ...problem, message: `route to ${host.name}: ${problem.message}` });
        else if (isChanged && !isRefusal(pieces)) draft.credit(pieces.at(-1)!, avoidIds);
      }
    }
    for (const [intent, switchId] of only) {
      const message = `switch ${switchId} has no other way to ${host.name}`;
      draft.unplaced.push({ intent, switchId, code: 'NO_OTHER_PATH', message });
    }
  }
}
