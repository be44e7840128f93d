import type { Match, PortRange, Prefix } from '../rules/model.js';

/*
 * A rule as words. All rules lie in one Int32Array: a look at one costs one cache line and no object.
 *
 *   0       priority
 *   1       source ports: from << 16 | to
 *   2       destination ports, likewise
 *   3       source length | destination length << 8 | SOURCE_MAC | DESTINATION_MAC | IPV4 | IPV6
 *   4..7    source address; of an IPv4 rule, and of a rule without addresses, word 5 is the mask of word 4
 *   8..11   destination address, likewise with word 9
 *   12      source MAC, bits 47..16
 *   13      source MAC, bits 15..0, << 16 | destination MAC, bits 47..32
 *   14      destination MAC, bits 31..0
 *   15      protocol | its mask (0 or 255) << 8
 */
export const ROW_WORDS = 16;
export const PRIORITY = 0;
export const SOURCE_PORTS = 1;
export const DESTINATION_PORTS = 2;
export const TRAITS = 3;
export const SOURCE = 4;
export const DESTINATION = 8;
export const MAC = 12;
export const PROTOCOL = 15;

/** Bits of word 3. */
export const SOURCE_MAC: number = 1 << 16;
export const DESTINATION_MAC: number = 1 << 17;
export const MACS: number = SOURCE_MAC | DESTINATION_MAC;
/** The rule can match IPv4 packets; IPv6 packets. With addresses of different versions it can match neither. */
export const IPV4: number = 1 << 18;
export const IPV6: number = 1 << 19;

const ANY_PORT: PortRange = { from: 0, to: 0xffff };

function isWhole(value: number, limit: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= limit;
}

/** Mask of the word that begins `skipped` bits into an address whose first `length` bits count. */
export function prefixMask(length: number, skipped: number): number {
  const bits = length - skipped;
  return bits >= 32 ? -1 : bits <= 0 ? 0 : -1 << (32 - bits);
}

function checkPrefix(name: string, prefix: Prefix): void {
  const { version, words, length } = prefix;
  if (version !== 4 && version !== 6) throw new RangeError(`${name}: IP version ${String(version)} is not 4 or 6`);
  const count = version === 4 ? 1 : 4;
  if (words.length !== count) throw new RangeError(`${name}: an IPv${version} address has ${count} words`);
  if (!isWhole(length, count * 32)) throw new RangeError(`${name}: length ${length} is not 0 to ${count * 32}`);
  for (let i = 0; i < count; i++) {
    const word = words[i]!;
    if (!isWhole(word, 0xffffffff)) throw new RangeError(`${name}: word ${word} is not 0 to 2^32 - 1`);
    if ((word & ~prefixMask(length, i * 32)) !== 0) throw new RangeError(`${name}: bits are set beyond its length`);
  }
}

function checkPorts(name: string, range: PortRange): void {
  if (!isWhole(range.to, 0xffff) || !isWhole(range.from, range.to)) {
    throw new RangeError(`${name}: ${range.from} to ${range.to} is not inside 0 to 65535 or runs backwards`);
  }
}

/**
 * Checks a rule and writes it.
 *
 * @param rows where to write
 * @param offset word at which the row begins; it has {@link ROW_WORDS}
 * @throws RangeError if a number is out of its range; nothing is written then
 */
