/** Finds INT in a packet by the rules of the scanner, and updates lengths and checksums when bytes come or go. */
import { sumRange, updateChecksum, updateUdpChecksum } from '../checksum.js';
import { CODE_MESSAGES, CODE_NAMES, CODES } from '../codes.js';
import { CodecError } from '../errors.js';
import { readUint16, writeUint16 } from '../headers/codec.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { linkPayload } from '../scan/network.js';
import { readInt, readTransport } from '../scan/packet.js';
import { INTMON_PORT, settingsOf } from '../scan/settings.js';
import { readIntMon } from '../scan/shim.js';
import { Scan } from '../scan/state.js';
import type { LocateOptions } from './config.js';

/** Indices into INT_VERSIONS. */
export const VERSION = { V05: 1, V10: 2, V2: 3, INTMON: 5 } as const;
/** Indices into ENCAPSULATIONS. */
export const ENCAPSULATION = { UDP: 1, TCP: 2, UDP_NEW: 3, VXLAN_GPE: 4, GENEVE: 5, GRE: 6 } as const;
/** Indices into MODES. */
export const MODE = { MD: 1, MX: 2 } as const;

/** Scans by options object, because a role is called for each packet with the same options. */
const scans = /* @__PURE__ */ new WeakMap<LocateOptions, Scan>();

function scanFor(options: LocateOptions): Scan {
  let scan = scans.get(options);
  if (scan === undefined) {
    scan = new Scan(settingsOf(options));
    scans.set(options, scan);
  }
  return scan;
}

function fail(scan: Scan): never {
  throw new CodecError(CODE_NAMES[scan.code]!, scan.layer, scan.at, CODE_MESSAGES[scan.code]!);
}

/** A packet whose network and transport headers have been read. */
export interface OuterPacket {
  readonly scan: Scan;
  /** Whether the outer IP header is IPv6. The flag of the scan may be that of an encapsulated packet. */
  readonly ipv6: boolean;
  /** Whether the packet is a fragment, the first one included. */
  readonly fragment: boolean;
}

/**
 * Reads the headers in front of INT.
 *
 * @returns `null` for a frame that is no IP packet or a later fragment
 * @throws CodecError for a packet that is cut or malformed, TypeError if it is not a Uint8Array
 */
export function readOuter(packet: Uint8Array, options: LocateOptions): OuterPacket | null {
  if (!(packet instanceof Uint8Array)) throw new TypeError('packet must be a Uint8Array');
  const scan = scanFor(options);
  const end = packet.length;
  scan.aim(packet, 0, end);
  const ip = linkPayload(scan, 'ethernet', 0, end);
  if (ip < 0 || !readTransport(scan, ip, end)) return scan.code === CODES.NOT_INT ? null : fail(scan);
  const ipv6 = packet[scan.ipOffset]! >>> 4 === 6;
  if (scan.ipEnd > end) {
    scan.fail(CODES.TRUNCATED, ipv6 ? 'ipv6' : 'ipv4', end);
    return fail(scan);
  }
  return { scan, ipv6, fragment: isFragment(packet, scan, ipv6) };
}

/** Whether the packet is a fragment: then no byte may be added or removed. */
export function isFragment(packet: Uint8Array, scan: Scan, ipv6: boolean): boolean {
  if (!ipv6) return (readUint16(packet, scan.ipOffset + 6) & 0x3fff) !== 0;
  let next = packet[scan.ipOffset + 6]!;
  for (let at = scan.ipOffset + 40; at < scan.l4Offset; ) {
    // A packet with fragment offset 0 and no more fragments is complete (RFC 6946).
    if (next === IP_PROTOCOL.FRAGMENT && (readUint16(packet, at + 2) & 0xfff9) !== 0) return true;
    const length = extensionLength(packet, next, at);
    next = packet[at]!;
    at += length;
  }
  return false;
}

function extensionLength(packet: Uint8Array, type: number, at: number): number {
  if (type === IP_PROTOCOL.FRAGMENT) return 8;
  return 8 + packet[at + 1]! * (type === IP_PROTOCOL.AUTHENTICATION ? 4 : 8);
}

/**
 * Looks for INT behind the headers that have been read. Afterwards the scan holds it.
 *
 * @returns CODES.OK for sound INT, CODES.NOT_INT if there is no INT, else the code of the problem
 */
export function findInt(outer: OuterPacket): number {
  const { scan } = outer;
  const { settings } = scan;
  const port = scan.destinationPort;
  const udp = scan.l4Protocol === IP_PROTOCOL.UDP;
  // GPINT probes have the DSCP of INT, too.
  if (udp && (port === settings.probePort || port === settings.extendedProbePort)) return CODES.NOT_INT;
  if (udp && settings.intmon && port === INTMON_PORT) readIntMon(scan, scan.l4Offset + 8, scan.end);
  else readInt(scan, scan.end);
  return scan.code;
}

/**
 * {@link readOuter} and {@link findInt}, for nodes that need sound INT.
 *
 * @returns `null` if the packet carries none
 * @throws CodecError for a malformed packet or malformed INT
 */
export function locate(packet: Uint8Array, options: LocateOptions): OuterPacket | null {
  const outer = readOuter(packet, options);
  if (outer === null) return null;
  const code = findInt(outer);
  if (code === CODES.NOT_INT) return null;
  return code === CODES.OK ? outer : fail(outer.scan);
}

