/** RoCEv2 headers (InfiniBand Architecture Specification volume 1, chapter 9 and annex A17), UDP port 4791. */
import { crc32 } from '@int/hash';
import { CodecError } from '../errors.js';
import { fixedHeader, type HeaderOf, readUint16, requireBytes } from './codec.js';

/** UDP destination port of RoCEv2. */
export const ROCE_PORT = 4791;

/** BTH opcodes of RDMA WRITE and of atomics. RC: reliable connection; UC: unreliable connection. */
export const ROCE_OPCODE = {
  RC_WRITE_FIRST: 0x06,
  RC_WRITE_MIDDLE: 0x07,
  RC_WRITE_LAST: 0x08,
  RC_WRITE_LAST_IMMEDIATE: 0x09,
  RC_WRITE_ONLY: 0x0a,
  RC_WRITE_ONLY_IMMEDIATE: 0x0b,
  RC_ACKNOWLEDGE: 0x11,
  RC_ATOMIC_ACKNOWLEDGE: 0x12,
  RC_COMPARE_SWAP: 0x13,
  RC_FETCH_ADD: 0x14,
  UC_WRITE_FIRST: 0x26,
  UC_WRITE_MIDDLE: 0x27,
  UC_WRITE_LAST: 0x28,
  UC_WRITE_LAST_IMMEDIATE: 0x29,
  UC_WRITE_ONLY: 0x2a,
  UC_WRITE_ONLY_IMMEDIATE: 0x2b,
} as const;

/**
 * Base transport header, 12 bytes. 16 bits: `partitionKey`; 6 bits: `reserved`; 24 bits: `destinationQp`; 7 bits:
 * `reserved2`.
 * @interface
 */
export type Bth = HeaderOf<typeof bth>;

/** {@link Bth}. */
export const bth = /* @__PURE__ */ fixedHeader('roce', {
  /** 8 bits, see {@link ROCE_OPCODE}. */
  opcode: 8,
  /** SE: solicited event. */
  solicitedEvent: 'flag',
  /** M: migration state. */
  migrated: 'flag',
  /** 2 bits: pad bytes behind the payload. */
  padCount: 2,
  /** 4 bits: 0. */
  transportVersion: 4,
  partitionKey: 16,
  fecn: 'flag',
  becn: 'flag',
  reserved: 6,
  destinationQp: 24,
  acknowledgeRequest: 'flag',
  reserved2: 7,
  /** 24 bits: packet sequence number. */
  psn: 24,
});

/**
 * RDMA extended transport header, 16 bytes. 32 bits: `remoteKey`.
 * @interface
 */
export type Reth = HeaderOf<typeof reth>;

/** {@link Reth}. */
export const reth = /* @__PURE__ */ fixedHeader('roce', {
  virtualAddress: 'uint64',
  remoteKey: 32,
  /** 32 bits, bytes without padding. */
  dmaLength: 32,
});

/**
 * Atomic extended transport header, 28 bytes. 32 bits: `remoteKey`.
 * @interface
 */
export type AtomicEth = HeaderOf<typeof atomicEth>;

/** {@link AtomicEth}. */
export const atomicEth = /* @__PURE__ */ fixedHeader('roce', {
  virtualAddress: 'uint64',
  remoteKey: 32,
  /** 64 bits: value to swap in (COMPARE&SWAP) or to add (FETCH&ADD). */
  swapOrAdd: 'uint64',
  /** 64 bits: value to compare with (COMPARE&SWAP). */
  compare: 'uint64',
});

/**
 * Acknowledge extended transport header, 4 bytes. 8 bits: `syndrome`.
 * @interface
 */
export type Aeth = HeaderOf<typeof aeth>;

/** {@link Aeth}. */
export const aeth = /* @__PURE__ */ fixedHeader('roce', {
  syndrome: 8,
  /** 24 bits: message sequence number. */
  msn: 24,
});

/**
 * Immediate data, 4 bytes. 32 bits: `value`.
 * @interface
 */
