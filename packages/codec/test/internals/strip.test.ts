/** Stripping in a buffer does what the sink role does with a packet, and touches nothing else. */

import { dressed, frame, malformed, plainPacket } from '@int/arbitraries';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import type { Hop } from '../../src/model.js';
import type { DecodeOptions } from '../../src/options.js';
import { SOURCE_ENCAPSULATIONS } from '../../src/roles/config.js';
import { type SinkConfig, type SourceConfig, STRIP, Stripper, sink, source, transit } from '../../src/roles/index.js';
import { corpus, mutate, Random } from '../fuzz-inputs.js';
import { bits, SEED } from './header-samples.js';
import {
  genevePacket,
  grePacket,
  otherPacket,
  tcpPacket,
  udpPacket,
  vxlanGpePacket,
  vxlanPacket,
} from './role-packets.js';

fc.configureGlobal({ seed: SEED });
/** Mutated inputs. The long form sets a million or more. */
const RUNS = Number(process.env.INT_FUZZ_RUNS ?? runs(48_000));

/** Bytes in front of and behind what a frame is written to, which must stay. */
const AROUND = 9;
const UNTOUCHED = 0xa5;

/** What the sink role says, in the stripper's words. */
function expected(packet: Uint8Array, config: SinkConfig): { verdict: number; code: string; bytes: Uint8Array } {
  try {
    const { restored, discard, reason } = sink(packet, config);
    if (reason !== null) {
      return { verdict: reason === 'fragment' ? STRIP.FRAGMENT : STRIP.PLAIN, code: 'OK', bytes: restored };
    }
    return { verdict: discard ? STRIP.DISCARD : STRIP.STRIPPED, code: 'OK', bytes: restored };
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return { verdict: STRIP.UNSOUND, code: error.code, bytes: packet };
  }
}

/** What the stripper makes of a packet between two arrays whose other bytes are `fill`; fails if it touches those. */
function strippedBetween(stripper: Stripper, packet: Uint8Array, fill: number, from: number, to: number): Uint8Array {
  const input = new Uint8Array(from + packet.length + AROUND).fill(fill);
  input.set(packet, from);
  const before = input.slice();
  const output = new Uint8Array(to + packet.length + AROUND).fill(UNTOUCHED);
  const written = stripper.strip(input, from, packet.length, output, to);
  if (!Buffer.from(input).equals(before)) throw new Error('the source was written to');
  const outside = [...output.subarray(0, to), ...output.subarray(to + written)];
  if (!outside.every((byte) => byte === UNTOUCHED)) throw new Error('written outside of what is returned');
  return output.slice(to, to + written);
}

/** Both in one array, at two places. */
function strippedWithin(stripper: Stripper, packet: Uint8Array, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(2 * (packet.length + AROUND) + from + to).fill(UNTOUCHED);
  const target = from + packet.length + to;
  bytes.set(packet, from);
  const written = stripper.strip(bytes, from, packet.length, bytes, target);
  const outside = [...bytes.subarray(0, from), ...bytes.subarray(from + packet.length, target)];
  if (!outside.every((byte) => byte === UNTOUCHED)) throw new Error('written in front of the target');
  if (!bytes.subarray(target + written).every((byte) => byte === UNTOUCHED)) throw new Error('written behind it');
  if (!Buffer.from(bytes.subarray(from, from + packet.length)).equals(packet)) throw new Error('the source changed');
  return bytes.slice(target, target + written);
}

/** Where it is. */
function strippedInPlace(stripper: Stripper, packet: Uint8Array, from: number): Uint8Array {
  const bytes = new Uint8Array(from + packet.length + AROUND).fill(UNTOUCHED);
  bytes.set(packet, from);
  const written = stripper.strip(bytes, from, packet.length, bytes, from);
  return bytes.slice(from, from + written);
}

