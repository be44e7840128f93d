import type { PacketReader } from './packet.js';
import { PROTOCOL } from './packet.js';

const IP_IN_IP = 4;
const IPV6_IN_IP = 41;
const GRE = 47;
const VXLAN_PORT = 4789;
const GENEVE_PORT = 6081;
const ETHER = { IPV4: 0x0800, IPV6: 0x86dd, ETHERNET: 0x6558, ERSPAN: 0x88be, ERSPAN_3: 0x22eb } as const;
/** Flags of GRE: a checksum, routing, a key, a sequence number, the version (RFC 2784, RFC 2890). */
const FLAG = { CHECKSUM: 0x8000, ROUTING: 0x4000, KEY: 0x2000, SEQUENCE: 0x1000, VERSION: 7 } as const;

/**
 * Reads the packet within the one that was read last: IP in IP, GRE (also ERSPAN), VXLAN and Geneve.
 * @returns false if there is none, or none that can be read
 */
export function readInner(reader: PacketReader, bytes: Uint8Array, end: number): boolean {
  const at = reader.payloadOffset;
  if (reader.protocol === IP_IN_IP || reader.protocol === IPV6_IN_IP) return reader.readIp(bytes, at, end);
  if (at + 16 > end) return false;
  if (reader.protocol === GRE) return readGre(reader, bytes, at, end);
  if (reader.protocol !== PROTOCOL.UDP) return false;
  const port = reader.ports & 0xffff;
  // The flag says that there is a network's number (RFC 7348, section 5).
  if (port === VXLAN_PORT) return bytes[at + 8] === 8 && reader.readEthernet(bytes, at + 16, end);
  if (port !== GENEVE_PORT || bytes[at + 8]! >>> 6 !== 0) return false;
  const inner = at + 16 + 4 * (bytes[at + 8]! & 0x3f);
  return half(bytes, at + 10) === ETHER.ETHERNET && reader.readEthernet(bytes, inner, end);
}

function readGre(reader: PacketReader, bytes: Uint8Array, at: number, end: number): boolean {
  const flags = half(bytes, at);
  if ((flags & (FLAG.VERSION | FLAG.ROUTING)) !== 0) return false;
  const words = [FLAG.CHECKSUM, FLAG.KEY, FLAG.SEQUENCE].filter((flag) => (flags & flag) !== 0).length;
  const inner = at + 4 + 4 * words;
  switch (half(bytes, at + 2)) {
    case ETHER.IPV4:
    case ETHER.IPV6:
      return reader.readIp(bytes, inner, end);
    case ETHER.ETHERNET:
      return reader.readEthernet(bytes, inner, end);
    case ETHER.ERSPAN:
      // The first version has no header of its own, and no sequence number.
      return reader.readEthernet(bytes, inner + ((flags & FLAG.SEQUENCE) === 0 ? 0 : 8), end);
    case ETHER.ERSPAN_3:
      return inner + 12 <= end && reader.readEthernet(bytes, inner + 12 + 8 * (bytes[inner + 11]! & 1), end);
    default:
      return false;
  }
}

function half(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
