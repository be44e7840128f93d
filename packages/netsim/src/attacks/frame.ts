import { ipv4HeaderChecksum } from '@int/codec/internals';
import type { LabelledPacket } from './packet.js';

const ETHERNET = 14;
const IPV4 = 20;

/**
 * The Ethernet frame of a labelled packet, with the headers only: what follows the transport header is left out, as a
 * capture with a short snap length does it. Checksums of TCP and UDP are 0.
 */
export function labelledFrame(packet: LabelledPacket): Uint8Array {
  const { source, destination, sourcePort, destinationPort, protocol, tcpFlags, lengthBytes } = packet;
  const bytes = new Uint8Array(ETHERNET + IPV4 + (protocol === 6 ? 20 : 8));
  const view = new DataView(bytes.buffer);
  bytes.set([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
  view.setUint16(12, 0x0800);
  bytes[14] = 0x45;
  view.setUint16(16, lengthBytes);
  bytes[22] = 64;
  bytes[23] = protocol;
  bytes.set(source.split('.').map(Number), 26);
  bytes.set(destination.split('.').map(Number), 30);
  view.setUint16(24, ipv4HeaderChecksum(bytes, ETHERNET));
  view.setUint16(34, sourcePort);
  view.setUint16(36, destinationPort);
  if (protocol === 6) {
    bytes[46] = 0x50;
    bytes[47] = tcpFlags;
  } else view.setUint16(38, lengthBytes - IPV4);
  return bytes;
}