function agree(stripper: Stripper, packet: Uint8Array, config: SinkConfig, shift = 3): number {
  const wanted = expected(packet, config);
  const ways = [
    (): Uint8Array => strippedBetween(stripper, packet, 0, shift, 2 * shift),
    (): Uint8Array => strippedBetween(stripper, packet, 0xff, 0, shift),
    (): Uint8Array => strippedWithin(stripper, packet, shift, 5),
    (): Uint8Array => strippedInPlace(stripper, packet, shift),
  ];
  for (const way of ways) {
    const bytes = way();
    if (stripper.verdict !== wanted.verdict || stripper.code !== wanted.code) {
      throw new Error(`${stripper.verdict} ${stripper.code}, not ${wanted.verdict} ${wanted.code}`);
    }
    if (!Buffer.from(bytes).equals(wanted.bytes)) {
      expect(Buffer.from(bytes).toString('hex')).toBe(Buffer.from(wanted.bytes).toString('hex'));
    }
  }
  return wanted.verdict;
}

const strippers = new Map<string, { readonly stripper: Stripper; readonly config: SinkConfig }>();
/** One stripper for each set of options, as a program has; `domains` are looked up by their names. */
function stripperFor(
  options: DecodeOptions,
  more: Partial<SinkConfig> = {},
): typeof strippers extends Map<string, infer V> ? V : never {
  const config: SinkConfig = { ...options, ...more };
  const key = JSON.stringify(config, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  let found = strippers.get(key);
  if (found === undefined) {
    found = { stripper: new Stripper(config), config };
    strippers.set(key, found);
  }
  return found;
}

describe('a stripper and the sink role', () => {
  test('agree on frames of all kinds and dialects, however they are dressed', () => {
    const seen = new Set<number>();
    fc.assert(
      fc.property(
        fc.oneof(dressed(frame({ maxStackWords: 60 })), plainPacket()),
        fc.boolean(),
        fc.boolean(),
        fc.nat(9),
        ({ bytes, options }, restoreDscp, removeOuterIp, shift) => {
          const { stripper, config } = stripperFor(options, { restoreDscp, removeOuterIp });
          seen.add(agree(stripper, bytes, config, shift));
        },
      ),
      { numRuns: runs(1500) },
    );
    expect([...seen].sort()).toEqual(expect.arrayContaining([STRIP.PLAIN, STRIP.STRIPPED, STRIP.DISCARD]));
  });

  test('agree on frames that are likely wrong', () => {
    const seen = new Set<number>();
    fc.assert(
      fc.property(malformed(dressed(frame({ maxStackWords: 60, kinds: ['int'] }))), fc.nat(9), (bytes, shift) => {
        const { stripper, config } = stripperFor({});
        seen.add(agree(stripper, bytes, config, shift));
      }),
      { numRuns: runs(1500) },
    );
    expect(seen).toContain(STRIP.UNSOUND);
  });

  test(`agree on ${RUNS} mutated frames`, () => {
    const random = new Random(SEED);
    const frames = corpus(SEED, 400);
    const common = stripperFor({});
    const seen = new Set<number>();
    for (let run = 0; run < RUNS; run++) {
      const original = random.pick(frames);
      const { stripper, config } = run % 2 === 0 ? stripperFor(original.options) : common;
      const bytes = mutate(random, frames, original);
      const wanted = expected(bytes, config);
      const got = strippedBetween(stripper, bytes, 0xff, 1, 2);
      if (stripper.verdict !== wanted.verdict || !Buffer.from(got).equals(wanted.bytes)) {
        throw new Error(`${Buffer.from(bytes).toString('hex')} ${JSON.stringify(config)}`);
      }
      seen.add(wanted.verdict);
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining([STRIP.PLAIN, STRIP.STRIPPED, STRIP.DISCARD, STRIP.UNSOUND]),
    );
  });

  const hop: fc.Arbitrary<Hop> = fc.record({ nodeId: bits(31), hopLatency: bits(31), queueOccupancy: bits(23) });

  test.each(SOURCE_ENCAPSULATIONS)('give back what a source with encapsulation %s was given', (encapsulation) => {
    const transport = fc.oneof(udpPacket(['valid', 'zero', 'wrong']), tcpPacket(['valid', 'zero', 'wrong']));
    const packets = {
      port: udpPacket(['valid', 'zero', 'wrong']),
      dscp: transport,
      'probe-marker': transport,
      'new-udp': fc.oneof(transport, otherPacket),
      gre: grePacket,
      'gre-new': fc.oneof(transport, otherPacket),
      'vxlan-gpe': fc.oneof(vxlanGpePacket, vxlanPacket),
      geneve: genevePacket,
      intmon: udpPacket(['valid', 'zero', 'wrong']),
    }[encapsulation];
    const options: Omit<SourceConfig, 'instructions'> = {
      encapsulation,
      probeMarker: encapsulation === 'probe-marker' ? 0xdead_beef_8000_0001n : null,
      intDscp: encapsulation === 'dscp' ? { value: 0x17, mask: 0x3f } : null,
      profile: encapsulation === 'intmon' ? 'intmon' : 'spec',
    };
    let stripped = 0;
    fc.assert(
      fc.property(packets, bits(4), fc.array(hop, { minLength: 1, maxLength: 5 }), (built, bitmap, hops) => {
        const config: SourceConfig = { ...options, instructions: 0x8000 | (bitmap << 10) };
        let packet = source(built.bytes, config, hops[0]!).packet;
        for (const next of hops.slice(1)) packet = transit(packet, config, next).packet;
        const { stripper, config: sinkConfig } = stripperFor(options);
        if (agree(stripper, packet, sinkConfig) === STRIP.STRIPPED) stripped++;
      }),
      { numRuns: runs(150) },
    );
    expect(stripped).toBeGreaterThan(100 * LENGTH);
  });

  test('agree on checksums at either form of zero', () => {
    const config: SourceConfig = { instructions: 0x8000 };
    const { stripper } = stripperFor({});
    fc.assert(
      fc.property(udpPacket(['valid']), fc.constantFrom(0, 1, 0xfffe, 0xffff), bits(16), (built, checksum, word) => {
        const packet = source(built.bytes, config, { nodeId: word }).packet;
        packet[built.l4Offset + 6] = checksum >>> 8;
        packet[built.l4Offset + 7] = checksum & 0xff;
        agree(stripper, packet, {});
      }),
      { numRuns: runs(400) },
    );
  });
});

describe('a stripper', () => {
  test('refuses ranges outside of its arrays, as the mistake of the caller', () => {
    const stripper = new Stripper();
    const bytes = new Uint8Array(100);
    expect(() => stripper.strip(bytes, 50, 51, new Uint8Array(100), 0)).toThrow(RangeError);
    expect(() => stripper.strip(bytes, 0, 60, new Uint8Array(100), 41)).toThrow(RangeError);
    expect(() => stripper.strip(bytes, -1, 60, new Uint8Array(100), 0)).toThrow(RangeError);
    expect(stripper.strip(bytes, 100, 0, bytes, 100)).toBe(0);
  });

  test('leaves fragments as they are, and says so', () => {
    const [built] = fc
      .sample(udpPacket(), { numRuns: 50, seed: SEED })
      .filter(({ bytes, ipOffset }) => bytes[ipOffset]! >>> 4 === 4);
    const packet = source(built!.bytes, { instructions: 0x8000 }, { nodeId: 1 }).packet;
    packet[built!.ipOffset + 6]! |= 0x20;
    expect(agree(new Stripper(), packet, {})).toBe(STRIP.FRAGMENT);
  });

  test('refuses options out of range', () => {
    expect(() => new Stripper({ intPorts: [65_536] })).toThrow(RangeError);
  });
});
