import type { TelemetryBatch } from '@int/codec';
import {
  DESTINATION,
  DESTINATION_MAC,
  DESTINATION_PORTS,
  MAC,
  MACS,
  PROTOCOL,
  prefixMask,
  ROW_WORDS,
  SOURCE,
  SOURCE_MAC,
  SOURCE_PORTS,
  TRAITS,
} from './rows.js';
import { TABLE_WORDS, type Tables } from './tables.js';
import {
  DESTINATION_MAC_LEVEL,
  destinationPart,
  foldIpv6,
  keyHash,
  keyLengths,
  macPart,
  SOURCE_MAC_LEVEL,
  sourcePart,
} from './tuple.js';

/**
 * MAC addresses of the packet that is looked up. Word 0: 1 if they are known. Words 1 to 3: as words 12 to 14 of a
 * rule's row. Words 4 and 5: parts of the hash that come from the source and the destination MAC.
 */
export const PACKET_MAC_WORDS = 6;

/** Reads the MAC addresses of an Ethernet header. They are unknown if `offset` is -1 or too close to the end. */
export function readMacs(macs: Int32Array, bytes: Uint8Array | null, offset: number): void {
  if (bytes === null || offset < 0 || offset + 12 > bytes.length) {
    macs[0] = 0;
    return;
  }
  const destinationUpper = (bytes[offset]! << 8) | bytes[offset + 1]!;
  const sourceLower = (bytes[offset + 10]! << 8) | bytes[offset + 11]!;
  macs[0] = 1;
  macs[1] = (bytes[offset + 6]! << 24) | (bytes[offset + 7]! << 16) | (bytes[offset + 8]! << 8) | bytes[offset + 9]!;
  macs[2] = (sourceLower << 16) | destinationUpper;
  macs[3] = (bytes[offset + 2]! << 24) | (bytes[offset + 3]! << 16) | (bytes[offset + 4]! << 8) | bytes[offset + 5]!;
  macs[4] = macPart(macs[1]!, sourceLower);
  macs[5] = macPart(macs[3]!, destinationUpper);
}

/** Whether a packet's MAC addresses are those a rule asks for. */
function hasMacs(rows: Int32Array, row: number, traits: number, macs: Int32Array): boolean {
  if (macs[0] === 0) return false;
  const middle = rows[row + MAC + 1]! ^ macs[2]!;
  if ((traits & SOURCE_MAC) !== 0 && (rows[row + MAC] !== macs[1] || middle >>> 16 !== 0)) return false;
  return (traits & DESTINATION_MAC) === 0 || (rows[row + MAC + 2] === macs[3] && (middle & 0xffff) === 0);
}

/** What the MAC addresses add to a key's hash in a table of these levels. */
function macHash(levels: number, macs: Int32Array): number {
  const source = (levels & SOURCE_MAC_LEVEL) === 0 ? 0 : macs[4]!;
  return (levels & DESTINATION_MAC_LEVEL) === 0 ? source : (source - macs[5]!) | 0;
}

/** The slot of the best rule for an IPv4 row, or -1. */
export function lookupIpv4(
  tables: Tables,
  rows: Int32Array,
  batch: TelemetryBatch,
  report: number,
  macs: Int32Array,
): number {
  const { order, orderWords } = tables;
  const { heads, entries } = tables.chains;
  const mask = heads.length - 1;
  const source = batch.source0[report]! | 0;
  const destination = batch.destination0[report]! | 0;
  const ports = batch.ports[report]! | 0;
  const sourcePort = ports >>> 16;
  const destinationPort = ports & 0xffff;
  const protocol = batch.protocol[report]!;
  let found = -1;
  let best = 0;
  for (let t = 0; t < orderWords; t += TABLE_WORDS) {
    if (found >= 0 && order[t]! <= best) break;
    let addresses = (sourcePart(source & order[t + 1]!) + destinationPart(destination & order[t + 2]!)) | 0;
    const macLevels = order[t + 6]!;
    if (macLevels !== 0) {
      if (macs[0] === 0) continue;
      addresses = (addresses + macHash(macLevels, macs)) | 0;
    }
    const hash = keyHash(addresses, ports & order[t + 3]!, protocol & order[t + 4]!, order[t + 5]!);
    for (let e = heads[hash & mask]!; e >= 0; e = entries[e + 1]!) {
      if (entries[e] !== hash) continue;
      const priority = entries[e + 3]!;
      if (found >= 0 && priority <= best) break;
      const slot = entries[e + 2]!;
      const row = slot * ROW_WORDS;
      const rule = rows[row + PROTOCOL]!;
      const differ =
        ((source ^ rows[row + SOURCE]!) & rows[row + SOURCE + 1]!) |
        ((destination ^ rows[row + DESTINATION]!) & rows[row + DESTINATION + 1]!) |
        ((protocol ^ rule) & (rule >>> 8));
      if (differ !== 0) continue;
      const sources = rows[row + SOURCE_PORTS]!;
      const destinations = rows[row + DESTINATION_PORTS]!;
      const outside =
        (sourcePort - (sources >>> 16)) |
        ((sources & 0xffff) - sourcePort) |
        (destinationPort - (destinations >>> 16)) |
        ((destinations & 0xffff) - destinationPort);
      if (outside < 0) continue;
      const traits = rows[row + TRAITS]!;
      if ((traits & MACS) !== 0 && !hasMacs(rows, row, traits, macs)) continue;
      found = slot;
      best = priority;
      break;
    }
  }
  return found;
}

