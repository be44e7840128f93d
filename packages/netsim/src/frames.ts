/** Ethernet II / IPv4 / UDP frames: makes and reads the frames of hosts and switches. */
import { ipv4HeaderChecksum, udpChecksum } from '@int/codec/internals';
import { checkInteger } from './checks.js';

/** Bytes before the UDP payload, in frames without IPv4 options. */
export const UDP_HEADERS_BYTES = 42;

const MOST_PAYLOAD = 0xffff - 28;

/** A UDP datagram and the headers around it. Addresses are 32-bit words: 0x0a000001 is 10.0.0.1. */
export interface UdpFrameOptions {
  readonly source: number;
  readonly destination: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** 0 to 63. Default: 0. */
  readonly dscp?: number;
  /** 1 to 255. Default: 64. */
  readonly ttl?: number;
  /** Whether to compute the UDP checksum; otherwise it is 0, which means none. Default: false. */
  readonly checksum?: boolean;
}

/**
 * Makes an Ethernet frame. A MAC address is 02:00 and the IPv4 address.
 *
 * @param payload up to 65,507 bytes, which are copied
 * @throws RangeError for a port, DSCP or length out of range
 */
export function udpFrame(options: UdpFrameOptions, payload: Uint8Array): Uint8Array {
  const { source, destination, dscp = 0, ttl = 64 } = options;
  const { length } = payload;
  checkInteger('payload.length', length, 0, MOST_PAYLOAD);
  const out = new Uint8Array(UDP_HEADERS_BYTES + length);
  out[0] = 2;
  put32(out, 2, destination);
  out[6] = 2;
  put32(out, 8, source);
  out[12] = 0x08;
  out[14] = 0x45;
  out[15] = checkInteger('dscp', dscp, 0, 63) << 2;
  put16(out, 16, 28 + length);
  out[22] = checkInteger('ttl', ttl, 1, 255);
  out[23] = 17;
  put32(out, 26, source);
  put32(out, 30, destination);
  put16(out, 24, ipv4HeaderChecksum(out, 14));
  put16(out, 34, checkInteger('sourcePort', options.sourcePort, 0, 0xffff));
  put16(out, 36, checkInteger('destinationPort', options.destinationPort, 0, 0xffff));
  put16(out, 38, 8 + length);
  out.set(payload, UDP_HEADERS_BYTES);
  if (options.checksum === true) put16(out, 40, udpChecksum(out, 14, 34, 8 + length));
  return out;
}

/** Whether a frame is Ethernet II with an IPv4 header that lies within it. */
export function isIpv4(frame: Uint8Array): boolean {
  return frame.length >= 34 && frame[12] === 0x08 && frame[13] === 0 && frame[14]! >>> 4 === 4;
}

/** IPv4 destination, a signed 32-bit word, of a frame for which {@link isIpv4} holds. */
export function destinationWord(frame: Uint8Array): number {
  return (frame[30]! << 24) | (frame[31]! << 16) | (frame[32]! << 8) | frame[33]!;
}

/** IPv4 source, a signed 32-bit word, of a frame for which {@link isIpv4} holds. */
export function sourceWord(frame: Uint8Array): number {
  return (frame[26]! << 24) | (frame[27]! << 16) | (frame[28]! << 8) | frame[29]!;
}

/** DSCP of a frame for which {@link isIpv4} holds. */
export function dscpOf(frame: Uint8Array): number {
  return frame[15]! >>> 2;
}

/**
 * Offset in bytes of the UDP header of a frame for which {@link isIpv4} holds.
 *
 * @returns -1 if the packet is not UDP, is a fragment, or has lengths that contradict the frame's
 */
export function udpOffset(frame: Uint8Array): number {
  const headerBytes = (frame[14]! & 15) << 2;
  const at = 14 + headerBytes;
  if (frame[23] !== 17 || headerBytes < 20 || at + 8 > frame.length) return -1;
  if (((frame[20]! & 0x3f) | frame[21]!) !== 0) return -1;
  const total = uint16(frame, 16);
  const length = uint16(frame, at + 4);
  return length < 8 || headerBytes + length > total || 14 + total > frame.length ? -1 : at;
}

/** UDP payload after the header at `offset`, a result of {@link udpOffset}: a view, not a copy. */
export function payloadAt(frame: Uint8Array, offset: number): Uint8Array {
  return frame.subarray(offset + 8, offset + uint16(frame, offset + 4));
}

/**
 * UDP payload of a frame: a view, not a copy.
 *
 * @returns null if the frame is not Ethernet II / IPv4 / UDP, or is damaged
 */
export function udpPayload(frame: Uint8Array): Uint8Array | null {
  const offset = isIpv4(frame) ? udpOffset(frame) : -1;
  return offset < 0 ? null : payloadAt(frame, offset);
}

export function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

function put16(out: Uint8Array, at: number, value: number): void {
  out[at] = value >>> 8;
  out[at + 1] = value;
}

function put32(out: Uint8Array, at: number, value: number): void {
  put16(out, at, value >>> 16);
  put16(out, at + 2, value);
}
