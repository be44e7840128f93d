/** Which frames belong together: all of a flow have one hash. */

const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const VLAN = 0x8100;
const SERVICE_VLAN = 0x88a8;
const TCP = 6;
const UDP = 17;
const SCTP = 132;
/** More fragments follow, or this is not the first. */
const FRAGMENT = 0x3fff;

/**
 * A hash of the flow of an Ethernet frame: of IP addresses, protocol and ports where there are any, otherwise of MAC addresses and
 * type. Fragments have no ports. VLAN tags do not count, and what changes from packet to packet does not, either.
 *
 * @returns 0 to 2^32 - 1
 */
export function flowHash(bytes: Uint8Array, offset: number, length: number): number {
  const end = offset + length;
  let at = offset + 12;
  let type = 0;
  for (let tags = 0; tags < 3 && at + 2 <= end; tags++) {
    type = (bytes[at]! << 8) | bytes[at + 1]!;
    at += 2;
    if (type !== VLAN && type !== SERVICE_VLAN) break;
    at += 2;
  }
  if (type === IPV4 && at + 20 <= end) {
    const protocol = bytes[at + 9]!;
    const hash = hashOf(bytes, at + 12, 8, protocol);
    const isFragment = (((bytes[at + 6]! << 8) | bytes[at + 7]!) & FRAGMENT) !== 0;
    return finish(isFragment ? hash : withPorts(bytes, at + 4 * (bytes[at]! & 15), end, protocol, hash));
  }
  if (type === IPV6 && at + 40 <= end) {
    const protocol = bytes[at + 6]!;
    return finish(withPorts(bytes, at + 40, end, protocol, hashOf(bytes, at + 8, 32, protocol)));
  }
  return finish(hashOf(bytes, offset, Math.min(12, length), type));
}

function withPorts(bytes: Uint8Array, at: number, end: number, protocol: number, hash: number): number {
  const hasPorts = protocol === TCP || protocol === UDP || protocol === SCTP;
  return hasPorts && at + 4 <= end ? hashOf(bytes, at, 4, hash) : hash;
}

function hashOf(bytes: Uint8Array, from: number, length: number, seed: number): number {
  let hash = seed;
  for (let at = from; at < from + length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x0100_0193);
  return hash;
}

/** Spreads the bits: of the product above, the low ones depend on few. */
function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85eb_ca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
