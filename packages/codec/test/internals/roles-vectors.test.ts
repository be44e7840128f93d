import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { isValidSum, pseudoHeaderSum, sumRange } from '../../src/checksum.js';
import { verifyIcrc } from '../../src/headers/roce.js';
import type { Hop } from '../../src/model.js';
import type { DomainItem, Domains } from '../../src/options.js';
import {
  type SourceConfig,
  type SourceEncapsulation,
  sink,
  source,
  type TransitConfig,
  transit,
} from '../../src/roles/index.js';
import { SEED } from './header-samples.js';
import { type BuiltPacket, build, type Carrier, concat, faults, tcpPacket, udpPacket } from './role-packets.js';

fc.configureGlobal({ seed: SEED });

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

interface VectorHop {
  nodeId?: number;
  switchId?: number;
  checksumComplement?: string | null;
}
interface Vector {
  name: string;
  start: string;
  hex: string;
  expected: {
    restoredHex?: string;
    sourceOnlyHex?: string;
    sourceInsertedHex?: string;
    restoredIcrcOk?: boolean;
    int?: {
      kind?: string;
      version?: number;
      insCnt?: number;
      maxHopCount?: number;
      d?: number;
      hopML?: number;
      remainingHopCount?: number;
      instructions: string;
      dsId?: number;
      dsInstructions?: number;
      dsFlags?: number;
    };
    hops?: readonly VectorHop[];
  };
  config?: {
    intUdpPort?: number;
    intDscp?: number;
    greProtocol?: number;
    dsDomains?: Record<string, Record<string, DomainItem>>;
  };
}

const vectors = (
  JSON.parse(readFileSync(new URL('../vectors/spec-vectors.json', import.meta.url), 'utf8')) as readonly Vector[]
).filter(({ start, expected }) => start === 'ethernet' && expected.int !== undefined);

function vector(name: string): Vector {
  const found = vectors.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(name);
  return found;
}

function configOf({ name, config }: Vector): TransitConfig {
  const domains: Record<number, Record<number, DomainItem>> = {};
  for (const [id, items] of Object.entries(config?.dsDomains ?? {})) {
    domains[Number(id)] = Object.fromEntries(Object.entries(items).map(([bit, item]) => [Number(bit), item]));
  }
  return {
    intPorts: config?.intUdpPort === undefined ? [] : [config.intUdpPort],
    intDscp: config?.intDscp === undefined ? null : { value: config.intDscp, mask: 0x3f },
    domains: domains as Domains,
    profile: name === 'legacy2016-intmon-udp' ? 'intmon' : 'spec',
    ...(config?.greProtocol === undefined ? {} : { greProtocol: config.greProtocol }),
  };
}

describe('the sink', () => {
  const packets = vectors.filter(({ name }) => name !== 'legacy-xdp-kafka-8fields');

  test.each(packets)('takes INT out of $name and reads its hops in path order', (entry) => {
    const { expected } = entry;
    const end = sink(fromHex(entry.hex), configOf(entry));
    expect(end.record?.status).toBe('ok');
    if (expected.restoredHex !== undefined) expect(hex(end.restored)).toBe(expected.restoredHex);
    const ids = (expected.hops ?? []).map((hop) => hop.nodeId ?? hop.switchId);
    expect(end.hops.map(({ nodeId }) => nodeId)).toEqual(ids.reverse());
    expect(end.discard).toBe(expected.int?.d === 1);
    expect(hex(end.packet ?? new Uint8Array(0))).toBe(hex(end.restored));
    // What is cut out stands in the packet as it was found; a new header in front of it is not part of INT.
    expect(entry.hex).toContain(hex(end.int!));
  });

  test('restored packets are given for every encapsulation of the vectors', () => {
    expect(packets.filter(({ expected }) => expected.restoredHex !== undefined)).toHaveLength(8);
    expect(packets.length).toBeGreaterThanOrEqual(14);
  });

  test('says that a packet with the D bit is to be discarded, and still gives both packets', () => {
    const entry = vector('md21-udp-npt1-3hops-5instr');
    const bytes = fromHex(entry.hex);
    // Set D and keep the checksum right: 0x0800 more in a covered word.
    bytes[46]! |= 0x08;
    const checksum = ((bytes[40]! << 8) | bytes[41]!) - 0x0800 + 0xffff;
    bytes[40] = (checksum % 0xffff) >>> 8;
    bytes[41] = (checksum % 0xffff) & 0xff;
    const end = sink(bytes, configOf(entry));
    expect(end.discard).toBe(true);
    expect(end.packet).toBeNull();
    expect(hex(end.restored)).toBe(entry.expected.restoredHex);
  });

  test('drops the copies that v1.0 marks with C', () => {
    const entry = vector('int10-tcp-dscp');
    const bytes = fromHex(entry.hex);
    expect(sink(bytes, configOf(entry)).discard).toBe(false);
    bytes[58]! |= 0x02;
    expect(sink(bytes, configOf(entry)).discard).toBe(true);
  });

  test('leaves the DSCP alone where sources do not store it', () => {
    const entry = vector('md21-tcp-dscp-npt0');
    const end = sink(fromHex(entry.hex), { ...configOf(entry), restoreDscp: false });
    expect(end.restored[15]! >>> 2).toBe(0x17);
    expect(sink(fromHex(entry.hex), configOf(entry)).restored[15]! >>> 2).toBe(10);
  });

  test('removes an outer IP header behind NPT 2 if told to, and else leaves IP in IP', () => {
    const inner = fromHex('4500001c 00010000 4011 0000 0a0a0101 0a0a0202 0457 08ae 0008 0000');
    const carrier: Carrier = { ...CARRIER, options: new Uint8Array(0), padding: 0 };
    const outer = build(carrier, 4, inner);
    const config: SourceConfig = { intDscp: null, encapsulation: 'new-udp', instructions: 0x8000 };
    const started = source(outer.bytes, config, { nodeId: 1 });
    expect(hex(sink(started.packet, config).restored)).toBe(hex(outer.bytes));
    const stripped = sink(started.packet, { ...config, removeOuterIp: true }).restored;
    expect(hex(stripped)).toBe(hex(concat(outer.bytes.subarray(0, 14), inner)));
  });
});

