import {
  DESTINATION,
  DESTINATION_MAC,
  DESTINATION_PORTS,
  MAC,
  PROTOCOL,
  prefixMask,
  SOURCE,
  SOURCE_MAC,
  SOURCE_PORTS,
  TRAITS,
} from './rows.js';

/*
 * A tuple says how much of each field a table's key holds: a level per field, from 0 for nothing. It is packed into an
 * int32 with a spare bit above each level, so that one subtraction compares all fields.
 *
 *   bits 0..4    source prefix length, as an index into the lengths below     spare 5
 *   bits 6..10   destination prefix length                                    spare 11
 *   bits 12..15  source port: the key holds 2 * level bits of it              spare 16
 *   bits 17..20  destination port                                             spare 21
 *   bit 22       protocol                                                     spare 23
 *   bit 24       source MAC                                                   spare 25
 *   bit 26       destination MAC                                              spare 27
 */
export interface Field {
  readonly shift: number;
  readonly limit: number;
}

/** In the order in which a tie between them is decided. */
export const FIELDS: readonly Field[] = [
  { shift: 0, limit: 31 },
  { shift: 6, limit: 31 },
  { shift: 17, limit: 15 },
  { shift: 12, limit: 15 },
  { shift: 22, limit: 1 },
  { shift: 24, limit: 1 },
  { shift: 26, limit: 1 },
];
export const SOURCE_MAC_LEVEL: number = 1 << 24;
export const DESTINATION_MAC_LEVEL: number = 1 << 26;
const PROTOCOL_LEVEL = 1 << 22;
const SPARE_BITS = (1 << 5) | (1 << 11) | (1 << 16) | (1 << 21) | (1 << 23) | (1 << 25) | (1 << 27);

/** Prefix lengths that a key can have. Others are rounded down; the rule itself is checked for the rest. */
const LENGTHS_IPV4 = /* @__PURE__ */ Uint8Array.of(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32);
const LENGTHS_IPV6 = /* @__PURE__ */ Uint8Array.from([
  0, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 62, 64, 68, 72, 76, 80, 88, 96, 104, 112, 116, 120, 122, 124,
  126, 127, 128,
]);

export function keyLengths(version: 4 | 6): Uint8Array {
  return version === 4 ? LENGTHS_IPV4 : LENGTHS_IPV6;
}

/** The level of a field in a tuple. */
export function levelOf(tuple: number, field: Field): number {
  return (tuple >>> field.shift) & field.limit;
}

export function withLevel(tuple: number, field: Field, level: number): number {
  return (tuple & ~(field.limit << field.shift)) | (level << field.shift);
}

/** Whether a rule of the tuple `own` fits into a table of the tuple `table`: no level of the table is higher. */
export function fits(own: number, table: number): boolean {
  return (((own | SPARE_BITS) - table) & SPARE_BITS) === SPARE_BITS;
}

/** The bits of the ports word that a key holds: source port in the upper half, destination port in the lower. */
export function portsMask(tuple: number): number {
  const source = 16 - 2 * ((tuple >>> 12) & 0xf);
  const destination = 16 - 2 * ((tuple >>> 17) & 0xf);
  return (((0xffff << source) & 0xffff) << 16) | ((0xffff << destination) & 0xffff);
}

/** 0 or 255. */
export function protocolMask(tuple: number): number {
  return (tuple & PROTOCOL_LEVEL) === 0 ? 0 : 0xff;
}

function lengthLevel(lengths: Uint8Array, length: number): number {
  let level = lengths.length - 1;
  while (lengths[level]! > length) level--;
  return level;
}

/** The level of the finest cells of which a range touches at most two. */
function portLevel(range: number): number {
  const from = range >>> 16;
  const to = range & 0xffff;
  let level = 8;
  while (level > 0 && (to >>> (16 - 2 * level)) - (from >>> (16 - 2 * level)) > 1) level--;
  return level;
}

/** The highest levels at which at most two cells of each port, so four keys, hold a rule. */
export function ownTuple(lengths: Uint8Array, rows: Int32Array, row: number): number {
  const traits = rows[row + TRAITS]!;
  return (
    lengthLevel(lengths, traits & 0xff) |
    (lengthLevel(lengths, (traits >>> 8) & 0xff) << 6) |
    (portLevel(rows[row + SOURCE_PORTS]!) << 12) |
    (portLevel(rows[row + DESTINATION_PORTS]!) << 17) |
    (rows[row + PROTOCOL]! >>> 8 === 0 ? 0 : PROTOCOL_LEVEL) |
    ((traits & SOURCE_MAC) === 0 ? 0 : SOURCE_MAC_LEVEL) |
    ((traits & DESTINATION_MAC) === 0 ? 0 : DESTINATION_MAC_LEVEL)
  );
}

