/** Finding the parts of a RoCEv2 packet without allocation. */
import { fastIcrc, icrcDifference } from '@int/codec/internals';
import { wordAt } from '../big-endian.js';
import { OUTCOME } from './outcomes.js';

export function uint16At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

export function uint24At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return wordAt(bytes, at) >>> 0;
}

const UDP = 17;
const MOST_TAGS = 4;
/** UDP header, BTH and iCRC. */
const LEAST_UDP = 8 + 12 + 4;
/** All flags and the fragment offset of IPv4, except "do not fragment". */
const ALL_BUT_DONT_FRAGMENT = 0xbfff;

/** Reads one packet after another. Its fields are those of the last packet. */
export class PacketReader {
  /** Offset of the IP header. */
  ipAt = 0;
  isIpv6 = false;
  udpAt = 0;
  bthAt = 0;
  /** Offset of the iCRC, after the pad bytes. */
  icrcAt = 0;
  opcode = 0;
  padCount = 0;

  /**
   * Finds the IP header of an Ethernet frame, after any VLAN tags.
   * @returns {@link OUTCOME} of a reject, or -1
   */
  openFrame(bytes: Uint8Array, offset: number, end: number): number {
    let at = offset + 12;
    for (let tags = 0; tags <= MOST_TAGS; tags++, at += 4) {
      if (at + 2 > end) return OUTCOME.truncated;
      const type = uint16At(bytes, at);
      if (type === 0x0800 || type === 0x86dd) {
        this.ipAt = at + 2;
        this.isIpv6 = type === 0x86dd;
        return -1;
      }
      if (type !== 0x8100 && type !== 0x88a8 && type !== 0x9100) return OUTCOME.notRoce;
    }
    return OUTCOME.notRoce;
  }

  /**
   * Begins at the IP header of a packet without a link layer.
   * @returns {@link OUTCOME} of a reject, or -1
   */
  openIp(bytes: Uint8Array, offset: number, end: number): number {
    if (offset >= end) return OUTCOME.truncated;
    this.ipAt = offset;
    this.isIpv6 = bytes[offset]! >>> 4 === 6;
    return -1;
  }

  /**
   * Reads the packet found by {@link openFrame} or {@link openIp}, up to the BTH.
   *
   * @param end offset of the frame's end
   * @param port required UDP destination port; -1 for any
   * @returns {@link OUTCOME} of a reject, or -1
   */
  read(bytes: Uint8Array, end: number, port: number): number {
    const { ipAt } = this;
    let packetEnd: number;
    if (this.isIpv6) {
      if (ipAt + 40 > end) return OUTCOME.truncated;
      if (bytes[ipAt]! >>> 4 !== 6) return OUTCOME.header;
      if (bytes[ipAt + 6] !== UDP) return OUTCOME.notRoce;
      this.udpAt = ipAt + 40;
      packetEnd = this.udpAt + uint16At(bytes, ipAt + 4);
    } else {
      if (ipAt + 20 > end) return OUTCOME.truncated;
      const headerBytes = (bytes[ipAt]! & 15) * 4;
      if (bytes[ipAt]! >>> 4 !== 4 || headerBytes < 20) return OUTCOME.header;
      if (bytes[ipAt + 9] !== UDP || (uint16At(bytes, ipAt + 6) & 0x3fff) !== 0) return OUTCOME.notRoce;
      this.udpAt = ipAt + headerBytes;
      packetEnd = ipAt + uint16At(bytes, ipAt + 2);
    }
    const { udpAt } = this;
    if (packetEnd > end) return OUTCOME.truncated;
    if (packetEnd < udpAt + 8) return OUTCOME.header;
    if (port >= 0 && uint16At(bytes, udpAt + 2) !== port) return OUTCOME.notRoce;
    if (uint16At(bytes, udpAt + 4) !== packetEnd - udpAt) return OUTCOME.header;
    if (packetEnd - udpAt < LEAST_UDP) return OUTCOME.truncated;
    const bthAt = udpAt + 8;
    this.bthAt = bthAt;
    this.icrcAt = packetEnd - 4;
    this.opcode = bytes[bthAt]!;
    this.padCount = (bytes[bthAt + 1]! >>> 4) & 3;
    return (bytes[bthAt + 1]! & 15) === 0 ? -1 : OUTCOME.header;
  }

  /**
   * Whether the iCRC is right.
   *
   * @param anyIdentification whether to accept an iCRC for any IPv4 identification, with or without "do not fragment"
   */
  hasRightIcrc(bytes: Uint8Array, anyIdentification: boolean): boolean {
    const { ipAt, icrcAt } = this;
    const carried =
      bytes[icrcAt]! | (bytes[icrcAt + 1]! << 8) | (bytes[icrcAt + 2]! << 16) | (bytes[icrcAt + 3]! << 24);
    const difference = fastIcrc(bytes, ipAt, icrcAt - ipAt) ^ carried;
    if (difference === 0 || !anyIdentification || this.isIpv6) return difference === 0;
    return (icrcDifference(difference, icrcAt - ipAt - 4) & ALL_BUT_DONT_FRAGMENT) === 0;
  }

  /** Bytes between BTH and pad bytes; negative if the pad bytes exceed the rest of the packet. */
  get bodyBytes(): number {
    return this.icrcAt - this.padCount - this.bthAt - 12;
  }
}
