import type { DesiredState } from '../change/desired-state.js';
import { type Conflict, resolveConflicts } from '../intents/conflicts.js';
import type { AvoidIntent, Intent } from '../intents/intent.js';
import { byPriority, isActive } from '../intents/lifetime.js';
import { type Edge, NetworkGraph } from '../model/network-graph.js';
import type { NetworkModel } from '../model/network-model.js';
import type { LinkCost } from '../model/shortest-paths.js';
import { accessCells, placeAccess } from './access.js';
import { collectorPorts, placeBase } from './base.js';
import type { Context } from './context.js';
import { placeDetect, ruleNumbers } from './detect.js';
import { Draft, type Unplaced } from './draft.js';
import { type CompileOptions, settingsOf } from './options.js';
import { placePath } from './path.js';
import { tablesOf } from './programs/programs.js';
import { placeRoutes } from './routes.js';
import { placeWatch } from './watch.js';

/** What the switches shall have, and what of the intents they cannot have. */
export interface Compiled {
  /** Of every switch of the network. */
  readonly desired: DesiredState;
  /** Intents that are left out because an older one contradicts them. */
  readonly conflicts: readonly Conflict[];
  /** What has no place, by name. */
  readonly unplaced: readonly Unplaced[];
}

/** More than any path costs: a longer way is taken where there is one. */
const AVOIDED = 1e9;
/** A switch without a session cannot be given routes. */
const UNREACHABLE = 1e4;

/**
 * The tables that make a network do what intents say: routes to all hosts over all shortest ways, settings of ports and
 * reports, and the intents' entries, each with its owner in its metadata. Pure: the same network, intents and time give
 * the same result, whatever the order of the intents.
 *
 * @param nowMs milliseconds since the epoch: intents that have ended or not begun are left out
 * @throws RangeError for an option out of range
 */
export function compile(
  network: NetworkModel,
  intents: readonly Intent[],
  nowMs: number,
  options: CompileOptions = {},
): Compiled {
  const settings = settingsOf(options);
  const graph = new NetworkGraph(network);
  const active = intents.filter((intent) => isActive(intent, nowMs));
  const { held, conflicts } = resolveConflicts(active, (via, { switchId, port }) => {
    const edge = graph.edge(switchId, port);
    const goes = (from: number, to: number): boolean => {
      const index = via.indexOf(from);
      return index >= 0 && via[index + 1] === to && graph.between(from, to).length === 1;
    };
    return edge !== undefined && (goes(edge.from, edge.to) || goes(edge.to, edge.from));
  });
  const draft = new Draft(network.switches);
  const avoided = avoidedLinks(network, graph, held, draft);
  const cost: LinkCost = (edge) =>
    1 + (avoided.has(edge) ? AVOIDED : 0) + (network.switches.get(edge.to)?.isUp === false ? UNREACHABLE : 0);
  const ground = { network, graph, settings, collectorPort: collectorPorts({ network, graph, cost }) };
  const context: Context = { ...ground, tables: tablesOf(ground), draft, avoided, cost };
  placeBase(context);
  placeRoutes(context);
  const numbers: Numbers = { cells: accessCells(held), rules: ruleNumbers(held) };
  for (const intent of [...held].sort(byPriority)) draft.unplaced.push(...placeIntent(context, intent, numbers));
  return { desired: draft.state(), conflicts, unplaced: draft.unplaced };
}

/** Numbers in switches by the intents that have them: cells of counters, rules of detectors. */
interface Numbers {
  readonly cells: ReadonlyMap<string, number>;
  readonly rules: ReadonlyMap<string, number>;
}

function placeIntent(context: Context, intent: Intent, { cells, rules }: Numbers): readonly Unplaced[] {
  switch (intent.kind) {
    case 'block':
    case 'limit': {
      const problem = placeAccess(context, intent, cells);
      return problem === null ? [] : [problem];
    }
    case 'watch':
    case 'protect':
      return placeWatch(context, intent);
    case 'detect': {
      const problem = placeDetect(context, intent, rules.get(intent.id)!);
      return problem === null ? [] : [problem];
    }
    case 'path':
      return placePath(context, intent);
    // Avoided links are in the routes; a goal is for the controller to reach by other intents.
    default:
      return [];
  }
}

/** Links that intents avoid, in both directions. */
function avoidedLinks(
  { topology }: NetworkModel,
  graph: NetworkGraph,
  held: readonly Intent[],
  draft: Draft,
): ReadonlyMap<Edge, readonly AvoidIntent[]> {
  const avoided = new Map<Edge, AvoidIntent[]>();
  for (const intent of [...held].sort(byPriority)) {
    if (intent.kind !== 'avoid') continue;
    const { switchId, port } = intent.link;
    const edge = graph.edge(switchId, port);
    if (edge === undefined) {
      const peer = topology.peer(switchId, port);
      // A failed link carries nothing anyway.
      if (peer?.kind === 'switch') continue;
      const code = peer === null ? 'NO_SUCH_LINK' : 'NO_OTHER_PATH';
      const message =
        peer === null
          ? `there is no link at ${switchId}:${port}`
          : `${peer.host} is reached by ${switchId}:${port} alone`;
      draft.unplaced.push({ intent: intent.id, switchId, code, message });
      continue;
    }
    const back = graph
      .between(edge.to, edge.from)
      .filter((other) =>
        edge.toPort === null ? other.toPort === port || other.toPort === null : other.port === edge.toPort,
      );
    for (const each of [edge, ...back]) avoided.set(each, [...(avoided.get(each) ?? []), intent]);
  }
  return avoided;
}