/** A copy of `packet` with `remove` bytes at `at` replaced by `insert`. */
export function splice(packet: Uint8Array, at: number, remove: number, insert: Uint8Array): Uint8Array {
  const out = new Uint8Array(packet.length - remove + insert.length);
  out.set(packet.subarray(0, at));
  out.set(insert, at);
  out.set(packet.subarray(at + remove), at + insert.length);
  return out;
}

/** Offset of the field that names the transport protocol: that of IPv4, or the last Next Header of IPv6. */
export function protocolFieldAt(packet: Uint8Array, outer: OuterPacket): number {
  const { ipOffset, l4Offset } = outer.scan;
  if (!outer.ipv6) return ipOffset + 9;
  let field = ipOffset + 6;
  for (let at = ipOffset + 40; at < l4Offset; ) {
    const length = extensionLength(packet, packet[field]!, at);
    field = at;
    at += length;
  }
  return field;
}

/** DSCP of the IP header at `ipOffset`. */
export function readDscp(packet: Uint8Array, ipOffset: number): number {
  return packet[ipOffset]! >>> 4 === 6 ? (readUint16(packet, ipOffset) >>> 6) & 63 : packet[ipOffset + 1]! >>> 2;
}

/** Writes a DSCP, without a change of ECN. */
export function writeDscp(packet: Uint8Array, ipOffset: number, dscp: number): void {
  if (packet[ipOffset]! >>> 4 === 6) {
    writeUint16(packet, ipOffset, (readUint16(packet, ipOffset) & 0xf03f) | (dscp << 6));
  } else {
    packet[ipOffset + 1] = (dscp << 2) | (packet[ipOffset + 1]! & 3);
  }
}

/** Adds to a 16-bit length. 0 (jumbogram, segmentation offload) is no length and remains. */
function addLength(packet: Uint8Array, at: number, delta: number): void {
  const length = readUint16(packet, at);
  if (length !== 0) writeUint16(packet, at, length + delta);
}

/** Whether `delta` more bytes fit the length fields of IP (and UDP, which is never longer). */
export function fitsLengths({ scan, ipv6 }: OuterPacket, delta: number): boolean {
  return scan.ipEnd - scan.ipOffset - (ipv6 ? 40 : 0) + delta <= 0xffff;
}

/** Updates the IP length field, and the IPv4 header checksum for all changes of the header. */
export function settleIp(before: Uint8Array, after: Uint8Array, { scan, ipv6 }: OuterPacket, delta: number): void {
  const { ipOffset } = scan;
  if (ipv6) {
    addLength(after, ipOffset + 4, delta);
    return;
  }
  addLength(after, ipOffset + 2, delta);
  const length = (before[ipOffset]! & 15) * 4;
  const removed = sumRange(before, ipOffset, length);
  const added = sumRange(after, ipOffset, length);
  writeUint16(after, ipOffset + 10, updateChecksum(readUint16(after, ipOffset + 10), removed, added));
}

/** Offset of the checksum that covers INT: that of UDP, TCP or GRE. -1 if none is in use. */
export function checksumFieldAt(packet: Uint8Array, scan: Scan): number {
  const { l4Offset } = scan;
  switch (scan.l4Protocol) {
    case IP_PROTOCOL.UDP:
      return readUint16(packet, l4Offset + 6) === 0 ? -1 : l4Offset + 6;
    case IP_PROTOCOL.TCP:
      return l4Offset + 16;
    case IP_PROTOCOL.GRE:
      return (packet[l4Offset]! & 0x80) !== 0 ? l4Offset + 4 : -1;
    default:
      return -1;
  }
}

/** Sums of the words that a checksum covers, before and after a change. */
export interface ChangedSums {
  readonly removed: number;
  readonly added: number;
}

/**
 * Updates the UDP length. Returns the sums over the transport header and all bytes behind it, up to the end of the
 * change. Both sums contain the unchanged checksum field, which cancels out.
 *
 * @param cutBefore one past the last byte of `before` that differs
 * @param cutAfter the same place in `after`
 */
export function settleTransport(
  before: Uint8Array,
  after: Uint8Array,
  scan: Scan,
  cutBefore: number,
  cutAfter: number,
): ChangedSums {
  const { l4Offset, l4Protocol } = scan;
  const delta = cutAfter - cutBefore;
  if (l4Protocol === IP_PROTOCOL.UDP) addLength(after, l4Offset + 4, delta);
  // The pseudo header of UDP and TCP also has the length. GRE has no pseudo header.
  const pseudo = l4Protocol === IP_PROTOCOL.GRE ? 0 : delta;
  return {
    removed: sumRange(before, l4Offset, cutBefore - l4Offset, Math.max(0, -pseudo)),
    added: sumRange(after, l4Offset, cutAfter - l4Offset, Math.max(0, pseudo)),
  };
}

/** Updates the checksum that covers INT, if one is in use. */
export function settleChecksum(after: Uint8Array, scan: Scan, { removed, added }: ChangedSums): void {
  const at = checksumFieldAt(after, scan);
  if (at < 0) return;
  const checksum = readUint16(after, at);
  const update = scan.l4Protocol === IP_PROTOCOL.UDP ? updateUdpChecksum : updateChecksum;
  writeUint16(after, at, update(checksum, removed, added));
}
