import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasPorts } from '../../../src/rules/address.js';
import type { Match, PortRange, Prefix } from '../../../src/rules/model.js';
import { MATCH_ANY } from '../../../src/rules/model.js';
import { commonPacket, findOverlaps, overlaps, type PacketExample } from '../../../src/rules/overlap.js';
import { SEED } from '../../seed.js';
import { matches } from './arbitraries.js';

const options = { seed: SEED, numRuns: 2000 };

/** The first bits of an address as text, bit by bit. */
const bitsOf = (words: readonly number[], length: number): string =>
  words
    .map((word) => word.toString(2).padStart(32, '0'))
    .join('')
    .slice(0, length);

/** Whether a match matches a packet, field by field as the model says. */
function matchesPacket(match: Match, packet: PacketExample): boolean {
  const prefix = (wanted: Prefix | null, words: readonly number[]): boolean =>
    wanted === null ||
    (wanted.version === packet.version && bitsOf(wanted.words, wanted.length) === bitsOf(words, wanted.length));
  const range = (wanted: PortRange | null, port: number): boolean =>
    wanted === null || (port >= wanted.from && port <= wanted.to);
  return (
    (match.protocol === null || match.protocol === packet.protocol) &&
    prefix(match.source, packet.source) &&
    prefix(match.destination, packet.destination) &&
    range(match.sourcePort, packet.sourcePort) &&
    range(match.destinationPort, packet.destinationPort) &&
    (match.sourceMac === null || match.sourceMac === packet.sourceMac) &&
    (match.destinationMac === null || match.destinationMac === packet.destinationMac)
  );
}

const isPacket = ({ version, protocol, source, destination, sourcePort, destinationPort }: PacketExample): boolean =>
  source.length === (version === 4 ? 1 : 4) &&
  destination.length === source.length &&
  (hasPorts(protocol) || (sourcePort === 0 && destinationPort === 0));

/**
 * A small world in which all packets can be listed: each field takes few values, prefixes are of their first two bits,
 * so that whether two matches meet can be counted.
 */
const WORLD: readonly PacketExample[] = ([4, 6] as const).flatMap((version) =>
  [0, 1, 2, 3].flatMap((source) =>
    [0, 2].flatMap((destination) =>
      [1, 6].flatMap((protocol) =>
        (protocol === 6 ? [0, 1, 2] : [0]).flatMap((sourcePort) =>
          (protocol === 6 ? [0, 2] : [0]).flatMap((destinationPort) =>
            [0, 5].map((sourceMac) => ({
              version,
              protocol,
              source: [(source << 30) >>> 0, 0, 0, 0].slice(0, version === 4 ? 1 : 4),
              destination: [(destination << 30) >>> 0, 0, 0, 0].slice(0, version === 4 ? 1 : 4),
              sourcePort,
              destinationPort,
              sourceMac,
              destinationMac: 0,
            })),
          ),
        ),
      ),
    ),
  ),
);
function worldPrefix(values: readonly number[], version: 4 | 6): fc.Arbitrary<Prefix | null> {
  return fc.option(
    fc.tuple(fc.constantFrom(...values), fc.integer({ min: 0, max: 2 })).map(([value, length]) => {
      const word = length === 0 ? 0 : ((value << 30) & (0xffffffff << (32 - length))) >>> 0;
      return { version, words: version === 4 ? [word] : [word, 0, 0, 0], length };
    }),
    { freq: 2 },
  );
}
const worldPorts = (from: readonly number[]): fc.Arbitrary<PortRange | null> =>
  fc.option(
    fc.constantFrom(
      ...from.flatMap((low) => from.filter((high) => high >= low).map((high) => ({ from: low, to: high }))),
    ),
  );