describe('source and transit', () => {
  const cases: readonly (readonly [string, SourceEncapsulation, '0.5' | '1.0' | '2', Partial<SourceConfig>])[] = [
    ['md21-udp-npt1-3hops-5instr', 'port', '2', {}],
    ['md21-tcp-npt2-new-udp', 'new-udp', '2', { entropyPort: 49374 }],
    ['md21-tcp-dscp-npt0', 'dscp', '2', {}],
    ['md21-udp-source-only-ds', 'port', '2', {}],
    ['mx21-udp-npt1', 'port', '2', { mode: 'mx' }],
    ['mx21-tcp-npt2-source-inserted', 'new-udp', '2', { mode: 'mx', entropyPort: 49374 }],
    ['md21-vxlan-gpe', 'vxlan-gpe', '2', {}],
    ['md21-geneve', 'geneve', '2', {}],
    ['int10-tcp-dscp', 'dscp', '1.0', {}],
    ['int10-vxlan-gpe', 'vxlan-gpe', '1.0', {}],
    ['md21-rocev2-npt1', 'port', '2', {}],
    ['legacy2016-intmon-udp', 'intmon', '2', {}],
  ];

  test.each(cases)('build %s byte for byte from what its sink gives back', (name, encapsulation, version, more) => {
    const entry = vector(name);
    const { expected } = entry;
    const int = expected.int!;
    const end = sink(fromHex(entry.hex), configOf(entry));
    const config: SourceConfig = {
      ...configOf(entry),
      encapsulation,
      version,
      instructions: Number(int.instructions),
      maxHops: int.maxHopCount ?? (int.remainingHopCount ?? 0) + (end.hops.length || 8),
      domainId: int.dsId ?? 0,
      domainInstructions: int.dsInstructions ?? 0,
      domainFlags: int.dsFlags ?? 0,
      ...more,
    };
    const kept = fromHex(expected.sourceOnlyHex ?? expected.sourceInsertedHex ?? '');
    let packet = source(end.restored, config, end.hops[0] ?? null, kept).packet;
    for (const hop of end.hops.slice(1)) packet = transit(packet, config, hop).packet;
    expect(hex(packet)).toBe(entry.hex);
  });

  test('build md21-gre but for the outer identification and header checksum', () => {
    const entry = vector('md21-gre');
    const end = sink(fromHex(entry.hex), configOf(entry));
    const config: SourceConfig = {
      ...configOf(entry),
      encapsulation: 'gre-new',
      instructions: 0x9000,
      tunnel: { source: '10.0.1.1', destination: '10.0.2.2' },
    };
    const started = source(end.restored, config, end.hops[0]!);
    const { packet } = transit(started.packet, config, end.hops[1]!);
    // TTL is the packet's own here.
    const same = (bytes: Uint8Array): string => {
      const copy = bytes.slice();
      copy.fill(0, 18, 20);
      copy.fill(0, 22, 23);
      copy.fill(0, 24, 26);
      copy[14 + 20 + 4 + 4 + 3] = 0;
      return hex(copy);
    };
    expect(same(packet)).toBe(same(fromHex(entry.hex)));
  });

  test('build md21-udp-checksum-complement: the source updates the field, the next hop leaves it', () => {
    const entry = vector('md21-udp-checksum-complement');
    const end = sink(fromHex(entry.hex), configOf(entry));
    const config: SourceConfig = { ...configOf(entry), instructions: 0xa001, maxHops: 8 };
    const started = source(end.restored, config, end.hops[0]!);
    const next = transit(started.packet, { ...config, checksum: 'complement' }, end.hops[1]!);
    expect(hex(next.packet)).toBe(entry.hex);
  });

  test('a RoCEv2 packet passes its invariant CRC again after the sink, and not before', () => {
    const entry = vector('md21-rocev2-npt1');
    const config: SourceConfig = { ...configOf(entry), instructions: 0x9000 };
    const original = fromHex(entry.expected.restoredHex!);
    let packet = source(original, config, { nodeId: 1, queueId: 0, queueOccupancy: 4 }).packet;
    packet = transit(packet, config, { nodeId: 2 }).packet;
    expect(verifyIcrc(packet, 14)).toBe(false);
    const { restored } = sink(packet, config);
    expect(verifyIcrc(restored, 14)).toBe(true);
    expect(hex(restored)).toBe(hex(original));
  });
});

