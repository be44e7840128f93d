import { FLAG, STATE, TelemetryBatch } from '@int/codec';
import type { Match, PortRange, Prefix } from '@int/detect';

/*
 * Rule sets and packets for tests and benchmarks, the same for the same seed. The mixes follow the spirit of ClassBench
 * (Taylor and Turner, IEEE/ACM Transactions on Networking, 2007): addresses cluster in a few networks, prefix lengths
 * and ports are those that operators use. None is taken from a real rule set.
 */

/** A rule without its detector. */
export interface MixRule {
  readonly priority: number;
  readonly match: Match;
}

/** A packet as a classifier sees it. */
export interface MixPacket {
  readonly version: 4 | 6;
  /** One word, or four. */
  readonly source: readonly number[];
  readonly destination: readonly number[];
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly protocol: number;
  /** 48 bits. */
  readonly sourceMac: number;
  readonly destinationMac: number;
}

export const MIXES = [
  /** Both addresses as prefixes, exact destination ports; priorities in the order of the list. */
  'acl',
  /** Many fields left open, port ranges such as 1024 to 65535; priorities in the order of the list. */
  'firewall',
  /** Exact flows and hosts, all of one priority. */
  'hosts',
  /** Hundreds of port ranges on each of a few servers, overlapping; priorities at random. */
  'ranges',
  /** As acl, with IPv6. */
  'acl6',
  /** IPv4 and IPv6, of all the kinds above, a tenth with MAC addresses. */
  'mixed',
  /** MAC addresses only, all of one priority. */
  'macs',
  /** Made to hurt: ranges and prefixes nested in each other around one address, so that keys tell little. */
  'nested',
] as const;
export type Mix = (typeof MIXES)[number];

/** A small deterministic generator (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 32 bits. */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  }

  /** 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor((this.word() / 0x1_0000_0000) * limit);
  }

  chance(probability: number): boolean {
    return this.word() < probability * 0x1_0000_0000;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}

const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

const TCP = 6;
const UDP = 17;
const SERVICES = [22, 25, 53, 80, 110, 123, 143, 161, 179, 389, 443, 445, 514, 587, 993, 1433, 1521, 3306, 3389, 5060];
const WIDE_RANGES: readonly PortRange[] = [
  { from: 1024, to: 65535 },
  { from: 0, to: 1023 },
  { from: 49152, to: 65535 },
  { from: 6000, to: 6063 },
  { from: 8000, to: 8100 },
  { from: 33434, to: 33600 },
];

/** A prefix of the given length that holds the address. */
export function prefixOf(address: readonly number[], length: number): Prefix {
  const words = address.map((word, i) => {
    const bits = length - i * 32;
    return bits >= 32 ? word : bits <= 0 ? 0 : (word & (-1 << (32 - bits))) >>> 0;
  });
  return { version: address.length === 1 ? 4 : 6, words, length };
}

function exactly(port: number): PortRange {
  return { from: port, to: port };
}

/** Networks of an operator: addresses fall into them, a few far more often than the others. */
class Plan {
  readonly #random: Random;
  readonly #networks: (readonly number[])[] = [];

  constructor(random: Random, version: 4 | 6, networks: number) {
    this.#random = random;
    const sites = Array.from({ length: Math.max(1, Math.ceil(networks / 16)) }, () => random.word());
    for (let i = 0; i < networks; i++) {
      const site = random.pick(sites);
      if (version === 4) this.#networks.push([((site & 0xffff0000) | (random.below(256) << 8)) >>> 0]);
      else this.#networks.push([(0x20010000 | (site >>> 16)) >>> 0, ((site << 16) | random.below(4096)) >>> 0, 0, 0]);
    }
  }

  address(): readonly number[] {
    const random = this.#random;
    // The square of an even draw: the first networks are the popular ones.
    const network = this.#networks[Math.floor((random.word() / 0x1_0000_0000) ** 2 * this.#networks.length)]!;
    if (network.length === 1) return [(network[0]! | random.below(256)) >>> 0];
    const host = random.chance(0.5) ? [0, random.below(512)] : [random.word(), random.word()];
    return [network[0]!, network[1]!, ...host];
  }
}

const ACL_LENGTHS = [32, 32, 32, 32, 30, 29, 28, 27, 26, 24, 24, 24, 24, 23, 22, 21, 20, 16, 16];
const ACL_LENGTHS6 = [128, 128, 128, 64, 64, 64, 64, 56, 52, 48, 48, 48, 44, 40, 32];

