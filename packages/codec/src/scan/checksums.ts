/** Verifies the checksums of a packet. */
import { ipv4HeaderChecksum, isValidSum, pseudoHeaderSum, sumRange } from '../checksum.js';
import { CODES } from '../codes.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import type { Scan } from './state.js';

/**
 * Checks the IPv4 header checksum, and the UDP or TCP checksum if the packet is complete.
 * A UDP checksum of 0 means 'none' (RFC 768; RFC 6936 for IPv6).
 * @returns false if one is wrong; the scan then holds BAD_CHECKSUM
 */
export function verifyChecksums(scan: Scan, end: number): boolean {
  const { bytes, view, ipOffset, l4Offset, l4Protocol } = scan;
  if (!scan.ipv6) {
    const headerLength = (view.getUint8(ipOffset) & 15) * 4;
    if (ipv4HeaderChecksum(bytes, ipOffset, headerLength) !== view.getUint16(ipOffset + 10)) {
      return scan.fail(CODES.BAD_CHECKSUM, 'ipv4', ipOffset + 10);
    }
  }
  if (scan.ipEnd > end) return true;
  if (l4Protocol === IP_PROTOCOL.UDP) {
    const length = view.getUint16(l4Offset + 4);
    if (view.getUint16(l4Offset + 6) === 0 || length < 8 || l4Offset + length > scan.ipEnd) return true;
    const sum = sumRange(bytes, l4Offset, length, pseudoHeaderSum(bytes, ipOffset, l4Protocol, length));
    if (!isValidSum(sum)) return scan.fail(CODES.BAD_CHECKSUM, 'udp', l4Offset + 6);
  } else if (l4Protocol === IP_PROTOCOL.TCP) {
    const length = scan.ipEnd - l4Offset;
    const sum = sumRange(bytes, l4Offset, length, pseudoHeaderSum(bytes, ipOffset, l4Protocol, length));
    if (!isValidSum(sum)) return scan.fail(CODES.BAD_CHECKSUM, 'tcp', l4Offset + 16);
  }
  return true;
}
