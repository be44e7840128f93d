/** Builds whole networks from plain arrays. */
import { checkInteger } from './checks.js';
import { Host, type HostOptions } from './hosts/host.js';
import { MonitorHost } from './hosts/monitor-host.js';
import type { Link, LinkOptions } from './link.js';
import { Network } from './network.js';
import type { Node, NodeOptions } from './network-node.js';
import { NO_ROUTE, shortestPathRoutes } from './routes.js';
import { GpintSwitch, type GpintSwitchOptions } from './switches/gpint-switch.js';

/** IPv4 addresses that {@link buildNetwork} assigns, as 32-bit words. Switch and host numbers up to 65,534. */
export const ADDRESSES = {
  /** 10.254.0.1 */
  monitor: 0x0afe_0001,
  /** 10.0.0.1 for switch 0, 10.0.0.2 for switch 1, ... */
  switch: (index: number): number => 0x0a00_0001 + index,
  /** 10.1.0.1 for host 0, ... */
  host: (index: number): number => 0x0a01_0001 + index,
} as const;

const MOST = 0xfffe;

/** Options of the switches, without those that {@link buildNetwork} sets. */
export type GpintSettings = Omit<GpintSwitchOptions, 'switchId' | 'address' | 'monitorAddress' | 'monitorPort'>;

/** Options of links. The numbers of the switches determine the ports. */
export type LinkSettings = Omit<LinkOptions, 'aPort' | 'bPort'>;

export interface BuildOptions {
  readonly seed: number | string;
  /** Virtual time at the start, integer nanoseconds. Default: 0. */
  readonly startNs?: number;
  /** Number of switches, 1 to 65,534. */
  readonly switches: number;
  /** Pairs of switch numbers, each pair once. */
  readonly links: readonly (readonly [number, number])[];
  /** Names of the switches, each once. Default: `s0`, `s1`, ... */
  readonly names?: readonly string[];
  /**
   * Options of the links between switches, for all or each (`link` is the index in `links`). Default: no delay, no
   * loss.
   */
  readonly link?: LinkSettings | ((link: number, a: number, b: number) => LinkSettings);
  /** Service rate, queue and clock of switches, for all or each. Default: infinite rate. */
  readonly switchNode?: NodeOptions | ((index: number) => NodeOptions);
  /** How switches handle probes, for all or each. */
  readonly gpint?: GpintSettings | ((index: number) => GpintSettings);
  readonly monitor?: {
    /** Switches that the monitor is attached to (in-band). Default: all (out-of-band). */
    readonly entries?: readonly number[];
    /**
     * Options of the monitor's links, for all or each switch; `ab` is the direction from the monitor. Default: no
     * delay, no loss.
     */
    readonly link?: LinkSettings | ((entry: number) => LinkSettings);
  };
  readonly hosts?: {
    readonly count: number;
    /** Switch of each host. Default: host h at switch h modulo the number of switches. */
    readonly attach?: readonly number[];
    /** Options of the links from hosts to switches; `ab` is the direction from the host. Default: no delay, no loss. */
    readonly link?: LinkSettings;
    readonly onDatagram?: (host: number, ...datagram: Parameters<NonNullable<HostOptions['onDatagram']>>) => void;
  };
  /** Whether probes have the extended layout. Default: if there are more than 256 switches, or ports above 255. */
  readonly extended?: boolean;
  /** Choice among several shortest paths. `random`: each (switch, destination) draws one. Default: `lowest` port. */
  readonly ties?: 'lowest' | 'random';
}

