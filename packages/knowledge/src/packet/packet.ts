import type { LinkLayer } from '@int/codec';

/** Bits of the TCP header's flags (RFC 9293, section 3.1). */
export const TCP = { FIN: 0x01, SYN: 0x02, RST: 0x04, ACK: 0x10 } as const;

export const PROTOCOL = { ICMP: 1, TCP: 6, UDP: 17, ICMPV6: 58 } as const;

const ETHER = { IPV4: 0x0800, IPV6: 0x86dd, MPLS: 0x8847, PPPOE: 0x8864 } as const;
/** Protocols of PPP: IPv4 and IPv6. */
const PPP = { IPV4: 0x0021, IPV6: 0x0057 } as const;
/** Bytes in front of IP; a report has none that one could read. */
const IP_OFFSET: Readonly<Partial<Record<LinkLayer, number>>> = { raw: 0, 'linux-sll': 16, 'linux-sll2': 20 };
const TAGS: readonly number[] = [0x8100, 0x88a8, 0x9100];
const MOST_TAGS = 4;

/** What the detectors read of a packet. Reused: {@link PacketReader.read} overwrites it. */
export class PacketReader {
  /** Source and destination, four words each. */
  readonly words = new Uint32Array(8);
  /** Source port << 16 | destination port; 0 for protocols without ports. */
  ports = 0;
  protocol = 0;
  /** Of TCP, else 0. */
  flags = 0;
  /** Length of the IP packet in bytes, as its header says. */
  length = 0;
  /** Offset of the IP header in the bytes given. */
  ipOffset = 0;
  /** Offset behind the IP header and its extensions. */
  payloadOffset = 0;
  /** Whether the packet is the one that an ICMP message quotes: of its TCP header the ports are enough (RFC 792). */
  #isQuoted = false;
  /** Bytes in front of the IP header that {@link findIp} has searched for last. */
  usualFront = 0;

  /** Reads a frame of a capture. @returns as {@link readEthernet} */
  readFrame(bytes: Uint8Array, at: number, end: number, linkType: LinkLayer): boolean {
    if (linkType === 'ethernet') return this.readEthernet(bytes, at, end);
    const header = IP_OFFSET[linkType];
    return header !== undefined && this.readIp(bytes, at + header, end);
  }

  /**
   * Reads an Ethernet frame: VLAN tags, MPLS labels or PPPoE, IPv4 or IPv6, TCP, UDP or another protocol.
   * @returns false for what is not IP, is cut off before the ports, or is a fragment without them
   */
  readEthernet(bytes: Uint8Array, at: number, end: number): boolean {
    let offset = at + 12;
    for (let tag = 0; tag <= MOST_TAGS; tag++) {
      if (offset + 2 > end) return false;
      const type = (bytes[offset]! << 8) | bytes[offset + 1]!;
      if (type === ETHER.IPV4) return this.readIp(bytes, offset + 2, end);
      if (TAGS.includes(type)) {
        offset += 4;
        continue;
      }
      offset += 2;
      if (type === ETHER.MPLS) {
        while (offset + 4 <= end && (bytes[offset + 2]! & 1) === 0) offset += 4;
        return this.readIp(bytes, offset + 4, end);
      }
      if (type === ETHER.PPPOE && offset + 8 <= end) {
        const ppp = (bytes[offset + 6]! << 8) | bytes[offset + 7]!;
        return (ppp === PPP.IPV4 || ppp === PPP.IPV6) && this.readIp(bytes, offset + 8, end);
      }
      return type === ETHER.IPV6 && this.readIp(bytes, offset, end);
    }
    return false;
  }

  /**
   * Reads a packet from its IP header on, which is found by the first words of its addresses.
   * @returns as {@link readEthernet}; false also if there is no such header
   */
  findIp(bytes: Uint8Array, at: number, end: number, source: number, destination: number, isIpv4: boolean): boolean {
    const before = isIpv4 ? 12 : 8;
    const apart = isIpv4 ? 4 : 16;
    // Most reports of a network have as much in front of it.
    const usual = at + this.usualFront + before;
    if (usual + apart + 4 <= end && word(bytes, usual) === source && word(bytes, usual + apart) === destination) {
      const ip = usual - before;
      if (bytes[ip]! >>> 4 === (isIpv4 ? 4 : 6) && this.readIp(bytes, ip, end)) return true;
    }
    // Formats of reports are of words, and the headers in front of them of two bytes at least.
    for (let offset = at + before; offset + apart + 4 <= end; offset += 2) {
      if (word(bytes, offset) !== source || word(bytes, offset + apart) !== destination) continue;
      const ip = offset - before;
      if (bytes[ip]! >>> 4 !== (isIpv4 ? 4 : 6) || !this.readIp(bytes, ip, end)) continue;
      this.usualFront = ip - at;
      return true;
    }
    return false;
  }

  /** Reads what an ICMP message quotes. @returns as {@link readIp} */
  readQuoted(bytes: Uint8Array, at: number, end: number): boolean {
    this.#isQuoted = true;
    const isRead = this.readIp(bytes, at, end);
    this.#isQuoted = false;
    return isRead;
  }

  readIp(bytes: Uint8Array, at: number, end: number): boolean {
    if (at >= end) return false;
    this.ipOffset = at;
    const version = bytes[at]! >>> 4;
    if (version === 4) return this.#readIpv4(bytes, at, end);
    return version === 6 && this.#readIpv6(bytes, at, end);
  }

  #readIpv4(bytes: Uint8Array, at: number, end: number): boolean {
    if (at + 20 > end) return false;
    const header = (bytes[at]! & 15) * 4;
    if (header < 20) return false;
    const { words } = this;
    words[0] = words[1] = words[4] = words[5] = 0;
    words[2] = words[6] = 0xffff;
    words[3] = word(bytes, at + 12);
    words[7] = word(bytes, at + 16);
    this.length = (bytes[at + 2]! << 8) | bytes[at + 3]!;
    this.protocol = bytes[at + 9]!;
    const fragment = ((bytes[at + 6]! << 8) | bytes[at + 7]!) & 0x1fff;
    return fragment === 0 && this.#readPorts(bytes, at + header, end);
  }

  #readIpv6(bytes: Uint8Array, at: number, end: number): boolean {
    if (at + 40 > end) return false;
    for (let k = 0; k < 8; k++) this.words[k] = word(bytes, at + 8 + 4 * k);
    this.length = 40 + ((bytes[at + 4]! << 8) | bytes[at + 5]!);
    let next = bytes[at + 6]!;
    let offset = at + 40;
    // Hop-by-hop, routing and destination options; a fragment has ports only if it is the first.
    for (let k = 0; k < 8 && (next === 0 || next === 43 || next === 60 || next === 44); k++) {
      if (offset + 8 > end) return false;
      if (next === 44 && (((bytes[offset + 2]! << 8) | bytes[offset + 3]!) & 0xfff8) !== 0) return false;
      const size = next === 44 ? 8 : 8 * (bytes[offset + 1]! + 1);
      next = bytes[offset]!;
      offset += size;
    }
    this.protocol = next;
    return this.#readPorts(bytes, offset, end);
  }

  #readPorts(bytes: Uint8Array, at: number, end: number): boolean {
    this.ports = this.flags = 0;
    this.payloadOffset = at;
    if (this.protocol !== PROTOCOL.TCP && this.protocol !== PROTOCOL.UDP) return true;
    if (at + 4 > end) return false;
    this.ports = word(bytes, at);
    if (this.protocol === PROTOCOL.TCP) {
      if (at + 14 > end) return this.#isQuoted;
      this.flags = bytes[at + 13]!;
    }
    return true;
  }
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
