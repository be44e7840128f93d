import { Classifier } from '../classify/classifier.js';
import { addressText, hasPorts, macText, maskOf, protocolName } from './address.js';
import { isSameMatch, type Match, type Prefix, type Rule } from './model.js';

/** A packet that two matches share. */
export interface PacketExample {
  readonly version: 4 | 6;
  readonly protocol: number;
  /** Big-endian 32-bit words. */
  readonly source: readonly number[];
  readonly destination: readonly number[];
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sourceMac: number;
  readonly destinationMac: number;
}

const TCP = 6;

/** The longer of two prefixes that contain one another; `undefined` if they are disjoint. */
export function narrower(a: Prefix | null, b: Prefix | null): Prefix | null | undefined {
  if (a === null || b === null) return a ?? b;
  if (a.version !== b.version) return undefined;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  for (let i = 0; i < short.words.length; i++) {
    if (((short.words[i]! ^ long.words[i]!) & maskOf(short.length, i)) !== 0) return undefined;
  }
  return long;
}

/** The common value of two numbers, where `null` stands for any; `undefined` if there is none. */
function common(a: number | null, b: number | null): number | null | undefined {
  return a === null || b === null || a === b ? (a ?? b) : undefined;
}

/** Documentation addresses (RFC 5737, RFC 3849). */
const EXAMPLE_SOURCE = { 4: [0xc0000201], 6: [0x20010db8, 0, 0, 1] } as const;
const EXAMPLE_DESTINATION = { 4: [0xc0000202], 6: [0x20010db8, 0, 0, 2] } as const;

/** Whether two lists of ranges have a number in common, where nothing stands for all. */
function shareNumber(a: Match['dscp'], b: Match['dscp']): boolean {
  if (a === null || a === undefined || b === null || b === undefined) return true;
  return a.some((one) => b.some((other) => one.from <= other.to && other.from <= one.to));
}

type Ends = readonly [source: readonly (Prefix | null)[], destination: readonly (Prefix | null)[]];

/** Prefixes that source and destination may be in: a group is matched at either end, so that there may be two pairs. */
export function endsOf({ source, destination, sourceGroup, destinationGroup, group }: Match): Ends[] {
  const sources = sourceGroup ?? [source];
  const destinations = destinationGroup ?? [destination];
  if (group === null || group === undefined) return [[sources, destinations]];
  const within = (some: readonly (Prefix | null)[]): (Prefix | null)[] =>
    some.flatMap((one) => group.flatMap((other) => narrower(one, other) ?? []));
  return [
    [within(sources), destinations],
    [sources, within(destinations)],
  ];
}

/** Source and destination that both matches have; `null`: none. */
function commonEnds(a: Match, b: Match): { source: Prefix | null; destination: Prefix | null } | null {
  for (const [sourcesOfA, destinationsOfA] of endsOf(a)) {
    for (const [sourcesOfB, destinationsOfB] of endsOf(b)) {
      // One candidate of each IP version is enough: the two ends have to agree in nothing else.
      for (const source of candidates(sourcesOfA, sourcesOfB)) {
        for (const destination of candidates(destinationsOfA, destinationsOfB)) {
          if (source === null || destination === null || source.version === destination.version)
            return { source, destination };
        }
      }
    }
  }
  return null;
}

/** Of each IP version, and of none, a prefix that is in both lists. */
function candidates(a: readonly (Prefix | null)[], b: readonly (Prefix | null)[]): (Prefix | null)[] {
  const found = new Map<number, Prefix | null>();
  for (const one of a) {
    for (const other of b) {
      const shared = narrower(one, other);
      if (shared !== undefined && !found.has(shared?.version ?? 0)) found.set(shared?.version ?? 0, shared);
    }
  }
  return [...found.values()];
}

