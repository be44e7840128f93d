/**
 * Link and network layers: from the first byte of a frame to the transport header.
 *
 * Nothing here knows INT. The functions return the offset of the next header, or -1 if there is none. The scan then
 * holds the code, which is NOT_INT for a sound packet of another kind.
 */
import { CODES } from '../codes.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import type { LinkLayer } from '../options.js';
import type { Scan } from './state.js';

/** The most stacked tags, labels or extension headers that are read. */
const MAX_NESTING = 16;

function notInt(scan: Scan, at: number): -1 {
  scan.fail(CODES.NOT_INT, 'link', at);
  return -1;
}

function cut(scan: Scan, layer: 'link' | 'ipv4' | 'ipv6' | 'mpls', at: number): -1 {
  scan.fail(CODES.TRUNCATED, layer, at);
  return -1;
}

/**
 * Steps over the link header. Sets `ethernetOffset` if it is an Ethernet header.
 * @returns the offset of the IP header, or -1
 */
export function linkPayload(scan: Scan, link: LinkLayer, p: number, end: number): number {
  const { view } = scan;
  switch (link) {
    case 'raw':
      return p < end ? p : notInt(scan, p);
    case 'linux-sll':
      if (p + 16 > end) return cut(scan, 'link', p);
      return afterType(scan, view.getUint16(p + 14), p + 16, end);
    case 'linux-sll2':
      if (p + 20 > end) return cut(scan, 'link', p);
      return afterType(scan, view.getUint16(p), p + 20, end);
    default:
      if (p + 14 > end) return cut(scan, 'link', p);
      scan.ethernetOffset = p;
      return afterType(scan, view.getUint16(p + 12), p + 14, end);
  }
}

/** Steps over VLAN tags and MPLS labels behind an EtherType. */
export function afterType(scan: Scan, etherType: number, p: number, end: number): number {
  const { view } = scan;
  let type = etherType;
  let offset = p;
  for (let depth = 0; depth < MAX_NESTING; depth++) {
    switch (type) {
      case ETHER_TYPE.IPV4:
      case ETHER_TYPE.IPV6:
        if (offset >= end) return cut(scan, type === ETHER_TYPE.IPV4 ? 'ipv4' : 'ipv6', offset);
        if (view.getUint8(offset) >>> 4 !== (type === ETHER_TYPE.IPV4 ? 4 : 6)) {
          scan.fail(CODES.BAD_IP_VERSION, type === ETHER_TYPE.IPV4 ? 'ipv4' : 'ipv6', offset);
          return -1;
        }
        return offset;
      case ETHER_TYPE.VLAN:
      case ETHER_TYPE.SERVICE_VLAN:
      case ETHER_TYPE.QINQ_OLD:
        if (offset + 4 > end) return cut(scan, 'link', offset);
        type = view.getUint16(offset + 2);
        offset += 4;
        break;
      case ETHER_TYPE.MPLS:
      case ETHER_TYPE.MPLS_UPSTREAM: {
        if (offset + 4 > end) return cut(scan, 'mpls', offset);
        const bottom = view.getUint8(offset + 2) & 1;
        offset += 4;
        if (bottom === 0) break;
        // MPLS does not say what it carries. The version nibble of IP tells it (RFC 4928).
        if (offset >= end) return cut(scan, 'mpls', offset);
        const nibble = view.getUint8(offset) >>> 4;
        return nibble === 4 || nibble === 6 ? offset : notInt(scan, offset);
      }
      default:
        return notInt(scan, offset - 2);
    }
  }
  scan.fail(CODES.UNSUPPORTED_NESTING, 'link', offset);
  return -1;
}

/**
 * Reads an IPv4 or IPv6 header with options or extension headers: addresses, protocol, end of the packet.
 * Sets `ipOffset`, `ipEnd` (may lie beyond `end`), `l4Protocol`, the flow's addresses.
 * @returns the offset of the transport header, or -1 (also for a fragment other than the first, on which INT v2.1 says
 *   nothing)
 */
export function network(scan: Scan, p: number, end: number): number {
  const { view } = scan;
  if (p >= end) return cut(scan, 'ipv4', p);
  const version = view.getUint8(p) >>> 4;
  if (version === 4) return ipv4(scan, p, end);
  if (version === 6) return ipv6(scan, p, end);
  scan.fail(CODES.BAD_IP_VERSION, 'ipv4', p);
  return -1;
}

