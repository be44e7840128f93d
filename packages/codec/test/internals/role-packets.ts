/** Arbitrary whole packets for the tests of the switch roles, and what must hold for any packet on a wire. */

import fc from 'fast-check';
import {
  ipv4HeaderChecksum,
  isValidSum,
  pseudoHeaderSum,
  sumRange,
  tcpChecksum,
  udpChecksum,
} from '../../src/checksum.js';
import { ethernet, ipv4, ipv6, type Tcp, udp } from '../../src/headers/index.js';
import { ipv6Options } from '../../src/headers/ip.js';
import { vlanTag } from '../../src/headers/link.js';
import { tcp } from '../../src/headers/transport.js';
import { geneve, gre, vxlanGpe } from '../../src/headers/tunnels.js';
import { bits, ipv4Text, ipv6Text, mac, SAMPLES } from './header-samples.js';

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Where things are in a built packet. */
export interface BuiltPacket {
  readonly bytes: Uint8Array;
  readonly ipOffset: number;
  readonly l4Offset: number;
  readonly ipEnd: number;
  readonly protocol: number;
}

/** What stands in front of the transport header. */
export interface Carrier {
  readonly link: readonly { readonly vlanId: number }[];
  readonly ipv6: boolean;
  readonly dscp: number;
  readonly ecn: number;
  readonly source4: string;
  readonly destination4: string;
  readonly source6: string;
  readonly destination6: string;
  readonly options: Uint8Array;
  readonly extension: Uint8Array | null;
  readonly padding: number;
  readonly mac: string;
}

export const carrier: fc.Arbitrary<Carrier> = fc.record({
  link: fc.array(fc.record({ vlanId: bits(12) }), { maxLength: 2 }),
  ipv6: fc.boolean(),
  dscp: bits(6),
  ecn: bits(2),
  source4: ipv4Text,
  destination4: ipv4Text,
  source6: ipv6Text,
  destination6: ipv6Text,
  options: fc.nat(3).chain((words) => fc.uint8Array({ minLength: words * 4, maxLength: words * 4 })),
  extension: fc.option(fc.uint8Array({ minLength: 6, maxLength: 6 })),
  padding: fc.nat(9),
  mac,
});

const CHECKSUM_AT: Readonly<Record<number, number>> = { 6: 16, 17: 6 };

/** What becomes of the transport checksum. */
export type ChecksumKind = 'valid' | 'zero' | 'wrong';

/** Builds the packet: lengths and the IPv4 header checksum right, the transport checksum as asked. */
export function build(
  from: Carrier,
  protocol: number,
  segment: Uint8Array,
  checksum: ChecksumKind = 'valid',
): BuiltPacket {
  const type = from.ipv6 ? 0x86dd : 0x0800;
  const tags = from.link.map((tag, index) =>
    vlanTag.encode({
      priority: 3,
      dropEligible: false,
      vlanId: tag.vlanId,
      etherType: index === from.link.length - 1 ? type : 0x8100,
    }),
  );
  const link = concat(
    ethernet.encode({
      destination: from.mac,
      source: '02:00:00:00:00:01',
      etherType: tags.length === 0 ? type : tags.length === 2 ? 0x88a8 : 0x8100,
    }),
    ...tags,
  );
  let ip: Uint8Array;
  if (from.ipv6) {
    const extension =
      from.extension === null
        ? new Uint8Array(0)
        : ipv6Options.encode({ nextHeader: protocol, options: from.extension });
    const header = ipv6.encode({
      dscp: from.dscp,
      ecn: from.ecn,
      flowLabel: 0x12345,
      payloadLength: extension.length + segment.length,
      nextHeader: from.extension === null ? protocol : 0,
      hopLimit: 61,
      source: from.source6,
      destination: from.destination6,
    });
    ip = concat(header, extension);
  } else {
    ip = ipv4.encode({
      dscp: from.dscp,
      ecn: from.ecn,
      totalLength: 20 + from.options.length + segment.length,
      identification: 0x1234,
      reserved: false,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      timeToLive: 61,
      protocol,
      headerChecksum: 0,
      source: from.source4,
      destination: from.destination4,
      options: from.options,
    });
  }
  const bytes = concat(link, ip, segment, new Uint8Array(from.padding).fill(0xee));
  const ipOffset = link.length;
  const l4Offset = ipOffset + ip.length;
  if (!from.ipv6) {
    const value = ipv4HeaderChecksum(bytes, ipOffset, ip.length);
    bytes[ipOffset + 10] = value >>> 8;
    bytes[ipOffset + 11] = value & 0xff;
  }
  const field = CHECKSUM_AT[protocol];
  if (field !== undefined) {
    const right = (protocol === 6 ? tcpChecksum : udpChecksum)(bytes, ipOffset, l4Offset, segment.length);
    // Any other number, but not the second zero, which no sender computes.
    const value = checksum === 'valid' ? right : checksum === 'zero' ? 0 : right === 0x5a5a ? 0x1234 : 0x5a5a;
    bytes[l4Offset + field] = value >>> 8;
    bytes[l4Offset + field + 1] = value & 0xff;
  }
  return { bytes, ipOffset, l4Offset, ipEnd: l4Offset + segment.length, protocol };
}

