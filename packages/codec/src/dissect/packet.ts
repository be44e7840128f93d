/** The parts of a packet: link, IP and transport headers, and INT where the scan has found it. */
import { CODES } from '../codes.js';
import { FieldGroup } from '../headers/codec.js';
import { IP_PROTOCOL, ipv4, ipv6, ipv6Fragment, ipv6Options, ipv6Routing } from '../headers/ip.js';
import { ETHER_TYPE, ethernet, mplsLabel, vlanTag } from '../headers/link.js';
import { tcp, udp } from '../headers/transport.js';
import type { LinkLayer } from '../options.js';
import type { Scan } from '../scan/state.js';
import type { Parts } from './field.js';
import { addInt, ENCAPSULATION, intStart } from './int.js';
import { addTunnel } from './tunnel.js';

const LINUX_SLL = /* @__PURE__ */ new FieldGroup('link', {
  packetType: 16,
  hardwareType: 16,
  addressLength: 16,
  address: 'uint64',
  etherType: 16,
});
const LINUX_SLL2 = /* @__PURE__ */ new FieldGroup('link', {
  etherType: 16,
  reserved: 16,
  interfaceIndex: 32,
  hardwareType: 16,
  packetType: 8,
  addressLength: 8,
  address: 'uint64',
});
/** What SCTP and UDP-Lite begin with. */
const PORTS = /* @__PURE__ */ new FieldGroup('link', { sourcePort: 16, destinationPort: 16 });
const AUTHENTICATION = /* @__PURE__ */ new FieldGroup('ipv6', { nextHeader: 8, length: 8, reserved: 16 });

const VLAN_TYPES: readonly number[] = [ETHER_TYPE.VLAN, ETHER_TYPE.SERVICE_VLAN, ETHER_TYPE.QINQ_OLD];
const MPLS_TYPES: readonly number[] = [ETHER_TYPE.MPLS, ETHER_TYPE.MPLS_UPSTREAM];
/** As many as the scan reads. */
const MAX_NESTING = 16;

/**
 * Adds what follows the frame's own UDP header, up to the end of the frame, if that is a report or a probe.
 * @param at the first byte behind the header
 * @param ipEnd the first byte behind the IP packet, as far as it is there
 * @returns whether it did so
 */
export type PayloadFiller = (parts: Parts, at: number, ipEnd: number) => boolean;

/** Where a packet lies, and what is known of it. */
interface Place {
  readonly scan: Scan;
  readonly end: number;
  readonly fill: PayloadFiller | null;
}

/** Adds a packet in `[p, end)`, all bytes of it. */
export function addPacket(
  parts: Parts,
  scan: Scan,
  link: Exclude<LinkLayer, 'report'>,
  p: number,
  end: number,
  fill: PayloadFiller | null = null,
): void {
  const place = { scan, end, fill };
  switch (link) {
    case 'raw':
      addIp(parts, place, p);
      break;
    case 'linux-sll':
      addLink(parts, place, 'linux-sll', LINUX_SLL, p, 16, 14);
      break;
    case 'linux-sll2':
      addLink(parts, place, 'linux-sll2', LINUX_SLL2, p, 20, 0);
      break;
    default:
      addLink(parts, place, 'ethernet', ethernet, p, 14, 12);
  }
}

function addLink(
  parts: Parts,
  place: Place,
  name: string,
  codec: object,
  p: number,
  length: number,
  typeAt: number,
): void {
  const { scan, end } = place;
  if (!parts.headerGroup(name, codec, p, end)) return;
  addAfterType(parts, place, scan.view.getUint16(p + typeAt), p + length);
}

/** What follows an EtherType: tags, labels, IP, or a payload. */
function addAfterType(parts: Parts, place: Place, etherType: number, p: number): void {
  const { scan, end } = place;
  let type = etherType;
  let at = p;
  for (let depth = 0; depth < MAX_NESTING; depth++) {
    if (type === ETHER_TYPE.IPV4 || type === ETHER_TYPE.IPV6) {
      addIp(parts, place, at);
      return;
    }
    if (VLAN_TYPES.includes(type)) {
      if (!parts.headerGroup('vlan', vlanTag, at, end)) return;
      type = scan.view.getUint16(at + 2);
    } else if (MPLS_TYPES.includes(type)) {
      if (!parts.headerGroup('mpls', mplsLabel, at, end)) return;
      if ((scan.view.getUint8(at + 2) & 1) !== 0) {
        addIp(parts, place, at + 4);
        return;
      }
    } else break;
    at += 4;
  }
  parts.bytes('payload', at, end);
}