/** A packet that both matches match; `null` if there is none. */
export function commonPacket(a: Match, b: Match): PacketExample | null {
  if (!shareNumber(a.dscp, b.dscp)) return null;
  const ends = commonEnds(a, b);
  if (ends === null) return null;
  const { source, destination } = ends;
  const protocol = common(a.protocol, b.protocol);
  const sourceMac = common(a.sourceMac, b.sourceMac);
  const destinationMac = common(a.destinationMac, b.destinationMac);
  if (protocol === undefined || sourceMac === undefined || destinationMac === undefined) {
    return null;
  }
  const lastPort = protocol !== null && !hasPorts(protocol) ? 0 : 0xffff;
  const ports: number[] = [];
  for (const side of ['sourcePort', 'destinationPort'] as const) {
    const from = Math.max(a[side]?.from ?? 0, b[side]?.from ?? 0);
    const to = Math.min(a[side]?.to ?? 0xffff, b[side]?.to ?? 0xffff, lastPort);
    if (from > to) return null;
    ports.push(from);
  }
  const version = source?.version ?? destination?.version ?? 4;
  return {
    version,
    protocol: protocol ?? TCP,
    source: source?.words ?? EXAMPLE_SOURCE[version],
    destination: destination?.words ?? EXAMPLE_DESTINATION[version],
    sourcePort: ports[0]!,
    destinationPort: ports[1]!,
    sourceMac: sourceMac ?? 0,
    destinationMac: destinationMac ?? 0,
  };
}

/**
 * Whether some packet matches both. Exact, for packets with two addresses of one IP version, a protocol, two ports and
 * two MAC addresses; the ports of a protocol without ports are 0. So a match on TCP port 80 and one on ICMP do not
 * overlap, nor do a source in IPv4 and a destination in IPv6. A report has several hops: matches on different switches
 * overlap.
 */
export function overlaps(a: Match, b: Match): boolean {
  return commonPacket(a, b) !== null;
}

/** Text of an example: only the parts that the two matches name. */
export function packetText(packet: PacketExample, a: Match, b: Match): string {
  const withPorts = hasPorts(packet.protocol);
  const side = (words: readonly number[], port: 'sourcePort' | 'destinationPort'): string => {
    const isNamed = withPorts && (a[port] !== null || b[port] !== null);
    return `${addressText(packet.version, words)}${isNamed ? ` port ${packet[port]}` : ''}`;
  };
  const from = a.sourceMac !== null || b.sourceMac !== null ? ` from MAC ${macText(packet.sourceMac)}` : '';
  const to = a.destinationMac !== null || b.destinationMac !== null ? ` to MAC ${macText(packet.destinationMac)}` : '';
  return (
    `${protocolName(packet.protocol)} ${side(packet.source, 'sourcePort')} -> ` +
    `${side(packet.destination, 'destinationPort')}${from}${to}`
  );
}

/** Two rules, by their places in a list, that have the same priority and can match the same packet. */
export interface OverlapPair {
  readonly first: number;
  readonly second: number;
  readonly example: PacketExample;
}

/** In smaller groups each rule is compared with each, which takes less than a classifier. */
const MANY_RULES = 16;

/**
 * For each rule that overlaps with an earlier one of the same priority: the earliest such. Where many rules have one
 * priority, a classifier tells which of them may overlap, and only these are compared with each earlier one.
 */
export function findOverlaps(rules: readonly Pick<Rule, 'priority' | 'match'>[]): OverlapPair[] {
  const groups = new Map<number, number[]>();
  for (const [index, { priority }] of rules.entries()) {
    groups.set(priority, groups.get(priority) ?? []);
    groups.get(priority)!.push(index);
  }
  const hasMany = [...groups.values()].some((group) => group.length > MANY_RULES);
  const shared = hasMany ? new Classifier(rules.length) : null;
  const pairs: OverlapPair[] = [];
  for (const [priority, group] of groups) {
    const classifier = group.length > MANY_RULES ? shared : null;
    for (const [i, second] of group.entries()) {
      const { match } = rules[second]!;
      const mayOverlap = classifier === null || classifier.conflict(priority, match) >= 0;
      const pair = mayOverlap ? firstOverlap(rules, group, i) : null;
      if (pair !== null) pairs.push(pair);
      // What overlaps with one of two rules with the same match overlaps with the other: the first is enough.
      const isTwin = pair !== null && isSameMatch(rules[pair.first]!.match, match);
      if (!isTwin) classifier?.insert(second, priority, match);
    }
  }
  return pairs.sort((a, b) => a.second - b.second);
}

/** The first rule of a group that overlaps with a later one, at place `i`; `null` if none does. */
function firstOverlap(rules: readonly Pick<Rule, 'match'>[], group: readonly number[], i: number): OverlapPair | null {
  const second = group[i]!;
  for (let k = 0; k < i; k++) {
    const first = group[k]!;
    const example = commonPacket(rules[first]!.match, rules[second]!.match);
    if (example !== null) return { first, second, example };
  }
  return null;
}
