/**
 * Fabrics: switches, ports, links, hosts and equal-cost paths.
 *
 * Switch ids start at 1, ports at 1. Every switch port has one link, to a switch or to a host. The switches with hosts
 * come first, so edge number e is switch index e.
 */

import { mix32 } from '@int/random';
import { TopologyError } from './errors.js';

/** Tier of a switch. */
export type Tier = 'leaf' | 'spine' | 'edge' | 'aggregation' | 'core';

/** A switch. Its index in {@link Topology.switches} is `id - 1`. */
export interface FabricSwitch {
  /** Node id, from 1. */
  readonly id: number;
  /** `leaf1`, `spine2`, `edge1-2` (pod, number), `aggregation1-2`, `core3`. */
  readonly name: string;
  readonly tier: Tier;
  /** Ports are 1 to `ports`. */
  readonly ports: number;
  /** Management address, 172.16.0.0/12 by node id: the source of its reports. */
  readonly address: string;
  /** Locally administered MAC address, 02:01 and the address. */
  readonly mac: string;
}

/** A host. */
export interface Host {
  /** From 0. */
  readonly index: number;
  /** `h` and the address's last three numbers: `h1-0-2`. */
  readonly name: string;
  /** Leaf-spine: 10.leaf.n / 254.1 + n mod 254; fat-tree: 10.pod.edge.2 + n (Al-Fares et al., SIGCOMM 2008). */
  readonly address: string;
  /** The address as a 32-bit number. */
  readonly addressWord: number;
  /** Locally administered MAC address, 02:00 and the address. */
  readonly mac: string;
  /** Index of its switch. */
  readonly switchIndex: number;
  /** Port of its switch. */
  readonly port: number;
}

/** The other end of a port. */
export type Peer =
  | { readonly kind: 'switch'; readonly switchIndex: number; readonly port: number }
  | { readonly kind: 'host'; readonly host: number };

/** A switch on a path, and the ports a packet enters and leaves by. */
export interface PathHop {
  readonly switchIndex: number;
  readonly ingressPort: number;
  readonly egressPort: number;
}

/** Number of values per hop of {@link Topology.pathInto}: switch index, ingress port, egress port. */
export const PATH_STRIDE = 3;

/**
 * The index of a switch's choice among `ways` equal-cost links for a flow. Each switch mixes the hash differently;
 * otherwise all would choose alike.
 */
function ecmpChoice(flowHash: number, switchId: number, ways: number): number {
  return ways === 1 ? 0 : mix32(flowHash ^ mix32(switchId)) % ways;
}

