import { prefixOf } from '@int/network';
import { WaysTo } from '../model/shortest-paths.js';
import type { Context } from './context.js';

/** Ports to where the collector is attached, by switch. */
export function collectorPorts({
  network,
  graph,
  cost,
}: Pick<Context, 'network' | 'graph' | 'cost'>): Context['collectorPort'] {
  const address = network.collector === null ? null : prefixOf(network.collector.address);
  const host = address === null || address.bytes.length !== 4 ? null : network.topology.hostOf(address.bytes);
  const attachments = host === null ? [] : graph.attachments(host.name);
  const ways = new WaysTo(
    graph,
    attachments.map(({ switchId }) => switchId),
    cost,
  );
  return (switchId) =>
    attachments.find((each) => each.switchId === switchId)?.port ?? ways.nextHops(switchId)[0]?.port ?? null;
}

/** Settings of switches that no intent changes: their ids, their ports, the way of their reports. */
export function placeBase({ network: { collector }, graph, draft, collectorPort, tables }: Context): void {
  let first: number | null = null;
  for (const switchId of graph.switchIds) {
    const own = tables(switchId);
    if (own.reportsTo === 'collector' && collectorPort(switchId) === null) first ??= switchId;
    draft.placeEach(own.settings(switchId));
  }
  if (collector !== null && first !== null) {
    const message = `switch ${first} has no way to the collector ${collector.address}: an IPv4 address of a host of the topology`;
    draft.unplaced.push({ intent: null, switchId: first, code: 'NO_COLLECTOR', message });
  }
}
