/** INT headers, and what they say about the stack behind them. Nothing here depends on the encapsulation. */
import { CODES } from '../codes.js';
import { LAYOUT, planFor } from '../plan.js';
import type { Scan } from './state.js';

const MODE_MD = 1;
const MODE_MX = 2;
const V05 = 1;
const V10 = 2;
const V2 = 3;

function popcount16(bits: number): number {
  let n = 0;
  for (let b = bits; b !== 0; b &= b - 1) n++;
  return n;
}

/**
 * Reads the metadata header at `p` and lays out the stack between it and `intEnd`.
 *
 * @param type shim type: 1 MD (hop-by-hop), 3 MX
 * @param major what the carrier announces: 0 v0.5 or v1.0, 2 v2.x, -1 unknown (Geneve)
 * @param intEnd one past the last byte of the stack, as the carrier's length says
 * @param end one past the last byte there is
 * @returns false if the scan holds a problem. Of a cut stack (TRUNCATED) the complete blocks are counted
 */
export function readIntHeader(
  scan: Scan,
  type: number,
  major: number,
  p: number,
  intEnd: number,
  end: number,
): boolean {
  const { view } = scan;
  if (p + 8 > end) return scan.fail(CODES.TRUNCATED, 'int', p);
  const head = view.getUint32(p);
  // INTCollector's generator writes version 0 into v1.0 headers. There the version of the report decides.
  const version = scan.settings.oneWord && scan.reportVersion === 2 ? 1 : head >>> 28;
  if (version > 2) return scan.fail(CODES.UNSUPPORTED_INT_VERSION, 'int', p);
  if (major === 0 ? version === 2 : major === 2 ? version !== 2 : false) {
    return scan.fail(CODES.BAD_INT_VERSION, 'int', p);
  }
  if (type === 3 && version !== 2) return scan.fail(CODES.BAD_INT_VERSION, 'int', p);
  scan.intOffset = p;
  scan.intEnd = intEnd;
  scan.bitmap = view.getUint16(p + 4);
  switch (version) {
    case 0:
      return header05(scan, head, p, intEnd, end);
    case 1:
      return header10(scan, head, p, intEnd, end);
    default:
      return type === 3 ? headerMx(scan, head, p, intEnd, end) : headerMd(scan, head, p, intEnd, end);
  }
}

function header05(scan: Scan, head: number, p: number, intEnd: number, end: number): boolean {
  const instructionCount = (head >>> 16) & 31;
  const maximum = (head >>> 8) & 255;
  const total = head & 255;
  scan.mode = MODE_MD;
  scan.intVersion = V05;
  scan.layout = LAYOUT.V05;
  scan.hopMl = instructionCount;
  scan.remainingHopCount = Math.max(0, maximum - total);
  scan.intFlags = ((head >>> 24) & 1) << 16;
  if (popcount16(scan.bitmap) !== instructionCount) return scan.fail(CODES.BAD_INSTRUCTION_COUNT, 'int', p + 1);
  scan.stackOffset = p + 8;
  scan.stackEnd = intEnd;
  const length = intEnd - scan.stackOffset;
  if (length < 0) return scan.fail(CODES.BAD_SHIM_LENGTH, 'int', p);
  if (length !== instructionCount * 4 * total) return scan.fail(CODES.BAD_HOP_COUNT, 'int', p + 3);
  return blocks(scan, instructionCount, length, end);
}

function header10(scan: Scan, head: number, p: number, intEnd: number, end: number): boolean {
  const plan = planFor(scan.settings.layout10, scan.bitmap);
  scan.mode = MODE_MD;
  scan.intVersion = V10;
  scan.layout = scan.settings.layout10;
  scan.hopMl = (head >>> 8) & 31;
  scan.remainingHopCount = head & 255;
  // E and M stand one bit lower than in v2.x.
  scan.intFlags = (((head >>> 24) & 1) << 16) | (((head >>> 23) & 1) << 15);
  scan.stackOffset = p + 8;
  scan.stackEnd = intEnd;
  // The Hop ML of this dialect comes from a table entry. The hops push what the bitmap selects.
  const stride = scan.layout === LAYOUT.GEANT_NIBBLE3 ? plan.words : scan.hopMl;
  if (plan.words !== stride) return scan.fail(CODES.BAD_HOP_ML, 'int', p + 2);
  const length = intEnd - scan.stackOffset;
  if (length < 0) return scan.fail(CODES.BAD_SHIM_LENGTH, 'int', p);
  if (stride === 0 ? length !== 0 : length % (4 * stride) !== 0) return scan.fail(CODES.BAD_STACK, 'stack', p + 8);
  return blocks(scan, stride, length, end);
}

