import { mix32 } from '@int/random';
import { PROTOCOL } from './packet.js';

/** Ports below belong to services; who asks has a higher one. */
const SERVICES = 1024;

/**
 * Whether the first packet seen of a flow asks for something that its destination could answer. Nobody answers from a
 * group's address or from that of all hosts (RFC 1112, RFC 919). A datagram from a service's port to one that is none is
 * an answer whose question was not seen: the capture began later, sees one direction, or the source was asked by another
 * in this name.
 * @param words source and destination, four words each
 * @param ports source << 16 | destination
 */
export function isContactOf(words: Uint32Array, ports: number, protocol: number): boolean {
  const last = words[7]!;
  const isIpv4 = (words[4]! | words[5]!) === 0 && words[6] === 0xffff;
  if (isIpv4 ? last >>> 28 === 0xe || last === 0xffffffff : words[4]! >>> 24 === 0xff) return false;
  if (protocol !== PROTOCOL.UDP) return true;
  // The broadcast address of most networks. Hosts that have it are few, and others are asked as well.
  if (isIpv4 && (last & 0xff) === 0xff) return false;
  return ports >>> 16 >= SERVICES || (ports & 0xffff) < SERVICES;
}

/** A hash of the network of the destination: a /24, or a /64 of IPv6. */
export function networkOf(words: Uint32Array): number {
  const isIpv4 = (words[4]! | words[5]!) === 0 && words[6] === 0xffff;
  return isIpv4 ? mix32(words[7]! >>> 8) : mix32(words[4]! ^ mix32(words[5]!));
}
