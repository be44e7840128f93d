import { addressText, hasPorts, macText, maskOf, protocolName } from './address.js';
import type { Match, Prefix, Rule } from './model.js';

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
function narrower(a: Prefix | null, b: Prefix | null): Prefix | null | undefined {
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

/** A packet that both matches match; `null` if there is none. */
export function commonPacket(a: Match, b: Match): PacketExample | null {
  const source = narrower(a.source, b.source);
  const destination = narrower(a.destination, b.destination);
  const protocol = common(a.protocol, b.protocol);
  const sourceMac = common(a.sourceMac, b.sourceMac);
  const destinationMac = common(a.destinationMac, b.destinationMac);
  if (
    source === undefined ||
    destination === undefined ||
    protocol === undefined ||
    sourceMac === undefined ||
    destinationMac === undefined ||
    (source !== null && destination !== null && source.version !== destination.version)
  ) {
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
 * two MAC
 * addresses; the ports of a protocol without ports are 0. So a match on TCP port 80 and one on ICMP do not overlap, nor
 * do a
 * source in IPv4 and a destination in IPv6.
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

/** Numbers of a box: start and end of protocol, source, destination, the two ports and the two MAC addresses. */
const BOUNDS = 14;

/**
 * For each rule that overlaps with an earlier one of the same priority: the earliest such. Compares only rules that
 * meet in the
 * dimension where the fewest do; in the worst case each with each, at some nanoseconds a pair.
 */
export function findOverlaps(rules: readonly Pick<Rule, 'priority' | 'match'>[]): OverlapPair[] {
  const groups = new Map<number, number[]>();
  for (const [index, { priority }] of rules.entries()) {
    groups.set(priority, groups.get(priority) ?? []);
    groups.get(priority)!.push(index);
  }
  const pairs: OverlapPair[] = [];
  for (const group of groups.values()) {
    const earliest = earliestOverlaps(group.map((index) => rules[index]!.match));
    for (const [i, second] of group.entries()) {
      if (earliest[i]! < 0) continue;
      const first = group[earliest[i]!]!;
      const example = commonPacket(rules[first]!.match, rules[second]!.match);
      if (example !== null) pairs.push({ first, second, example });
    }
  }
  return pairs.sort((a, b) => a.second - b.second);
}

/** Of each match, the first one before it that overlaps; -1 if none does. */
function earliestOverlaps(matches: readonly Match[]): Int32Array {
  const count = matches.length;
  const { bounds, versions } = boxesOf(matches);
  const main = sparsest(bounds, count);
  // Sorted by where they start, rules that meet in this dimension follow each other until one starts behind the end.
  const order = Int32Array.from(matches, (_, i) => i).sort(
    (a, b) => bounds[a * BOUNDS + main]! - bounds[b * BOUNDS + main]! || a - b,
  );
  const earliest = new Int32Array(count).fill(count);
  for (let i = 0; i < count; i++) {
    const index = order[i]!;
    const a = index * BOUNDS;
    const end = bounds[a + main + 1]!;
    for (let j = i + 1; j < count; j++) {
      const other = order[j]!;
      const b = other * BOUNDS;
      if (bounds[b + main]! > end) break;
      if ((versions[index]! & versions[other]!) === 0) continue;
      const later = Math.max(index, other);
      const sooner = Math.min(index, other);
      if (earliest[later]! <= sooner) continue;
      let k = 0;
      while (k < BOUNDS && bounds[a + k]! <= bounds[b + k + 1]! && bounds[b + k]! <= bounds[a + k + 1]!) k += 2;
      if (k === BOUNDS) earliest[later] = sooner;
    }
  }
  return earliest.map((index) => (index === count ? -1 : index));
}

/** Matches as boxes: of each match, {@link BOUNDS} numbers. Addresses are numbered by where prefixes begin and end. */
function boxesOf(matches: readonly Match[]): {
  readonly bounds: Float64Array;
  /** Bit 0: can match IPv4, bit 1: IPv6. None of them: matches no packet at all. */
  readonly versions: Uint8Array;
} {
  const bounds = new Float64Array(BOUNDS * matches.length);
  const sources = ranksOf(matches.map(({ source }) => source));
  const destinations = ranksOf(matches.map(({ destination }) => destination));
  const versions = Uint8Array.from(matches, (match, i) => {
    const { protocol, source, destination, sourcePort, destinationPort, sourceMac, destinationMac } = match;
    const lastPort = protocol !== null && !hasPorts(protocol) ? 0 : 0xffff;
    const box = [
      ...[protocol ?? 0, protocol ?? 255],
      ...[sources.low[i]!, sources.high[i]!],
      ...[destinations.low[i]!, destinations.high[i]!],
      ...[sourcePort?.from ?? 0, Math.min(lastPort, sourcePort?.to ?? 0xffff)],
      ...[destinationPort?.from ?? 0, Math.min(lastPort, destinationPort?.to ?? 0xffff)],
      ...[sourceMac ?? 0, sourceMac ?? 2 ** 48],
      ...[destinationMac ?? 0, destinationMac ?? 2 ** 48],
    ];
    bounds.set(box, i * BOUNDS);
    if (box.some((low, k) => k % 2 === 0 && low > box[k + 1]!)) return 0;
    return versionBits(source) & versionBits(destination);
  });
  return { bounds, versions };
}

const versionBits = (prefix: Prefix | null): number => (prefix === null ? 3 : prefix.version === 4 ? 1 : 2);

/** The dimension in which the fewest pairs meet, as the place of its bounds in a box. */
function sparsest(bounds: Float64Array, count: number): number {
  const column = (at: number): Float64Array =>
    Float64Array.from({ length: count }, (_, i) => bounds[i * BOUNDS + at]!).sort();
  let best = 0;
  let most = -1;
  for (let at = 0; at < BOUNDS; at += 2) {
    const ends = column(at + 1);
    // Pairs that do not meet: for each start, the ends before it.
    let apart = 0;
    let before = 0;
    for (const start of column(at)) {
      while (before < count && ends[before]! < start) before++;
      apart += before;
    }
    if (apart > most) {
      most = apart;
      best = at;
    }
  }
  return best;
}

/** Numbers the addresses at which prefixes start and end in their order; IPv4 before IPv6. */
function ranksOf(prefixes: readonly (Prefix | null)[]): { readonly low: Float64Array; readonly high: Float64Array } {
  const low = new Float64Array(prefixes.length).fill(Number.NEGATIVE_INFINITY);
  const high = new Float64Array(prefixes.length).fill(Number.POSITIVE_INFINITY);
  const ends: { words: readonly number[]; index: number; into: Float64Array }[] = [];
  for (const [index, prefix] of prefixes.entries()) {
    if (prefix === null) continue;
    const { words, length } = prefix;
    ends.push({ words, index, into: low });
    ends.push({ words: words.map((word, i) => (word | ~maskOf(length, i)) >>> 0), index, into: high });
  }
  ends.sort((a, b) => compareWords(a.words, b.words));
  let rank = 0;
  for (const [i, end] of ends.entries()) {
    if (i > 0 && compareWords(ends[i - 1]!.words, end.words) !== 0) rank++;
    end.into[end.index] = rank;
  }
  return { low, high };
}

function compareWords(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return a.length - b.length;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}