const CARRIER: Carrier = {
  link: [],
  ipv6: false,
  dscp: 10,
  ecn: 1,
  source4: '10.0.1.1',
  destination4: '10.0.2.2',
  source6: '2001:db8::1',
  destination6: '2001:db8::2',
  options: new Uint8Array(0),
  extension: null,
  padding: 0,
  mac: '02:00:00:00:00:02',
};

const PORTS = fromHex('9c40 2328');
function udpSegment(payload: Uint8Array): Uint8Array {
  return concat(PORTS, new Uint8Array([0, 8 + payload.length, 0, 0]), payload);
}
function tcpSegment(payload: Uint8Array, options = ''): Uint8Array {
  const words = 5 + options.length / 8;
  const head = fromHex('9c402328 11223344 55667788 00187210 00000000');
  head[12] = words << 4;
  return concat(head, fromHex(options), payload);
}

const VERSIONS = ['0.5', '1.0', '2'] as const;
type Version = (typeof VERSIONS)[number];

/** A UDP packet with INT of a version over DSCP, and where its INT header is. */
function started(version: Version, maxHops: number, more: Partial<SourceConfig> = {}) {
  const built = build(CARRIER, 17, udpSegment(fromHex('0102030405')));
  const config: SourceConfig = { version, encapsulation: 'dscp', instructions: 0x8000, maxHops, ...more };
  const { packet } = source(built.bytes, config, { nodeId: 1 });
  const header = built.l4Offset + 8 + 4;
  return { built, config, packet, header };
}

function countOf(packet: Uint8Array, header: number, version: Version): number {
  return version === '0.5' ? packet[header + 2]! - packet[header + 3]! : packet[header + 3]!;
}
function exceeded(packet: Uint8Array, header: number, version: Version): boolean {
  return (packet[header]! & (version === '2' ? 0x04 : 0x01)) !== 0;
}
function mtuFlag(packet: Uint8Array, header: number, version: Version): boolean {
  return version === '2' ? (packet[header]! & 0x02) !== 0 : version === '1.0' && (packet[header + 1]! & 0x80) !== 0;
}