/** An IP packet, or bytes that are none. */
function addIp(parts: Parts, place: Place, p: number): void {
  const { scan, end } = place;
  const version = p < end ? scan.bytes[p]! >>> 4 : 0;
  if (version === 4) addIpv4(parts, place, p);
  else if (version === 6) addIpv6(parts, place, p);
  else parts.bytes('payload', p, end);
}

/** Whether this is the packet in which the scan has found INT. */
function carriesInt(scan: Scan, ip: number): boolean {
  return scan.encapsulation !== 0 && scan.ipOffset === ip;
}

/** First byte of what the scan takes for INT or its tunnel; `end` if this packet has none. */
function stopOf({ scan, end }: Place, ip: number): number {
  if (!carriesInt(scan, ip)) return end;
  if (scan.encapsulation === ENCAPSULATION.GRE) return Math.min(scan.l4Offset, end);
  if (scan.encapsulation > ENCAPSULATION.UDP_NEW) return Math.min(scan.l4Offset + 8, end);
  return Math.min(intStart(scan), end);
}

function addIpv4(parts: Parts, place: Place, p: number): void {
  const { scan, end } = place;
  const stop = stopOf(place, p);
  const headerLength = (scan.bytes[p]! & 15) * 4;
  let whole = false;
  parts.group('ipv4', p, (inside) => {
    whole = inside.header(ipv4, p, stop) && headerLength >= 20;
    if (whole) inside.bytes('options', p + 20, Math.min(p + headerLength, stop));
    const [source, destination] = inside.list.slice(-2);
    return whole && headerLength === 20 ? `${source?.text} > ${destination?.text}` : '';
  });
  if (!whole) {
    parts.bytes('undecoded', p + 20, end);
    return;
  }
  const total = scan.view.getUint16(p + 2) || end - p;
  const at = Math.min(p + headerLength, stop);
  if (total < headerLength) {
    parts.bytes('undecoded', at, end);
  } else if ((scan.view.getUint16(p + 6) & 0x1fff) !== 0) {
    addRest(parts, place, at, 'payload', p + total);
  } else {
    const isCut = at < p + headerLength;
    addTransport(parts, place, p, at, isCut ? IP_PROTOCOL.NO_NEXT_HEADER : scan.bytes[p + 9]!, p + total);
  }
}

function addIpv6(parts: Parts, place: Place, p: number): void {
  const { scan, end } = place;
  const stop = stopOf(place, p);
  if (!parts.headerGroup('ipv6', ipv6, p, stop)) return;
  const payloadLength = scan.view.getUint16(p + 4);
  const ipEnd = payloadLength === 0 ? end : p + 40 + payloadLength;
  let next = scan.bytes[p + 6]!;
  let at = p + 40;
  for (let depth = 0; depth < MAX_NESTING && at < stop; depth++) {
    const extension = EXTENSIONS[next];
    if (extension === undefined) break;
    const length = at + 2 <= stop ? extension.bytes(scan.bytes[at + 1]!) : 0;
    let whole = false;
    const start = at;
    parts.group(extension.name, start, (inside) => {
      whole = inside.header(extension.codec, start, stop);
      const last = inside.list.at(-1)!;
      inside.bytes(extension.rest, last.offset + last.length, Math.min(start + length, stop));
      return '';
    });
    if (!whole || start + length > stop) {
      addRest(parts, place, stop, 'undecoded', ipEnd);
      return;
    }
    const isLaterFragment = next === IP_PROTOCOL.FRAGMENT && (scan.view.getUint16(at + 2) & 0xfff8) !== 0;
    next = scan.bytes[at]!;
    at += length;
    if (isLaterFragment) {
      addRest(parts, place, at, 'payload', ipEnd);
      return;
    }
  }
  addTransport(parts, place, p, at, next, ipEnd);
}

interface Extension {
  readonly name: string;
  readonly codec: object;
  /** Name of the bytes behind the fields. */
  readonly rest: string;
  bytes(length: number): number;
}
const eights = (length: number): number => 8 + 8 * length;
const EXTENSIONS: Readonly<Record<number, Extension>> = {
  [IP_PROTOCOL.HOP_BY_HOP]: { name: 'ipv6-hop-by-hop', codec: ipv6Options, rest: 'options', bytes: eights },
  [IP_PROTOCOL.DESTINATION_OPTIONS]: {
    name: 'ipv6-destination-options',
    codec: ipv6Options,
    rest: 'options',
    bytes: eights,
  },
  [IP_PROTOCOL.MOBILITY]: { name: 'ipv6-mobility', codec: ipv6Options, rest: 'data', bytes: eights },
  [IP_PROTOCOL.ROUTING]: { name: 'ipv6-routing', codec: ipv6Routing, rest: 'data', bytes: eights },
  [IP_PROTOCOL.FRAGMENT]: { name: 'ipv6-fragment', codec: ipv6Fragment, rest: 'data', bytes: () => 8 },
  [IP_PROTOCOL.AUTHENTICATION]: {
    name: 'ipv6-authentication',
    codec: AUTHENTICATION,
    rest: 'data',
    bytes: (length) => 8 + 4 * length,
  },
};