function ipv4(scan: Scan, p: number, end: number): number {
  const { view } = scan;
  if (p + 20 > end) return cut(scan, 'ipv4', p);
  const headerLength = (view.getUint8(p) & 15) * 4;
  if (headerLength < 20) {
    scan.fail(CODES.BAD_IP_LENGTH, 'ipv4', p);
    return -1;
  }
  // Segmentation offload leaves 0 in captures: the packet then ends with the frame.
  const totalLength = view.getUint16(p + 2) || end - p;
  if (totalLength < headerLength) {
    scan.fail(CODES.BAD_IP_LENGTH, 'ipv4', p + 2);
    return -1;
  }
  scan.ipOffset = p;
  scan.ipEnd = p + totalLength;
  scan.ipv6 = false;
  scan.sourceOffset = p + 12;
  scan.destinationOffset = p + 16;
  scan.protocol = scan.l4Protocol = view.getUint8(p + 9);
  scan.flow = true;
  if ((view.getUint16(p + 6) & 0x1fff) !== 0) {
    scan.flow = false;
    return notInt(scan, p + 6);
  }
  if (p + headerLength > end) return cut(scan, 'ipv4', p + 20);
  return p + headerLength;
}

function ipv6(scan: Scan, p: number, end: number): number {
  const { view } = scan;
  if (p + 40 > end) return cut(scan, 'ipv6', p);
  const payloadLength = view.getUint16(p + 4);
  scan.ipOffset = p;
  scan.ipEnd = payloadLength === 0 ? end : p + 40 + payloadLength;
  scan.ipv6 = true;
  scan.sourceOffset = p + 8;
  scan.destinationOffset = p + 24;
  scan.flow = true;
  let next = view.getUint8(p + 6);
  let offset = p + 40;
  for (let depth = 0; depth < MAX_NESTING; depth++) {
    scan.protocol = scan.l4Protocol = next;
    switch (next) {
      case IP_PROTOCOL.HOP_BY_HOP:
      case IP_PROTOCOL.ROUTING:
      case IP_PROTOCOL.DESTINATION_OPTIONS:
      case IP_PROTOCOL.MOBILITY:
        if (offset + 8 > end) return cut(scan, 'ipv6', offset);
        next = view.getUint8(offset);
        offset += 8 + view.getUint8(offset + 1) * 8;
        break;
      case IP_PROTOCOL.FRAGMENT:
        if (offset + 8 > end) return cut(scan, 'ipv6', offset);
        if ((view.getUint16(offset + 2) & 0xfff8) !== 0) {
          scan.flow = false;
          return notInt(scan, offset + 2);
        }
        next = view.getUint8(offset);
        offset += 8;
        break;
      case IP_PROTOCOL.AUTHENTICATION:
        if (offset + 8 > end) return cut(scan, 'ipv6', offset);
        next = view.getUint8(offset);
        offset += 8 + view.getUint8(offset + 1) * 4;
        break;
      default:
        if (offset > scan.ipEnd) {
          scan.fail(CODES.BAD_IP_LENGTH, 'ipv6', p + 4);
          return -1;
        }
        return offset;
    }
    if (offset > end) return cut(scan, 'ipv6', offset);
  }
  scan.fail(CODES.UNSUPPORTED_NESTING, 'ipv6', offset);
  return -1;
}

/** The DSCP: the traffic class or type of service without the two ECN bits. */
export function dscpOf(scan: Scan): number {
  const { view, ipOffset } = scan;
  return scan.ipv6 ? (view.getUint16(ipOffset) >>> 6) & 63 : view.getUint8(ipOffset + 1) >>> 2;
}

/** Whether the flow's protocol starts with two 16-bit ports. */
export function hasPorts(protocol: number): boolean {
  return (
    protocol === IP_PROTOCOL.UDP ||
    protocol === IP_PROTOCOL.TCP ||
    protocol === IP_PROTOCOL.SCTP ||
    protocol === IP_PROTOCOL.UDP_LITE
  );
}

/**
 * Reads the ports of the flow, if its protocol has ports.
 * @returns false if the bytes end before the ports do
 */
export function readPorts(scan: Scan, protocol: number, p: number, end: number): boolean {
  scan.protocol = protocol;
  scan.sourcePort = 0;
  scan.destinationPort = 0;
  if (!hasPorts(protocol)) return true;
  if (p + 4 > end) return false;
  scan.sourcePort = scan.view.getUint16(p);
  scan.destinationPort = scan.view.getUint16(p + 2);
  return true;
}