describe.each(VERSIONS)('item 12, remaining hop count, version %s', (version) => {
  test('0 on arrival: E set, nothing pushed, the count stays 0, checksums still right', () => {
    const { built, config, packet, header } = started(version, 1);
    expect(countOf(packet, header, version)).toBe(0);
    const next = transit(packet, config, { nodeId: 2 });
    expect(next).toMatchObject({ pushed: false, reason: 'hop-count' });
    expect(next.packet.length).toBe(packet.length);
    expect(countOf(next.packet, header, version)).toBe(0);
    expect(exceeded(next.packet, header, version)).toBe(true);
    expect(faults(next.packet, built)).toEqual([]);
    const again = transit(next.packet, config, { nodeId: 3 });
    expect(hex(again.packet)).toBe(hex(next.packet));
    expect(sink(again.packet, config).hops).toHaveLength(1);
    expect(hex(sink(again.packet, config).restored)).toBe(hex(built.bytes));
  });

  test('1 on arrival: pushed, becomes 0, E not set', () => {
    const { built, config, packet, header } = started(version, 2);
    const next = transit(packet, config, { nodeId: 2 });
    expect(next).toMatchObject({ pushed: true, reason: null });
    expect(countOf(next.packet, header, version)).toBe(0);
    expect(exceeded(next.packet, header, version)).toBe(false);
    expect(faults(next.packet, built)).toEqual([]);
  });

  test('is taken from by the source only if it pushes', () => {
    const built = build(CARRIER, 17, udpSegment(fromHex('01')));
    const config: SourceConfig = { version, encapsulation: 'dscp', instructions: 0x8000, maxHops: 5 };
    const header = built.l4Offset + 12;
    const silent = source(built.bytes, config, null);
    expect(silent).toMatchObject({ started: true, pushed: false, reason: 'no-metadata' });
    expect(countOf(silent.packet, header, version)).toBe(5);
    expect(countOf(source(built.bytes, config, {}).packet, header, version)).toBe(4);
    expect(faults(silent.packet, built)).toEqual([]);
  });

  test('is not taken from where the instructions ask for nothing', () => {
    const { config, packet, header } = started(version, 5, { instructions: 0 });
    expect(countOf(packet, header, version)).toBe(5);
    const next = transit(packet, config, { nodeId: 2 });
    expect(next).toMatchObject({ pushed: false, reason: 'no-instructions' });
    expect(hex(next.packet)).toBe(hex(packet));
  });
});

describe('item 13, the bits D, E and M', () => {
  test('each alone and together are kept by transit and read by the sink', () => {
    for (let flags = 0; flags < 8; flags++) {
      const { built, config, packet, header } = started('2', 8, { discard: (flags & 4) !== 0, checksum: 'update' });
      // E and M as some hop before may have left them; the checksum follows.
      const marked = packet.slice();
      marked[header]! |= (flags & 3) << 1;
      const added = (flags & 3) << 9;
      const at = built.l4Offset + 6;
      const checksum = (((packet[at]! << 8) | packet[at + 1]!) + 0xffff - added) % 0xffff;
      marked[at] = checksum >>> 8;
      marked[at + 1] = checksum & 0xff;
      expect(faults(marked, built)).toEqual([]);
      const next = transit(marked, config, { nodeId: 2 });
      expect(next.packet[header]! & 0x0e).toBe(flags << 1);
      expect(next.pushed).toBe(true);
      const end = sink(next.packet, config);
      expect(end.record?.int).toMatchObject({
        discard: (flags & 4) !== 0,
        hopExceeded: (flags & 2) !== 0,
        mtuExceeded: (flags & 1) !== 0,
      });
      expect(end.discard).toBe((flags & 4) !== 0);
      expect(end.packet === null).toBe(end.discard);
      expect(hex(end.restored)).toBe(hex(built.bytes));
    }
  });

  test('the source writes E as 0', () => {
    for (const version of VERSIONS) {
      const { packet, header } = started(version, 1);
      expect(exceeded(packet, header, version)).toBe(false);
    }
  });
});

describe.each(VERSIONS)('the MTU, version %s', (version) => {
  test('of a transit node: nothing pushed, no decrement, M set where the header has it', () => {
    const { built, config, packet, header } = started(version, 8);
    const length = packet.length - built.ipOffset;
    const blocked = transit(packet, { ...config, mtu: length + 3 }, { nodeId: 2 });
    expect(blocked).toMatchObject({ pushed: false, reason: 'mtu' });
    expect(blocked.packet.length).toBe(packet.length);
    expect(countOf(blocked.packet, header, version)).toBe(7);
    expect(mtuFlag(blocked.packet, header, version)).toBe(version !== '0.5');
    expect(exceeded(blocked.packet, header, version)).toBe(false);
    expect(faults(blocked.packet, built)).toEqual([]);
    const fitting = transit(packet, { ...config, mtu: length + 4 }, { nodeId: 2 });
    expect(fitting.pushed).toBe(true);
    // M is sticky.
    const later = transit(blocked.packet, config, { nodeId: 3 });
    expect(mtuFlag(later.packet, header, version)).toBe(version !== '0.5');
    expect(hex(sink(later.packet, config).restored)).toBe(hex(built.bytes));
  });

  test('of a source: no INT if the fixed headers do not fit, M if only its metadata does not', () => {
    const built = build(CARRIER, 17, udpSegment(fromHex('0102')));
    const config: SourceConfig = { version, encapsulation: 'dscp', instructions: 0x8000 };
    const fixed = { '0.5': 16, '1.0': 12, '2': 16 }[version];
    const length = built.bytes.length - built.ipOffset;
    const header = built.l4Offset + 12;
    expect(source(built.bytes, { ...config, mtu: length + fixed - 1 }, {})).toMatchObject({
      started: false,
      reason: 'mtu',
    });
    const bare = source(built.bytes, { ...config, mtu: length + fixed }, {});
    expect(bare).toMatchObject({ started: true, pushed: false, reason: 'mtu' });
    expect(mtuFlag(bare.packet, header, version)).toBe(version !== '0.5');
    expect(countOf(bare.packet, header, version)).toBe(8);
    expect(faults(bare.packet, built)).toEqual([]);
    expect(source(built.bytes, { ...config, mtu: length + fixed + 4 }, {}).pushed).toBe(true);
  });
});