/** The result of {@link buildNetwork}. All lists are in the order of the options. */
export interface BuiltNetwork {
  readonly network: Network;
  readonly switches: readonly GpintSwitch[];
  readonly switchNodes: readonly Node[];
  /** Links between switches. */
  readonly links: readonly Link[];
  /** Neighbours of each switch, ascending: neighbour i is at port i + 1. */
  readonly neighbours: readonly (readonly number[])[];
  readonly hosts: readonly Host[];
  readonly hostNodes: readonly Node[];
  /** Links from hosts to their switches. */
  readonly hostLinks: readonly Link[];
  readonly monitor: MonitorHost;
  readonly monitorNode: Node;
  /** Switches that the monitor is attached to: entry i is at port i of the monitor. */
  readonly entries: readonly number[];
  /** Links from the monitor to its entries. */
  readonly monitorLinks: readonly Link[];
  readonly extended: boolean;
  /** Port of switch `a` towards switch `b`; -1 if no link joins them. */
  portOf(a: number, b: number): number;
  /** The link between two switches; undefined if there is none. */
  linkBetween(a: number, b: number): Link | undefined;
  /**
   * Recomputes all routes around the links and switches that are down now. Destinations without a path keep their old
   * routes.
   */
  reroute(): void;
}

/**
 * Builds a network of GPINT switches with a monitor and hosts. Port 0 of an entry switch leads to the monitor, port i +
 * 1 to its i-th neighbour in ascending order, the ports after those to its hosts. Other switches have no port 0 and
 * reach the monitor by a shortest path.
 *
 * @throws RangeError for numbers out of range; TypeError for duplicate links and links from a switch to itself
 */
export function buildNetwork(options: BuildOptions): BuiltNetwork {
  const count = checkInteger('switches', options.switches, 1, MOST);
  const { seed, startNs, names } = options;
  if (names !== undefined && names.length !== count)
    throw new RangeError(`${names.length} names for ${count} switches`);
  const neighbours = neighboursOf(count, options.links);
  const network = new Network({ seed, ...(startNs === undefined ? {} : { startNs }) });
  const attach = attachments(options, count);
  const entries = [...(options.monitor?.entries ?? Array.from({ length: count }, (_, index) => index))];
  const entryPorts = new Map(entries.map((entry, port) => [checkInteger('entry', entry, 0, count - 1), port]));
  if (entryPorts.size !== entries.length) throw new TypeError('an entry is there twice');
  const portOf = (a: number, b: number): number => (neighbours[a]?.indexOf(b) ?? -1) + 1 || -1;
  const mostPorts = Math.max(...neighbours.map((list) => list.length));
  const extended = options.extended ?? (count > 256 || mostPorts > 255);

  const switches = neighbours.map((_, index) => {
    const settings = typeof options.gpint === 'function' ? options.gpint(index) : options.gpint;
    return new GpintSwitch({
      ...settings,
      switchId: index,
      address: ADDRESSES.switch(index),
      monitorAddress: ADDRESSES.monitor,
    });
  });
  const switchNodes = switches.map((each, index) => {
    const settings = typeof options.switchNode === 'function' ? options.switchNode(index) : options.switchNode;
    return network.add(names?.[index] ?? `s${index}`, each, settings);
  });
  const links = options.links.map(([a, b], index) => {
    const settings = typeof options.link === 'function' ? options.link(index, a, b) : options.link;
    return network.connect(switchNodes[a]!, switchNodes[b]!, {
      ...settings,
      aPort: portOf(a, b),
      bPort: portOf(b, a),
    });
  });
  const monitor = new MonitorHost({
    address: ADDRESSES.monitor,
    extended,
    portOf: (entry) => entryPorts.get(entry) ?? -1,
    addressOf: ADDRESSES.switch,
  });
  const monitorNode = network.add(freeName(network, 'monitor'), monitor);
  const monitorLinks = entries.map((entry, port) => {
    const given = options.monitor?.link;
    const settings = typeof given === 'function' ? given(entry) : given;
    return network.connect(monitorNode, switchNodes[entry]!, { ...settings, aPort: port, bPort: 0 });
  });
  const { link: hostLink, onDatagram } = options.hosts ?? {};
  const hosts = attach.map(
    (_, index) =>
      new Host({
        address: ADDRESSES.host(index),
        ...(onDatagram === undefined ? {} : { onDatagram: (datagram) => onDatagram(index, datagram) }),
      }),
  );
  const hostNodes = hosts.map((host, index) => network.add(freeName(network, `host ${index}`), host));
  const used = neighbours.map((list) => list.length + 1);
  const hostPorts = attach.map((at) => used[at]!++);
  const hostLinks = attach.map((at, index) =>
    network.connect(hostNodes[index]!, switchNodes[at]!, { ...hostLink, aPort: 0, bPort: hostPorts[index]! }),
  );

  const reroute = (): void => {
    // The node itself replaces an unreachable neighbour, so that positions stay those of `neighbours`.
    const live = neighbours.map((list, a) =>
      list.map((b) => {
        const isUp = switchNodes[a]!.isUp && switchNodes[b]!.isUp && switchNodes[a]!.isPortUp(portOf(a, b));
        return isUp ? b : a;
      }),
    );
    const ties = options.ties === 'random' ? network.random.derive('routes') : undefined;
    const homes = [...new Set(attach)];
    const toHomes = shortestPathRoutes(live, homes, ties);
    const columns = attach.map((at) => homes.indexOf(at));
    for (const [index, each] of switches.entries()) {
      for (const [host, at] of attach.entries()) {
        const position = toHomes[index]![columns[host]!]!;
        if (at === index) each.routes.set(ADDRESSES.host(host), hostPorts[host]!);
        else if (position !== NO_ROUTE) each.routes.set(ADDRESSES.host(host), position + 1);
      }
    }
    const home = routesHome(
      live,
      entries.filter((entry, port) => switchNodes[entry]!.isUp && monitorNode.isPortUp(port)),
    );
    for (const [index, each] of switches.entries()) {
      if (home[index] !== NO_ROUTE) each.monitorPort = home[index]!;
      each.routes.set(ADDRESSES.monitor, each.monitorPort);
    }
  };
  reroute();

  const linkNumbers = new Map(options.links.map(([a, b], index) => [Math.min(a, b) * count + Math.max(a, b), index]));
  const linkBetween = (a: number, b: number): Link | undefined =>
    links[linkNumbers.get(Math.min(a, b) * count + Math.max(a, b)) ?? -1];
  return {
    network,
    switches,
    switchNodes,
    links,
    neighbours,
    hosts,
    hostNodes,
    hostLinks,
    monitor,
    monitorNode,
    entries,
    monitorLinks,
    extended,
    portOf,
    linkBetween,
    reroute,
  };
}

