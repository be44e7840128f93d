/** Reads INT headers and stacks with the schemas (wire format chapters 3 to 6). */
import type { Domains } from '../options.js';
import { hopSchema } from './metadata.js';
import type { Walk } from './walk.js';

const MD = 1;
const MX = 3;

/** Bytes of the DS Instruction bits that are set and have this mode. An unknown domain has none. */
function domainBytes(domains: Domains, id: number, bits: number, mode: string): number {
  let bytes = 0;
  for (let bit = 0; bit < 16; bit++) {
    const item = domains[id]?.[bit];
    if (item !== undefined && (bits & (0x8000 >>> bit)) !== 0 && item.mode === mode) bytes += item.bytes;
  }
  return bytes;
}

/**
 * Reads blocks of `stride` words from `at` to `end`.
 *
 * @param domainWords domain-specific words in each block
 */
function readBlocks(
  walk: Walk,
  format: '0.5' | '1.0' | '2' | '2016',
  bitmap: number,
  stride: number,
  domainWords: number,
  at: number,
  end: number,
): void {
  if (stride === 0 ? at !== end : (end - at) % (4 * stride) !== 0) {
    walk.fail('BAD_STACK', 'stack', at, 'not a whole number of hops');
  }
  const block = hopSchema(format, bitmap, 4 * domainWords);
  for (let offset = at; offset < end; ) offset = walk.takeBy('hop', block, offset, end).next;
}

/** Words that a bitmap selects: the schema says how many bytes it has read. */
function wordsOf(format: '1.0' | '2', bitmap: number): number {
  return hopSchema(format, bitmap).parse(new Uint8Array(4 * 32)).byteLength / 4;
}

/**
 * Reads the INT header at `at`, and its stack up to `end`.
 *
 * @param type shim or option type
 * @param end offset behind the stack, from the length field of the carrier
 */
export function readInt(walk: Walk, type: number, at: number, end: number, domains: Domains): void {
  if (end > walk.bytes.length) walk.fail('TRUNCATED', 'stack', at, 'the stack is cut');
  const version = walk.bytes[at]! >>> 4;
  if (type === MX) {
    const { value, next } = walk.take('intMx', at, end);
    if (next < end) walk.add('sourceMetadata', next, walk.bytes.subarray(next, end));
    const inserted = domainBytes(domains, value.domainId, value.domainInstructions, 'source-inserted');
    if (domains[value.domainId] !== undefined && inserted !== end - next) {
      walk.fail('BAD_STACK', 'stack', next, 'the domain defines another size');
    }
    return;
  }
  if (type !== MD) walk.fail('BAD_SHIM_TYPE', 'shim', at, `type ${type}`);
  if (version === 0) {
    const { value, next } = walk.take('intV05', at, end);
    readBlocks(walk, '0.5', value.instructionBitmap, value.instructionCount, 0, next, end);
    return;
  }
  if (version === 1) {
    const { value, next } = walk.take('intV10', at, end);
    if (wordsOf('1.0', value.instructionBitmap) !== value.hopMl) walk.fail('BAD_HOP_ML', 'int', at, 'Hop ML');
    readBlocks(walk, '1.0', value.instructionBitmap, value.hopMl, 0, next, end);
    return;
  }
  const { value, next } = walk.take('intMd', at, end);
  const domainWords = value.hopMl - wordsOf('2', value.instructionBitmap);
  if (domainWords < 0) walk.fail('BAD_HOP_ML', 'int', at, 'Hop ML');
  // This reads the plain case only: what the source alone adds is at the end of its block. With a complement it would be
  // in front of that, and a domain may mix its bits.
  const sourceOnly = domainBytes(domains, value.domainId, value.domainInstructions, 'source-only');
  readBlocks(walk, '2', value.instructionBitmap, value.hopMl, domainWords, next, end - sourceOnly);
  if (sourceOnly > 0) walk.add('sourceMetadata', end - sourceOnly, walk.bytes.subarray(end - sourceOnly, end));
}

/**
 * Reads a shim behind UDP or TCP, and its INT.
 *
 * @param end one past the IP packet
 * @returns the offset behind INT, and the protocol that NPT 2 names
 */
export function readShim(
  walk: Walk,
  at: number,
  end: number,
  domains: Domains,
): { next: number; protocol: number | null } {
  const first = walk.bytes[at];
  if (first !== undefined && first >>> 4 !== 0) {
    const { value, next } = walk.take('shimV2', at, end);
    const behind = next + 4 * value.length;
    if (behind > end) walk.fail('SHIM_BEYOND_PACKET', 'shim', at, 'the length runs past the packet');
    readInt(walk, value.type, next, behind, domains);
    return { next: behind, protocol: value.npt === 2 ? value.protocol : null };
  }
  const v05 = (walk.bytes[at + 4] ?? 0) >>> 4 === 0;
  const { value, next } = v05 ? walk.take('shimV05', at, end) : walk.take('shimV10', at, end);
  const behind = at + 4 * value.length;
  if (behind > end) walk.fail('SHIM_BEYOND_PACKET', 'shim', at, 'the length runs past the packet');
  readInt(walk, value.type, next, v05 ? behind - 4 : behind, domains);
  if (v05) walk.take('intTail', behind - 4, behind);
  return { next: behind, protocol: null };
}

/**
 * Reads IntMon.
 *
 * @returns the offset behind it
 */
export function readIntMon(walk: Walk, at: number, end: number): number {
  const { value, next } = walk.take('intMon', at, end);
  const behind = at + value.intLength;
  if (behind > end) walk.fail('SHIM_BEYOND_PACKET', 'int', at, 'the length runs past the packet');
  readBlocks(walk, '2016', value.instructionBitmap, value.instructionCount, 0, next, behind);
  return behind;
}
