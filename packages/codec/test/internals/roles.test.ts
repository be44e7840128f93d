import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import type { Hop } from '../../src/model.js';
import type { Domains } from '../../src/options.js';
import { SOURCE_ENCAPSULATIONS } from '../../src/roles/config.js';
import { type SourceConfig, type SourceEncapsulation, sink, source, transit } from '../../src/roles/index.js';
import { bits, SEED } from './header-samples.js';
import {
  type BuiltPacket,
  faults,
  genevePacket,
  grePacket,
  otherPacket,
  tcpPacket,
  udpPacket,
  vxlanGpePacket,
  vxlanPacket,
} from './role-packets.js';

fc.configureGlobal({ seed: SEED });

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Domain 0x5453: bit 0 is of the source alone, bit 1 of every hop, bit 2 source-inserted (INT-MX). */
const domains: Domains = {
  21587: {
    0: { bytes: 8, mode: 'source-only' },
    1: { bytes: 4, mode: 'export' },
  },
  2748: { 2: { bytes: 12, mode: 'source-inserted' }, 3: { bytes: 4, mode: 'export' } },
};

interface Case {
  readonly packets: fc.Arbitrary<BuiltPacket>;
  readonly versions: readonly ('0.5' | '1.0' | '2')[];
}

const transport = fc.oneof(udpPacket(), tcpPacket());
const CASES: Readonly<Record<SourceEncapsulation, Case>> = {
  port: { packets: udpPacket(), versions: ['0.5', '2'] },
  dscp: { packets: transport, versions: ['0.5', '1.0', '2'] },
  'probe-marker': { packets: transport, versions: ['1.0', '2'] },
  'new-udp': { packets: fc.oneof(transport, otherPacket), versions: ['2'] },
  gre: { packets: grePacket, versions: ['2'] },
  'gre-new': { packets: fc.oneof(transport, otherPacket), versions: ['2'] },
  'vxlan-gpe': { packets: vxlanGpePacket, versions: ['0.5', '1.0', '2'] },
  geneve: { packets: genevePacket, versions: ['0.5', '1.0', '2'] },
  intmon: { packets: udpPacket(), versions: ['2'] },
};

/** What every packet of a domain has in common. */
function domainConfig(encapsulation: SourceEncapsulation): Pick<SourceConfig, 'probeMarker' | 'intDscp' | 'profile'> {
  return {
    probeMarker: encapsulation === 'probe-marker' ? 0xdead_beef_8000_0001n : null,
    // Markings are not mixed: elsewhere a packet may have the DSCP that marks INT here.
    intDscp: encapsulation === 'dscp' ? { value: 0x17, mask: 0x3f } : null,
    profile: encapsulation === 'intmon' ? 'intmon' : 'spec',
  };
}

const hop: fc.Arbitrary<Hop> = fc.record({
  nodeId: bits(31).map((id) => Math.min(id, 0x7ffffffe)),
  l1IngressInterface: bits(16),
  l1EgressInterface: bits(15),
  hopLatency: bits(30),
  queueId: bits(8),
  queueOccupancy: bits(23),
  ingressTimestamp: bits(30).map(BigInt),
  egressTimestamp: bits(30).map(BigInt),
});

/** Bits that every version has in the same meaning: 0 to 5. */
const instructions = bits(6).map((value) => value << 10);

const NAMES: readonly (readonly (keyof Hop)[])[] = [
  ['nodeId'],
  ['l1IngressInterface', 'l1EgressInterface'],
  ['hopLatency'],
  ['queueId', 'queueOccupancy'],
  ['ingressTimestamp'],
  ['egressTimestamp'],
];
const NAMES_2016: typeof NAMES = [
  ['nodeId'],
  ['l1IngressInterface'],
  ['hopLatency'],
  ['queueOccupancy'],
  ['ingressTimestamp'],
  ['l1EgressInterface'],
];

function keys(bitmap: number, names: typeof NAMES): (keyof Hop)[] {
  return names.flatMap((group, bit) => ((bitmap & (0x8000 >>> bit)) !== 0 ? [...group] : []));
}