export function writeRow(rows: Int32Array, offset: number, priority: number, match: Match): void {
  const { protocol, source, destination, sourceMac, destinationMac } = match;
  const sourcePort = match.sourcePort ?? ANY_PORT;
  const destinationPort = match.destinationPort ?? ANY_PORT;
  if ((priority | 0) !== priority)
    throw new RangeError(`priority ${priority} is not a whole number of 32 bits, signed`);
  if (protocol !== null && !isWhole(protocol, 0xff)) throw new RangeError(`protocol ${protocol} is not 0 to 255`);
  if (source !== null) checkPrefix('source', source);
  if (destination !== null) checkPrefix('destination', destination);
  checkPorts('source port', sourcePort);
  checkPorts('destination port', destinationPort);
  for (const mac of [sourceMac, destinationMac]) {
    if (mac !== null && !isWhole(mac, 0xffff_ffff_ffff)) throw new RangeError(`MAC ${mac} is not 0 to 2^48 - 1`);
  }

  rows.fill(0, offset, offset + ROW_WORDS);
  rows[offset + PRIORITY] = priority;
  rows[offset + SOURCE_PORTS] = (sourcePort.from << 16) | sourcePort.to;
  rows[offset + DESTINATION_PORTS] = (destinationPort.from << 16) | destinationPort.to;
  let traits = IPV4 | IPV6;
  if (source !== null) {
    traits = (traits & (source.version === 4 ? IPV4 : IPV6)) | source.length;
    writeAddress(rows, offset + SOURCE, source);
  }
  if (destination !== null) {
    traits &= destination.version === 4 ? ~IPV6 : ~IPV4;
    traits |= destination.length << 8;
    writeAddress(rows, offset + DESTINATION, destination);
  }
  if (sourceMac !== null) {
    traits |= SOURCE_MAC;
    rows[offset + MAC] = Math.floor(sourceMac / 0x10000);
    rows[offset + MAC + 1] = sourceMac << 16;
  }
  if (destinationMac !== null) {
    traits |= DESTINATION_MAC;
    rows[offset + MAC + 1] = rows[offset + MAC + 1]! | Math.floor(destinationMac / 0x1_0000_0000);
    rows[offset + MAC + 2] = destinationMac;
  }
  rows[offset + TRAITS] = traits;
  if (protocol !== null) rows[offset + PROTOCOL] = protocol | 0xff00;
}

function writeAddress(rows: Int32Array, offset: number, prefix: Prefix): void {
  for (let i = 0; i < prefix.words.length; i++) rows[offset + i] = prefix.words[i]!;
  if (prefix.version === 4) rows[offset + 1] = prefixMask(prefix.length, 0);
}

/** Whether some packet matches both rules. `a` and `b` are the words at which their rows begin. */
export function overlap(rowsA: Int32Array, a: number, rowsB: Int32Array, b: number): boolean {
  const protocolA = rowsA[a + PROTOCOL]!;
  const protocolB = rowsB[b + PROTOCOL]!;
  if (((protocolA ^ protocolB) & (protocolA >>> 8) & (protocolB >>> 8)) !== 0) return false;
  const traitsA = rowsA[a + TRAITS]!;
  const traitsB = rowsB[b + TRAITS]!;
  const version = traitsA & traitsB & (IPV4 | IPV6);
  if (version === 0) return false;
  if ((version & IPV4) !== 0) {
    const source = (rowsA[a + SOURCE]! ^ rowsB[b + SOURCE]!) & rowsA[a + SOURCE + 1]! & rowsB[b + SOURCE + 1]!;
    const destination =
      (rowsA[a + DESTINATION]! ^ rowsB[b + DESTINATION]!) & rowsA[a + DESTINATION + 1]! & rowsB[b + DESTINATION + 1]!;
    if ((source | destination) !== 0) return false;
  } else {
    const source = Math.min(traitsA & 0xff, traitsB & 0xff);
    const destination = Math.min((traitsA >>> 8) & 0xff, (traitsB >>> 8) & 0xff);
    for (let i = 0; i < 4; i++) {
      if (((rowsA[a + SOURCE + i]! ^ rowsB[b + SOURCE + i]!) & prefixMask(source, i * 32)) !== 0) return false;
      const bits = rowsA[a + DESTINATION + i]! ^ rowsB[b + DESTINATION + i]!;
      if ((bits & prefixMask(destination, i * 32)) !== 0) return false;
    }
  }
  for (let word = SOURCE_PORTS; word <= DESTINATION_PORTS; word++) {
    const portsA = rowsA[a + word]!;
    const portsB = rowsB[b + word]!;
    if (portsA >>> 16 > (portsB & 0xffff) || portsB >>> 16 > (portsA & 0xffff)) return false;
  }
  const macs = traitsA & traitsB & MACS;
  if (macs === 0) return true;
  const middle = rowsA[a + MAC + 1]! ^ rowsB[b + MAC + 1]!;
  if ((macs & SOURCE_MAC) !== 0 && (rowsA[a + MAC] !== rowsB[b + MAC] || middle >>> 16 !== 0)) return false;
  return (macs & DESTINATION_MAC) === 0 || (rowsA[a + MAC + 2] === rowsB[b + MAC + 2] && (middle & 0xffff) === 0);
}
