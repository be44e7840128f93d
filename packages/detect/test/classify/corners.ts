import type { Match, PortRange, Prefix } from '@int/detect';
import fc from 'fast-check';
import type { Probe } from './linear-model.js';
import { prefixOf, type Random } from './mixes.js';

/*
 * Rules that overlap and touch, and packets at their corners: the pools are small on purpose, so that prefixes nest,
 * ranges meet end to end, and sign bits are set.
 */

const BASES4: readonly number[] = [
  0x0a000000, 0x0a000001, 0x0a0000ff, 0x0a000100, 0x0a800000, 0x80000000, 0xffffffff, 0,
];
const LENGTHS4: readonly number[] = [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 30, 31, 32, 32, 32];
const BASES6: readonly (readonly number[])[] = [
  [0x20010db8, 0, 0, 1],
  [0x20010db8, 0, 0, 2],
  [0x20010db8, 0x00010000, 0, 1],
  [0x20010db8, 0x0001ffff, 0xffffffff, 0xffffffff],
  [0x20010db8, 0, 0x80000000, 0x80000000],
  [0xfe800000, 0, 0, 1],
  [0, 0, 0, 0],
  [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
];
const LENGTHS6: readonly number[] = [0, 1, 31, 32, 33, 47, 48, 49, 63, 64, 65, 71, 95, 96, 97, 119, 127, 128, 128, 128];
const PORTS: readonly number[] = [0, 1, 79, 80, 81, 443, 1023, 1024, 1025, 32767, 32768, 65534, 65535];
const PROTOCOLS: readonly number[] = [0, 6, 17, 255];
const MACS: readonly number[] = [0, 0x02_00_00_00_00_01, 0x80_00_00_00_00_00, 0x00_00_80_00_80_00, 0xff_ff_ff_ff_ff_ff];

const prefix4 = fc
  .tuple(fc.constantFrom(...BASES4), fc.constantFrom(...LENGTHS4))
  .map(([base, length]) => prefixOf([base], length));
const prefix6 = fc
  .tuple(fc.constantFrom(...BASES6), fc.constantFrom(...LENGTHS6))
  .map(([base, length]) => prefixOf(base, length));
const port: fc.Arbitrary<PortRange> = fc
  .tuple(fc.constantFrom(...PORTS), fc.constantFrom(...PORTS), fc.boolean())
  .map(([a, b, exact]) => (exact ? { from: a, to: a } : { from: Math.min(a, b), to: Math.max(a, b) }));
const maybe = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(some, { freq: 2 });
const mac = fc.option(fc.constantFrom(...MACS), { freq: 1 });

const sides: fc.Arbitrary<[Prefix | null, Prefix | null]> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(maybe(prefix4), maybe(prefix4)) },
  { weight: 4, arbitrary: fc.tuple(maybe(prefix6), maybe(prefix6)) },
  { weight: 1, arbitrary: fc.tuple(maybe(prefix4), maybe(prefix6)) },
);

/** A match; one in eight or so has MAC addresses, some match everything, some nothing. */
export const match: fc.Arbitrary<Match> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        sides,
        maybe(fc.constantFrom(...PROTOCOLS)),
        maybe(port),
        maybe(port),
        fc.boolean(),
        fc.boolean(),
        mac,
        mac,
      )
      .map(([[source, destination], protocol, sourcePort, destinationPort, a, b, sourceMac, destinationMac]) => ({
        protocol,
        source,
        destination,
        sourcePort,
        destinationPort,
        sourceMac: a && b ? sourceMac : null,
        destinationMac: a && b ? destinationMac : null,
      })),
  },
  { weight: 1, arbitrary: fc.constant<Match>(empty()) },
);

/** Matches every packet. */
export function empty(): Match {
  return {
    protocol: null,
    source: null,
    destination: null,
    sourcePort: null,
    destinationPort: null,
    sourceMac: null,
    destinationMac: null,
  };
}

/** Few enough to be equal often; the ends of the range as well. */
export const priority: fc.Arbitrary<number> = fc.constantFrom(-0x8000_0000, -0x7fff_ffff, -1, 0, 1, 2, 3, 0x7fff_ffff);

function step(words: readonly number[], by: 1 | -1): number[] {
  const size = BigInt(32 * words.length);
  let value = words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
  value = BigInt.asUintN(Number(size), value + BigInt(by));
  return words.map((_, i) => Number(BigInt.asUintN(32, value >> BigInt(32 * (words.length - 1 - i)))));
}

/** The first or last address of a prefix, or the one before or after it, or one somewhere else. */
function address(random: Random, prefix: Prefix | null, version: 4 | 6): readonly number[] {
  if (prefix === null || prefix.version !== version || random.chance(0.1)) {
    return version === 4 ? [random.pick(BASES4)] : random.pick(BASES6);
  }
  const last = prefix.words.map((word, i) => {
    const free = Math.max(0, Math.min(32, 32 * (i + 1) - prefix.length));
    return free === 32 ? 0xffffffff : (word | ((1 << free) - 1)) >>> 0;
  });
  return random.chance(0.15)
    ? random.chance(0.5)
      ? step(prefix.words, -1)
      : step(last, 1)
    : random.chance(0.5)
      ? prefix.words
      : last;
}

function portOf(random: Random, range: PortRange | null): number {
  if (range === null) return random.pick(PORTS);
  const { from, to } = range;
  return random.pick([
    from,
    from,
    from,
    to,
    to,
    to,
    Math.max(0, from - 1),
    Math.min(0xffff, to + 1),
    (from + to) >>> 1,
  ]);
}

/** A packet at a corner of the rule: most match it, some just miss. */
export function corner(random: Random, rule: Match): Probe {
  const version = (random.chance(0.5) ? rule.source : rule.destination)?.version ?? random.pick([4, 6] as const);
  return {
    flow: !random.chance(0.03),
    macs: !random.chance(0.15),
    version,
    source: address(random, rule.source, version),
    destination: address(random, rule.destination, version),
    sourcePort: portOf(random, rule.sourcePort),
    destinationPort: portOf(random, rule.destinationPort),
    protocol: rule.protocol !== null && random.chance(0.9) ? rule.protocol : random.pick(PROTOCOLS),
    sourceMac: rule.sourceMac !== null && random.chance(0.9) ? rule.sourceMac : random.pick(MACS),
    destinationMac: rule.destinationMac !== null && random.chance(0.9) ? rule.destinationMac : random.pick(MACS),
  };
}