function aclMatch(random: Random, plan: Plan): Match {
  const side = (open: number): Prefix | null => {
    if (random.chance(open)) return null;
    const address = plan.address();
    return prefixOf(address, random.pick(address.length === 1 ? ACL_LENGTHS : ACL_LENGTHS6));
  };
  const source = side(0.12);
  const destination = side(source === null ? 0.02 : 0.12);
  const withPorts = random.chance(0.85);
  return {
    ...ANY,
    protocol: withPorts ? (random.chance(0.75) ? TCP : UDP) : random.pick([null, 1, 47, 50]),
    source,
    destination,
    destinationPort: !withPorts
      ? null
      : random.chance(0.75)
        ? exactly(random.chance(0.7) ? random.pick(SERVICES) : 1024 + random.below(30_000))
        : random.chance(0.5)
          ? random.pick(WIDE_RANGES)
          : null,
  };
}

function firewallMatch(random: Random, plan: Plan): Match {
  const side = (open: number): Prefix | null =>
    random.chance(open) ? null : prefixOf(plan.address(), random.pick([32, 32, 32, 28, 26, 24, 24, 22, 16, 8]));
  const source = side(0.45);
  const destination = side(source === null ? 0.05 : 0.35);
  const port = (open: number): PortRange | null => {
    if (random.chance(open)) return null;
    if (random.chance(0.5)) return exactly(random.pick(SERVICES));
    if (random.chance(0.6)) return random.pick(WIDE_RANGES);
    const from = random.below(60_000);
    return { from, to: Math.min(0xffff, from + random.below(2000)) };
  };
  return {
    ...ANY,
    protocol: random.chance(0.8) ? random.pick([TCP, TCP, UDP]) : null,
    source,
    destination,
    sourcePort: port(0.7),
    destinationPort: port(0.3),
  };
}

function hostMatch(random: Random, plan: Plan): Match {
  const exact = (): Prefix => {
    const address = plan.address();
    return prefixOf(address, address.length * 32);
  };
  return {
    ...ANY,
    protocol: random.pick([TCP, UDP]),
    source: exact(),
    destination: exact(),
    sourcePort: exactly(1024 + random.below(64_000)),
    destinationPort: exactly(random.pick(SERVICES)),
  };
}

function rangeMatch(random: Random, servers: readonly (readonly number[])[]): Match {
  const range = (): PortRange => {
    const from = random.below(0x10000);
    const width = random.chance(0.1) ? random.below(20_000) : random.below(400);
    return { from, to: Math.min(0xffff, from + width) };
  };
  return {
    ...ANY,
    protocol: random.pick([TCP, UDP]),
    destination: prefixOf(random.pick(servers), 32),
    sourcePort: random.chance(0.3) ? range() : null,
    destinationPort: range(),
  };
}

function nestedMatch(random: Random, inner: readonly number[]): Match {
  const range = (): PortRange => ({ from: random.below(0x8000), to: 0x8000 + random.below(0x8000) });
  return {
    ...ANY,
    protocol: random.chance(0.5) ? TCP : null,
    source: prefixOf(inner, random.below(33)),
    destination: prefixOf(inner, random.below(33)),
    sourcePort: range(),
    destinationPort: range(),
  };
}

/**
 * Rules of a mix. Rules of equal priority never match the same packet.
 *
 * @param count how many
 * @param seed any number
 */
export function makeRules(mix: Mix, count: number, seed: number): MixRule[] {
  const random = new Random(seed);
  const networks = Math.max(4, Math.ceil(count / 25));
  const plan = new Plan(random, 4, networks);
  const plan6 = new Plan(random, 6, networks);
  const servers = Array.from({ length: Math.max(2, Math.ceil(count / 300)) }, () => plan.address());
  const inner = plan.address();
  const rules: MixRule[] = [];
  const seen = new Set<string>();
  while (rules.length < count) {
    const ordered = count - rules.length;
    let priority = ordered;
    let match: Match;
    switch (mix) {
      case 'acl':
        match = aclMatch(random, plan);
        break;
      case 'firewall':
        match = firewallMatch(random, plan);
        break;
      case 'hosts':
        match = hostMatch(random, plan);
        priority = 100;
        break;
      case 'ranges':
        match = rangeMatch(random, servers);
        break;
      case 'acl6':
        match = aclMatch(random, plan6);
        break;
      case 'mixed': {
        match = random.chance(0.35)
          ? aclMatch(random, random.chance(0.5) ? plan6 : plan)
          : random.chance(0.4)
            ? firewallMatch(random, plan)
            : random.chance(0.5)
              ? hostMatch(random, plan6)
              : hostMatch(random, plan);
        if (random.chance(0.1)) match = { ...match, sourceMac: 0x02_00_00_00_00_00 + random.below(1000) };
        const { source, destination } = match;
        if (source !== null && destination !== null && source.version !== destination.version) continue;
        break;
      }
      case 'macs':
        match = { ...ANY, sourceMac: 0x02_00_5e_00_00_00 + rules.length * 7 };
        priority = 100;
        break;
      case 'nested':
        match = nestedMatch(random, inner);
        break;
    }
    const key = JSON.stringify(match);
    if (seen.has(key)) continue;
    seen.add(key);
    rules.push({ priority, match });
  }
  if (mix !== 'ranges' && mix !== 'nested') return rules;
  // Priorities at random: the numbers stay distinct, the rules change places.
  for (let i = rules.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const other = rules[j]!;
    rules[j] = { priority: other.priority, match: rules[i]!.match };
    rules[i] = { priority: rules[i]!.priority, match: other.match };
  }
  return rules;
}

