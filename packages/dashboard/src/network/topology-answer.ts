import type { LearntTopology } from '@int/network';
import { entityKey } from '../protocol/entities.js';
import type { LinkInfo, SwitchInfo, TopologyAnswer } from '../protocol/http.js';
import type { Retention } from '../retention/retention.js';
import type { SeriesEntity } from '../retention/series-reader.js';
import { LinkStates } from './link-states.js';
import type { NetworkView } from './network-view.js';

interface Directed {
  readonly from: number;
  readonly fromPort: number | null;
  readonly to: number;
  readonly toPort: number | null;
}

/** The network with its loads at a time. @param last bucket; `null`: nothing was seen yet */
export function topologyAnswer(retention: Retention, network: NetworkView, last: number | null): TopologyAnswer {
  const entities = retention.series.entities();
  const links = linksOf(network, entities);
  const switches = switchesOf(network, entities, links);
  const states = last === null ? null : new LinkStates(retention, last);
  return {
    at: last === null ? null : (last + 1) * 100,
    learnt: network.topology.switches.size === 0,
    switches,
    hosts: hostsOf(network),
    links: [...links.values()].map((link): LinkInfo => {
      const key = entityKey({ kind: 'link', ...link });
      const speedBps =
        link.fromPort === null
          ? null
          : (network.topology.switches.get(link.from)?.ports.get(link.fromPort)?.speedBps ?? null);
      const known = states?.of(key, link.from, link.to) ?? null;
      if (known === null) return { key, ...link, speedBps, load: null, reportsPerSecond: 0, state: 'unseen' };
      const { state, reportsPerSecond, utilization } = known;
      return {
        key,
        ...link,
        speedBps,
        load: loadOf(utilization, link.from, speedBps, network),
        reportsPerSecond,
        state,
      };
    }),
  };
}

/** The share of the speed that a utilisation is. @param value in the device's unit */
function loadOf(value: number, switchId: number, speedBps: number | null, network: NetworkView): number | null {
  const unit = network.device.unit('egressUtilization', switchId);
  if (Number.isNaN(value) || unit === null) return null;
  if (unit.base === 'ratio') return value * unit.factor;
  return unit.base === 'bitsPerSecond' && speedBps !== null ? (value * unit.factor) / speedBps : null;
}

/** Whether a link is none: the reporting switch's own values follow those of the same switch. */
export const isWithin = ({ from, to }: Pick<Directed, 'from' | 'to'>): boolean => from === to;

/** All links, given and seen, each in both directions if it was given. */
function linksOf({ topology }: NetworkView, entities: readonly SeriesEntity[]): Map<string, Directed> {
  const links = new Map<string, Directed>();
  const add = (link: Directed): void => {
    links.set(entityKey({ kind: 'link', ...link }), link);
  };
  for (const { id, ports } of topology.switches.values()) {
    for (const { number, to } of ports.values()) {
      if (to?.kind !== 'switch') continue;
      add({ from: id, fromPort: number, to: to.switchId, toPort: to.port });
      add({ from: to.switchId, fromPort: to.port, to: id, toPort: number });
    }
  }
  for (const { entity } of entities) {
    if (entity.kind !== 'link' || isWithin(entity)) continue;
    const { kind: _, ...link } = entity;
    add(link);
  }
  // What is known with ports is not there a second time without.
  const known = [...links.values()].filter(({ fromPort, toPort }) => fromPort !== null && toPort !== null);
  const pairs = new Set(known.map(({ from, to }) => `${from}-${to}`));
  for (const [key, { from, to, fromPort, toPort }] of links) {
    const isVague = fromPort === null || toPort === null;
    if (isVague && pairs.has(`${from}-${to}`) && !entities.some((entity) => entity.key === key)) links.delete(key);
  }
  return links;
}