/** Ports that carry neither INT nor a tunnel nor a probe. */
const quietPort = fc.integer({ min: 10_000, max: 40_000 });
const payload = fc.uint8Array({ maxLength: 61 });

export const udpPacket = (kinds: readonly ChecksumKind[] = ['valid', 'zero']): fc.Arbitrary<BuiltPacket> =>
  fc
    .tuple(carrier, quietPort, quietPort, payload, fc.constantFrom(...kinds))
    .map(([from, sourcePort, destinationPort, data, kind]) =>
      build(
        from,
        17,
        concat(udp.encode({ sourcePort, destinationPort, length: 8 + data.length, checksum: 0 }), data),
        kind,
      ),
    );

export const tcpPacket = (kinds: readonly ChecksumKind[] = ['valid']): fc.Arbitrary<BuiltPacket> =>
  fc
    .tuple(carrier, quietPort, SAMPLES.tcp.arbitrary, payload, fc.constantFrom(...kinds))
    .map(([from, port, header, data, kind]) => {
      const value: Tcp = { ...header, sourcePort: port, destinationPort: port, reserved: 0, checksum: 0 };
      return build(from, 6, concat(tcp.encode(value), data), kind);
    });

/** Any other protocol: the bytes behind IP are opaque. */
export const otherPacket: fc.Arbitrary<BuiltPacket> = fc
  .tuple(carrier, fc.constantFrom(1, 50, 58, 89), fc.uint8Array({ minLength: 8, maxLength: 40 }))
  .map(([from, protocol, data]) => build(from, protocol, data));

/** Protocols that a tunnel names for its contents. */
const inner = fc.uint8Array({ minLength: 14, maxLength: 60 });

export const grePacket: fc.Arbitrary<BuiltPacket> = fc
  .tuple(
    carrier,
    fc.record({
      protocolType: fc.constantFrom(0x0800, 0x86dd, 0x6558, 0x880b),
      key: fc.option(bits(32)),
      sequenceNumber: fc.option(bits(32)),
      checksum: fc.boolean(),
    }),
    inner,
  )
  .map(([from, head, data]) => {
    const header = gre.encode({
      reserved: 0,
      protocolType: head.protocolType,
      checksum: head.checksum ? 0 : null,
      reserved2: 0,
      key: head.key,
      sequenceNumber: head.sequenceNumber,
    });
    const segment = concat(header, data);
    if (head.checksum) {
      const value = ~sumRange(segment, 0, segment.length) & 0xffff;
      segment[4] = value >>> 8;
      segment[5] = value & 0xff;
    }
    return build(from, 47, segment);
  });

