import type { Match } from '@int/p4runtime';
import type { PortRange } from '../../intents/flow-match.js';

const BITS = 16;

/**
 * A range of ports as ternary matches that do not overlap, as few as possible: blocks whose size is a power of two, at a multiple
 * of it. At most 30; `undefined`: any port.
 */
export function portBlocks([low, high]: PortRange): readonly (Match | undefined)[] {
  const blocks: (Match | undefined)[] = [];
  for (let at = low; at <= high; ) {
    let size = 1;
    while (size < 1 << BITS && at % (2 * size) === 0 && at + 2 * size - 1 <= high) size *= 2;
    const mask = BigInt((1 << BITS) - size);
    blocks.push(mask === 0n ? undefined : { kind: 'ternary', value: BigInt(at), mask });
    at += size;
  }
  return blocks;
}
