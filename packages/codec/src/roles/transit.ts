/** The transit role: one hop pushes its metadata (wire format sections 4.4, 5.2, 7 and 8). */
import { checksumComplement } from '../checksum.js';
import { copyOf } from '../copy.js';
import { readUint16, requireFit, writeUint16, writeUint32 } from '../headers/codec.js';
import { hopBlock } from '../headers/hop.js';
import type { Hop } from '../model.js';
import { LAYOUT } from '../plan.js';
import type { RoleReason, TransitConfig, TransitResult } from './config.js';
import {
  checksumFieldAt,
  ENCAPSULATION,
  fitsLengths,
  locate,
  MODE,
  type OuterPacket,
  settleChecksum,
  settleIp,
  settleTransport,
  splice,
  VERSION,
} from './packet.js';

/** Whether the last word of each block is a Checksum Complement. */
export function endsInComplement(layout: number, bitmap: number): boolean {
  return (layout === LAYOUT.V2 || layout === LAYOUT.V10) && (bitmap & 1) !== 0;
}

/** Mask of E in byte 0 of the header. */
function hopExceededMask(version: number): number {
  return version === VERSION.V2 || version === VERSION.INTMON ? 0x04 : 0x01;
}

/** Sets E or M in place. v0.5 and the 2016 header have no M. */
function setExceeded(packet: Uint8Array, { scan }: OuterPacket, flag: 'E' | 'M'): void {
  const { intOffset, intVersion } = scan;
  if (flag === 'E') packet[intOffset]! |= hopExceededMask(intVersion);
  else if (intVersion === VERSION.V2) packet[intOffset]! |= 0x02;
  else if (intVersion === VERSION.V10) packet[intOffset + 1]! |= 0x80;
}

/** Number of hops that may still push. v0.5 and the 2016 header count the hops that have pushed. */
function hopsLeft(packet: Uint8Array, { scan }: OuterPacket): number {
  const { intOffset, intVersion } = scan;
  return intVersion === VERSION.V2 || intVersion === VERSION.V10
    ? packet[intOffset + 3]!
    : Math.max(0, packet[intOffset + 2]! - packet[intOffset + 3]!);
}

/** Where the carrier has its length in words, and the mask of that length. IntMon counts bytes instead. */
function carrierLength({ scan }: OuterPacket): { at: number; mask: number } {
  const { shimOffset, encapsulation, intVersion } = scan;
  if (encapsulation === ENCAPSULATION.GENEVE) return { at: shimOffset + 3, mask: 0x1f };
  return { at: shimOffset + (intVersion === VERSION.V2 ? 1 : 2), mask: 0xff };
}

/** Whether the length fields of the carrier have room for `words` more. */
function carrierHasRoom(packet: Uint8Array, outer: OuterPacket, words: number): boolean {
  const { scan } = outer;
  if (!fitsLengths(outer, words * 4)) return false;
  if (scan.intVersion === VERSION.INTMON) return readUint16(packet, scan.intOffset + 8) + words * 4 <= 0xffff;
  const { at, mask } = carrierLength(outer);
  if ((packet[at]! & mask) + words > mask) return false;
  return scan.encapsulation !== ENCAPSULATION.GENEVE || (packet[scan.l4Offset + 8]! & 0x3f) + words <= 0x3f;
}

function growCarrier(packet: Uint8Array, outer: OuterPacket, words: number): void {
  const { scan } = outer;
  if (scan.intVersion === VERSION.INTMON) {
    const at = scan.intOffset + 8;
    writeUint16(packet, at, readUint16(packet, at) + words * 4);
    return;
  }
  packet[carrierLength(outer).at]! += words;
  if (scan.encapsulation === ENCAPSULATION.GENEVE) packet[scan.l4Offset + 8]! += words;
}

/** Sets a flag and updates the checksum; nothing is pushed. */
function flagged(packet: Uint8Array, outer: OuterPacket, flag: 'E' | 'M', reason: RoleReason): TransitResult {
  const { scan } = outer;
  const out = copyOf(packet);
  setExceeded(out, outer, flag);
  settleChecksum(out, scan, settleTransport(packet, out, scan, scan.intEnd, scan.intEnd));
  return { packet: out, pushed: false, reason };
}

