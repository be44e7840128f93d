/** A link fails: packets on it are lost, in both directions. */
import { HOSTS, type HostName, type VirtualLoop } from '@int/example-closed-loop';
import type { Link } from '@int/netsim';
import { msToNote, playScene, type Scene, type Values } from './scenario.js';
import { type Flow, sourcePortOf } from './surroundings.js';

const SECONDS = 4;
/** Between two packets of a flow there are so many of its gaps at most, if none is lost. */
const GAPS = 1.5;
/**
 * The stated detectability: what carries fewer flows may be silent for other reasons. In the direction to the leaf: in the other
 * one the leaf itself takes its other port at once.
 */
const LEAST_FLOWS = 3;

export const linkFailure = (seed: number): Promise<Values> => playScene('link-failure', seed, 2, play);

async function play({ loop, random, flows }: Scene): Promise<Values> {
  const used = await linksInUse(loop, flows);
  const link = used[random.integer(used.length)]!;
  const arrivals = listen(loop, flows);
  const failedMs = loop.nowMs;
  link.fail();
  await loop.seconds(SECONDS);
  const event = loop.events.find(({ kind }) => kind === 'linkFailure');
  return {
    event: event === undefined ? null : msToEvent(loop, failedMs),
    installed: msToNote(loop, failedMs, ['avoid'], 'installed'),
    delivered: msToDelivery(flows, arrivals, failedMs, loop.nowMs),
  };
}

/** When the loop has heard of it: events have the times of their telemetry. */
const msToEvent = (loop: VirtualLoop, failedMs: number): number | null =>
  msToNote(loop, failedMs, ['avoid'], 'proposed');

/**
 * Links whose failure can be told by the rule of `linkFailure`: so many flows come over them to the leaf, and the spine is still
 * seen without them, by a flow between the other leaves.
 */
async function linksInUse(loop: VirtualLoop, flows: readonly Flow[]): Promise<readonly Link[]> {
  const { network, links } = loop.fabric;
  const byPort = new Map(flows.map((flow) => [flow.port, flow]));
  /** By link: the flows that come over it to the leaf. */
  const seen = new Map<string, Set<Flow>>();
  const releases = [...links].flatMap(([name, link]) => {
    if (!name.includes(':spine')) return [];
    const own = new Set<Flow>();
    seen.set(name, own);
    return [
      network.tap(link, 'ba', (frame) => {
        const flow = byPort.get(sourcePortOf(frame));
        if (flow !== undefined) own.add(flow);
      }),
    ];
  });
  await loop.seconds(0.5);
  for (const release of releases) release();
  const candidates = [...seen].flatMap(([name, own]) => {
    const [leaf, spine] = name.split(':') as [string, string];
    const isSeenOtherwise = [...seen].some(
      ([other, others]) =>
        other !== name && other.endsWith(spine) && [...others].some(({ from }) => `leaf${HOSTS[from].leaf}` !== leaf),
    );
    return isSeenOtherwise ? [{ link: links.get(name)!, flows: own.size }] : [];
  });
  const found = candidates.filter((each) => each.flows >= LEAST_FLOWS);
  if (found.length === 0) throw new Error('no link carries enough: choose more flows');
  return found.map(({ link }) => link);
}

/** Times at which packets of flows reach their hosts, in milliseconds, by source port. */
function listen(
  { fabric: { network, links }, nowMs }: VirtualLoop,
  flows: readonly Flow[],
): ReadonlyMap<number, number[]> {
  const arrivals = new Map(flows.map(({ port }) => [port, [] as number[]]));
  const offsetMs = nowMs - network.nowNs / 1e6;
  for (const host of new Set(flows.map(({ to }): HostName => to))) {
    network.tap(links.get(`leaf${HOSTS[host].leaf}:${host}`)!, 'ab', (frame, timeNs) => {
      arrivals.get(sourcePortOf(frame))?.push(offsetMs + timeNs / 1e6);
    });
  }
  return arrivals;
}

/** Until the last flow that was interrupted is delivered again; `null`: one is not. */
function msToDelivery(
  flows: readonly Flow[],
  arrivals: ReadonlyMap<number, readonly number[]>,
  failedMs: number,
  endMs: number,
): number | null {
  let last = 0;
  for (const { port, bps } of flows) {
    const mostMs = GAPS * ((1000 * 8000) / bps);
    let before = failedMs;
    for (const atMs of arrivals.get(port)!) {
      if (atMs - before > mostMs) last = Math.max(last, atMs - failedMs);
      before = atMs;
    }
    if (endMs - before > mostMs) return null;
  }
  return last;
}