/** 32-bit address to dotted text. */
export function dotted(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

function macOf(second: number, address: number): string {
  const bytes = [2, second, address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

interface Shape {
  readonly kind: 'leaf-spine' | 'fat-tree';
  readonly name: string;
  readonly maxHops: number;
  readonly edges: number;
  readonly hostsPerEdge: number;
  readonly switches: readonly { readonly name: string; readonly tier: Tier; readonly ports: number }[];
  /** Links between switches, each once: lower tier first. */
  readonly links: Iterable<readonly [lower: number, lowerPort: number, upper: number, upperPort: number]>;
  readonly addressOf: (edge: number, n: number) => number;
  readonly route: (
    topology: Topology,
    source: number,
    destination: number,
    hash: number,
    out: Int32Array,
    at: number,
  ) => number;
}

/** A fabric. Build it with {@link leafSpine}, {@link fatTree} or {@link parseTopology}. */
export class Topology {
  readonly kind: 'leaf-spine' | 'fat-tree';
  /** Description of the fabric for {@link parseTopology}. */
  readonly name: string;
  readonly switches: readonly FabricSwitch[];
  /** Switches that have hosts: indices 0 to `edgeCount - 1`. */
  readonly edgeCount: number;
  readonly hostsPerEdge: number;
  readonly hostCount: number;
  /** Ports of all switches together. */
  readonly portCount: number;
  /** Most switches on a path. */
  readonly maxHops: number;
  readonly #shape: Shape;
  readonly #firstPort: Int32Array;
  readonly #peerSwitch: Int32Array;
  readonly #peerPort: Int32Array;

  /** @internal */
  constructor(shape: Shape) {
    this.#shape = shape;
    this.kind = shape.kind;
    this.name = shape.name;
    this.maxHops = shape.maxHops;
    this.edgeCount = shape.edges;
    this.hostsPerEdge = shape.hostsPerEdge;
    this.hostCount = shape.edges * shape.hostsPerEdge;
    this.switches = shape.switches.map((one, index) => {
      const address = (0xac10_0000 | (index + 1)) >>> 0;
      return { ...one, id: index + 1, address: dotted(address), mac: macOf(1, address) };
    });
    this.#firstPort = new Int32Array(shape.switches.length);
    let ports = 0;
    for (const [index, one] of shape.switches.entries()) {
      this.#firstPort[index] = ports;
      ports += one.ports;
    }
    this.portCount = ports;
    // -1 - host if the port leads to a host. Hosts are on the first ports of the edge switches.
    this.#peerSwitch = new Int32Array(ports);
    this.#peerPort = new Int32Array(ports);
    for (let host = 0; host < this.hostCount; host++) {
      const edge = Math.floor(host / this.hostsPerEdge);
      this.#peerSwitch[this.portIndex(edge, (host % this.hostsPerEdge) + 1)] = -1 - host;
    }
    for (const [lower, lowerPort, upper, upperPort] of shape.links) {
      const below = this.portIndex(lower, lowerPort);
      const above = this.portIndex(upper, upperPort);
      this.#peerSwitch[below] = upper;
      this.#peerPort[below] = upperPort;
      this.#peerSwitch[above] = lower;
      this.#peerPort[above] = lowerPort;
    }
  }

  /** Number of a port among all ports of the fabric, from 0. `port` from 1. No check. */
  portIndex(switchIndex: number, port: number): number {
    return this.#firstPort[switchIndex]! + port - 1;
  }

  /** The switch or host at the other end of a port. @throws RangeError for an unknown switch or port */
  peer(switchIndex: number, port: number): Peer {
    const one = this.switches[switchIndex];
    if (one === undefined || !Number.isInteger(port) || port < 1 || port > one.ports) {
      throw new RangeError(`no port ${port} on switch index ${switchIndex}`);
    }
    const index = this.portIndex(switchIndex, port);
    const peer = this.#peerSwitch[index]!;
    if (peer < 0) return { kind: 'host', host: -1 - peer };
    return { kind: 'switch', switchIndex: peer, port: this.#peerPort[index]! };
  }

  /** A host by its index. @throws RangeError for an unknown host */
  host(index: number): Host {
    if (!Number.isInteger(index) || index < 0 || index >= this.hostCount) throw new RangeError(`no host ${index}`);
    const switchIndex = Math.floor(index / this.hostsPerEdge);
    const addressWord = this.hostAddress(index);
    const address = dotted(addressWord);
    return {
      index,
      name: `h${address.slice(address.indexOf('.') + 1).replaceAll('.', '-')}`,
      address,
      addressWord,
      mac: macOf(0, addressWord),
      switchIndex,
      port: (index % this.hostsPerEdge) + 1,
    };
  }

  /** A host's address as a 32-bit number. No check. */
  hostAddress(index: number): number {
    return this.#shape.addressOf(Math.floor(index / this.hostsPerEdge), index % this.hostsPerEdge) >>> 0;
  }

  /** Ports of an edge switch towards the upper tier. */
  uplinks(edge: number): number[] {
    const ports = this.switches[edge]?.ports ?? 0;
    return Array.from({ length: Math.max(0, ports - this.hostsPerEdge) }, (_, n) => this.hostsPerEdge + n + 1);
  }

  /**
   * Writes the path of a flow between two hosts, chosen by its hash: 3 values per hop from `at` on, with room for
   * `maxHops`. Returns the number of hops. No check: hosts must exist and differ.
   */
  pathInto(source: number, destination: number, flowHash: number, out: Int32Array, at = 0): number {
    return this.#shape.route(this, source, destination, flowHash, out, at);
  }

  /** The path of a flow between two hosts, chosen by its hash. @throws RangeError for unknown or equal hosts */
  path(source: number, destination: number, flowHash: number): PathHop[] {
    for (const host of [source, destination]) {
      if (!Number.isInteger(host) || host < 0 || host >= this.hostCount) throw new RangeError(`no host ${host}`);
    }
    if (source === destination) throw new RangeError('a path needs two hosts');
    const out = new Int32Array(this.maxHops * PATH_STRIDE);
    const hops = this.pathInto(source, destination, flowHash, out);
    return Array.from({ length: hops }, (_, h) => ({
      switchIndex: out[h * PATH_STRIDE]!,
      ingressPort: out[h * PATH_STRIDE + 1]!,
      egressPort: out[h * PATH_STRIDE + 2]!,
    }));
  }
}

function write(out: Int32Array, at: number, switchIndex: number, ingressPort: number, egressPort: number): number {
  out[at] = switchIndex;
  out[at + 1] = ingressPort;
  out[at + 2] = egressPort;
  return at + PATH_STRIDE;
}

function checkSize(name: string, value: number, low: number, high: number): void {
  if (!Number.isInteger(value) || value < low || value > high) {
    throw new RangeError(`${name} must be an integer from ${low} to ${high}, not ${value}`);
  }
}

/** Sizes of a leaf-spine fabric: every leaf has one link to every spine. */
export interface LeafSpineOptions {
  /** 1 to 254. */
  readonly leaves: number;
  /** 1 to 254. */
  readonly spines: number;
  /** 1 to 4096. Default 8. */
  readonly hostsPerLeaf?: number;
}

const DEFAULT_HOSTS_PER_LEAF = 8;

/**
 * A leaf-spine fabric. Leaves are switches 1 to L (hosts on ports 1 to H, spine s on port H + s), spines L + 1 to L + S
 * (leaf l on port l).
 *
 * @throws RangeError for sizes out of range
 */
export function leafSpine(options: LeafSpineOptions): Topology {
  const { leaves, spines, hostsPerLeaf: hosts = DEFAULT_HOSTS_PER_LEAF } = options;
  checkSize('leaves', leaves, 1, 254);
  checkSize('spines', spines, 1, 254);
  checkSize('hostsPerLeaf', hosts, 1, 4096);
  const links: [number, number, number, number][] = [];
  for (let leaf = 0; leaf < leaves; leaf++) {
    for (let spine = 0; spine < spines; spine++) links.push([leaf, hosts + spine + 1, leaves + spine, leaf + 1]);
  }
  return new Topology({
    kind: 'leaf-spine',
    name: `leaf-spine:${leaves}x${spines}${hosts === DEFAULT_HOSTS_PER_LEAF ? '' : `x${hosts}`}`,
    maxHops: 3,
    edges: leaves,
    hostsPerEdge: hosts,
    switches: [
      ...Array.from({ length: leaves }, (_, n) => ({
        name: `leaf${n + 1}`,
        tier: 'leaf' as const,
        ports: hosts + spines,
      })),
      ...Array.from({ length: spines }, (_, n) => ({ name: `spine${n + 1}`, tier: 'spine' as const, ports: leaves })),
    ],
    links,
    addressOf: (edge, n) => 0x0a00_0000 | ((edge + 1) << 16) | (Math.floor(n / 254) << 8) | (1 + (n % 254)),
    route: (topology, source, destination, hash, out, at) => {
      const from = Math.floor(source / hosts);
      const to = Math.floor(destination / hosts);
      const enter = (source % hosts) + 1;
      const leave = (destination % hosts) + 1;
      if (from === to) {
        write(out, at, from, enter, leave);
        return 1;
      }
      const spine = ecmpChoice(hash, topology.switches[from]!.id, spines);
      const uplink = hosts + spine + 1;
      let end = write(out, at, from, enter, uplink);
      end = write(out, end, leaves + spine, from + 1, to + 1);
      write(out, end, to, uplink, leave);
      return 3;
    },
  });
}

/** Size of a fat-tree. */
export interface FatTreeOptions {
  /** Ports of every switch: even, 2 to 128. */
  readonly k: number;
}

/**
 * A three-tier fat-tree of k-port switches (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
 * switches, (k/2)^2 cores, k/2 hosts per edge switch. Ids: edges by pod, then aggregations by pod, then cores. Ports 1
 * to k/2 lead down, k/2 + 1 to k up; port p of a core leads to pod p.
 *
 * @throws RangeError for sizes out of range
 */
export function fatTree(options: FatTreeOptions): Topology {
  const { k } = options;
  checkSize('k', k, 2, 128);
  if (k % 2 !== 0) throw new RangeError(`k must be even, not ${k}`);
  const half = k / 2;
  const edges = k * half;
  const names = (tier: 'edge' | 'aggregation'): { name: string; tier: Tier; ports: number }[] =>
    Array.from({ length: edges }, (_, n) => ({
      name: `${tier}${Math.floor(n / half) + 1}-${(n % half) + 1}`,
      tier,
      ports: k,
    }));
  function* links(): Generator<readonly [number, number, number, number]> {
    for (let pod = 0; pod < k; pod++) {
      for (let a = 0; a < half; a++) {
        const aggregation = edges + pod * half + a;
        for (let n = 0; n < half; n++) {
          yield [pod * half + n, half + a + 1, aggregation, n + 1];
          yield [aggregation, half + n + 1, 2 * edges + a * half + n, pod + 1];
        }
      }
    }
  }
  return new Topology({
    kind: 'fat-tree',
    name: `fat-tree:${k}`,
    maxHops: 5,
    edges,
    hostsPerEdge: half,
    switches: [
      ...names('edge'),
      ...names('aggregation'),
      ...Array.from({ length: half * half }, (_, n) => ({ name: `core${n + 1}`, tier: 'core' as const, ports: k })),
    ],
    links: links(),
    addressOf: (edge, n) => 0x0a00_0000 | (Math.floor(edge / half) << 16) | ((edge % half) << 8) | (n + 2),
    route: (topology, source, destination, hash, out, at) => {
      const from = Math.floor(source / half);
      const to = Math.floor(destination / half);
      const enter = (source % half) + 1;
      const leave = (destination % half) + 1;
      if (from === to) {
        write(out, at, from, enter, leave);
        return 1;
      }
      const fromPod = Math.floor(from / half);
      const toPod = Math.floor(to / half);
      const a = ecmpChoice(hash, topology.switches[from]!.id, half);
      const up = edges + fromPod * half + a;
      let end = write(out, at, from, enter, half + a + 1);
      if (fromPod === toPod) {
        end = write(out, end, up, (from % half) + 1, (to % half) + 1);
        write(out, end, to, half + a + 1, leave);
        return 3;
      }
      const c = ecmpChoice(hash, topology.switches[up]!.id, half);
      end = write(out, end, up, (from % half) + 1, half + c + 1);
      end = write(out, end, 2 * edges + a * half + c, fromPod + 1, toPod + 1);
      end = write(out, end, edges + toPod * half + a, half + c + 1, (to % half) + 1);
      write(out, end, to, half + a + 1, leave);
      return 5;
    },
  });
}

/** Kinds of descriptions: the sizes after the colon, what is expected there, and the fabric of the sizes. */
const KINDS = {
  'leaf-spine': {
    sizes: /^(\d+)x(\d+)(?:x(\d+))?$/,
    expected: 'leaf-spine:LxS or leaf-spine:LxSxH, as leaf-spine:4x2',
    build: (leaves: number, spines: number, hostsPerLeaf = DEFAULT_HOSTS_PER_LEAF) =>
      leafSpine({ leaves, spines, hostsPerLeaf }),
  },
  'fat-tree': { sizes: /^(\d+)$/, expected: 'fat-tree:K, as fat-tree:4', build: (k: number) => fatTree({ k }) },
} as const;

/**
 * Builds a fabric from its description: `leaf-spine:LxS` (L leaves, S spines, 8 hosts per leaf), `leaf-spine:LxSxH` (H
 * hosts per leaf) or `fat-tree:K`.
 *
 * @throws TopologyError with the position of the error
 */
export function parseTopology(text: string): Topology {
  const kind = text.split(':', 1)[0]!;
  if (kind !== 'leaf-spine' && kind !== 'fat-tree') {
    const message = `unknown topology '${text}': expected leaf-spine:LxS, leaf-spine:LxSxH or fat-tree:K`;
    throw new TopologyError('ERR_TOPOLOGY_UNKNOWN', 0, message);
  }
  const { sizes, expected, build } = KINDS[kind];
  const at = Math.min(kind.length + 1, text.length);
  const match = sizes.exec(text.slice(at));
  if (match === null) throw new TopologyError('ERR_TOPOLOGY_SIZE', at, `'${text}': expected ${expected}`);
  const [first = 0, ...others] = match.slice(1).flatMap((size) => (size === undefined ? [] : [Number(size)]));
  try {
    return build(first, ...(others as [number, number?]));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new TopologyError('ERR_TOPOLOGY_RANGE', at, `'${text}': ${cause.message}`);
  }
}