/** Transport header, INT and payload of the packet whose IP header is at `ip`; -1: of one that has no INT of its own. */
function addTransport(parts: Parts, place: Place, ip: number, p: number, protocol: number, ipEnd: number): void {
  const { scan, end, fill } = place;
  const limit = Math.max(p, Math.min(end, ipEnd));
  const carries = carriesInt(scan, ip);
  const stop = Math.max(p, Math.min(stopOf(place, ip), limit));
  let at = p;
  let optionsBehind = 0;
  if (protocol === IP_PROTOCOL.UDP && p < stop) {
    const isWhole = parts.headerGroup('udp', udp, p, stop, portsText(scan, p, stop));
    at = isWhole ? p + 8 : stop;
    if (isWhole && fill?.(parts, at, limit) === true) return;
  } else if (protocol === IP_PROTOCOL.TCP && p < stop) {
    const headerLength = p + 12 < stop ? (scan.bytes[p + 12]! >>> 4) * 4 : 20;
    if (carries && stop === p + 20) optionsBehind = Math.max(0, headerLength - 20);
    at = addTcp(parts, scan, p, stop, headerLength - optionsBehind);
  } else if ((protocol === IP_PROTOCOL.SCTP || protocol === IP_PROTOCOL.UDP_LITE) && p < stop) {
    const name = protocol === IP_PROTOCOL.SCTP ? 'sctp' : 'udp-lite';
    at = parts.headerGroup(name, PORTS, p, stop, portsText(scan, p, stop)) ? p + 4 : stop;
  }
  if (carries) {
    parts.bytes('payload', at, stop);
    at = addCarried(parts, place, stop, limit);
    const optionsEnd = Math.min(at + optionsBehind, limit);
    parts.bytes('options', at, optionsEnd);
    at = Math.max(at, optionsEnd);
    if (scan.encapsulation === ENCAPSULATION.UDP_NEW && scan.code === CODES.OK) {
      addTransport(parts, { scan, end, fill: null }, -1, at, scan.protocol, ipEnd);
      return;
    }
  }
  addRest(parts, place, at, 'payload', ipEnd);
}

/** INT, with its tunnel if it has one, and with the packet in the tunnel. @returns the first byte behind it */
function addCarried(parts: Parts, { scan, end }: Place, at: number, limit: number): number {
  if (at >= limit) return at;
  if (scan.encapsulation <= ENCAPSULATION.UDP_NEW) return addInt(parts, scan, end);
  const [etherType, inner] = addTunnel(parts, scan, at, limit);
  if (inner < limit) {
    parts.group('packet', inner, (inside) => {
      const place = { scan, end: limit, fill: null };
      if (etherType === ETHER_TYPE.TRANSPARENT_ETHERNET) addLink(inside, place, 'ethernet', ethernet, inner, 14, 12);
      else addAfterType(inside, place, etherType, inner);
      return 'the packet in the tunnel';
    });
  }
  return limit;
}

function addTcp(parts: Parts, scan: Scan, p: number, stop: number, headerLength: number): number {
  let at = stop;
  parts.group('tcp', p, (inside) => {
    if (inside.header(tcp, p, stop)) {
      at = Math.max(p + 20, Math.min(p + headerLength, stop));
      inside.bytes('options', p + 20, at);
    }
    return portsText(scan, p, stop);
  });
  return at;
}

function portsText(scan: Scan, p: number, end: number): string {
  return p + 4 > end ? '' : `${scan.view.getUint16(p)} > ${scan.view.getUint16(p + 2)}`;
}

/** What is left of an IP packet, and of the frame behind it. */
function addRest(parts: Parts, { scan, end }: Place, at: number, name: string, ipEnd: number): void {
  const limit = Math.min(end, Math.max(at, ipEnd));
  const isBad = scan.code !== CODES.OK && scan.code !== CODES.NOT_INT && scan.at >= at && scan.at < limit;
  parts.bytes(isBad ? 'undecoded' : name, at, limit);
  parts.bytes('padding', Math.max(at, limit), end);
}