/*
 * Only the 32-bit hashes of keys are stored: a rule is checked in full anyway. The parts of a key are multiplied by odd
 * constants (the primes of xxHash), added, and mixed. They are shifted or folded first, because the upper bits of a factor
 * reach only the upper bits of a product.
 */
const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

/** Part of the hash that comes from a source address; `word` is masked. */
export function sourcePart(word: number): number {
  return Math.imul(word ^ (word >>> 16), P1);
}

/** Part of the hash that comes from a destination address; `word` is masked. */
export function destinationPart(word: number): number {
  return Math.imul(word ^ (word >>> 16), P2);
}

/** The first `length` bits of an IPv6 address as one word, for {@link sourcePart} and {@link destinationPart}. */
export function foldIpv6(word0: number, word1: number, word2: number, word3: number, length: number): number {
  let word = Math.imul(word0 & prefixMask(length, 0), P3);
  if (length > 32) word = (word + fold(word1 & prefixMask(length, 32), P4)) | 0;
  if (length > 64) word = (word + fold(word2 & prefixMask(length, 64), P5)) | 0;
  if (length > 96) word = (word + fold(word3 & prefixMask(length, 96), P1)) | 0;
  return word;
}

function fold(word: number, factor: number): number {
  return Math.imul(word ^ (word >>> 16), factor);
}

/** Part of the hash that comes from a MAC address: its upper or lower 32 bits and the other 16. */
export function macPart(word: number, half: number): number {
  return fold((word + Math.imul(half, P4)) | 0, P5);
}

/** The hash of a key from its parts. `ports` and `protocol` are masked, `seed` tells tables from each other. */
export function keyHash(addresses: number, ports: number, protocol: number, seed: number): number {
  let hash = (addresses + fold(ports, P3)) | 0;
  hash = (hash + Math.imul(protocol, P4)) | 0;
  hash = Math.imul(hash ^ (hash >>> 15) ^ seed, P5);
  return hash ^ (hash >>> 15);
}

/**
 * The hashes under which a rule lies in a table: one for each pair of port cells that it touches.
 *
 * @returns how many there are, 1 to 4; they are in `out`
 */
export function keyHashes(
  version: 4 | 6,
  rows: Int32Array,
  row: number,
  tuple: number,
  seed: number,
  out: Int32Array,
): number {
  const lengths = keyLengths(version);
  const sourceLength = lengths[tuple & 0x1f]!;
  const destinationLength = lengths[(tuple >>> 6) & 0x1f]!;
  let addresses: number;
  if (version === 4) {
    addresses = sourcePart(rows[row + SOURCE]! & prefixMask(sourceLength, 0));
    addresses = (addresses + destinationPart(rows[row + DESTINATION]! & prefixMask(destinationLength, 0))) | 0;
  } else {
    addresses =
      (sourcePart(foldRow(rows, row + SOURCE, sourceLength)) +
        destinationPart(foldRow(rows, row + DESTINATION, destinationLength))) |
      0;
  }
  const middle = rows[row + MAC + 1]!;
  if ((tuple & SOURCE_MAC_LEVEL) !== 0) addresses = (addresses + macPart(rows[row + MAC]!, middle >>> 16)) | 0;
  if ((tuple & DESTINATION_MAC_LEVEL) !== 0) {
    addresses = (addresses - macPart(rows[row + MAC + 2]!, middle & 0xffff)) | 0;
  }
  const protocol = rows[row + PROTOCOL]! & protocolMask(tuple);
  const mask = portsMask(tuple);
  const sourcePorts = rows[row + SOURCE_PORTS]!;
  const destinationPorts = rows[row + DESTINATION_PORTS]!;
  let count = 0;
  // A range touches two cells at most: that of its lower end and that of its upper end.
  const sourceFrom = (sourcePorts >>> 16) & (mask >>> 16);
  const sourceTo = sourcePorts & (mask >>> 16);
  const destinationFrom = (destinationPorts >>> 16) & mask;
  const destinationTo = destinationPorts & mask & 0xffff;
  out[count++] = keyHash(addresses, (sourceFrom << 16) | destinationFrom, protocol, seed);
  if (destinationTo !== destinationFrom) {
    out[count++] = keyHash(addresses, (sourceFrom << 16) | destinationTo, protocol, seed);
  }
  if (sourceTo !== sourceFrom) {
    out[count++] = keyHash(addresses, (sourceTo << 16) | destinationFrom, protocol, seed);
    if (destinationTo !== destinationFrom) {
      out[count++] = keyHash(addresses, (sourceTo << 16) | destinationTo, protocol, seed);
    }
  }
  return count;
}

function foldRow(rows: Int32Array, offset: number, length: number): number {
  return foldIpv6(rows[offset]!, rows[offset + 1]!, rows[offset + 2]!, rows[offset + 3]!, length);
}