/** The slot of the best rule for an IPv6 row, or -1. `parts` is room for 64 words. */
export function lookupIpv6(
  tables: Tables,
  rows: Int32Array,
  batch: TelemetryBatch,
  report: number,
  macs: Int32Array,
  parts: Int32Array,
): number {
  const { order, orderWords, sourceLevels, destinationLevels } = tables;
  const { heads, entries } = tables.chains;
  const mask = heads.length - 1;
  const source0 = batch.source0[report]! | 0;
  const source1 = batch.source1[report]! | 0;
  const source2 = batch.source2[report]! | 0;
  const source3 = batch.source3[report]! | 0;
  const destination0 = batch.destination0[report]! | 0;
  const destination1 = batch.destination1[report]! | 0;
  const destination2 = batch.destination2[report]! | 0;
  const destination3 = batch.destination3[report]! | 0;
  const ports = batch.ports[report]! | 0;
  const sourcePort = ports >>> 16;
  const destinationPort = ports & 0xffff;
  const protocol = batch.protocol[report]!;
  const lengths = keyLengths(6);
  // Several tables use the same length: the addresses are hashed once a length.
  for (let i = 0; i < sourceLevels.length; i++) {
    const level = sourceLevels[i]!;
    parts[level] = sourcePart(foldIpv6(source0, source1, source2, source3, lengths[level]!));
  }
  for (let i = 0; i < destinationLevels.length; i++) {
    const level = destinationLevels[i]!;
    const word = foldIpv6(destination0, destination1, destination2, destination3, lengths[level]!);
    parts[32 + level] = destinationPart(word);
  }
  let found = -1;
  let best = 0;
  for (let t = 0; t < orderWords; t += TABLE_WORDS) {
    if (found >= 0 && order[t]! <= best) break;
    let addresses = (parts[order[t + 1]!]! + parts[32 + order[t + 2]!]!) | 0;
    const macLevels = order[t + 6]!;
    if (macLevels !== 0) {
      if (macs[0] === 0) continue;
      addresses = (addresses + macHash(macLevels, macs)) | 0;
    }
    const hash = keyHash(addresses, ports & order[t + 3]!, protocol & order[t + 4]!, order[t + 5]!);
    for (let e = heads[hash & mask]!; e >= 0; e = entries[e + 1]!) {
      if (entries[e] !== hash) continue;
      const priority = entries[e + 3]!;
      if (found >= 0 && priority <= best) break;
      const slot = entries[e + 2]!;
      const row = slot * ROW_WORDS;
      const rule = rows[row + PROTOCOL]!;
      if (((protocol ^ rule) & (rule >>> 8)) !== 0) continue;
      const traits = rows[row + TRAITS]!;
      const from = traits & 0xff;
      const to = (traits >>> 8) & 0xff;
      const differ =
        ((source0 ^ rows[row + SOURCE]!) & prefixMask(from, 0)) |
        ((source1 ^ rows[row + SOURCE + 1]!) & prefixMask(from, 32)) |
        ((source2 ^ rows[row + SOURCE + 2]!) & prefixMask(from, 64)) |
        ((source3 ^ rows[row + SOURCE + 3]!) & prefixMask(from, 96)) |
        ((destination0 ^ rows[row + DESTINATION]!) & prefixMask(to, 0)) |
        ((destination1 ^ rows[row + DESTINATION + 1]!) & prefixMask(to, 32)) |
        ((destination2 ^ rows[row + DESTINATION + 2]!) & prefixMask(to, 64)) |
        ((destination3 ^ rows[row + DESTINATION + 3]!) & prefixMask(to, 96));
      if (differ !== 0) continue;
      const sources = rows[row + SOURCE_PORTS]!;
      const destinations = rows[row + DESTINATION_PORTS]!;
      const outside =
        (sourcePort - (sources >>> 16)) |
        ((sources & 0xffff) - sourcePort) |
        (destinationPort - (destinations >>> 16)) |
        ((destinations & 0xffff) - destinationPort);
      if (outside < 0) continue;
      if ((traits & MACS) !== 0 && !hasMacs(rows, row, traits, macs)) continue;
      found = slot;
      best = priority;
      break;
    }
  }
  return found;
}
