import { flowCrc32Ipv4 } from '@int/hash';

/** Whether a word has the uppermost bit of another. */
function hasBit(word: number, other: number): boolean {
  return ((word >>> (31 - Math.clz32(other))) & 1) === 1;
}

/**
 * The ports with which a flow has a given CRC-32: the CRC is linear in each word, so that this is a system of 32
 * equations over one bit each.
 */
export function portsWithCrc(source: number, destination: number, protocol: number, crc: number): number {
  const base = flowCrc32Ipv4(source, destination, protocol, 0);
  let wanted = base ^ crc;
  let ports = 0;
  // What the bits of the ports change, so that no entry has the uppermost bit of one in front of it.
  const entries: { change: number; bits: number }[] = [];
  for (let bit = 0; bit < 32; bit++) {
    let change = flowCrc32Ipv4(source, destination, protocol, 1 << bit) ^ base;
    let bits = 1 << bit;
    for (const entry of entries) {
      if (!hasBit(change, entry.change)) continue;
      change ^= entry.change;
      bits ^= entry.bits;
    }
    entries.push({ change, bits });
    entries.sort((a, b) => Math.clz32(a.change) - Math.clz32(b.change));
  }
  for (const { change, bits } of entries) {
    if (!hasBit(wanted, change)) continue;
    wanted ^= change;
    ports ^= bits;
  }
  return ports >>> 0;
}