function headerMd(scan: Scan, head: number, p: number, intEnd: number, end: number): boolean {
  const { view } = scan;
  if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'int', p + 8);
  const plan = planFor(LAYOUT.V2, scan.bitmap);
  scan.mode = MODE_MD;
  scan.intVersion = V2;
  scan.layout = LAYOUT.V2;
  scan.hopMl = (head >>> 8) & 31;
  scan.remainingHopCount = head & 255;
  scan.intFlags = (head >>> 10) & (7 << 15);
  scan.domainId = view.getUint16(p + 6);
  scan.domainInstructions = view.getUint16(p + 8);
  scan.domainFlags = view.getUint16(p + 10);
  scan.stackOffset = p + 12;
  scan.stackEnd = intEnd;
  const length = intEnd - scan.stackOffset;
  if (length < 0) return scan.fail(CODES.BAD_SHIM_LENGTH, 'int', p);
  if (scan.hopMl < plan.words) return scan.fail(CODES.BAD_HOP_ML, 'int', p + 2);
  scan.domainWords = scan.hopMl - plan.words;
  const domain = scan.settings.domains[scan.domainId];
  let sourceBytes = 0;
  if (domain !== undefined) {
    let exported = 0;
    for (let bit = 0; bit < 16; bit++) {
      const item = domain[bit];
      if (item === undefined || (scan.domainInstructions & (0x8000 >>> bit)) === 0) continue;
      if (item.mode === 'source-only') sourceBytes += item.bytes;
      else exported += item.bytes;
    }
    if (exported !== 4 * scan.domainWords) return scan.fail(CODES.BAD_HOP_ML, 'int', p + 2);
  }
  const stride = 4 * scan.hopMl;
  if (stride === 0) {
    // Hops push nothing; there is only what the source adds. Its size is not known for an unknown domain.
    if (domain !== undefined ? length !== sourceBytes : length !== 0 && scan.domainInstructions === 0) {
      return scan.fail(CODES.BAD_STACK, 'stack', p + 12);
    }
    scan.sourceBytes = length;
    return blocks(scan, 0, 0, end);
  }
  if (domain === undefined) {
    sourceBytes = length % stride;
    if (sourceBytes !== 0 && (scan.domainInstructions === 0 || length < stride)) {
      return scan.fail(CODES.BAD_STACK, 'stack', p + 12);
    }
  } else if ((length - sourceBytes) % stride !== 0 || length < sourceBytes) {
    // A source without room for its metadata (M set) may have left out its source-only bytes as well.
    if (length % stride !== 0 || (scan.intFlags & (1 << 15)) === 0) return scan.fail(CODES.BAD_STACK, 'stack', p + 12);
    sourceBytes = 0;
  }
  scan.sourceBytes = sourceBytes;
  return blocks(scan, scan.hopMl, length - sourceBytes, end);
}

function headerMx(scan: Scan, head: number, p: number, intEnd: number, end: number): boolean {
  const { view } = scan;
  if (p + 12 > end) return scan.fail(CODES.TRUNCATED, 'int', p + 8);
  scan.mode = MODE_MX;
  scan.intVersion = V2;
  scan.layout = LAYOUT.V2;
  scan.intFlags = ((head >>> 27) & 1) << 17;
  scan.domainId = view.getUint16(p + 6);
  scan.domainInstructions = view.getUint16(p + 8);
  scan.domainFlags = view.getUint16(p + 10);
  scan.stackOffset = p + 12;
  scan.stackEnd = intEnd;
  scan.stride = 0;
  scan.sourceBytes = intEnd - scan.stackOffset;
  if (scan.sourceBytes < 0) return scan.fail(CODES.BAD_SHIM_LENGTH, 'int', p);
  const domain = scan.settings.domains[scan.domainId];
  if (domain !== undefined) {
    let inserted = 0;
    for (let bit = 0; bit < 16; bit++) {
      const item = domain[bit];
      if (item?.mode === 'source-inserted' && (scan.domainInstructions & (0x8000 >>> bit)) !== 0)
        inserted += item.bytes;
    }
    if (inserted !== scan.sourceBytes) return scan.fail(CODES.BAD_STACK, 'stack', p + 12);
  }
  if (intEnd > end) {
    scan.sourceBytes = 0;
    return scan.fail(CODES.TRUNCATED, 'stack', end);
  }
  return true;
}

/** Counts the complete blocks. */
function blocks(scan: Scan, stride: number, length: number, end: number): boolean {
  scan.stride = stride;
  if (scan.intEnd <= end) {
    scan.hopCount = stride === 0 ? 0 : length / (4 * stride);
    return true;
  }
  const present = Math.max(0, Math.min(length, end - scan.stackOffset));
  scan.hopCount = stride === 0 ? 0 : Math.floor(present / (4 * stride));
  scan.sourceBytes = 0;
  return scan.fail(CODES.TRUNCATED, 'stack', end);
}

/**
 * The 2016 header (8 bytes: Ver 2, Rep 2, C 1, E 1, O 1, R 4, Ins Cnt 5, Max 8, Total 8, bitmap 16, reserved 16) and
 * its stack of 31-bit values.
 */
export function readHeader2016(scan: Scan, p: number, stackOffset: number, stackEnd: number, end: number): boolean {
  const { view } = scan;
  const head = view.getUint32(p);
  scan.bitmap = view.getUint16(p + 4);
  const count = (head >>> 16) & 31;
  const maximum = (head >>> 8) & 255;
  const total = head & 255;
  scan.mode = MODE_MD;
  scan.layout = LAYOUT.Y2016;
  scan.intOffset = p;
  scan.intEnd = stackEnd;
  scan.hopMl = count;
  scan.remainingHopCount = Math.max(0, maximum - total);
  scan.intFlags = ((head >>> 26) & 1) << 16;
  scan.stackOffset = stackOffset;
  scan.stackEnd = stackEnd;
  if (popcount16(scan.bitmap) !== count) return scan.fail(CODES.BAD_INSTRUCTION_COUNT, 'int', p + 1);
  const length = stackEnd - stackOffset;
  if (length !== count * 4 * total) return scan.fail(CODES.BAD_HOP_COUNT, 'int', p + 3);
  if (!blocks(scan, count, length, end)) return false;
  for (let at = stackOffset; at < stackEnd; at += 4) {
    const last = at + 4 === stackEnd;
    if (view.getUint8(at) >>> 7 !== (last ? 1 : 0)) return scan.fail(CODES.BAD_BOS, 'stack', at);
  }
  return true;
}