const tunnelPacket = (port: number, header: fc.Arbitrary<Uint8Array>): fc.Arbitrary<BuiltPacket> =>
  fc
    .tuple(carrier, quietPort, header, inner, fc.constantFrom<ChecksumKind>('valid', 'zero'))
    .map(([from, sourcePort, tunnel, data, kind]) => {
      const length = 8 + tunnel.length + data.length;
      const segment = concat(udp.encode({ sourcePort, destinationPort: port, length, checksum: 0 }), tunnel, data);
      // No INT DSCP on tunnels: it would be looked at first.
      return build({ ...from, dscp: from.dscp === 0x17 ? 0 : from.dscp }, 17, segment, kind);
    });

export const vxlanGpePacket = tunnelPacket(
  4790,
  fc.tuple(fc.constantFrom(1, 2, 3), bits(24)).map(([nextProtocol, vni]) =>
    vxlanGpe.encode({
      reserved: 0,
      version: 0,
      vniValid: true,
      nextProtocolValid: true,
      bumTraffic: false,
      oam: false,
      reserved2: 0,
      nextProtocol,
      vni,
      reserved3: 0,
    }),
  ),
);

export const vxlanPacket = tunnelPacket(
  4789,
  bits(24).map((vni) =>
    vxlanGpe.encode({
      reserved: 0,
      version: 0,
      vniValid: true,
      nextProtocolValid: false,
      bumTraffic: false,
      oam: false,
      reserved2: 0,
      nextProtocol: 0,
      vni,
      reserved3: 0,
    }),
  ),
);

export const genevePacket = tunnelPacket(
  6081,
  fc.tuple(bits(24), fc.array(fc.nat(3), { maxLength: 3 })).map(([vni, options]) =>
    geneve.encode({
      version: 0,
      control: false,
      critical: false,
      reserved: 0,
      protocolType: 0x6558,
      vni,
      reserved2: 0,
      options: options.map((words) => ({
        optionClass: 0x0102,
        type: 1,
        reserved: 0,
        data: new Uint8Array(words * 4).fill(7),
      })),
    }),
  ),
);

/**
 * What is wrong with the lengths and checksums of a packet, by the rules a receiver applies; empty if nothing.
 *
 * @param from where its parts were before INT; the transport protocol is read again
 */
export function faults(packet: Uint8Array, from: BuiltPacket): string[] {
  const found: string[] = [];
  const { ipOffset, l4Offset } = from;
  const six = packet[ipOffset]! >>> 4 === 6;
  const read = (at: number): number => (packet[at]! << 8) | packet[at + 1]!;
  const trailing = from.bytes.length - from.ipEnd;
  const ipEnd = six ? ipOffset + 40 + read(ipOffset + 4) : ipOffset + read(ipOffset + 2);
  if (ipEnd !== packet.length - trailing) found.push(`IP ends at ${ipEnd}, not ${packet.length - trailing}`);
  const header = (packet[ipOffset]! & 15) * 4;
  if (!six && !isValidSum(sumRange(packet, ipOffset, header))) found.push('IPv4 header checksum');
  const extended = six && packet[ipOffset + 6] === 0;
  const protocol = extended ? packet[ipOffset + 40]! : packet[ipOffset + (six ? 6 : 9)]!;
  const length = ipEnd - l4Offset;
  if (protocol === 17) {
    if (read(l4Offset + 4) !== length) found.push(`UDP length ${read(l4Offset + 4)}, not ${length}`);
    if (read(l4Offset + 6) === 0) return found;
  }
  if (protocol === 17 || protocol === 6) {
    const sum = sumRange(packet, l4Offset, length, pseudoHeaderSum(packet, ipOffset, protocol, length));
    if (!isValidSum(sum)) found.push('transport checksum');
  } else if (protocol === 47 && (packet[l4Offset]! & 0x80) !== 0) {
    if (!isValidSum(sumRange(packet, l4Offset, length))) found.push('GRE checksum');
  }
  return found;
}