describe('the length field of the shim', () => {
  test.each([
    ['0.5', 251],
    ['1.0', 252],
    ['2', 252],
  ] as const)('of version %s takes %i words of stack and refuses one hop more', (version, words) => {
    const built = build(CARRIER, 17, udpSegment(fromHex('01')));
    const config: SourceConfig = { version, encapsulation: 'dscp', instructions: 0x8000, maxHops: 255 };
    let { packet } = source(built.bytes, config, { nodeId: 1 });
    for (let hop = 2; hop <= words; hop++) {
      const next = transit(packet, config, { nodeId: hop });
      expect(next.pushed).toBe(true);
      packet = next.packet;
    }
    const shim = built.l4Offset + 8;
    expect(packet[shim + (version === '2' ? 1 : 2)]).toBe(255);
    const refused = transit(packet, config, { nodeId: 1000 });
    expect(refused).toMatchObject({ pushed: false, reason: 'length' });
    expect(hex(refused.packet)).toBe(hex(packet));
    expect(faults(packet, built)).toEqual([]);
    const end = sink(packet, config);
    expect(end.hops.map(({ nodeId }) => nodeId)).toEqual(Array.from({ length: words }, (_, index) => index + 1));
    expect(hex(end.restored)).toBe(hex(built.bytes));
  });
});

describe('Geneve', () => {
  test('has room for 31 words of option: the source promises no more hops than fit', () => {
    const entry = vector('md21-geneve');
    const original = sink(fromHex(entry.hex), configOf(entry)).restored;
    const config: SourceConfig = { encapsulation: 'geneve', instructions: 0xfc00, maxHops: 100 };
    // 8 words a hop, 28 for the stack: three hops.
    let next = source(original, config, { nodeId: 1 });
    expect(next.packet[54 + 3]).toBe(2);
    for (const nodeId of [2, 3]) next = { ...transit(next.packet, config, { nodeId }), started: true };
    expect(next.pushed).toBe(true);
    expect(transit(next.packet, config, { nodeId: 4 })).toMatchObject({ pushed: false, reason: 'hop-count' });
    expect(hex(sink(next.packet, config).restored)).toBe(hex(original));
  });

  test('without room for one hop is left alone', () => {
    const entry = vector('md21-geneve');
    const original = sink(fromHex(entry.hex), configOf(entry)).restored;
    // 61 words of other options.
    const options = concat(fromHex('0102011f'), new Uint8Array(124), fromHex('0102011c'), new Uint8Array(112));
    const packet = concat(original.subarray(0, 50), options, original.subarray(50));
    const length = packet.length - 14;
    packet.set([length >>> 8, length & 0xff], 16);
    packet.set([(length - 20) >>> 8, (length - 20) & 0xff], 38);
    packet[42] = 61;
    expect(source(packet, { encapsulation: 'geneve', instructions: 0x8000 }, {})).toMatchObject({
      started: false,
      reason: 'length',
    });
  });
});