describe.each(SOURCE_ENCAPSULATIONS)('source, transit and sink with encapsulation %s', (encapsulation) => {
  const { packets, versions } = CASES[encapsulation];

  test('give back the packet byte for byte, every step with right lengths and checksums', () => {
    fc.assert(
      fc.property(
        packets,
        fc.constantFrom(...versions),
        instructions,
        fc.array(hop, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        fc.constantFrom('update' as const, 'complement' as const),
        fc.nat(5),
        (built, version, bitmap, hops, withComplement, checksum, shift) => {
          const complement = withComplement && version !== '0.5' && encapsulation !== 'intmon';
          const config: SourceConfig = {
            ...domainConfig(encapsulation),
            encapsulation,
            version,
            instructions: bitmap | (complement ? 1 : 0),
            checksum,
          };
          // A packet somewhere inside a larger buffer.
          const shared = new Uint8Array(built.bytes.length + 12).fill(0xcc);
          shared.set(built.bytes, shift);
          const packet = shared.subarray(shift, shift + built.bytes.length);

          const started = source(packet, config, hops[0]!);
          expect(started.started).toBe(true);
          expect(hex(packet)).toBe(hex(built.bytes));
          const inserted = encapsulation === 'gre-new';
          const check = (bytes: Uint8Array): void => {
            if (!inserted) expect(faults(bytes, built)).toEqual([]);
          };
          check(started.packet);
          let current = started.packet;
          const pushed = started.pushed ? [hops[0]!] : [];
          for (const metadata of hops.slice(1)) {
            const next = transit(current, config, metadata);
            check(next.packet);
            if (next.pushed) pushed.push(metadata);
            else expect(['no-instructions', 'hop-count', 'length']).toContain(next.reason);
            current = next.packet;
          }
          if (bitmap !== 0 && encapsulation !== 'geneve') expect(pushed).toHaveLength(hops.length);

          const end = sink(current, config);
          expect(end.discard).toBe(false);
          expect(end.record?.status).toBe('ok');
          expect(hex(end.restored)).toBe(hex(built.bytes));
          const found = end.hops.map(({ checksumComplement: _, ...rest }) => rest);
          const names = keys(bitmap, encapsulation === 'intmon' ? NAMES_2016 : NAMES);
          // A node that pushes nothing but complements has a block with no values.
          const expected = pushed.map((item) => Object.fromEntries(names.map((name) => [name, item[name]])));
          if (bitmap !== 0) expect(found).toEqual(expected);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe('transport checksums that were wrong before INT', () => {
  test.each(['port', 'dscp', 'probe-marker'] as const)(
    'stay wrong and come back as they were (%s)',
    (encapsulation) => {
      fc.assert(
        fc.property(
          encapsulation === 'port' ? udpPacket(['wrong']) : fc.oneof(udpPacket(['wrong']), tcpPacket(['wrong'])),
          hop,
          (built, metadata) => {
            const config: SourceConfig = { ...domainConfig(encapsulation), encapsulation, instructions: 0x9c00 };
            const inside = transit(source(built.bytes, config, metadata).packet, config, metadata).packet;
            expect(faults(inside, built)).toEqual(['transport checksum']);
            expect(hex(sink(inside, config).restored)).toBe(hex(built.bytes));
          },
        ),
        { numRuns: runs(100) },
      );
    },
  );
});

describe('domain-specific metadata', () => {
  const config: SourceConfig = {
    domains,
    intDscp: null,
    encapsulation: 'port',
    instructions: 0x8001,
    domainId: 0x5453,
    domainInstructions: 0xc000,
    domainFlags: 0x4000,
    checksum: 'complement',
  };

  test('of the source alone stands in its block, before its complement, and is not counted in Hop ML', () => {
    fc.assert(
      fc.property(
        udpPacket(),
        fc.uint8Array({ minLength: 8, maxLength: 8 }),
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        (built, sourceOnly, exported) => {
          const started = source(built.bytes, config, { nodeId: 1, domain: exported }, sourceOnly);
          expect(faults(started.packet, built)).toEqual([]);
          const at = built.l4Offset + 8;
          // Shim 4, header 12, node id 4, bit 0 of the domain, bit 1, complement.
          expect(hex(started.packet.subarray(at + 20, at + 28))).toBe(hex(sourceOnly));
          expect(hex(started.packet.subarray(at + 28, at + 32))).toBe(hex(exported));
          const next = transit(started.packet, config, { nodeId: 2, domain: new Uint8Array([9, 8, 7, 6]) });
          expect(next.pushed).toBe(true);
          expect(faults(next.packet, built)).toEqual([]);
          const end = sink(next.packet, config);
          expect(hex(end.restored)).toBe(hex(built.bytes));
          expect(end.record?.int).toMatchObject({
            mode: 'md',
            hopMl: 3,
            domainId: 0x5453,
            domainFlags: 0x4000,
            sourceMetadata: sourceOnly,
          });
          expect(end.hops.map(({ nodeId, domain }) => [nodeId, domain && hex(domain)])).toEqual([
            [1, hex(exported)],
            [2, '09080706'],
          ]);
        },
      ),
    );
  });

  test('that a node does not know is all ones', () => {
    const [built] = fc.sample(udpPacket(), 1);
    const started = source(built!.bytes, config, { nodeId: 1 }, new Uint8Array(8));
    const end = sink(transit(started.packet, config, { nodeId: 2 }).packet, config);
    expect(end.hops.map(({ domain }) => domain && hex(domain))).toEqual(['ffffffff', 'ffffffff']);
  });

  test('that is source-inserted rides in INT-MX, where no node pushes', () => {
    fc.assert(
      fc.property(transport, fc.uint8Array({ minLength: 12, maxLength: 12 }), (built, inserted) => {
        const mx: SourceConfig = {
          domains,
          encapsulation: 'dscp',
          mode: 'mx',
          instructions: 0x9000,
          domainId: 0x0abc,
          domainInstructions: 0x3000,
        };
        const started = source(built.bytes, mx, null, inserted);
        expect(started).toMatchObject({ started: true, pushed: false, reason: 'int-mx' });
        expect(faults(started.packet, built)).toEqual([]);
        const next = transit(started.packet, mx, { nodeId: 2 });
        expect(next).toMatchObject({ pushed: false, reason: 'int-mx' });
        expect(hex(next.packet)).toBe(hex(started.packet));
        const end = sink(next.packet, mx);
        expect(hex(end.restored)).toBe(hex(built.bytes));
        expect(end.record?.int).toMatchObject({ mode: 'mx', sourceMetadata: inserted });
        expect(end.hops).toEqual([]);
      }),
      { numRuns: runs(50) },
    );
  });

  test('without a definition is refused, as is a wrong size', () => {
    const [built] = fc.sample(udpPacket(), 1);
    const packet = built!.bytes;
    expect(() => source(packet, { ...config, domainId: 7 }, {})).toThrow(/domain 7/);
    expect(() => source(packet, config, {}, new Uint8Array(4))).toThrow(/sourceMetadata/);
    expect(() => source(packet, config, { domain: new Uint8Array(8) })).toThrow(/domain/);
    expect(() => source(packet, config)).toThrow(/give metadata/);
  });
});

describe('VXLAN that the source makes VXLAN-GPE', () => {
  test('comes back as VXLAN', () => {
    fc.assert(
      fc.property(vxlanPacket, hop, (built, metadata) => {
        const config: SourceConfig = { encapsulation: 'vxlan-gpe', instructions: 0x8000 };
        const started = source(built.bytes, config, metadata);
        expect(started.pushed).toBe(true);
        expect(faults(started.packet, built)).toEqual([]);
        const at = built.l4Offset;
        expect(hex(started.packet.subarray(at + 2, at + 4))).toBe('12b6');
        // I and P set, next protocol 0x82; the shim has G set and next protocol 3.
        expect(hex(started.packet.subarray(at + 8, at + 12))).toBe('0c000082');
        expect(hex(started.packet.subarray(at + 18, at + 20))).toBe('8003');
        expect(hex(sink(started.packet, config).restored)).toBe(hex(built.bytes));
      }),
      { numRuns: runs(50) },
    );
  });
});

describe('a GRE tunnel of the source’s own', () => {
  const tunnel = { source: '192.0.2.1', destination: '192.0.2.2' };
  test('has its addresses and a right header checksum, and goes away at the sink', () => {
    fc.assert(
      fc.property(
        transport.filter(({ bytes, ipOffset }) => bytes[ipOffset]! >>> 4 === 4),
        hop,
        (built, metadata) => {
          const config: SourceConfig = { encapsulation: 'gre-new', instructions: 0x8000, tunnel, intDscp: null };
          const { packet } = source(built.bytes, config, metadata);
          const at = built.ipOffset;
          expect(hex(packet.subarray(at + 12, at + 20))).toBe('c0000201c0000202');
          expect(faults(packet, { ...built, l4Offset: at + 20 })).toEqual([]);
          expect(hex(sink(packet, config).restored)).toBe(hex(built.bytes));
        },
      ),
      { numRuns: runs(50) },
    );
  });

  test('needs addresses of the packet’s version', () => {
    const [built] = fc.sample(
      transport.filter(({ bytes, ipOffset }) => bytes[ipOffset]! >>> 4 === 6),
      1,
    );
    expect(() => source(built!.bytes, { encapsulation: 'gre-new', instructions: 0x8000, tunnel })).toThrow(
      /IP version/,
    );
  });
});

describe('packets a role leaves alone', () => {
  test('come back as copies with the reason', () => {
    const [plain] = fc.sample(udpPacket(), 1);
    const config: SourceConfig = { intDscp: null, instructions: 0x8000 };
    const noInt = transit(plain!.bytes, config, { nodeId: 1 });
    expect(noInt).toMatchObject({ pushed: false, reason: 'not-int' });
    expect(noInt.packet).not.toBe(plain!.bytes);
    expect(hex(noInt.packet)).toBe(hex(plain!.bytes));
    expect(sink(plain!.bytes, config)).toMatchObject({ reason: 'not-int', int: null, record: null, discard: false });

    const started = source(plain!.bytes, config, { nodeId: 1 });
    expect(source(started.packet, config, { nodeId: 1 })).toMatchObject({ started: false, reason: 'already-int' });

    const arp = new Uint8Array(60);
    arp.set([0x08, 0x06], 12);
    expect(source(arp, config)).toMatchObject({ started: false, reason: 'not-applicable' });
    expect(transit(arp, config, {})).toMatchObject({ reason: 'not-int' });
    const [segment] = fc.sample(tcpPacket(), 1);
    expect(source(segment!.bytes, config)).toMatchObject({ started: false, reason: 'not-applicable' });
  });

  test('include fragments', () => {
    const [built] = fc.sample(
      udpPacket().filter(({ bytes, ipOffset }) => bytes[ipOffset]! >>> 4 === 4),
      1,
    );
    const config: SourceConfig = { intDscp: null, instructions: 0x8000 };
    const started = source(built!.bytes, config, { nodeId: 1 }).packet;
    const first = built!.bytes.slice();
    first[built!.ipOffset + 6] = 0x20;
    expect(source(first, config, {})).toMatchObject({ started: false, reason: 'fragment' });
    started[built!.ipOffset + 6] = 0x20;
    expect(transit(started, config, {})).toMatchObject({ pushed: false, reason: 'fragment' });
    expect(sink(started, config)).toMatchObject({ reason: 'fragment', int: null });
  });

  test('that are cut or malformed are refused with a CodecError, and never with anything else', () => {
    const config: SourceConfig = { intDscp: null, instructions: 0x9c00 };
    fc.assert(
      fc.property(udpPacket(), fc.nat(), fc.nat(), fc.nat(255), (built, cut, position, value) => {
        const inside = source(built.bytes, config, {}).packet;
        const damaged = inside.slice(0, inside.length - (cut % 3 === 0 ? cut % inside.length : 0));
        if (damaged.length > 0) damaged[position % damaged.length] = value;
        for (const run of [
          () => source(damaged, config, {}),
          () => transit(damaged, config, {}),
          () => sink(damaged, config),
        ]) {
          try {
            run();
          } catch (error) {
            if (!CodecError.is(error)) throw error;
          }
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  test('that are shorter than they say are TRUNCATED', () => {
    const [built] = fc.sample(udpPacket(), 1);
    const config: SourceConfig = { intDscp: null, instructions: 0x8000 };
    const inside = source(built!.bytes, config, { nodeId: 1 }).packet;
    const end = inside.length - (built!.bytes.length - built!.ipEnd);
    for (let cut = 0; cut < end; cut++) {
      expect(() => transit(inside.subarray(0, cut), config, {})).toThrow(CodecError);
      expect(() => sink(inside.subarray(0, cut), config)).toThrow(CodecError);
    }
  });

  test('include those of an encapsulation that the version lacks: the caller’s mistake', () => {
    const bytes = new Uint8Array(60);
    expect(() => source(bytes, { instructions: 0, version: '1.0' })).toThrow(RangeError);
    expect(() => source(bytes, { instructions: 0, version: '1.0', mode: 'mx', encapsulation: 'dscp' })).toThrow(/mx/);
    expect(() => source(bytes, { instructions: 0x10000 })).toThrow(/instructions/);
    expect(() => source(bytes, { instructions: 0, maxHops: 0 })).toThrow(/maxHops/);
    expect(() => source(bytes, { instructions: 0, maxHops: 256 })).toThrow(/maxHops/);
    expect(() => source([] as unknown as Uint8Array, { instructions: 0 })).toThrow(TypeError);
  });
});

describe('packets in Buffers', () => {
  test('are left alone by every role, and copied where nothing changes', () => {
    fc.assert(
      fc.property(
        fc.oneof(udpPacket(), tcpPacket(), otherPacket),
        fc.constantFrom(...SOURCE_ENCAPSULATIONS),
        (built, encapsulation) => {
          const config: SourceConfig = {
            ...domainConfig(encapsulation),
            encapsulation,
            instructions: 0x8000,
            maxHops: 1,
          };
          const packet = Buffer.from(built.bytes);
          const steps = [
            (input: Uint8Array) => source(input, config, { nodeId: 1 }).packet,
            (input: Uint8Array) => transit(input, config, { nodeId: 2 }).packet,
            (input: Uint8Array) => sink(input, config).restored,
          ];
          let input: Buffer = packet;
          for (const step of steps) {
            const before = hex(input);
            const output = step(input);
            expect(hex(input)).toBe(before);
            output.fill(0);
            expect(hex(input)).toBe(before);
            input = Buffer.from(step(input));
          }
          expect(hex(input)).toBe(hex(built.bytes));
        },
      ),
    );
  });
});
