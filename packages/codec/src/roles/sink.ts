/** The sink role: removes INT and restores the packet (wire format chapters 3, 4.4 and 8). */
import { FLAG } from '../columns.js';
import { copyOf } from '../copy.js';
import { CodecError } from '../errors.js';
import { readUint16, writeUint16 } from '../headers/codec.js';
import { IP_PROTOCOL } from '../headers/ip.js';
import { ETHER_TYPE } from '../headers/link.js';
import { TUNNEL_PORT } from '../headers/tunnels.js';
import { recordOf } from '../record.js';
import { MARKING, type Scan } from '../scan/state.js';
import type { SinkConfig, SinkResult } from './config.js';
import {
  ENCAPSULATION,
  locate,
  type OuterPacket,
  protocolFieldAt,
  settleChecksum,
  settleIp,
  settleTransport,
  splice,
  VERSION,
  writeDscp,
} from './packet.js';

const NOTHING = /* @__PURE__ */ new Uint8Array(0);
const DEFAULTS: SinkConfig = {};
const TAIL_BYTES = 4;
const MARKER_BYTES = 8;
const GPE_ETHERNET = 3;

/** Offset of the first byte that the sink removes behind the L4 or tunnel header. */
export function intStart(scan: Scan): number {
  const shim = scan.encapsulation === ENCAPSULATION.UDP || scan.encapsulation === ENCAPSULATION.TCP;
  return shim && scan.marking === MARKING.PROBE_MARKER && scan.intVersion !== VERSION.INTMON
    ? scan.shimOffset - MARKER_BYTES
    : scan.shimOffset;
}

/** The original UDP destination port, which INT marked by port and IntMon store. */
export function storedPort(packet: Uint8Array, { shimOffset, intOffset, intEnd, intVersion }: Scan): number {
  if (intVersion === VERSION.INTMON) return readUint16(packet, intOffset + 10);
  return readUint16(packet, intVersion === VERSION.V05 ? intEnd - TAIL_BYTES + 1 : shimOffset + 2);
}

/** The original DSCP, which INT marked by DSCP stores. */
export function storedDscp(packet: Uint8Array, { shimOffset, intEnd, intVersion }: Scan): number {
  return intVersion === VERSION.V05 ? packet[intEnd - TAIL_BYTES + 3]! & 63 : packet[shimOffset + 3]! >>> 2;
}

/** Whether the packet ends here: D is set (v2.x), or C, which marks a copy (other versions). */
export function endsHere({ bytes, intOffset, intFlags, intVersion }: Scan): boolean {
  // The 2016 header has C in another place than v0.5 and v1.0.
  const copyMask = intVersion === VERSION.V2 ? 0 : intVersion === VERSION.INTMON ? 0x08 : 0x02;
  return (intFlags & FLAG.DISCARD) !== 0 || (bytes[intOffset]! & copyMask) !== 0;
}

/** Removes the outer IP header and all that follows, up to the encapsulated packet. */
function decapsulate(packet: Uint8Array, outer: OuterPacket, etherType: number): Uint8Array {
  const { ipOffset, intEnd, ipEnd } = outer.scan;
  if (etherType === ETHER_TYPE.TRANSPARENT_ETHERNET) return copyOf(packet, intEnd, ipEnd);
  const own = outer.ipv6 ? ETHER_TYPE.IPV6 : ETHER_TYPE.IPV4;
  const out = splice(packet, ipOffset, intEnd - ipOffset, NOTHING);
  if (etherType !== own) {
    // Behind MPLS labels there is no EtherType to change.
    if (readUint16(packet, ipOffset - 2) !== own) {
      throw new CodecError('BAD_NEXT_PROTOCOL', 'shim', outer.scan.shimOffset + 2, 'no EtherType to write it to');
    }
    writeUint16(out, ipOffset - 2, etherType);
  }
  return out;
}

/** Removes INT between the L4 header and its payload, and restores what the shim or the tail has stored. */
function restoreMarked(packet: Uint8Array, outer: OuterPacket, config: SinkConfig): Uint8Array {
  const { scan } = outer;
  const { intEnd, intVersion, marking, l4Offset, ipOffset } = scan;
  const start = intStart(scan);
  const out = splice(packet, start, intEnd - start, NOTHING);
  if (intVersion === VERSION.INTMON || marking === MARKING.PORT) {
    writeUint16(out, l4Offset + 2, storedPort(packet, scan));
  } else if (marking === MARKING.DSCP && config.restoreDscp !== false) {
    writeDscp(out, ipOffset, storedDscp(packet, scan));
  }
  return settled(packet, out, outer, start - intEnd);
}

function restoreNewUdp(packet: Uint8Array, outer: OuterPacket, config: SinkConfig): Uint8Array {
  const { l4Offset, shimOffset, intEnd } = outer.scan;
  const protocol = packet[shimOffset + 3]!;
  if (config.removeOuterIp === true && (protocol === IP_PROTOCOL.IPV4 || protocol === IP_PROTOCOL.IPV6)) {
    return decapsulate(packet, outer, protocol === IP_PROTOCOL.IPV4 ? ETHER_TYPE.IPV4 : ETHER_TYPE.IPV6);
  }
  const out = splice(packet, l4Offset, intEnd - l4Offset, NOTHING);
  out[protocolFieldAt(packet, outer)] = protocol;
  settleIp(packet, out, outer, l4Offset - intEnd);
  return out;
}