/** A name for a host that differs from the names of switches. */
function freeName(network: Network, wanted: string): string {
  let name = wanted;
  while (network.find(name) !== undefined) name += "'";
  return name;
}

/** Neighbours of each switch, ascending. */
function neighboursOf(count: number, links: BuildOptions['links']): number[][] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (const [a, b] of links) {
    checkInteger('link end', a, 0, count - 1);
    checkInteger('link end', b, 0, count - 1);
    if (a === b) throw new TypeError(`switch ${a} cannot be linked to itself`);
    lists[a]!.push(b);
    lists[b]!.push(a);
  }
  for (const [a, list] of lists.entries()) {
    list.sort((x, y) => x - y);
    const twice = list.find((b, index) => list[index + 1] === b);
    if (twice !== undefined) throw new TypeError(`the link between ${a} and ${twice} is there twice`);
  }
  return lists;
}

function attachments(options: BuildOptions, count: number): readonly number[] {
  const { hosts } = options;
  if (hosts === undefined) return [];
  checkInteger('hosts.count', hosts.count, 0, MOST);
  const attach = hosts.attach ?? Array.from({ length: hosts.count }, (_, host) => host % count);
  if (attach.length !== hosts.count) throw new RangeError(`${attach.length} attachments for ${hosts.count} hosts`);
  for (const at of attach) checkInteger('hosts.attach', at, 0, count - 1);
  return attach;
}

/** Port of each switch towards the nearest entry: one search from all entries at once. */
function routesHome(live: readonly (readonly number[])[], entries: readonly number[]): Uint16Array {
  const ports = new Uint16Array(live.length).fill(NO_ROUTE);
  for (const entry of entries) ports[entry] = 0;
  const queue = [...entries];
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head]!;
    for (const other of live[node]!) {
      if (ports[other] !== NO_ROUTE) continue;
      ports[other] = live[other]!.indexOf(node) + 1;
      queue.push(other);
    }
  }
  return ports;
}
