/** Arbitrary packets of the kinds that the programs parse: Ethernet, IPv4 or IPv6, UDP, TCP or something else. */
import { ipv4HeaderChecksum, tcpChecksum, udpChecksum } from '@int/codec/internals';
import fc from 'fast-check';

/** How the transport checksum is. */
export type ChecksumKind = 'right' | 'none' | 'wrong';

export interface PacketShape {
  readonly version: 4 | 6;
  readonly protocol: number;
  readonly dscp: number;
  readonly ecn: number;
  readonly addresses: Uint8Array;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** Words of IPv4 and TCP options. */
  readonly ipOptions: number;
  readonly tcpOptions: number;
  readonly payload: Uint8Array;
  readonly checksum: ChecksumKind;
  /** Bytes of Ethernet behind the IP packet. */
  readonly padding: number;
  readonly ttl: number;
}

const port = fc.oneof(fc.constantFrom(80, 443, 65_535, 0), fc.integer({ min: 0, max: 65_535 }));

/** A UDP packet of an ordinary flow. */
export const UDP_PACKET: PacketShape = {
  version: 4,
  protocol: 17,
  dscp: 0,
  ecn: 0,
  addresses: Uint8Array.of(10, 0, 1, 1, 10, 0, 2, 2, ...new Uint8Array(24)),
  sourcePort: 1234,
  destinationPort: 80,
  ipOptions: 0,
  tcpOptions: 0,
  payload: new Uint8Array(12),
  checksum: 'right',
  padding: 0,
  ttl: 64,
};

/** `notPorts`: destination ports that mean something else in the domain. */
export function packetShape(notPorts: readonly number[] = [5000, 4096, 5017, 5018, 54_321]): fc.Arbitrary<PacketShape> {
  return fc.record({
    version: fc.constantFrom(4 as const, 4 as const, 6 as const),
    protocol: fc.constantFrom(17, 17, 17, 6, 6, 1, 50),
    // Not the DSCP that marks INT.
    dscp: fc.integer({ min: 0, max: 63 }).filter((value) => value !== 0x17),
    ecn: fc.integer({ min: 0, max: 3 }),
    addresses: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    sourcePort: port,
    destinationPort: port.filter((value) => !notPorts.includes(value) && ![4789, 4790, 6081].includes(value)),
    ipOptions: fc.constantFrom(0, 0, 0, 1, 3, 10),
    tcpOptions: fc.constantFrom(0, 0, 3, 10),
    payload: fc.uint8Array({ maxLength: 40 }),
    checksum: fc.constantFrom('right' as const, 'right' as const, 'none' as const, 'wrong' as const),
    padding: fc.constantFrom(0, 0, 0, 5),
    ttl: fc.integer({ min: 2, max: 255 }),
  });
}

/** The frame of a shape. */
export function frameOf(shape: PacketShape): Uint8Array {
  const { version, protocol, payload, addresses } = shape;
  // A payload length of 0 means another thing in IPv6: other protocols have a header, too.
  const transport = protocol === 17 ? 8 : protocol === 6 ? 20 + 4 * shape.tcpOptions : 8;
  const ipHeader = version === 4 ? 20 + 4 * shape.ipOptions : 40;
  const l4 = 14 + ipHeader;
  const bytes = new Uint8Array(l4 + transport + payload.length + shape.padding);
  const view = new DataView(bytes.buffer);
  bytes.set([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
  view.setUint16(12, version === 4 ? 0x0800 : 0x86dd);
  if (version === 4) {
    bytes[14] = 0x40 | (ipHeader / 4);
    bytes[15] = (shape.dscp << 2) | shape.ecn;
    view.setUint16(16, ipHeader + transport + payload.length);
    view.setUint16(18, 0x1234);
    bytes[22] = shape.ttl;
    bytes[23] = protocol;
    bytes.set(addresses.subarray(0, 8), 26);
    // No-operations.
    bytes.fill(1, 34, l4);
    view.setUint16(24, ipv4HeaderChecksum(bytes, 14, ipHeader));
  } else {
    view.setUint32(14, (0x6000_0000 | (shape.dscp << 22) | (shape.ecn << 20)) >>> 0);
    view.setUint16(18, transport + payload.length);
    bytes[20] = protocol;
    bytes[21] = shape.ttl;
    bytes.set(addresses, 22);
  }
  bytes.set(payload, l4 + transport);
  if (protocol !== 17 && protocol !== 6) return bytes;
  view.setUint16(l4, shape.sourcePort);
  view.setUint16(l4 + 2, shape.destinationPort);
  const length = transport + payload.length;
  if (protocol === 17) {
    view.setUint16(l4 + 4, length);
    const right = udpChecksum(bytes, 14, l4, length);
    view.setUint16(l4 + 6, shape.checksum === 'right' ? right : shape.checksum === 'none' ? 0 : right ^ 0x5a5a || 1);
  } else {
    bytes[l4 + 12] = (transport / 4) << 4;
    bytes.fill(1, l4 + 20, l4 + transport);
    const right = tcpChecksum(bytes, 14, l4, length);
    view.setUint16(l4 + 16, shape.checksum === 'right' ? right : right ^ 0x5a5a);
  }
  return bytes;
}

export const hex = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
