import type { Intent } from '../intents/intent.js';
import type { LinkLoad, ObservedFlow, Rehearsal } from '../twin/rehearsal.js';
import { flowKey, flowTest } from './flow-test.js';
import type { LinkMap } from './link-map.js';
import type { Measurement } from './measurement.js';
import { isAggregatePath } from './path-draft.js';

/** Flows that a rehearsal has moved, with the seconds in which they were seen. */
export interface RehearsedFlows extends Pick<Rehearsal, 'moved'> {
  readonly seconds: number;
}

/**
 * Loads before and after a change, at the rates of now: a rehearsal has those of the last minute, in which what began just now is
 * hardly seen.
 *
 * @param rates bits a second by key of flows that something keeps from arriving: what they have when they arrive again
 */
export function expectedLoads(
  intents: readonly Intent[],
  { moved, seconds: rehearsedSeconds }: RehearsedFlows,
  { flows, seconds }: Measurement,
  links: LinkMap,
  rates: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, LinkLoad> {
  const loads = new Map<string, { beforeBps: number; afterBps: number; readonly capacityBps: number | null }>();
  const add = (link: string, beforeBps: number, afterBps: number): void => {
    const load = loads.get(link) ?? { beforeBps: 0, afterBps: 0, capacityBps: links.capacities.get(link) ?? null };
    load.beforeBps += beforeBps;
    load.afterBps += afterBps;
    loads.set(link, load);
  };
  const ways = new Map(moved.map(({ flow, to }) => [flowKey(flow), to]));
  const wayOf = aggregateWays(intents, moved);
  const blocks = intents.filter(({ kind }) => kind === 'block').map(testOf);
  const limits = intents
    .filter((intent) => intent.kind === 'limit')
    .map((intent) => {
      const isMeant = testOf(intent);
      const bps = flows.reduce((sum, flow) => (isMeant(flow) ? sum + (8 * flow.bytes) / seconds : sum), 0);
      return { isMeant, share: bps === 0 ? 1 : Math.min(1, intent.bitsPerSecond / bps) };
    });
  const isThere = new Set<string>();
  for (const flow of flows) {
    const key = flowKey(flow);
    isThere.add(key);
    const bps = (8 * flow.bytes) / seconds;
    for (const link of links.linksOf(flow.path, flow.destination)) add(link, bps, 0);
    if (blocks.some((isMeant) => isMeant(flow))) continue;
    const share = limits.reduce((least, each) => (each.isMeant(flow) ? Math.min(least, each.share) : least), 1);
    const afterBps = share * (rates.get(key) ?? bps);
    for (const link of links.linksOf(ways.get(key) ?? wayOf(flow) ?? flow.path, flow.destination))
      add(link, 0, afterBps);
  }
  // What does not arrive now, for instance over a link that has failed.
  for (const { flow, to } of moved) {
    const key = flowKey(flow);
    if (isThere.has(key)) continue;
    const bps = rates.get(key) ?? (8 * flow.bytes) / rehearsedSeconds;
    for (const link of links.linksOf(to, flow.destination)) add(link, 0, bps);
  }
  return loads;
}

const testOf = (intent: Intent): ReturnType<typeof flowTest> =>
  'match' in intent ? flowTest(intent.match) : () => false;

/**
 * Ways of flows that go with an aggregate: a rehearsal has only some of many small flows, and where it moves one of them all go that
 * enter where it does. Flows with an intent of their own do not go with it.
 */
function aggregateWays(
  intents: readonly Intent[],
  moved: RehearsedFlows['moved'],
): (flow: ObservedFlow) => readonly number[] | null {
  const together = intents.filter(isAggregatePath).map(({ match, via }) => {
    const isMeant = flowTest(match);
    // Those that are rehearsed and do not move are on that path already.
    return { isMeant, to: moved.find(({ flow }) => isMeant(flow))?.to ?? via };
  });
  const alone = intents.filter((intent) => intent.kind === 'path' && !isAggregatePath(intent)).map(testOf);
  return (flow) => {
    const found = together.find(
      ({ to, isMeant }) => flow.path[0] === to[0] && flow.path.at(-1) === to.at(-1) && isMeant(flow),
    );
    return found === undefined || alone.some((isMeant) => isMeant(flow)) ? null : found.to;
  };
}
