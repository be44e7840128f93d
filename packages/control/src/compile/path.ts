import type { Host, Prefix } from '@int/network';
import { commonPrefix, familyOf, spaceOf } from '../intents/flow-space.js';
import type { PathIntent } from '../intents/intent.js';
import type { Edge } from '../model/network-graph.js';
import { WaysTo } from '../model/shortest-paths.js';
import { ingressSwitches } from './access.js';
import { type Context, priorityOf, refused, steerStage } from './context.js';
import type { Piece, Unplaced } from './draft.js';
import { isRefusal } from './programs/switch-tables.js';

/** Destinations of a match: prefixes of hosts, as narrow as the match. Of several that hold all of it, the narrowest. */
function destinationsOf(
  hosts: readonly Host[],
  wanted: Prefix | null,
): readonly { host: Host; prefix: Prefix; level: number }[] {
  const found = hosts.flatMap((host) =>
    host.prefixes.flatMap((each) => {
      const prefix = commonPrefix(each, wanted);
      return prefix === undefined || prefix === null ? [] : [{ host, prefix, level: each.length }];
    }),
  );
  const holds = found.filter(({ prefix, level }) => wanted !== null && prefix === wanted && level <= wanted.length);
  const narrowest = Math.max(-1, ...holds.map(({ level }) => level));
  return found.filter((each) => !holds.includes(each) || each.level === narrowest);
}

/** Walks of switches to a destination: where each goes next. */
class Walk {
  readonly ids: number[];
  readonly #context: Context;
  readonly #priority: number;

  constructor(context: Context, first: number, priority: number) {
    this.#context = context;
    this.#priority = priority;
    this.ids = [first];
  }

  /** Links to the next switch that the path may take: not avoided ones of a higher priority. */
  links(from: number, to: number): readonly Edge[] {
    const { graph, avoided } = this.#context;
    const open = graph.between(from, to).filter((edge) => this.#mayTake(edge));
    const free = open.filter((edge) => !avoided.has(edge));
    return free.length > 0 ? free : open;
  }

  #mayTake(edge: Edge): boolean {
    return (this.#context.avoided.get(edge) ?? []).every(({ priority }) => priority < this.#priority);
  }

  /** Continues to one of some switches: directly if it is a neighbour, else by the cheapest way over unused switches. */
  extend(targets: readonly number[], reserved: readonly number[]): boolean {
    const { graph, cost } = this.#context;
    const at = this.ids.at(-1)!;
    if (targets.includes(at)) return true;
    const [only] = targets;
    if (targets.length === 1 && graph.areAdjacent(at, only!)) {
      if (this.ids.includes(only!) || this.links(at, only!).length === 0) return false;
      this.ids.push(only!);
      return true;
    }
    const used = new Set([...this.ids.slice(0, -1), ...reserved]);
    const open = (edge: Edge): number =>
      used.has(edge.from) || used.has(edge.to) || !this.#mayTake(edge) ? Number.POSITIVE_INFINITY : cost(edge);
    const path = new WaysTo(
      graph,
      targets.filter((id) => !used.has(id)),
      open,
    ).path(at);
    if (path === null) return false;
    this.ids.push(...path.slice(1));
    return true;
  }
}

/** Entries that send flows over given switches, and what is in the way of some of them. */
export function placePath(context: Context, intent: PathIntent): readonly Unplaced[] {
  const { graph, draft, network } = context;
  const space = spaceOf(intent.match)!;
  const problem = (code: Unplaced['code'], message: string, switchId: number | null = null): Unplaced => ({
    intent: intent.id,
    switchId,
    code,
    message,
  });
  const unknown = intent.via.find((id) => !network.switches.has(id));
  if (unknown !== undefined) return [problem('NO_SUCH_SWITCH', `there is no switch ${unknown}`, unknown)];
  const destinations = destinationsOf(graph.hosts, space.destination).filter(
    ({ prefix }) => space.family === null || familyOf(prefix) === space.family,
  );
  if (destinations.length === 0) return [problem('NO_HOST', 'no host of the topology is a destination of its flows')];
  const problems: Unplaced[] = [];
  const pieces: Piece[] = [];
  for (const { host, prefix, level } of destinations) {
    const targets = [...new Set(graph.attachments(host.name).map(({ switchId }) => switchId))];
    const nexts = targets.length === 0 ? null : nextsOf(context, intent, targets);
    if (nexts === null) {
      problems.push(problem('NO_PATH', `to ${host.name}: there is no way over ${intent.via.join(', ')} that is open`));
      continue;
    }
    for (const { switchId, ports, hops } of nexts) {
      const { steer, file } = context.tables(switchId);
      const priority = priorityOf(intent.priority, level);
      const flows = { ...space, family: familyOf(prefix), destination: prefix };
      const placed = steer?.(switchId, {
        owner: intent.id,
        space: flows,
        priority,
        ports,
        stage: steerStage(priority, hops),
      }) ?? { code: 'NOT_SUPPORTED' as const, message: `runs ${file}, which sends packets by their routes alone` };
      if (isRefusal(placed)) return [refused(intent.id, switchId, placed)];
      pieces.push(...placed);
    }
  }
  const full = draft.place(pieces, intent.id);
  return full === null ? problems : [...problems, full];
}

interface Next {
  readonly switchId: number;
  readonly ports: readonly number[];
  /** To the destination. */
  readonly hops: number;
}

/** Where each switch of a path sends its flows: those of `via`, from there to the target, and from the sources to there. */
function nextsOf(context: Context, intent: PathIntent, targets: readonly number[]): readonly Next[] | null {
  const { graph } = context;
  const walk = new Walk(context, intent.via[0]!, intent.priority);
  for (const [index, id] of intent.via.entries()) {
    if (index > 0 && !walk.extend([id], intent.via.slice(index + 1))) return null;
  }
  if (!walk.extend(targets, [])) return null;
  // A path that comes by its end before the last of its switches would end there.
  if (walk.ids.slice(0, -1).some((id) => targets.includes(id))) return null;
  const { ids } = walk;
  const nexts = ids.slice(0, -1).map((switchId, index) => {
    const ports = walk.links(switchId, ids[index + 1]!).map(({ port }) => port);
    return { switchId, ports, hops: ids.length - 1 - index };
  });
  const space = spaceOf(intent.match)!;
  if (space.source === null) return nexts;
  const before = new Map<number, Next>();
  const { cost } = context;
  const taken = new Set(ids.slice(1));
  const ways = new WaysTo(graph, [ids[0]!], (edge) =>
    taken.has(edge.from) || taken.has(edge.to) ? Number.POSITIVE_INFINITY : cost(edge),
  );
  for (const from of ingressSwitches(context, space)) {
    if (ids.includes(from)) continue;
    const path = ways.path(from);
    if (path === null) return null;
    for (const [index, switchId] of path.slice(0, -1).entries()) {
      const ports = graph.between(switchId, path[index + 1]!).map(({ port }) => port);
      before.set(switchId, { switchId, ports, hops: ids.length - 1 + path.length - 1 - index });
    }
  }
  return [...nexts, ...before.values()];
}