/**
 * Pushes one hop's metadata, as a transit node does: all that the header asks for, or nothing.
 *
 * Values that the bitmap selects and `metadata` lacks are written as all ones, also domain-specific bytes. The function
 * itself computes the Checksum Complement. It updates Remaining Hop Count (v0.5: Total Hop Count), the lengths of
 * carrier, IP and UDP, the IPv4 header checksum and the UDP, TCP or GRE checksum; a UDP checksum of 0 remains 0. It
 * does not change the TTL, which is a task of forwarding.
 *
 * @param packet an Ethernet frame without frame check sequence
 * @param metadata the node's values; `null` if it has none
 * @returns a new packet; if nothing was pushed, the reason
 * @throws CodecError for a packet that is cut, or for malformed INT (pass such a packet on unchanged); RangeError for
 *   metadata or options out of range
 */
export function transit(packet: Uint8Array, config: TransitConfig, metadata: Hop | null): TransitResult {
  if (config.mtu !== undefined) requireFit('mtu', config.mtu, 32);
  const outer = locate(packet, config);
  const unchanged = (reason: RoleReason): TransitResult => ({ packet: copyOf(packet), pushed: false, reason });
  if (outer === null) return unchanged('not-int');
  const { scan } = outer;
  if (scan.mode === MODE.MX) return unchanged('int-mx');
  if (outer.fragment) return unchanged('fragment');
  const left = hopsLeft(packet, outer);
  if (left === 0) return flagged(packet, outer, 'E', 'hop-count');
  const words = scan.stride;
  if (words === 0) return unchanged('no-instructions');
  if (metadata === null) return unchanged('no-metadata');
  const delta = words * 4;
  if (!carrierHasRoom(packet, outer, words)) return unchanged('length');
  if (scan.ipEnd - scan.ipOffset + delta > (config.mtu ?? Number.POSITIVE_INFINITY)) {
    return flagged(packet, outer, 'M', 'mtu');
  }
  return { packet: push(packet, outer, config, metadata), pushed: true, reason: null };
}

function push(packet: Uint8Array, outer: OuterPacket, config: TransitConfig, metadata: Hop): Uint8Array {
  const { scan } = outer;
  const { stackOffset, stride, layout, bitmap, intOffset } = scan;
  const delta = stride * 4;
  const complement = endsInComplement(layout, bitmap);
  const codec = hopBlock(layout, bitmap, {
    domainBytes: scan.domainWords * 4,
    // The 2016 stack marks its last value. This block has it only if there is no other block.
    bottomOfStack: scan.hopCount === 0,
  });
  const block = codec.encode(complement ? { ...metadata, checksumComplement: null } : metadata);
  const out = splice(packet, stackOffset, 0, block);
  growCarrier(out, outer, stride);
  if (scan.intVersion === VERSION.V2 || scan.intVersion === VERSION.V10) out[intOffset + 3]! -= 1;
  else out[intOffset + 3]! += 1;
  settleIp(packet, out, outer, delta);
  const neutral = config.checksum === 'complement' && complement && checksumFieldAt(packet, scan) >= 0;
  settleSums(packet, out, outer, delta, neutral ? stackOffset + delta - 4 : -1);
  return out;
}

/**
 * Updates UDP length and checksum, or cancels the change by a Checksum Complement.
 *
 * @param complementAt where to write a Checksum Complement; -1 to update the checksum field instead
 */
export function settleSums(
  before: Uint8Array,
  after: Uint8Array,
  outer: OuterPacket,
  delta: number,
  complementAt: number,
  cutBefore = outer.scan.intEnd,
): void {
  const { scan } = outer;
  if (complementAt >= 0) writeUint32(after, complementAt, 0);
  const sums = settleTransport(before, after, scan, cutBefore, cutBefore + delta);
  if (complementAt >= 0) writeUint32(after, complementAt, checksumComplement(sums.removed, sums.added));
  else settleChecksum(after, scan, sums);
}