export type ImmDt = HeaderOf<typeof immDt>;

/** {@link ImmDt}. */
export const immDt = /* @__PURE__ */ fixedHeader('roce', {
  value: 32,
});

/** Eight bytes of ones, which replace the InfiniBand local route header, then up to 60 + 8 + 12 bytes of headers. */
const MASKED = /* @__PURE__ */ new Uint8Array(8 + 60 + 8 + 12).fill(0xff, 0, 8);

/**
 * The invariant CRC of a RoCEv2 packet: the CRC-32 in which ones replace the fields that routers may change.
 *
 * @param packet contains the bytes from the IP header to the end of the padding, without the iCRC
 * @param offset where the IP header starts, default 0
 * @param length bytes to cover, default up to the end of `packet`
 * @returns 32 bits; on the wire the least significant byte comes first
 * @throws CodecError `TRUNCATED`, `BAD_IP_VERSION`, `BAD_IP_LENGTH`
 */
export function icrc(packet: Uint8Array, offset = 0, length: number = packet.length - offset): number {
  requireBytes(packet, offset, Math.max(length, 1), 'roce');
  const version = packet[offset]! >>> 4;
  if (version !== 4 && version !== 6) throw new CodecError('BAD_IP_VERSION', 'roce', offset, `IP version ${version}`);
  const ipLength = version === 4 ? (packet[offset]! & 15) * 4 : 40;
  if (ipLength < 20) throw new CodecError('BAD_IP_LENGTH', 'ipv4', offset, `header length ${ipLength} bytes`);
  const headers = ipLength + 8 + 12;
  if (length < headers) throw new CodecError('TRUNCATED', 'roce', offset, `${headers} bytes needed, ${length} there`);
  MASKED.set(packet.subarray(offset, offset + headers), 8);
  if (version === 4) {
    MASKED[8 + 1] = 0xff;
    MASKED.fill(0xff, 8 + 8, 8 + 9);
    MASKED.fill(0xff, 8 + 10, 8 + 12);
  } else {
    MASKED[8]! |= 0x0f;
    MASKED.fill(0xff, 8 + 1, 8 + 4);
    MASKED[8 + 7] = 0xff;
  }
  MASKED.fill(0xff, 8 + ipLength + 6, 8 + ipLength + 8);
  MASKED[8 + ipLength + 8 + 4] = 0xff;
  return crc32(packet, offset + headers, length - headers, crc32(MASKED, 0, 8 + headers)) >>> 0;
}

/**
 * Writes an iCRC, least significant byte first.
 *
 * @returns 4
 */
export function writeIcrc(value: number, out: Uint8Array, offset: number): number {
  out[offset] = value;
  out[offset + 1] = value >>> 8;
  out[offset + 2] = value >>> 16;
  out[offset + 3] = value >>> 24;
  return 4;
}

/**
 * Whether the last four bytes of a RoCEv2 packet are its iCRC.
 *
 * @param packet an IP packet; bytes behind its IP total length are ignored
 * @param offset where the IP header starts, default 0
 * @throws CodecError `TRUNCATED`, `BAD_IP_VERSION`, `BAD_IP_LENGTH`
 */
export function verifyIcrc(packet: Uint8Array, offset = 0): boolean {
  requireBytes(packet, offset, 20, 'roce');
  const version6 = packet[offset]! >>> 4 === 6;
  const length = version6 ? 40 + readUint16(packet, offset + 4) : readUint16(packet, offset + 2);
  requireBytes(packet, offset, length, 'roce');
  if (length < 4) throw new CodecError('BAD_IP_LENGTH', 'roce', offset, `total length ${length} bytes`);
  const end = offset + length - 4;
  const carried = (packet[end]! | (packet[end + 1]! << 8) | (packet[end + 2]! << 16) | (packet[end + 3]! << 24)) >>> 0;
  return icrc(packet, offset, length - 4) === carried;
}
