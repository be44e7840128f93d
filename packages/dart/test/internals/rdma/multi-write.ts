/** Multi-slot write packets as objects (MULTI-WRITE.md): the header that follows the BTH, and the payload. */
import {
  MOST_ADDRESSES,
  MULTI_WRITE_FIXED_BYTES,
  MULTI_WRITE_VERSION,
  multiWriteHeaderLength,
} from '../../../src/rdma/multi-write.js';

/** A multi-slot write after its BTH, without pad bytes. */
export interface MultiWrite {
  /** 32 bits. */
  remoteKey: number;
  /** 1..8 virtual addresses of 64 bits. */
  addresses: readonly bigint[];
  /** 1..65535 bytes. */
  payload: Uint8Array;
}

/**
 * Writes header and payload, without pad bytes.
 *
 * @returns bytes written
 * @throws RangeError for a number out of its range, or if `out` is too short
 */
export function encodeMultiWrite(value: MultiWrite, out: Uint8Array, offset = 0): number {
  const { remoteKey, addresses, payload } = value;
  if (!(addresses.length >= 1 && addresses.length <= MOST_ADDRESSES)) {
    throw new RangeError(`${addresses.length} addresses: 1 to ${MOST_ADDRESSES} are possible`);
  }
  if (!(payload.length >= 1 && payload.length <= 0xffff)) throw new RangeError(`${payload.length} bytes of payload`);
  if (!(Number.isInteger(remoteKey) && remoteKey >= 0 && remoteKey < 2 ** 32)) {
    throw new RangeError(`remoteKey must be a whole number of 32 bits, not ${remoteKey}`);
  }
  const wide = addresses.find((address) => BigInt.asUintN(64, address) !== address);
  if (wide !== undefined) throw new RangeError(`address ${wide} does not fit 64 bits`);
  const headerLength = multiWriteHeaderLength(addresses.length);
  const length = headerLength + payload.length;
  if (!(Number.isInteger(offset) && offset >= 0 && offset + length <= out.length)) {
    throw new RangeError(`${length} bytes at ${offset} do not fit into ${out.length} bytes`);
  }
  const view = new DataView(out.buffer, out.byteOffset + offset, length);
  view.setUint8(0, MULTI_WRITE_VERSION);
  view.setUint8(1, addresses.length);
  view.setUint16(2, payload.length);
  view.setUint32(4, remoteKey);
  addresses.forEach((address, at) => {
    view.setBigUint64(MULTI_WRITE_FIXED_BYTES + 8 * at, address);
  });
  out.set(payload, offset + headerLength);
  return length;
}

/**
 * Reads header and payload.
 *
 * @param bytes from the end of the BTH on; bytes after the payload (padding, iCRC) are ignored
 * @returns the multi-slot write, whose payload is a view of `bytes`; null if these bytes are not one
 */
export function decodeMultiWrite(bytes: Uint8Array, offset = 0): MultiWrite | null {
  if (!(Number.isInteger(offset) && offset >= 0 && bytes.length - offset >= MULTI_WRITE_FIXED_BYTES)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, bytes.length - offset);
  const count = view.getUint8(1);
  const length = view.getUint16(2);
  const headerLength = multiWriteHeaderLength(count);
  if (view.getUint8(0) !== MULTI_WRITE_VERSION || count < 1 || count > MOST_ADDRESSES || length === 0) return null;
  if (view.byteLength < headerLength + length) return null;
  const addresses = Array.from({ length: count }, (_, at) => view.getBigUint64(MULTI_WRITE_FIXED_BYTES + 8 * at));
  const from = offset + headerLength;
  return { remoteKey: view.getUint32(4), addresses, payload: bytes.subarray(from, from + length) };
}
