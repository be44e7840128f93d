/** The network of the scenarios: a fat tree of INT switches, each with its own link to the monitor. */
import type { Random } from '@int/random';
import { Host } from '../hosts/host.js';
import type { Link } from '../link.js';
import { Network } from '../network.js';
import type { Node } from '../network-node.js';
import { distancesFrom } from '../routes.js';
import { IntSwitch, type WatchRule } from '../switches/int-switch.js';

/** 10.254.0.1 */
const MONITOR_ADDRESS = 0x0afe_0001;

export interface FabricOptions {
  readonly seed: number | string;
  readonly startNs: number;
  /** Ports of each switch, even: k pods of k switches, (k/2)^2 cores, k^3/4 hosts. */
  readonly ports: number;
  /** Rate of links between switches, bits per second. */
  readonly rateBps: number;
  readonly queuePackets: number;
  readonly loss: number;
  /** Largest random extra delay of a report, nanoseconds. */
  readonly reportJitterNs: number;
  readonly watchlist: readonly WatchRule[];
  readonly congestedPackets: number;
  readonly onReport: (payload: Uint8Array, timeNs: number) => void;
}

/**
 * A fat tree (Al-Fares et al., SIGCOMM 2008). Switch index i has node id i + 1: edge switches first, then aggregation, then
 * core. Port 0 of a switch leads to the monitor, port i + 1 to its i-th neighbour in ascending order, hosts come after.
 */
export class Fabric {
  readonly network: Network;
  readonly switches: readonly IntSwitch[];
  readonly nodes: readonly Node[];
  readonly links: readonly Link[];
  /** The link from each switch (first node) to the monitor. */
  readonly monitorLinks: readonly Link[];
  readonly neighbours: readonly (readonly number[])[];
  readonly hosts: readonly Host[];
  /** Switch of each host. */
  readonly attach: readonly number[];
  /** Number of edge switches, which have the lowest indices. */
  readonly edges: number;
  readonly #linkOf = new Map<number, Link>();
  readonly #random: Random;
  /** Next switch by host and switch. */
  readonly #next: readonly Int16Array[];

  constructor(options: FabricOptions) {
    const { seed, startNs, ports } = options;
    this.network = new Network({ seed, startNs });
    this.#random = this.network.random.derive('routes');
    const half = ports / 2;
    this.edges = ports * half;
    const count = 2 * this.edges + half * half;
    const pairs = fatTreeLinks(ports);
    const neighbours: number[][] = Array.from({ length: count }, () => []);
    for (const [a, b] of pairs) {
      neighbours[a]!.push(b);
      neighbours[b]!.push(a);
    }
    for (const list of neighbours) list.sort((a, b) => a - b);
    this.neighbours = neighbours;
    this.attach = Array.from({ length: this.edges * half }, (_, host) => Math.floor(host / half));
    this.switches = neighbours.map(
      (_, index) =>
        new IntSwitch({
          nodeId: index + 1,
          address: 0x0a00_0001 + index,
          monitorAddress: MONITOR_ADDRESS,
          monitorPort: 0,
          watchlist: options.watchlist,
          pipes: 2,
          congestedPackets: options.congestedPackets,
        }),
    );
    this.nodes = this.switches.map((each, index) => this.network.add(`s${index + 1}`, each));
    const { rateBps, queuePackets, loss } = options;
    this.links = pairs.map(([a, b]) => {
      const link = this.network.connect(this.nodes[a]!, this.nodes[b]!, {
        aPort: this.portOf(a, b),
        bPort: this.portOf(b, a),
        rateBps,
        queuePackets,
        loss,
        delayNs: 20_000,
      });
      this.#linkOf.set(a * count + b, link);
      this.#linkOf.set(b * count + a, link);
      return link;
    });
    const monitor = this.network.add(
      'monitor',
      new Host({
        address: MONITOR_ADDRESS,
        onDatagram: ({ payload, timeNs }) => options.onReport(payload, timeNs),
      }),
    );
    this.monitorLinks = this.nodes.map((node) =>
      this.network.connect(node, monitor, { aPort: 0, delayNs: 100_000, jitterNs: options.reportJitterNs }),
    );
    this.hosts = this.attach.map((at, host) => {
      const one = new Host({ address: 0x0a01_0001 + at * 256 + host });
      const node = this.network.add(`host ${host}`, one);
      const bPort = neighbours[at]!.length + 1 + (host % half);
      this.network.connect(node, this.nodes[at]!, { aPort: 0, bPort });
      this.switches[at]!.edgePorts.add(bPort);
      this.switches[at]!.routes.set(one.address, bPort);
      return one;
    });
    this.#next = this.hosts.map(() => new Int16Array(count).fill(-1));
    this.reroute();
  }

  /** Port of switch `a` towards its neighbour `b`. */
  portOf(a: number, b: number): number {
    return this.neighbours[a]!.indexOf(b) + 1;
  }

  /** The link between two neighbours. */
  linkBetween(a: number, b: number): Link {
    return this.#linkOf.get(a * this.switches.length + b)!;
  }

  /** Switches on the present path from host to host. */
  path(source: number, destination: number): number[] {
    return this.pathFrom(this.attach[source]!, destination);
  }

  /** As {@link path}, but from a switch. */
  pathFrom(first: number, destination: number): number[] {
    const last = this.attach[destination]!;
    const path = [first];
    for (let at = path[0]!; at !== last; path.push(at)) at = this.#next[destination]![at]!;
    return path;
  }

  /** Other neighbours of a switch through which a host is as near as through the routed one. */
  alternatives(at: number, destination: number): number[] {
    const distances = this.#distancesTo(this.attach[destination]!);
    const used = this.#next[destination]![at]!;
    return this.neighbours[at]!.filter((next) => next !== used && distances[next] === distances[at]! - 1);
  }

  /** Recomputes routes around links that are down. A route that is still a shortest one stays. */
  reroute(): void {
    for (const [host, next] of this.#next.entries()) {
      const home = this.attach[host]!;
      const distances = this.#distancesTo(home);
      for (const [at, list] of this.neighbours.entries()) {
        if (at === home || distances[at]! < 0) continue;
        const ways = list.filter((to) => distances[to] === distances[at]! - 1 && this.linkBetween(at, to).isUp);
        if (ways.includes(next[at]!)) continue;
        next[at] = ways[this.#random.integer(ways.length)]!;
        this.switches[at]!.routes.set(this.hosts[host]!.address, this.portOf(at, next[at]!));
      }
    }
  }

  /** Number of live links from each switch to a switch; -1 without a path. */
  #distancesTo(target: number): Int32Array {
    const live = this.neighbours.map((list, at) => list.filter((to) => this.linkBetween(at, to).isUp));
    return distancesFrom(live, target);
  }
}

function fatTreeLinks(ports: number): [number, number][] {
  const half = ports / 2;
  const edges = ports * half;
  const links: [number, number][] = [];
  for (let pod = 0; pod < ports; pod++) {
    for (let a = 0; a < half; a++) {
      const aggregation = edges + pod * half + a;
      for (let e = 0; e < half; e++) links.push([pod * half + e, aggregation]);
      for (let c = 0; c < half; c++) links.push([aggregation, 2 * edges + a * half + c]);
    }
  }
  return links;
}