function switchesOf(
  network: NetworkView,
  entities: readonly SeriesEntity[],
  links: ReadonlyMap<string, Directed>,
): SwitchInfo[] {
  const { topology, device } = network;
  const seen = new Set<number>();
  const queues = new Map<number, Set<number>>();
  for (const { entity } of entities) {
    if (entity.kind === 'switch') seen.add(entity.switchId);
    else if (entity.kind === 'queue') {
      const known = queues.get(entity.switchId);
      if (known === undefined) queues.set(entity.switchId, new Set([entity.queue]));
      else known.add(entity.queue);
    }
  }
  const learnt = new Map(network.learnt().switches.map((each) => [each.id, each]));
  const ids = [...new Set([...topology.switches.keys(), ...seen])].sort((a, b) => a - b);
  const tiers = tiersOf(ids, network, links);
  return ids.map((id) => {
    const given = topology.switches.get(id);
    const numbers = new Set([
      ...(given?.ports.keys() ?? []),
      ...(learnt.get(id)?.ports ?? []).map(({ number }) => number),
    ]);
    return {
      id,
      name: given?.name ?? null,
      tier: tiers.get(id) ?? 0,
      latencyUnit: device.unit('hopLatency', id)?.text ?? null,
      occupancyUnit: device.unit('queueOccupancy', id)?.text ?? null,
      utilizationUnit: device.unit('egressUtilization', id)?.text ?? null,
      units: {
        hopLatency: device.unit('hopLatency', id),
        queueOccupancy: device.unit('queueOccupancy', id),
        egressUtilization: device.unit('egressUtilization', id),
      },
      ports: [...numbers]
        .sort((a, b) => a - b)
        .map((number) => ({
          number,
          name: topology.portName(id, number),
          speedBps: given?.ports.get(number)?.speedBps ?? null,
        })),
      queues: [...(queues.get(id) ?? [])].sort((a, b) => a - b),
      seen: seen.has(id),
    };
  });
}

/** Links to the nearest switch with hosts; where no host is known, from the switches with the fewest neighbours. */
function tiersOf(
  ids: readonly number[],
  network: NetworkView,
  links: ReadonlyMap<string, Directed>,
): ReadonlyMap<number, number> {
  const neighbours = new Map<number, Set<number>>(ids.map((id) => [id, new Set()]));
  const join = (a: number, b: number): void => {
    neighbours.get(a)?.add(b);
    neighbours.get(b)?.add(a);
  };
  for (const { from, to } of links.values()) join(from, to);
  for (const id of ids) for (const other of network.topology.neighbours(id)) join(id, other);
  const withHosts = edgeOf({ topology: network.topology, learnt: network.learnt() });
  let edge = ids.filter((id) => withHosts.has(id));
  if (edge.length === 0) {
    const fewest = Math.min(...[...neighbours.values()].map(({ size }) => size));
    edge = ids.filter((id) => neighbours.get(id)!.size === fewest);
  }
  const tiers = new Map(edge.map((id) => [id, 0]));
  let tier = 0;
  for (let front: readonly number[] = edge; front.length > 0; ) {
    tier++;
    const next: number[] = [];
    for (const id of front) {
      for (const other of neighbours.get(id) ?? []) {
        if (tiers.has(other) || !neighbours.has(other)) continue;
        tiers.set(other, tier);
        next.push(other);
      }
    }
    front = next;
  }
  return tiers;
}

/** Switches with hosts: those that the topology tells, or else those beyond whose ports addresses were seen. */
function edgeOf({ topology, learnt }: Pick<NetworkView, 'topology'> & { learnt: LearntTopology }): Set<number> {
  const given = [...topology.switches.values()].filter(({ ports }) =>
    [...ports.values()].some(({ to }) => to?.kind === 'host'),
  );
  if (given.length > 0) return new Set(given.map(({ id }) => id));
  return new Set(learnt.switches.filter(({ ports }) => ports.some(({ hosts }) => hosts !== null)).map(({ id }) => id));
}

function hostsOf({ topology }: NetworkView): TopologyAnswer['hosts'] {
  const at = new Map<string, number>();
  for (const { id, ports } of topology.switches.values()) {
    for (const { to } of ports.values()) if (to?.kind === 'host' && !at.has(to.host)) at.set(to.host, id);
  }
  return [...topology.hosts.values()].map(({ name, level }) => ({ name, switchId: at.get(name) ?? null, level }));
}
