/** The monitored flows: 5-tuples between hosts of different edge switches, with their paths and popularities. */
import type { Flow } from '@int/codec';
import { mix32, type Random } from '@int/random';
import { dotted, PATH_STRIDE, type Topology } from './topology.js';

/** IP protocol numbers (IANA). */
export const PROTOCOL = { TCP: 6, UDP: 17 } as const;

/** Destination ports of TCP flows. INT, its reports and tunnels use none of them. */
const TCP_PORTS = [443, 80, 8080, 11211, 6379, 3306, 9092, 50010] as const;
/** Destination ports of UDP flows. */
const UDP_PORTS = [53, 123, 443, 514, 1812, 3478, 6653, 8125] as const;
/** Ephemeral ports of Linux (net.ipv4.ip_local_port_range): 32768 to 60999. */
const FIRST_EPHEMERAL = 32768;
const EPHEMERAL_PORTS = 28232;
/** Bytes of payload after TCP or UDP: acknowledgements, small messages, full segments. */
const PAYLOADS = [0, 64, 128, 256, 512, 1024, 1400] as const;

/**
 * Hash of a 5-tuple, by which the fabric's switches distribute flows: source, destination, ports and protocol through
 * {@link mix32}, one after the other. It balances flows, but is not the hash of a real switch.
 */
function flowHash(source: number, destination: number, ports: number, protocol: number): number {
  return mix32(mix32(mix32(mix32(source) ^ destination) ^ ports) ^ protocol);
}

/** Number and kinds of flows. */
export interface FlowOptions {
  /** Number of flows, 1 to 2^22. */
  readonly count: number;
  /** Share of TCP flows, 0 to 1. */
  readonly tcpShare: number;
}

/** All flows, one column per property. Flow 0 is the most popular. All 5-tuples differ. Do not write to the columns. */
export class FlowTable {
  readonly size: number;
  readonly sourceHost: Int32Array;
  readonly destinationHost: Int32Array;
  /** Addresses as 32-bit numbers. */
  readonly source: Uint32Array;
  readonly destination: Uint32Array;
  /** Source port << 16 | destination port. */
  readonly ports: Uint32Array;
  readonly protocol: Uint8Array;
  /** Bytes behind the TCP or UDP header. */
  readonly payloadBytes: Uint16Array;
  readonly hash: Uint32Array;
  readonly hops: Uint8Array;
  /** Columns of the hops. The hops of a flow's path start at `flow * maxHops`. */
  readonly hopSwitch: Int32Array;
  readonly hopIngress: Uint16Array;
  readonly hopEgress: Uint16Array;

  /**
   * @throws RangeError if `count` or `tcpShare` is out of range, or the fabric has too few switches or hosts for the
   *   flows
   */
  constructor(topology: Topology, options: FlowOptions, random: Random) {
    const { count, tcpShare } = options;
    if (!Number.isInteger(count) || count < 1 || count > 0x40_0000) {
      throw new RangeError(`flows must be an integer from 1 to ${0x40_0000}, not ${count}`);
    }
    if (!(tcpShare >= 0 && tcpShare <= 1)) throw new RangeError(`tcpShare must be from 0 to 1, not ${tcpShare}`);
    if (topology.edgeCount < 2) throw new RangeError(`${topology.name} has one edge switch; flows need two`);
    this.size = count;
    this.sourceHost = new Int32Array(count);
    this.destinationHost = new Int32Array(count);
    this.source = new Uint32Array(count);
    this.destination = new Uint32Array(count);
    this.ports = new Uint32Array(count);
    this.protocol = new Uint8Array(count);
    this.payloadBytes = new Uint16Array(count);
    this.hash = new Uint32Array(count);
    this.hops = new Uint8Array(count);
    const { maxHops, hostsPerEdge, hostCount } = topology;
    this.hopSwitch = new Int32Array(count * maxHops);
    this.hopIngress = new Uint16Array(count * maxHops);
    this.hopEgress = new Uint16Array(count * maxHops);

    const path = new Int32Array(maxHops * PATH_STRIDE);
    const tuples = hostCount * (hostCount - hostsPerEdge) * EPHEMERAL_PORTS * TCP_PORTS.length;
    // Use at most half of all 5-tuples, so that a free one is found soon.
    if (count > tuples / 2) throw new RangeError(`${topology.name} has too few hosts for ${count} flows`);
    // Flow + 1 by hash, open addressing: detects duplicate 5-tuples.
    const mask = (1 << (33 - Math.clz32(count))) - 1;
    const seen = new Int32Array(mask + 1);
    for (let flow = 0; flow < count; flow++) {
      const from = random.integer(hostCount);
      const edge = Math.floor(from / hostsPerEdge);
      // Any host of another edge switch, all equally likely.
      const other = random.integer(hostCount - hostsPerEdge);
      const to = other < edge * hostsPerEdge ? other : other + hostsPerEdge;
      const source = topology.hostAddress(from);
      const destination = topology.hostAddress(to);
      const protocol = random.uniform() < tcpShare ? PROTOCOL.TCP : PROTOCOL.UDP;
      const list = protocol === PROTOCOL.TCP ? TCP_PORTS : UDP_PORTS;
      const destinationPort = list[random.integer(list.length)]!;
      let ports = 0;
      let hash = 0;
      let cell = 0;
      do {
        ports = (((FIRST_EPHEMERAL + random.integer(EPHEMERAL_PORTS)) << 16) | destinationPort) >>> 0;
        hash = flowHash(source, destination, ports, protocol);
        cell = hash & mask;
        while (seen[cell] !== 0 && !this.#is(seen[cell]! - 1, source, destination, ports, protocol)) {
          cell = (cell + 1) & mask;
        }
      } while (seen[cell] !== 0);
      seen[cell] = flow + 1;
      const hops = topology.pathInto(from, to, hash, path);
      this.sourceHost[flow] = from;
      this.destinationHost[flow] = to;
      this.source[flow] = source;
      this.destination[flow] = destination;
      this.ports[flow] = ports;
      this.protocol[flow] = protocol;
      this.payloadBytes[flow] = PAYLOADS[random.integer(PAYLOADS.length)]!;
      this.hash[flow] = hash;
      this.hops[flow] = hops;
      for (let hop = 0; hop < hops; hop++) {
        this.hopSwitch[flow * maxHops + hop] = path[hop * PATH_STRIDE]!;
        this.hopIngress[flow * maxHops + hop] = path[hop * PATH_STRIDE + 1]!;
        this.hopEgress[flow * maxHops + hop] = path[hop * PATH_STRIDE + 2]!;
      }
    }
  }

  #is(flow: number, source: number, destination: number, ports: number, protocol: number): boolean {
    return (
      this.ports[flow] === ports &&
      this.source[flow] === source &&
      this.destination[flow] === destination &&
      this.protocol[flow] === protocol
    );
  }

  /** A flow's 5-tuple. @throws RangeError for an unknown flow */
  flow(index: number): Flow {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) throw new RangeError(`no flow ${index}`);
    return {
      source: dotted(this.source[index]!),
      destination: dotted(this.destination[index]!),
      protocol: this.protocol[index]!,
      sourcePort: this.ports[index]! >>> 16,
      destinationPort: this.ports[index]! & 0xffff,
    };
  }
}