describe('item 20, exact restoration', () => {
  const payloads = { even: '01020304', odd: '0102030405', none: '' } as const;
  const links = { untagged: [], 'VLAN tagged': [{ vlanId: 7 }], 'double tagged': [{ vlanId: 7 }, { vlanId: 8 }] };
  const nets = {
    IPv4: {},
    'IPv4 with options': { options: fromHex('94040000 01010100') },
    IPv6: { ipv6: true },
    'IPv6 with options': { ipv6: true, extension: fromHex('010400000000') },
  };
  const segments: Readonly<Record<string, (payload: Uint8Array) => BuiltPacket[]>> = {};
  for (const [link, tags] of Object.entries(links)) {
    for (const [net, fields] of Object.entries(nets)) {
      const carrier: Carrier = { ...CARRIER, ...fields, link: tags, padding: link === 'untagged' ? 5 : 0 };
      (segments as Record<string, (payload: Uint8Array) => BuiltPacket[]>)[`${link}, ${net}`] = (payload) => [
        build(carrier, 17, udpSegment(payload), 'valid'),
        build(carrier, 17, udpSegment(payload), 'zero'),
        build(carrier, 6, tcpSegment(payload)),
        build(carrier, 6, tcpSegment(payload, '0101080a1122334455667788')),
      ];
    }
  }

  test.each(Object.keys(segments))('%s: UDP with and without checksum, TCP with and without options', (name) => {
    for (const payload of Object.values(payloads)) {
      for (const built of segments[name]!(fromHex(payload))) {
        for (const encapsulation of ['port', 'dscp', 'new-udp', 'gre-new', 'probe-marker'] as const) {
          if (encapsulation === 'port' && built.protocol !== 17) continue;
          const config: SourceConfig = {
            encapsulation,
            instructions: 0x9c00,
            probeMarker: encapsulation === 'probe-marker' ? 0x8000_0000_0000_0001n : null,
            intDscp: encapsulation === 'dscp' ? { value: 0x17, mask: 0x3f } : null,
          };
          let packet = source(built.bytes, config, { nodeId: 1 }).packet;
          packet = transit(packet, config, { nodeId: 2 }).packet;
          const end = sink(packet, config);
          expect(hex(end.restored)).toBe(hex(built.bytes));
          expect(end.hops.map(({ nodeId }) => nodeId)).toEqual([1, 2]);
        }
      }
    }
  });
});

describe('item 21, UDP checksums of zero', () => {
  const config: SourceConfig = { intDscp: null, instructions: 0x8000 };
  const fieldOf = (packet: Uint8Array, { l4Offset }: BuiltPacket): number =>
    (packet[l4Offset + 6]! << 8) | packet[l4Offset + 7]!;

  test('a received 0 stays 0 through source, transit and sink', () => {
    fc.assert(
      fc.property(udpPacket(['zero']), fc.constantFrom(0x8000, 0x8001), (built, instructions) => {
        const each: SourceConfig = { ...config, instructions, checksum: 'complement' };
        const one = source(built.bytes, each, { nodeId: 1 }).packet;
        const two = transit(one, each, { nodeId: 2 }).packet;
        expect([one, two].map((packet) => fieldOf(packet, built))).toEqual([0, 0]);
        const end = sink(two, each);
        expect(fieldOf(end.restored, built)).toBe(0);
        // A complement would have nothing to correct.
        if (instructions === 0x8001) expect(end.hops.map((hop) => hop.checksumComplement)).toEqual([null, null]);
      }),
      { numRuns: 50 },
    );
  });

  test('one that computes to 0 is sent as 0xffff, by source, transit and sink', () => {
    fc.assert(
      fc.property(udpPacket(['valid']), (built) => {
        // A node id that is the checksum with id 0 makes the sum 0xffff.
        const id = fieldOf(source(built.bytes, config, { nodeId: 0 }).packet, built);
        const one = source(built.bytes, config, { nodeId: id === 0xffff ? 0 : id }).packet;
        expect(fieldOf(one, built)).toBe(0xffff);
        expect(faults(one, built)).toEqual([]);

        const plain = source(built.bytes, config, { nodeId: 9 }).packet;
        const next = fieldOf(transit(plain, config, { nodeId: 0 }).packet, built);
        const two = transit(plain, config, { nodeId: next === 0xffff ? 0 : next }).packet;
        expect(fieldOf(two, built)).toBe(0xffff);
        expect(faults(two, built)).toEqual([]);
        expect(hex(sink(two, config).restored)).toBe(hex(built.bytes));
      }),
      { numRuns: 100 },
    );
  });

  test('a packet whose own checksum is 0xffff gets it back', () => {
    const built = build(CARRIER, 17, udpSegment(fromHex('0000')));
    const { bytes, l4Offset, ipOffset, ipEnd } = built;
    bytes.fill(0, l4Offset + 6, l4Offset + 8);
    const sum = sumRange(bytes, l4Offset, 10, pseudoHeaderSum(bytes, ipOffset, 17, 10));
    const word = 0xffff - sum;
    bytes.set([word >>> 8, word & 0xff], l4Offset + 8);
    bytes.set([0xff, 0xff], l4Offset + 6);
    expect(ipEnd).toBe(l4Offset + 10);
    expect(faults(bytes, built)).toEqual([]);
    const inside = transit(source(bytes, config, { nodeId: 5 }).packet, config, { nodeId: 6 }).packet;
    expect(hex(sink(inside, config).restored)).toBe(hex(bytes));
  });
});