function restoreVxlan(packet: Uint8Array, outer: OuterPacket): Uint8Array {
  const { scan } = outer;
  const { l4Offset, shimOffset, intEnd, intVersion } = scan;
  const out = splice(packet, shimOffset, intEnd - shimOffset, NOTHING);
  const next = packet[shimOffset + 3]!;
  const tunnelAt = l4Offset + 8;
  // The field that announces this shim: in the VXLAN-GPE header, or in a shim in front of it.
  let pointer = tunnelAt + 3;
  for (let at = tunnelAt + 8; at < shimOffset; ) {
    pointer = at + 3;
    at += packet[at]! >>> 4 !== 0 ? 4 + 4 * packet[at + 1]! : 4 * packet[at + 2]!;
  }
  out[pointer] = next;
  const wasPlain = intVersion === VERSION.V2 && (packet[shimOffset + 2]! & 0x80) !== 0;
  if (wasPlain && next === GPE_ETHERNET && pointer === tunnelAt + 3) {
    writeUint16(out, l4Offset + 2, TUNNEL_PORT.VXLAN);
    out[tunnelAt]! &= ~0x04;
    out[pointer] = 0;
  }
  return settled(packet, out, outer, shimOffset - intEnd);
}

function restoreGeneve(packet: Uint8Array, outer: OuterPacket): Uint8Array {
  const { l4Offset, shimOffset, intEnd } = outer.scan;
  const out = splice(packet, shimOffset, intEnd - shimOffset, NOTHING);
  out[l4Offset + 8]! -= (intEnd - shimOffset) / 4;
  return settled(packet, out, outer, shimOffset - intEnd);
}

function restoreGre(packet: Uint8Array, outer: OuterPacket): Uint8Array {
  const { l4Offset, shimOffset, intEnd } = outer.scan;
  const next = readUint16(packet, shimOffset + 2);
  if ((packet[shimOffset]! & 0x08) !== 0) return decapsulate(packet, outer, next);
  const out = splice(packet, shimOffset, intEnd - shimOffset, NOTHING);
  writeUint16(out, l4Offset + 2, next);
  return settled(packet, out, outer, shimOffset - intEnd);
}

/** Updates lengths and checksums after the removal of `-delta` bytes in front of `intEnd`. */
function settled(packet: Uint8Array, out: Uint8Array, outer: OuterPacket, delta: number): Uint8Array {
  const { scan } = outer;
  settleIp(packet, out, outer, delta);
  settleChecksum(out, scan, settleTransport(packet, out, scan, scan.intEnd, scan.intEnd + delta));
  return out;
}

/** The packet as it was before INT. @throws CodecError if it cannot be restored */
export function restore(packet: Uint8Array, outer: OuterPacket, config: SinkConfig): Uint8Array {
  switch (outer.scan.encapsulation) {
    case ENCAPSULATION.UDP_NEW:
      return restoreNewUdp(packet, outer, config);
    case ENCAPSULATION.VXLAN_GPE:
      return restoreVxlan(packet, outer);
    case ENCAPSULATION.GENEVE:
      return restoreGeneve(packet, outer);
    case ENCAPSULATION.GRE:
      return restoreGre(packet, outer);
    default:
      return restoreMarked(packet, outer, config);
  }
}

/**
 * Removes INT from a packet, as a sink does, and restores the packet as it was before the source: ports, DSCP,
 * protocol, lengths and checksums. Checksums are updated incrementally, so a checksum that was wrong before is wrong
 * again. A sink that pushes its own metadata calls `transit` first.
 *
 * It does not restore the TTL, which forwarding changes, nor an IPv4 or TCP checksum of 0xffff, which is against the
 * rules: this becomes 0.
 *
 * @param packet an Ethernet frame without frame check sequence
 * @returns the restored packet, the INT bytes and what they say; a copy of the input if that carries no INT
 * @throws CodecError for a packet that is cut, or for malformed INT (pass such a packet on unchanged)
 */
export function sink(packet: Uint8Array, config: SinkConfig = DEFAULTS): SinkResult {
  const outer = locate(packet, config);
  if (outer === null || outer.fragment) {
    const copy = copyOf(packet);
    const reason = outer === null ? 'not-int' : 'fragment';
    return { packet: copy, discard: false, restored: copy, int: null, hops: [], record: null, reason };
  }
  const { scan } = outer;
  const record = recordOf(scan);
  const discard = endsHere(scan);
  const restored = restore(packet, outer, config);
  return {
    packet: discard ? null : restored,
    discard,
    restored,
    int: packet.subarray(intStart(scan), scan.intEnd),
    hops: record.hops,
    record,
    reason: null,
  };
}
