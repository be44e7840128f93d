/**
 * The internet checksum (RFC 1071) and what INT needs around it (wire format section 8).
 *
 * All functions work on 16-bit one's complement sums, which are plain numbers, and allocate nothing. A *sum* is what
 * has been added so far. A *checksum* is what stands in a header: the inverted sum. One's complement arithmetic is
 * arithmetic modulo 65,535 with two zeros, 0x0000 and 0xffff. Only a sum of zeros alone is 0x0000.
 */

/** Bytes to add before folding: the sum of 2^14 words below 2^16 stays below 2^31. */
const CHUNK = 32_768;

/**
 * Folds a sum into 16 bits: it adds the carries back in.
 *
 * @param sum an integer from 0 to 2^53
 * @returns 0 to 0xffff; 0 only for 0
 */
export function foldSum(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded % 0x1_0000) + Math.floor(folded / 0x1_0000);
  return folded;
}

/** One's complement addition of two 16-bit values. */
export function addOnesComplement(a: number, b: number): number {
  const sum = a + b;
  return sum > 0xffff ? sum - 0xffff : sum;
}

/** One's complement subtraction: `a + ~b`. */
export function subtractOnesComplement(a: number, b: number): number {
  return addOnesComplement(a, ~b & 0xffff);
}

/**
 * The folded sum of a byte range, read as big-endian 16-bit words. An odd last byte is the upper half of a word.
 *
 * @param bytes where the range lies
 * @param offset first byte
 * @param length bytes to add; the range must lie inside `bytes`
 * @param initial a sum to add to, default 0
 * @returns 0 to 0xffff
 */
export function sumRange(bytes: Uint8Array, offset: number, length: number, initial = 0): number {
  const end = offset + length;
  let sum = foldSum(initial);
  let position = offset;
  while (end - position > 1) {
    const stop = Math.min(end - 1, position + CHUNK);
    for (; position < stop; position += 2) sum += (bytes[position]! << 8) | bytes[position + 1]!;
    sum = (sum & 0xffff) + (sum >>> 16);
  }
  if (position < end) sum += bytes[position]! << 8;
  sum = (sum & 0xffff) + (sum >>> 16);
  return (sum & 0xffff) + (sum >>> 16);
}

/**
 * The sum of the pseudo header of IPv4 (RFC 768, RFC 9293) or IPv6 (RFC 8200 section 8.1).
 *
 * @param bytes a packet
 * @param ipOffset first byte of its IP header, from which version and addresses are read
 * @param protocol IP protocol of what follows
 * @param length bytes of what follows: UDP header or TCP header, and payload
 */
export function pseudoHeaderSum(bytes: Uint8Array, ipOffset: number, protocol: number, length: number): number {
  return bytes[ipOffset]! >>> 4 === 6
    ? sumRange(bytes, ipOffset + 8, 32, protocol + length)
    : sumRange(bytes, ipOffset + 12, 8, protocol + length);
}

/**
 * The checksum of an IPv4 header, its checksum field taken as zero.
 *
 * @param headerLength bytes, 20 to 60
 */
export function ipv4HeaderChecksum(bytes: Uint8Array, ipOffset: number, headerLength = 20): number {
  const field = (bytes[ipOffset + 10]! << 8) | bytes[ipOffset + 11]!;
  return ~subtractOnesComplement(sumRange(bytes, ipOffset, headerLength), field) & 0xffff;
}

/** The value to send for a computed UDP checksum: 0xffff for 0, because 0 on the wire means 'none' (RFC 768). */
export function udpChecksumField(checksum: number): number {
  return checksum === 0 ? 0xffff : checksum;
}

/**
 * A UDP checksum ready to be written; the checksum field in `bytes` is taken as zero.
 *
 * @param ipOffset where the IP header starts, version 4 or 6
 * @param udpOffset where the UDP header starts
 * @param length UDP header and payload, bytes
 * @returns 1 to 0xffff
 */
export function udpChecksum(bytes: Uint8Array, ipOffset: number, udpOffset: number, length: number): number {
  const field = (bytes[udpOffset + 6]! << 8) | bytes[udpOffset + 7]!;
  const sum = sumRange(bytes, udpOffset, length, pseudoHeaderSum(bytes, ipOffset, 17, length));
  return udpChecksumField(~subtractOnesComplement(sum, field) & 0xffff);
}

/**
 * A TCP checksum ready to be written; the checksum field in `bytes` is taken as zero.
 *
 * @param ipOffset where the IP header starts, version 4 or 6
 * @param tcpOffset where the TCP header starts
 * @param length TCP header and payload, bytes
 * @returns 0 to 0xffff
 */
export function tcpChecksum(bytes: Uint8Array, ipOffset: number, tcpOffset: number, length: number): number {
  const field = (bytes[tcpOffset + 16]! << 8) | bytes[tcpOffset + 17]!;
  const sum = sumRange(bytes, tcpOffset, length, pseudoHeaderSum(bytes, ipOffset, 6, length));
  return ~subtractOnesComplement(sum, field) & 0xffff;
}

/**
 * The checksum after some of the words that it covers have changed (RFC 1624, equation 3). An error that was there
 * before remains visible.
 *
 * @param checksum the field as it stands
 * @param removed sum of the old words
 * @param added sum of the new words
 */
export function updateChecksum(checksum: number, removed: number, added: number): number {
  return ~addOnesComplement(subtractOnesComplement(~checksum & 0xffff, removed), added) & 0xffff;
}

/** {@link updateChecksum} for UDP: 0 (no checksum) remains 0, and a result of 0 becomes 0xffff. */
export function updateUdpChecksum(checksum: number, removed: number, added: number): number {
  return checksum === 0 ? 0 : udpChecksumField(updateChecksum(checksum, removed, added));
}

/** Whether the sum over a range, its checksum and its pseudo header is a one's complement zero: it shows no error. */
export function isValidSum(sum: number): boolean {
  return sum === 0xffff || sum === 0;
}

/**
 * The INT Checksum Complement (INT v2.1 section 5.6) that cancels a change of the packet, so that an existing checksum
 * remains right.
 *
 * The lower half holds the 16-bit correction and the upper half is 0. So the word is never all ones, which means 'not
 * used'.
 *
 * @param removed sum of the covered words before
 * @param added sum of the covered words after, the complement itself taken as 0
 * @returns 0x0000xxxx
 */
export function checksumComplement(removed: number, added: number): number {
  return subtractOnesComplement(removed, added);
}