describe('item 22, the Checksum Complement', () => {
  const config: SourceConfig = { encapsulation: 'dscp', instructions: 0xa001, maxHops: 20, checksum: 'complement' };
  const packets = fc.oneof(udpPacket(['valid']), tcpPacket());

  /** The UDP or TCP checksum field. */
  function field(packet: Uint8Array, { l4Offset, protocol }: BuiltPacket): number {
    const at = l4Offset + (protocol === 6 ? 16 : 6);
    return (packet[at]! << 8) | packet[at + 1]!;
  }

  test('makes a push neutral: the field stays and is still right', () => {
    fc.assert(
      fc.property(packets, (built) => {
        const original = field(built.bytes, built);
        let packet = source(built.bytes, config, { nodeId: 1, hopLatency: 5 }).packet;
        for (const nodeId of [2, 3, 4]) {
          expect(field(packet, built)).toBe(original);
          expect(faults(packet, built)).toEqual([]);
          packet = transit(packet, config, { nodeId, hopLatency: nodeId }).packet;
        }
        const end = sink(packet, config);
        for (const { checksumComplement } of end.hops) {
          expect(checksumComplement).toBeGreaterThanOrEqual(0);
          expect(checksumComplement).toBeLessThanOrEqual(0xffff);
        }
        expect(hex(end.restored)).toBe(hex(built.bytes));
      }),
      { numRuns: 100 },
    );
  });

  test('may be used by some nodes and not by others', () => {
    fc.assert(
      fc.property(packets, fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), (built, users) => {
        const modeOf = (user: boolean): SourceConfig => ({ ...config, checksum: user ? 'complement' : 'update' });
        let packet = source(built.bytes, modeOf(users[0]!), { nodeId: 0 }).packet;
        for (const [index, user] of users.slice(1).entries()) {
          packet = transit(packet, modeOf(user), { nodeId: index + 1 }).packet;
          expect(faults(packet, built)).toEqual([]);
        }
        const end = sink(packet, config);
        expect(end.hops.map(({ checksumComplement }) => checksumComplement !== null)).toEqual(users);
        expect(hex(end.restored)).toBe(hex(built.bytes));
      }),
      { numRuns: 100 },
    );
  });

  test('never is all ones by accident, whatever the metadata is', () => {
    const [built] = fc.sample(udpPacket(['valid']), 1);
    const inside = source(built!.bytes, config, { nodeId: 1 }).packet;
    fc.assert(
      fc.property(fc.nat(0xffff), (latency) => {
        const values: Hop = { nodeId: 2, hopLatency: latency, checksumComplement: 0xffffffff };
        const next = transit(inside, config, values).packet;
        const end = sink(next, config);
        expect(end.hops[1]!.checksumComplement).not.toBeNull();
        expect(faults(next, built!)).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  test('is not enough for a change of flags alone: the field is updated', () => {
    const built = build(CARRIER, 6, tcpSegment(fromHex('0102')));
    const inside = source(built.bytes, { ...config, maxHops: 1 }, { nodeId: 1 }).packet;
    const next = transit(inside, config, { nodeId: 2 });
    expect(next.reason).toBe('hop-count');
    expect(field(next.packet, built)).not.toBe(field(inside, built));
    expect(faults(next.packet, built)).toEqual([]);
  });

  test('of all ones is one’s complement zero, so a node that does not use it disturbs nothing', () => {
    expect(isValidSum(sumRange(fromHex('ffffffff'), 0, 4))).toBe(true);
  });
});

describe('packets at the edge', () => {
  const config: SourceConfig = { intDscp: null, instructions: 0x8000 };

  test('an IPv6 fragment is left alone, an atomic fragment is not', () => {
    const plain = build({ ...CARRIER, ipv6: true }, 17, udpSegment(fromHex('0102')));
    // Fragment header behind IPv6: offset 0, more fragments or not.
    const withFragment = (more: number): Uint8Array => {
      const bytes = concat(
        plain.bytes.subarray(0, 54),
        new Uint8Array([17, 0, 0, more, 0, 0, 0, 9]),
        plain.bytes.subarray(54),
      );
      bytes[20] = 44;
      bytes[19]! += 8;
      return bytes;
    };
    expect(source(withFragment(1), config, {})).toMatchObject({ started: false, reason: 'fragment' });
    const started = source(withFragment(0), config, { nodeId: 1 });
    expect(started.pushed).toBe(true);
    expect(transit(started.packet, config, { nodeId: 2 }).pushed).toBe(true);
    expect(hex(sink(started.packet, config).restored)).toBe(hex(withFragment(0)));
    const cut = started.packet.slice();
    cut[57]! |= 1;
    expect(transit(cut, config, { nodeId: 2 })).toMatchObject({ pushed: false, reason: 'fragment' });
    // NPT 2 writes the last Next Header, the one of the fragment header.
    const wrapped = source(withFragment(0), { ...config, encapsulation: 'new-udp' }, { nodeId: 1 });
    expect(hex(sink(wrapped.packet, config).restored)).toBe(hex(withFragment(0)));
  });

  test('lengths of 0, as segmentation offload leaves them, stay 0', () => {
    for (const ipv6 of [false, true]) {
      const built = build({ ...CARRIER, ipv6 }, 17, udpSegment(fromHex('0102')), 'zero');
      const bytes = built.bytes.slice();
      const lengthAt = built.ipOffset + (ipv6 ? 4 : 2);
      bytes.fill(0, lengthAt, lengthAt + 2);
      bytes.fill(0, built.l4Offset + 4, built.l4Offset + 6);
      const inside = transit(source(bytes, config, { nodeId: 1 }).packet, config, { nodeId: 2 }).packet;
      expect(hex(inside.subarray(lengthAt, lengthAt + 2))).toBe('0000');
      expect(hex(inside.subarray(built.l4Offset + 4, built.l4Offset + 6))).toBe('0000');
      expect(hex(sink(inside, config).restored)).toBe(hex(bytes));
    }
  });

  test('IntMon: E is set when the hops are used up, and there is no M', () => {
    const built = build(CARRIER, 17, udpSegment(fromHex('01')));
    const intmon: SourceConfig = { ...config, encapsulation: 'intmon', profile: 'intmon', maxHops: 1 };
    const { packet } = source(built.bytes, intmon, { nodeId: 1 });
    const next = transit(packet, intmon, { nodeId: 2 });
    expect(next).toMatchObject({ pushed: false, reason: 'hop-count' });
    expect(sink(next.packet, intmon).record?.int).toMatchObject({ hopExceeded: true, version: 'intmon' });
    expect(faults(next.packet, built)).toEqual([]);
    const roomy = source(built.bytes, { ...intmon, maxHops: 4 }, { nodeId: 1 }).packet;
    const blocked = transit(roomy, { ...intmon, mtu: 48 }, { nodeId: 2 });
    expect(blocked.reason).toBe('mtu');
    expect(hex(blocked.packet)).toBe(hex(roomy));
  });

  test('IntMon: the first block of an empty stack carries the bottom-of-stack bit, later ones do not', () => {
    const built = build(CARRIER, 17, udpSegment(fromHex('01')));
    const intmon: SourceConfig = { ...config, encapsulation: 'intmon', profile: 'intmon' };
    let { packet } = source(built.bytes, intmon, null);
    for (const nodeId of [1, 2]) packet = transit(packet, intmon, { nodeId }).packet;
    const stack = built.l4Offset + 8 + 12;
    expect(hex(packet.subarray(stack, stack + 8))).toBe('0000000280000001');
    expect(sink(packet, intmon).hops.map(({ nodeId }) => nodeId)).toEqual([1, 2]);
  });

  test('Geneve: other options take the room that a push would need', () => {
    const entry = vector('md21-geneve');
    const geneve: SourceConfig = { encapsulation: 'geneve', instructions: 0x8000 };
    const started = source(sink(fromHex(entry.hex), configOf(entry)).restored, geneve, { nodeId: 1 }).packet;
    // Behind the INT option (5 words), 58 words of others: 63 in all.
    const options = concat(fromHex('0102011f'), new Uint8Array(124), fromHex('01020119'), new Uint8Array(100));
    const full = concat(started.subarray(0, 70), options, started.subarray(70));
    const length = full.length - 14;
    full.set([length >>> 8, length & 0xff], 16);
    full.set([(length - 20) >>> 8, (length - 20) & 0xff], 38);
    expect(full[42]).toBe(5);
    full[42] = 63;
    expect(transit(full, geneve, { nodeId: 2 })).toMatchObject({ pushed: false, reason: 'length' });
    expect(transit(started, geneve, { nodeId: 2 }).pushed).toBe(true);
  });

  test('an IP packet that would exceed 65,535 bytes is not made longer', () => {
    const built = build({ ...CARRIER, padding: 0 }, 17, concat(PORTS, fromHex('ffd3 0000'), new Uint8Array(65_491)));
    expect(built.ipEnd - built.ipOffset).toBe(65_519);
    expect(source(built.bytes, config, {})).toMatchObject({ started: false, reason: 'length' });
    const silent = source(built.bytes, config, null);
    expect(silent).toMatchObject({ started: true, reason: 'no-metadata' });
    expect(transit(silent.packet, config, {})).toMatchObject({ pushed: false, reason: 'length' });
  });
});
