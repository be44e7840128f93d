import { FLAG, MODES, NOT_AVAILABLE, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import type { TopologySpec } from '../topology/spec.js';
import { KeyTable } from './key-table.js';
import { type LearntPeer, type LearntPort, type LearntSwitch, type LearntTopology, specOf } from './learnt.js';

/** Most that a learner remembers. What does not fit is counted. */
export interface LearnerOptions {
  /** 1 to 2^20. Default 4096. */
  readonly switches?: number;
  /** 1 to 2^20. Default 65,536. */
  readonly ports?: number;
  /** Links, each pair of ends once. 1 to 2^20. Default 65,536. */
  readonly links?: number;
}

/** All ones, as a signed word: no value. */
const NONE = -1;
const GPINT = /* @__PURE__ */ MODES.indexOf('gpint');
/** Flags of reports whose last hop is not where the packet left the network. */
const NOT_LAST = /* @__PURE__ */ FLAG.HOP_EXCEEDED | FLAG.INTERMEDIATE | FLAG.DROPPED;
/** Prefix length of a port beyond which no host was seen. */
const NO_HOSTS = 255;
/** Hops of a record at most: a row counts them in 8 bits. */
const MOST_HOPS = 256;

/**
 * Learns a network from its telemetry: switches, the ports that packets come and leave by, and links from consecutive hops
 * (the egress interface of a hop and the ingress interface of the next, level 1). Its memory is fixed; nothing is allocated
 * per report.
 *
 * A hop that tells no id has unknown neighbours. Behind a stack that had no room for more hops, the reporter is no neighbour
 * of the last one. A device without INT between two switches looks like a cable.
 *
 * @example
 * const learner = new TopologyLearner();
 * learner.learn(batch);
 * const topology = new Topology(learner.spec());
 */
export class TopologyLearner {
  /** Reports looked at. */
  reports = 0;
  readonly #switches: KeyTable;
  readonly #hops: Float64Array;
  /** Keys: switch, port. */
  readonly #ports: KeyTable;
  readonly #ingress: Float64Array;
  readonly #egress: Float64Array;
  readonly #hostWord: Uint32Array;
  readonly #hostLength: Uint8Array;
  /** Keys: lower end (switch, port), upper end (switch, port). A port that is not known is all ones. */
  readonly #links: KeyTable;
  readonly #packets: Float64Array;
  #untrackedSwitches = 0;
  #untrackedPorts = 0;
  #untrackedLinks = 0;
  #single: TelemetryBatch | null = null;

  /** @throws RangeError for a limit out of range */
  constructor({ switches = 4096, ports = 65_536, links = 65_536 }: LearnerOptions = {}) {
    for (const [name, value] of Object.entries({ switches, ports, links })) {
      if (!Number.isInteger(value) || value < 1 || value > 1 << 20) {
        throw new RangeError(`${name} must be an integer from 1 to 2^20, not ${value}`);
      }
    }
    this.#switches = new KeyTable(switches);
    this.#hops = new Float64Array(switches);
    this.#ports = new KeyTable(ports);
    this.#ingress = new Float64Array(ports);
    this.#egress = new Float64Array(ports);
    this.#hostWord = new Uint32Array(ports);
    this.#hostLength = new Uint8Array(ports).fill(NO_HOSTS);
    this.#links = new KeyTable(links);
    this.#packets = new Float64Array(links);
  }

  /** Learns from the reports of a batch that could be decoded. @param most reports; default: all */
  learn(batch: TelemetryBatch, most: number = Number.POSITIVE_INFINITY): void {
    const end = this.reports + most;
    for (let row = 0; row < batch.reports && this.reports < end; row++) {
      if (batch.code[row] === 0) this.#report(batch, row);
    }
  }

  /** Learns from one record. @throws RangeError, AddressError for a record that no batch can hold */
  learnRecord(record: TelemetryRecord): void {
    this.#single ??= new TelemetryBatch({ frames: 1, hops: MOST_HOPS });
    writeRecord(this.#single, record);
    this.learn(this.#single);
  }

  #report(batch: TelemetryBatch, row: number): void {
    this.reports++;
    const flags = batch.flags[row]! | 0;
    const first = batch.hopStart[row]! | 0;
    const count = batch.hopCount[row]! | 0;
    const embedded = (flags & FLAG.OWN) === 0 ? count : count - 1;
    const { nodeId, l1IngressInterface, l1EgressInterface } = batch.hop;
    const knowsHosts =
      embedded > 0 &&
      (flags & (FLAG.FLOW | FLAG.IPV6)) === FLAG.FLOW &&
      ((flags >>> FLAG.MODE_SHIFT) & FLAG.MODE_MASK) !== GPINT;
    let id = NONE;
    let egress = NONE;
    let port = -1;
    for (let k = 0; k < embedded; k++) {
      const at = first + k;
      const ingress = l1IngressInterface[at]! | 0;
      const own = this.#switch(nodeId[at]! | 0);
      if (own !== NONE && id !== NONE) this.#link(id, egress, own, ingress);
      id = own;
      egress = l1EgressInterface[at]! | 0;
      const came = this.#port(id, ingress, this.#ingress);
      port = this.#port(id, egress, this.#egress);
      if (knowsHosts && k === 0) this.#host(came, batch.source0[row]!);
    }
    const reporter = batch.nodeId[row]! | 0;
    if (reporter !== NONE && (embedded === 0 || reporter !== (nodeId[first + embedded - 1]! | 0))) {
      const at = first + embedded;
      const hasOwn = embedded < count;
      const ingress = hasOwn ? l1IngressInterface[at]! | 0 : NONE;
      const own = this.#switch(reporter);
      if (own !== NONE && id !== NONE && (flags & FLAG.HOP_EXCEEDED) === 0) this.#link(id, egress, own, ingress);
      this.#port(own, ingress, this.#ingress);
      port = this.#port(own, hasOwn ? l1EgressInterface[at]! | 0 : NONE, this.#egress);
    }
    if (knowsHosts && (flags & NOT_LAST) === 0) this.#host(port, batch.destination0[row]!);
  }

  /** Counts a hop. @returns the id; all ones if it is not known, or there is no room */
  #switch(id: number): number {
    if (id === NONE) return NONE;
    const number = this.#switches.number(id, 0, 0, 0);
    if (number < 0) {
      this.#untrackedSwitches++;
      return NONE;
    }
    this.#hops[number]! += 1;
    return id;
  }

  /** Counts a port. @returns its number in the table, or -1 */
  #port(id: number, port: number, counts: Float64Array): number {
    if (id === NONE || port === NONE) return -1;
    const number = this.#ports.number(id, port, 0, 0);
    if (number < 0) this.#untrackedPorts++;
    else counts[number]! += 1;
    return number;
  }

  #link(a: number, aPort: number, b: number, bPort: number): void {
    // A switch that reports a packet twice.
    if (a === b) return;
    const isInOrder = a >>> 0 < b >>> 0;
    const number = isInOrder ? this.#links.number(a, aPort, b, bPort) : this.#links.number(b, bPort, a, aPort);
    if (number < 0) this.#untrackedLinks++;
    else this.#packets[number]! += 1;
  }

  /** Shortens the prefix of the hosts beyond a port until an address is in it. */
  #host(port: number, address: number): void {
    if (port < 0) return;
    const length = this.#hostLength[port]!;
    if (length === NO_HOSTS) {
      this.#hostWord[port] = address;
      this.#hostLength[port] = 32;
    } else {
      const same = Math.clz32(this.#hostWord[port]! ^ address);
      if (same < length) this.#hostLength[port] = same;
    }
  }

  /** What was learnt so far, in an order that does not depend on that of the reports. */
  topology(): LearntTopology {
    const peers = this.#peers();
    const ports = new Map<number, LearntPort[]>();
    for (const number of this.#ports.inOrder()) {
      const id = this.#ports.word(number, 0);
      const own = this.#ports.word(number, 1);
      const found = peers.get(`${id}:${own}`) ?? [];
      const port: LearntPort = {
        number: own,
        ingress: this.#ingress[number]!,
        egress: this.#egress[number]!,
        peers: found,
        hosts: found.length > 0 ? null : this.#hostsText(number),
      };
      const before = ports.get(id);
      if (before === undefined) ports.set(id, [port]);
      else before.push(port);
    }
    const switches = this.#switches.inOrder().map((number): LearntSwitch => {
      const id = this.#switches.word(number, 0);
      return {
        id,
        hops: this.#hops[number]!,
        ports: ports.get(id) ?? [],
        links: (peers.get(`${id}`) ?? []).sort((a, b) => a.switchId - b.switchId),
      };
    });
    const untracked = {
      switches: this.#untrackedSwitches,
      ports: this.#untrackedPorts,
      links: this.#untrackedLinks,
    };
    return { reports: this.reports, switches, untracked };
  }

  /** What was learnt so far, to make a `Topology` of. Of ends of a port that contradict each other it has the likeliest. */
  spec(): TopologySpec {
    return specOf(this.topology());
  }

  /** Other ends by `SWITCH:PORT`, and by `SWITCH` where the port is not known: the likeliest first. */
  #peers(): Map<string, LearntPeer[]> {
    const peers = new Map<string, LearntPeer[]>();
    /** Pairs of switches between which a link with a port is known. */
    const joined = new Set<string>();
    const add = (key: string, peer: LearntPeer): void => {
      const before = peers.get(key);
      if (before === undefined) peers.set(key, [peer]);
      else before.push(peer);
    };
    const order = this.#links.inOrder();
    const endsOf = (number: number): readonly [number, number | null, number, number | null] => {
      const known = (port: number): number | null => (port === NOT_AVAILABLE ? null : port);
      const word = (index: number): number => this.#links.word(number, index);
      return [word(0), known(word(1)), word(2), known(word(3))];
    };
    for (const number of order) {
      const [a, aPort, b, bPort] = endsOf(number);
      const packets = this.#packets[number]!;
      if (aPort !== null || bPort !== null) joined.add(`${a}-${b}`);
      if (aPort !== null) add(`${a}:${aPort}`, { switchId: b, port: bPort, packets });
      if (bPort !== null) add(`${b}:${bPort}`, { switchId: a, port: aPort, packets });
    }
    for (const [key, found] of peers) {
      // A hop without its port says less than one with it, and nothing else.
      const exact = new Set(found.flatMap(({ switchId, port }) => (port === null ? [] : [switchId])));
      const kept = found.filter(({ switchId, port }) => port !== null || !exact.has(switchId));
      peers.set(key, kept.sort(byEvidence));
    }
    for (const number of order) {
      const [a, aPort, b, bPort] = endsOf(number);
      if (aPort !== null || bPort !== null || joined.has(`${a}-${b}`)) continue;
      const packets = this.#packets[number]!;
      add(`${a}`, { switchId: b, port: null, packets });
      add(`${b}`, { switchId: a, port: null, packets });
    }
    return peers;
  }

  #hostsText(port: number): string | null {
    const length = this.#hostLength[port]!;
    if (length === NO_HOSTS) return null;
    const word = length === 0 ? 0 : this.#hostWord[port]! & (-1 << (32 - length));
    const address = [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff).join('.');
    return length === 32 ? address : `${address}/${length}`;
  }
}

function byEvidence(a: LearntPeer, b: LearntPeer): number {
  return b.packets - a.packets || a.switchId - b.switchId || (a.port ?? -1) - (b.port ?? -1);
}
