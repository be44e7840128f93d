import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import { hopBlock } from '../../src/headers/hop.js';
import { reportMetadata } from '../../src/headers/index.js';
import type { Hop } from '../../src/model.js';
import { LAYOUT, OP, planFor } from '../../src/plan.js';
import { bits, SEED } from './header-samples.js';

fc.configureGlobal({ seed: SEED });

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

const stackLayouts = fc.constantFrom(
  LAYOUT.V05,
  LAYOUT.V10,
  LAYOUT.V2,
  LAYOUT.Y2016,
  LAYOUT.ONE_WORD,
  LAYOUT.GEANT_TS64,
  LAYOUT.GEANT_NIBBLE3,
);

/** Words that are all ones more often than by chance. */
const word = fc.oneof({ weight: 3, arbitrary: bits(32) }, { weight: 1, arbitrary: fc.constant(0xffffffff) });

function bytesOf(words: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((value, index) => {
    view.setUint32(index * 4, value);
  });
  return bytes;
}

const bitsOf = (bitmap: number): number[] =>
  Array.from({ length: 16 }, (_, bit) => bit).filter((bit) => bitmap & (0x8000 >>> bit));

describe('a hop block', () => {
  test('of any layout, bitmap and words is written as it was read', () => {
    fc.assert(
      fc.property(
        stackLayouts,
        bits(16),
        fc.nat(3),
        fc.infiniteStream(word),
        fc.nat(9),
        (layout, drawn, domainWords, stream, offset) => {
          // Bits 2 and 3 alone of that dialect push an egress timestamp: with bit 5 there are two, of which one is kept.
          const twice = layout === LAYOUT.GEANT_NIBBLE3 && (drawn & 0xf000) === 0x3000;
          const bitmap = twice ? drawn & ~0x0400 : drawn;
          const plan = planFor(layout, bitmap);
          const codec = hopBlock(layout, bitmap, { domainBytes: domainWords * 4 });
          expect(codec.byteLength).toBe((plan.words + domainWords) * 4);
          const words = Array.from({ length: plan.words + domainWords }, () => stream.next().value);
          if (layout === LAYOUT.Y2016) {
            for (let i = 0; i < plan.words; i++) {
              words[i] = plan.ops[i] === OP.SKIP ? 0x7fffffff : words[i]! & 0x7fffffff;
            }
          }
          const bytes = bytesOf(words);
          const shared = new Uint8Array(offset + bytes.length + 4).fill(0xa5);
          shared.set(bytes, offset);
          const hop = codec.decode(shared, offset);
          const out = new Uint8Array(offset + bytes.length + 4).fill(0xa5);
          expect(codec.encodeInto(hop, out, offset)).toBe(bytes.length);
          expect(hex(out)).toBe(hex(shared));
          expect(codec.decode(out, offset)).toEqual(hop);
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  test('says TRUNCATED for every shorter input', () => {
    const codec = hopBlock(LAYOUT.V2, 0xffff, { domainBytes: 8 });
    for (let cut = 0; cut < codec.byteLength; cut++) {
      let error: unknown;
      try {
        codec.decode(new Uint8Array(3 + cut), 3);
      } catch (thrown) {
        error = thrown;
      }
      expect(CodecError.is(error) && [error.code, error.layer, error.offset]).toEqual(['TRUNCATED', 'stack', 3]);
    }
  });

  test('has one or two words for each bit: 17 for all bits of v1.0, 19 for v2.x, 16 for v0.5', () => {
    const words = (layout: number, bitmap: number): number => hopBlock(layout, bitmap).byteLength / 4;
    expect(words(LAYOUT.V10, 0xffff)).toBe(17);
    expect(words(LAYOUT.V2, 0xffff)).toBe(19);
    expect(words(LAYOUT.V05, 0xffff)).toBe(16);
    expect(Array.from({ length: 16 }, (_, bit) => words(LAYOUT.V2, 0x8000 >>> bit))).toEqual([
      1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ]);
    expect(Array.from({ length: 16 }, (_, bit) => words(LAYOUT.V10, 0x8000 >>> bit))).toEqual([
      1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ]);
  });

  test('with each bit alone carries that bit’s values and no other', () => {
    const names: readonly (readonly (keyof Hop)[])[] = [
      ['nodeId'],
      ['l1IngressInterface', 'l1EgressInterface'],
      ['hopLatency'],
      ['queueId', 'queueOccupancy'],
      ['ingressTimestamp'],
      ['egressTimestamp'],
      ['l2IngressInterface', 'l2EgressInterface'],
      ['egressUtilization'],
      ['bufferId', 'bufferOccupancy'],
      ['reserved9'],
      ['reserved10'],
      ['reserved11'],
      ['reserved12'],
      ['reserved13'],
      ['reserved14'],
      ['checksumComplement'],
    ];
    names.forEach((expected, bit) => {
      const codec = hopBlock(LAYOUT.V2, 0x8000 >>> bit);
      const some = codec.decode(new Uint8Array(codec.byteLength).fill(0x11));
      expect(Object.keys(some).sort()).toEqual([...expected].sort());
      const none = codec.decode(new Uint8Array(codec.byteLength).fill(0xff));
      expect(Object.values(none)).toEqual(expected.map(() => null));
      expect(hex(codec.encode({}))).toBe('ff'.repeat(codec.byteLength));
    });
  });

  test('carries 64-bit timestamps above 2^53 exactly, and 32-bit ones in v1.0', () => {
    const wide = hopBlock(LAYOUT.V2, 0x0c00).decode(fromHex('17f0a1b2c3d4e501 fffffffffffffffe'));
    expect(wide).toEqual({ ingressTimestamp: 0x17f0a1b2c3d4e501n, egressTimestamp: 0xfffffffffffffffen });
    const narrow = hopBlock(LAYOUT.V10, 0x0c00).decode(fromHex('c3d4e501 ffffffff'));
    expect(narrow).toEqual({ ingressTimestamp: 0xc3d4e501n, egressTimestamp: null });
  });

  test('takes a level-2 item as missing only if all eight bytes are ones', () => {
    const codec = hopBlock(LAYOUT.V2, 0x0200);
    expect(codec.decode(fromHex('ffffffff 00000001'))).toEqual({
      l2IngressInterface: 0xffffffff,
      l2EgressInterface: 1,
    });
    expect(codec.decode(fromHex('ffffffff ffffffff'))).toEqual({ l2IngressInterface: null, l2EgressInterface: null });
  });

  test('takes a lone sub-field of ones as a value', () => {
    expect(hopBlock(LAYOUT.V2, 0x5000).decode(fromHex('ffff0001 00ffffff'))).toEqual({
      l1IngressInterface: 0xffff,
      l1EgressInterface: 1,
      queueId: 0,
      queueOccupancy: 0xffffff,
    });
  });

  test('has its domain-specific words behind the baseline and before the Checksum Complement', () => {
    const codec = hopBlock(LAYOUT.V2, 0x8001, { domainBytes: 8 });
    const bytes = fromHex('00000007 cafef00d 11223344 0000abcd');
    const hop = codec.decode(bytes);
    expect(hop).toEqual({ nodeId: 7, domain: fromHex('cafef00d 11223344'), checksumComplement: 0xabcd });
    expect(hex(codec.encode(hop))).toBe(hex(bytes));
    // A domain the node does not know: all ones.
    expect(hex(codec.encode({ nodeId: 7 }))).toBe('00000007ffffffffffffffffffffffff');
  });

  test('of the 2016 layout marks the bottom of the stack and 31-bit values', () => {
    const bytes = fromHex('00000002 00000003 00000078 00000009 11112222 00000004 7fffffff 80000055');
    const hop = {
      nodeId: 2,
      l1IngressInterface: 3,
      hopLatency: 120,
      queueOccupancy: 9,
      ingressTimestamp: 0x11112222n,
      l1EgressInterface: 4,
      queueCongestion: null,
      egressUtilization: 0x55,
    };
    expect(hopBlock(LAYOUT.Y2016, 0xff00, { bottomOfStack: true }).decode(bytes)).toEqual(hop);
    expect(hex(hopBlock(LAYOUT.Y2016, 0xff00, { bottomOfStack: true }).encode(hop))).toBe(hex(bytes));
    expect(hopBlock(LAYOUT.Y2016, 0xff00).decode(bytes)).toEqual(hop);
    for (const [bottomOfStack, mark] of [
      [false, 28],
      [true, 0],
    ] as const) {
      const marked = bytes.slice();
      if (mark === 0) marked[0] = 0x80;
      let error: unknown;
      try {
        hopBlock(LAYOUT.Y2016, 0xff00, { bottomOfStack }).decode(marked);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ code: 'BAD_BOS', offset: mark });
    }
  });

  test('refuses values that do not fit, by name', () => {
    const refused: readonly (readonly [keyof Hop, Hop])[] = [
      ['nodeId', { nodeId: 2 ** 32 }],
      ['l1EgressInterface', { l1EgressInterface: 0x10000 }],
      ['queueId', { queueId: 256 }],
      ['queueOccupancy', { queueOccupancy: 1 << 24 }],
      ['ingressTimestamp', { ingressTimestamp: 1n << 64n }],
      ['egressTimestamp', { egressTimestamp: -1n }],
      ['bufferId', { bufferId: 256 }],
      ['domain', { domain: new Uint8Array(8) }],
      ['domain', { domain: new Uint8Array(0) }],
    ];
    const codec = hopBlock(LAYOUT.V2, 0xffff, { domainBytes: 4 });
    for (const [name, hop] of refused) {
      const out = new Uint8Array(codec.byteLength).fill(0xa5);
      expect(() => codec.encodeInto(hop, out), name).toThrow(new RegExp(name));
      expect(hex(out)).toBe('a5'.repeat(codec.byteLength));
    }
    expect(() => hopBlock(LAYOUT.V10, 0xffff).encode({ ingressTimestamp: 1n << 32n })).toThrow(/ingressTimestamp/);
    expect(() => hopBlock(LAYOUT.Y2016, 0xff00).encode({ nodeId: 2 ** 31 })).toThrow(/nodeId/);
    expect(() => hopBlock(LAYOUT.V2, 0x10000)).toThrow(RangeError);
    expect(() => hopBlock(LAYOUT.V2, 0, { domainBytes: 2 })).toThrow(RangeError);
  });
});

describe('report metadata', () => {
  test('of any bits and words is written as it was read', () => {
    fc.assert(
      fc.property(fc.boolean(), bits(16), fc.nat(2), fc.infiniteStream(word), (v20, random, domain, stream) => {
        const version = v20 ? '2.0' : '1.0';
        // Bit 0 of v2.0 is reserved: its word is carried without meaning.
        const selected = v20 ? random & 0x7fff : random & 0x3f;
        const domainBytes = v20 ? domain * 4 : 0;
        const codec = reportMetadata(version, selected, domainBytes);
        const plan = v20 ? planFor(LAYOUT.REPORT20, selected) : planFor(LAYOUT.REPORT10, selected << 10);
        const words = Array.from({ length: codec.byteLength / 4 }, () => stream.next().value);
        for (let i = 0; i < plan.words; i++) {
          // The padding of the drop word is not kept.
          if (plan.ops[i] === OP.DROP && words[i] !== 0xffffffff) words[i] = (words[i]! & 0xffff0000) >>> 0;
        }
        const bytes = bytesOf(words);
        expect(hex(codec.encode(codec.decode(bytes)))).toBe(hex(bytes));
      }),
      { numRuns: runs(1000) },
    );
  });

  test('has the drop word at the end of the baseline, before domain-specific words', () => {
    const codec = reportMetadata('2.0', 0x4001, 4);
    const value = codec.decode(fromHex('00070000 07500000 cafef00d'));
    expect(value).toEqual({
      metadata: { l1IngressInterface: 7, l1EgressInterface: 0, domain: fromHex('cafef00d') },
      dropQueueId: 7,
      dropReason: 80,
    });
  });

  test('of v1.0 numbers its six bits in its own way', () => {
    const codec = reportMetadata('1.0', 0b111111);
    expect(codec.byteLength).toBe(24);
    expect(codec.decode(fromHex('00030004 000001f4 01000064 5b3a2000 07500000 00000055'))).toEqual({
      metadata: {
        l1IngressInterface: 3,
        l1EgressInterface: 4,
        hopLatency: 500,
        queueId: 1,
        queueOccupancy: 100,
        egressTimestamp: 0x5b3a2000n,
        egressUtilization: 0x55,
      },
      dropQueueId: 7,
      dropReason: 80,
    });
    expect(() => reportMetadata('1.0', 64)).toThrow(RangeError);
  });

  test('of a v2.0 report with every bit set reads one item for each', () => {
    const codec = reportMetadata('2.0', 0xffff);
    // One word for each bit, and a second one for the timestamps and the level-2 interfaces.
    expect(codec.byteLength).toBe(19 * 4);
    expect(bitsOf(0xffff)).toHaveLength(16);
    expect(Object.keys(codec.decode(new Uint8Array(76)).metadata)).not.toContain('nodeId');
  });
});
