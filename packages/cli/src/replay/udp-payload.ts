/** Finding the UDP payload of a captured frame. */
import type { LinkLayer } from '@int/codec';
import { ETHER_TYPE, IP_PROTOCOL } from '@int/codec/internals';
import type { SkipReason } from './skip-reason.js';

/** Most stacked tags, labels or extension headers to follow. */
const MAX_NESTING = 16;

/**
 * Finds UDP payloads after VLAN tags, MPLS labels, IP options and extension headers; of a tunnel, the outer payload.
 * The fields hold the result until the next call.
 */
export class UdpPayload {
  offset = 0;
  /** Bytes of the payload, 0 to 65527. */
  length = 0;
  destinationPort = 0;
  #protocol = 0;
  /** End of the IP packet; the frame may be padded. */
  #packetEnd = 0;

  /**
   * @param start offset of the frame
   * @param end end of its captured bytes
   * @returns the reason for no payload, or null
   */
  find(bytes: Uint8Array, start: number, end: number, link: LinkLayer): SkipReason | null {
    const ip = linkPayload(bytes, start, end, link);
    if (typeof ip !== 'number') return ip;
    if (ip >= end) return 'truncated';
    const version = bytes[ip]! >>> 4;
    if (version !== 4 && version !== 6) return 'malformed';
    const udp = version === 4 ? this.#ipv4(bytes, ip, end) : this.#ipv6(bytes, ip, end);
    if (typeof udp !== 'number') return udp;
    if (this.#protocol !== IP_PROTOCOL.UDP) return 'not-udp';
    if (udp + 8 > end) return 'truncated';
    const length = word(bytes, udp + 4);
    if (length < 8 || udp + length > this.#packetEnd) return 'malformed';
    if (udp + length > end) return 'truncated';
    this.offset = udp + 8;
    this.length = length - 8;
    this.destinationPort = word(bytes, udp + 2);
    return null;
  }

  #ipv4(bytes: Uint8Array, at: number, end: number): number | SkipReason {
    if (at + 20 > end) return 'truncated';
    const headerLength = (bytes[at]! & 15) * 4;
    // Segmentation offload leaves 0 in captures; the packet then ends with the frame.
    const totalLength = word(bytes, at + 2) || end - at;
    if (headerLength < 20 || totalLength < headerLength) return 'malformed';
    this.#protocol = bytes[at + 9]!;
    this.#packetEnd = at + totalLength;
    // A fragment, even the first, is not the whole payload.
    if ((word(bytes, at + 6) & 0x3fff) !== 0) return 'fragment';
    return at + headerLength;
  }

  #ipv6(bytes: Uint8Array, at: number, end: number): number | SkipReason {
    if (at + 40 > end) return 'truncated';
    this.#packetEnd = at + 40 + (word(bytes, at + 4) || end - at - 40);
    let next = bytes[at + 6]!;
    let offset = at + 40;
    for (let depth = 0; depth < MAX_NESTING; depth++) {
      this.#protocol = next;
      const header = offset;
      switch (next) {
        case IP_PROTOCOL.HOP_BY_HOP:
        case IP_PROTOCOL.ROUTING:
        case IP_PROTOCOL.DESTINATION_OPTIONS:
        case IP_PROTOCOL.MOBILITY:
        case IP_PROTOCOL.AUTHENTICATION:
          if (offset + 8 > end) return 'truncated';
          offset += 8 + bytes[offset + 1]! * (next === IP_PROTOCOL.AUTHENTICATION ? 4 : 8);
          break;
        case IP_PROTOCOL.FRAGMENT:
          if (offset + 8 > end) return 'truncated';
          if ((word(bytes, offset + 2) & 0xfff9) !== 0) return 'fragment';
          offset += 8;
          break;
        default:
          return offset;
      }
      next = bytes[header]!;
    }
    return 'malformed';
  }
}

/** Skips the link header, VLAN tags and MPLS labels. */
function linkPayload(bytes: Uint8Array, start: number, end: number, link: LinkLayer): number | SkipReason {
  switch (link) {
    case 'raw':
    case 'report':
      return start;
    case 'linux-sll':
      return start + 16 > end ? 'truncated' : afterType(bytes, word(bytes, start + 14), start + 16, end);
    case 'linux-sll2':
      return start + 20 > end ? 'truncated' : afterType(bytes, word(bytes, start), start + 20, end);
    case 'ethernet':
      return start + 14 > end ? 'truncated' : afterType(bytes, word(bytes, start + 12), start + 14, end);
  }
}

function afterType(bytes: Uint8Array, etherType: number, start: number, end: number): number | SkipReason {
  let type = etherType;
  let offset = start;
  for (let depth = 0; depth < MAX_NESTING; depth++) {
    switch (type) {
      case ETHER_TYPE.IPV4:
      case ETHER_TYPE.IPV6:
        return offset;
      case ETHER_TYPE.VLAN:
      case ETHER_TYPE.SERVICE_VLAN:
      case ETHER_TYPE.QINQ_OLD:
        if (offset + 4 > end) return 'truncated';
        type = word(bytes, offset + 2);
        offset += 4;
        break;
      case ETHER_TYPE.MPLS:
      case ETHER_TYPE.MPLS_UPSTREAM: {
        if (offset + 4 > end) return 'truncated';
        const isLast = (bytes[offset + 2]! & 1) === 1;
        offset += 4;
        if (!isLast) break;
        if (offset >= end) return 'truncated';
        // MPLS does not name its payload, so only IP's version nibble is trusted (RFC 4928).
        const nibble = bytes[offset]! >>> 4;
        return nibble === 4 || nibble === 6 ? offset : 'not-udp';
      }
      default:
        return 'not-udp';
    }
  }
  return 'malformed';
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
