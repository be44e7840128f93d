import { type Crc, standardCrc32 } from './crc.js';
import type { FlowColumns } from './flow-columns.js';

/*
 * The flow key: the 5-tuple of a packet as the bytes that switches and hosts hash. All fields are big-endian, and the
 * ports are the packet's own, never those of the INT encapsulation.
 *
 *   IPv4   source address 4 | destination address 4  | protocol 1 | source port 2 | destination port 2    13 bytes
 *   IPv6   source address 16 | destination address 16 | protocol 1 | source port 2 | destination port 2   37 bytes
 */

/** Bytes of an IPv4 flow key. */
export const FLOW_KEY_BYTES_IPV4 = 13;

/** Bytes of an IPv6 flow key. */
export const FLOW_KEY_BYTES_IPV6 = 37;

/** A 5-tuple. */
export interface Flow {
  /** Source address in network order: 4 bytes (IPv4) or 16 bytes (IPv6). */
  readonly source: Uint8Array;
  /** Destination address, of the same length. */
  readonly destination: Uint8Array;
  /** IP protocol number, 0..255. */
  readonly protocol: number;
  /** Source port, 0..65535; 0 for a protocol without ports. */
  readonly sourcePort: number;
  /** Destination port, 0..65535; 0 for a protocol without ports. */
  readonly destinationPort: number;
}

function checkRoom(out: Uint8Array, offset: number, length: number): void {
  if (!(Number.isInteger(offset) && offset >= 0 && offset + length <= out.length)) {
    throw new RangeError(`a key of ${length} bytes at offset ${offset}: not inside ${out.length} bytes`);
  }
}

function writeWord(out: Uint8Array, offset: number, word: number): void {
  out[offset] = word >>> 24;
  out[offset + 1] = word >>> 16;
  out[offset + 2] = word >>> 8;
  out[offset + 3] = word;
}

/**
 * Writes an IPv4 flow key. Numbers are taken modulo the width of their field.
 *
 * @param out the bytes to write into
 * @param offset offset of the key's first byte
 * @param source source address as a big-endian word: 10.0.1.1 is 0x0a000101
 * @param destination destination address, likewise
 * @param protocol IP protocol number
 * @param ports source port in bits 31..16, destination port in bits 15..0
 * @returns the bytes written, 13
 * @throws RangeError if 13 bytes do not fit; nothing is written then
 */
export function writeFlowKeyIpv4(
  out: Uint8Array,
  offset: number,
  source: number,
  destination: number,
  protocol: number,
  ports: number,
): number {
  checkRoom(out, offset, FLOW_KEY_BYTES_IPV4);
  writeWord(out, offset, source);
  writeWord(out, offset + 4, destination);
  out[offset + 8] = protocol;
  writeWord(out, offset + 9, ports);
  return FLOW_KEY_BYTES_IPV4;
}

/**
 * Writes an IPv6 flow key. Numbers are taken modulo the width of their field.
 *
 * @param out the bytes to write into
 * @param offset offset of the key's first byte
 * @param source0 bits 127..96 of the source address; `source1` to `source3` follow
 * @param destination0 bits 127..96 of the destination address; `destination1` to `destination3` follow
 * @param protocol IP protocol number
 * @param ports source port in bits 31..16, destination port in bits 15..0
 * @returns the bytes written, 37
 * @throws RangeError if 37 bytes do not fit; nothing is written then
 */
export function writeFlowKeyIpv6(
  out: Uint8Array,
  offset: number,
  source0: number,
  source1: number,
  source2: number,
  source3: number,
  destination0: number,
  destination1: number,
  destination2: number,
  destination3: number,
  protocol: number,
  ports: number,
): number {
  checkRoom(out, offset, FLOW_KEY_BYTES_IPV6);
  writeWord(out, offset, source0);
  writeWord(out, offset + 4, source1);
  writeWord(out, offset + 8, source2);
  writeWord(out, offset + 12, source3);
  writeWord(out, offset + 16, destination0);
  writeWord(out, offset + 20, destination1);
  writeWord(out, offset + 24, destination2);
  writeWord(out, offset + 28, destination3);
  out[offset + 32] = protocol;
  writeWord(out, offset + 33, ports);
  return FLOW_KEY_BYTES_IPV6;
}

/**
 * The flow key of a 5-tuple, in bytes of its own.
 *
 * @param flow the 5-tuple; both addresses of 4 bytes, or both of 16
 * @returns 13 bytes for IPv4, 37 for IPv6
 * @throws RangeError if an address is of another length, the two differ in length, or a number is out of its range
 */
export function encodeFlowKey(flow: Flow): Uint8Array {
  const { source, destination, protocol, sourcePort, destinationPort } = flow;
  const size = source.length;
  if ((size !== 4 && size !== 16) || destination.length !== size) {
    throw new RangeError(`addresses must both have 4 bytes or both 16, not ${size} and ${destination.length}`);
  }
  checkNumber('protocol', protocol, 0xff);
  checkNumber('sourcePort', sourcePort, 0xffff);
  checkNumber('destinationPort', destinationPort, 0xffff);
  const key = new Uint8Array(2 * size + 5);
  key.set(source, 0);
  key.set(destination, size);
  key[2 * size] = protocol;
  writeWord(key, 2 * size + 1, (sourcePort << 16) | destinationPort);
  return key;
}

function checkNumber(name: string, value: number, limit: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= limit)) {
    throw new RangeError(`${name} must be a whole number from 0 to ${limit}, not ${value}`);
  }
}

/**
 * CRC-32 of an IPv4 flow key: the flow hash that the data plane computes with v1model's `crc32` over the same five
 * fields. 10.0.1.1 to 10.0.2.2, protocol 17, ports 5000 to 80 gives 0xcf7ff369. Parameters: see {@link Crc.flowIpv4}.
 */
export function flowCrc32Ipv4(source: number, destination: number, protocol: number, ports: number): number {
  return standardCrc32().flowIpv4(source, destination, protocol, ports);
}

/**
 * CRC-32 of an IPv6 flow key. 2001:db8::1 to 2001:db8::2, protocol 17, ports 40000 to 5000 gives 0x925b5908.
 * Parameters: see {@link Crc.flowIpv6}.
 */
export function flowCrc32Ipv6(
  source0: number,
  source1: number,
  source2: number,
  source3: number,
  destination0: number,
  destination1: number,
  destination2: number,
  destination3: number,
  protocol: number,
  ports: number,
): number {
  return standardCrc32().flowIpv6(
    source0,
    source1,
    source2,
    source3,
    destination0,
    destination1,
    destination2,
    destination3,
    protocol,
    ports,
  );
}

/**
 * CRC-32 of the flow keys in a range of rows, as {@link Crc.flowColumns} writes it. For another CRC use that method.
 */
export function flowCrc32Columns(columns: FlowColumns, from: number, to: number, out: Uint32Array): void {
  standardCrc32().flowColumns(columns, from, to, out);
}