const versions = fc.constantFrom(4 as const, 4 as const, 4 as const, 6 as const);
/** Also with ports of ICMP, or addresses of two versions, which match no packet. */
const worldMatches: fc.Arbitrary<Match> = fc.record({
  protocol: fc.constantFrom(null, 1, 6),
  source: versions.chain((version) => worldPrefix([0, 1, 2, 3], version)),
  destination: versions.chain((version) => worldPrefix([0, 2], version)),
  sourcePort: worldPorts([0, 1, 2]),
  destinationPort: worldPorts([0, 2]),
  sourceMac: fc.constantFrom(null, null, 0, 5),
  destinationMac: fc.constant(null),
});

describe('overlaps', () => {
  it('says exactly whether a packet exists that both match', () => {
    let overlapping = 0;
    fc.assert(
      fc.property(worldMatches, worldMatches, (a, b) => {
        const expected = WORLD.some((packet) => matchesPacket(a, packet) && matchesPacket(b, packet));
        expect(overlaps(a, b)).toBe(expected);
        if (expected) overlapping++;
      }),
      options,
    );
    expect(overlapping).toBeGreaterThan(100);
  });

  it('gives an example that both match', () => {
    fc.assert(
      fc.property(matches(true), matches(true), (a, b) => {
        const packet = commonPacket(a, b);
        expect(overlaps(b, a)).toBe(packet !== null);
        if (packet === null) return;
        expect(isPacket(packet)).toBe(true);
        expect(matchesPacket(a, packet)).toBe(true);
        expect(matchesPacket(b, packet)).toBe(true);
      }),
      options,
    );
  });

  it('is true of a match and itself if a rule can have it', () => {
    fc.assert(
      fc.property(matches(), (match) => {
        expect(overlaps(match, match)).toBe(true);
        expect(overlaps(match, MATCH_ANY)).toBe(true);
      }),
      options,
    );
  });
});

describe('findOverlaps', () => {
  /** Each with each. */
  function expectedPairs(rules: readonly { readonly priority: number; readonly match: Match }[]): [number, number][] {
    return rules.flatMap((rule, second) => {
      const first = rules.findIndex(
        (other, i) => i < second && other.priority === rule.priority && overlaps(other.match, rule.match),
      );
      return first < 0 ? [] : [[first, second] as [number, number]];
    });
  }

  it('finds for each rule the first of its priority that it overlaps with', () => {
    const rules = fc.array(
      fc.record({ priority: fc.constantFrom(-1, 0, 5), match: fc.oneof(worldMatches, matches(true)) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(rules, (list) => {
        expect(findOverlaps(list).map(({ first, second }) => [first, second])).toEqual(expectedPairs(list));
      }),
      { ...options, numRuns: 500 },
    );
  });

  it('looks at ten thousand rules of one priority that differ in one field only', () => {
    const count = 10_000;
    const lists: readonly ((i: number) => Partial<Match>)[] = [
      (i) => ({ source: { version: 4, words: [(0x0a000000 + i) >>> 0], length: 32 } }),
      (i) => ({ destination: { version: 6, words: [0x20010db8, 0, 0, i], length: 128 } }),
      (i) => ({ sourcePort: { from: 2 * i, to: 2 * i + 1 } }),
      (i) => ({ destinationMac: i }),
      // A grid: no field alone keeps all of them apart.
      (i) => ({
        sourcePort: { from: i % 100, to: i % 100 },
        destinationPort: { from: Math.floor(i / 100), to: Math.floor(i / 100) },
      }),
    ];
    for (const change of lists) {
      const rules = Array.from({ length: count }, (_, i) => ({
        priority: 1,
        match: { ...MATCH_ANY, protocol: 6, ...change(i) },
      }));
      expect(findOverlaps(rules)).toEqual([]);
      rules[count - 1] = rules[17]!;
      expect(findOverlaps(rules).map(({ first, second }) => [first, second])).toEqual([[17, count - 1]]);
    }
  });

  it('reports each rule once when all of ten thousand overlap', () => {
    const rules = Array.from({ length: 10_000 }, () => ({ priority: 1, match: MATCH_ANY }));
    const pairs = findOverlaps(rules);
    expect(pairs).toHaveLength(9_999);
    expect(pairs.every(({ first }) => first === 0)).toBe(true);
  });
});