function fill(random: Random, prefix: Prefix | null, version: 4 | 6): number[] {
  const words = prefix?.words ?? (version === 4 ? [0] : [0, 0, 0, 0]);
  const length = prefix?.length ?? 0;
  return words.map((word, i) => {
    const free = Math.max(0, Math.min(32, 32 - (length - i * 32)));
    const mask = free === 32 ? -1 : free === 0 ? 0 : ~(-1 << free);
    return (word | (random.word() & mask)) >>> 0;
  });
}

function inside(random: Random, range: PortRange | null): number {
  const { from, to } = range ?? { from: 0, to: 0xffff };
  return from + random.below(to - from + 1);
}

/**
 * Packets for a rule set.
 *
 * @param hit share of packets that match a rule, drawn evenly from the rules; the others have a rule's addresses and
 *   random ports and protocol, and may match as well
 */
export function makePackets(rules: readonly MixRule[], count: number, seed: number, hit = 0.9): MixPacket[] {
  const random = new Random(seed);
  const packets: MixPacket[] = [];
  for (let i = 0; i < count; i++) {
    const { match } = random.pick(rules);
    const version = (match.source ?? match.destination)?.version ?? 4;
    const hits = random.chance(hit);
    packets.push({
      version,
      source: fill(random, hits || random.chance(0.5) ? match.source : null, version),
      destination: fill(random, match.destination, version),
      sourcePort: inside(random, hits ? match.sourcePort : null),
      destinationPort: inside(random, hits ? match.destinationPort : null),
      protocol: hits && match.protocol !== null ? match.protocol : random.pick([TCP, UDP, 1]),
      sourceMac: match.sourceMac ?? 0x02_00_00_00_00_01,
      destinationMac: match.destinationMac ?? 0x02_00_00_00_00_02,
    });
  }
  return packets;
}

/** Bytes that each packet's Ethernet header takes in what {@link writePackets} gives. */
export const ETHERNET_BYTES = 14;

/** The packets as rows of a batch, and their Ethernet headers one after the other. */
export function writePackets(packets: readonly MixPacket[]): { batch: TelemetryBatch; bytes: Uint8Array } {
  const batch = new TelemetryBatch({ frames: packets.length, reports: packets.length, hops: 256 });
  const bytes = new Uint8Array(packets.length * ETHERNET_BYTES);
  packets.forEach((packet, row) => {
    const [source0, source1, source2, source3] = packet.source;
    const [destination0, destination1, destination2, destination3] = packet.destination;
    batch.flags[row] = FLAG.FLOW | (packet.version === 6 ? FLAG.IPV6 : 0);
    batch.source0[row] = source0 ?? 0;
    // Words that an IPv4 row does not define hold what a row before them may have left there.
    batch.source1[row] = source1 ?? 0xdeadbeef;
    batch.source2[row] = source2 ?? 0xdeadbeef;
    batch.source3[row] = source3 ?? 0xdeadbeef;
    batch.destination0[row] = destination0 ?? 0;
    batch.destination1[row] = destination1 ?? 0xdeadbeef;
    batch.destination2[row] = destination2 ?? 0xdeadbeef;
    batch.destination3[row] = destination3 ?? 0xdeadbeef;
    batch.ports[row] = ((packet.sourcePort << 16) | packet.destinationPort) >>> 0;
    batch.protocol[row] = packet.protocol;
    for (let i = 0; i < 6; i++) {
      bytes[row * ETHERNET_BYTES + i] = Math.floor(packet.destinationMac / 256 ** (5 - i));
      bytes[row * ETHERNET_BYTES + 6 + i] = Math.floor(packet.sourceMac / 256 ** (5 - i));
    }
  });
  batch.state[STATE.REPORTS] = packets.length;
  return { batch, bytes };
}
