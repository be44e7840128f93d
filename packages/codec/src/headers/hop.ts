/** The codecs of one hop's block, and of a report's own metadata, which is laid out alike. */
import { NOT_AVAILABLE } from '../columns.js';
import { CodecError } from '../errors.js';
import type { NumberName, TimeName } from '../fields.js';
import type { Hop, Layer, ReportVersion } from '../model.js';
import { LAYOUT } from '../plan.js';
import { type FixedHeaderCodec, makeCodec, requireBytes, requireFit, requireSize, writeUint32 } from './codec.js';
import { type DropValues, NOT_AVAILABLE_31, readBlock } from './hop-read.js';
import { type BlockShape, type Step, shapeOf } from './hop-shape.js';

function checkNumber(hop: Hop, name: NumberName, width: number): void {
  const value = hop[name];
  if (value !== null && value !== undefined) requireFit(name, value, width);
}

function checkTime(hop: Hop, name: TimeName, width: number): void {
  const value = hop[name];
  if (value === null || value === undefined) return;
  if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint`);
  if (value < 0n || value >> BigInt(width) !== 0n) throw new RangeError(`${name} must fit ${width} bits, not ${value}`);
}

function checkStep(step: Step, hop: Hop): void {
  switch (step.kind) {
    case 'word':
      checkNumber(hop, step.name, 32);
      break;
    case 'value31':
      checkNumber(hop, step.name, 31);
      break;
    case 'split':
      checkNumber(hop, step.upper, 32 - step.shift);
      checkNumber(hop, step.lower, step.shift);
      break;
    case 'pair':
      checkNumber(hop, step.upper, 32);
      checkNumber(hop, step.lower, 32);
      break;
    case 'time64':
      checkTime(hop, step.name, 64);
      break;
    case 'time32':
      checkTime(hop, step.name, 32);
      break;
    case 'time31':
      checkTime(hop, step.name, 31);
      break;
    default:
  }
}

function writeStep(step: Step, hop: Hop, out: Uint8Array, offset: number, drop: DropValues | null): void {
  const at = offset + step.at;
  switch (step.kind) {
    case 'word':
      writeUint32(out, at, hop[step.name] ?? NOT_AVAILABLE);
      break;
    case 'value31':
      writeUint32(out, at, hop[step.name] ?? NOT_AVAILABLE_31);
      break;
    case 'split': {
      const upper = hop[step.upper] ?? 2 ** (32 - step.shift) - 1;
      writeUint32(out, at, upper * 2 ** step.shift + (hop[step.lower] ?? 2 ** step.shift - 1));
      break;
    }
    case 'pair':
      writeUint32(out, at, hop[step.upper] ?? NOT_AVAILABLE);
      writeUint32(out, at + 4, hop[step.lower] ?? NOT_AVAILABLE);
      break;
    case 'time64': {
      const value = hop[step.name] ?? 0xffff_ffff_ffff_ffffn;
      writeUint32(out, at, Number(value >> 32n));
      writeUint32(out, at + 4, Number(value & 0xffff_ffffn));
      break;
    }
    case 'time32':
      writeUint32(out, at, Number(hop[step.name] ?? 0xffff_ffffn));
      break;
    case 'time31':
      writeUint32(out, at, Number(hop[step.name] ?? 0x7fff_ffffn));
      break;
    case 'drop': {
      const none = drop === null || drop.dropReason === null;
      writeUint32(out, at, none ? NOT_AVAILABLE : ((drop.dropQueueId ?? 0) << 24) | (drop.dropReason! << 16));
      break;
    }
    case 'skip':
      writeUint32(out, at, NOT_AVAILABLE);
      break;
    case 'skip31':
      writeUint32(out, at, NOT_AVAILABLE_31);
  }
}

function checkBlock(shape: BlockShape, hop: Hop): void {
  for (const step of shape.steps) checkStep(step, hop);
  const { domain } = hop;
  if (domain !== undefined) {
    requireSize('domain', domain, 4, shape.domainBytes);
    if (domain.length !== shape.domainBytes) {
      throw new RangeError(`domain must be ${shape.domainBytes} bytes, not ${domain.length}`);
    }
  }
}

function writeBlock(shape: BlockShape, hop: Hop, out: Uint8Array, offset: number, drop: DropValues | null): void {
  for (const step of shape.steps) writeStep(step, hop, out, offset, drop);
  const start = offset + shape.domainOffset;
  if (hop.domain !== undefined) out.set(hop.domain, start);
  else out.fill(0xff, start, start + shape.domainBytes);
}

/** What a block is besides its layout and bitmap. */
export interface HopBlockOptions {
  /** Domain-specific bytes in the block: `4 * (Hop ML - words of the bitmap)`, a multiple of 4. Default 0. */
  readonly domainBytes?: number;
  /**
   * 2016 layout: whether this block ends the stack, so that its last value carries the bottom-of-stack bit. Left out,
   * the bits are written as 0 and not looked at.
   */
  readonly bottomOfStack?: boolean;
}

/**
 * The codec of one hop's block.
 *
 * Decoding gives `null` for an item of all ones; encoding writes all ones for an item that is `null` or missing, and
 * for domain-specific bytes that are missing. Items the bitmap does not select are ignored.
 *
 * @param layout one of `LAYOUT` but `REPORT10` and `REPORT20`, for which see {@link reportMetadata}
 * @param bitmap 16-bit instruction bitmap, bit 0 = 0x8000
 * @returns a codec of fixed size; `decode` throws CodecError `BAD_BOS` if `bottomOfStack` is given and the bits differ
 * @throws RangeError for a bad bitmap or size
 */
export function hopBlock(layout: number, bitmap: number, options: HopBlockOptions = {}): FixedHeaderCodec<Hop> {
  const layer: Layer = 'stack';
  const shape = shapeOf(layout, bitmap, options.domainBytes ?? 0);
  const { byteLength } = shape;
  const bottom = layout === LAYOUT.Y2016 ? options.bottomOfStack : undefined;
  return {
    ...makeCodec<Hop>({
      layer,
      decode(bytes, offset) {
        requireBytes(bytes, offset, byteLength, layer);
        if (bottom !== undefined) {
          for (let at = 0; at < byteLength; at += 4) {
            const expected = bottom && at === byteLength - 4 ? 1 : 0;
            if (bytes[offset + at]! >>> 7 !== expected) {
              throw new CodecError('BAD_BOS', layer, offset + at, `bottom-of-stack bit ${expected} expected`);
            }
          }
        }
        return readBlock(shape, bytes, offset, null);
      },
      measure: () => byteLength,
      check: (hop) => checkBlock(shape, hop),
      write(hop, out, offset) {
        writeBlock(shape, hop, out, offset, null);
        if (bottom === true && byteLength > 0) out[offset + byteLength - 4]! |= 0x80;
      },
    }),
    byteLength,
  };
}

/** Variable metadata of a telemetry report. */
export interface ReportMetadata {
  /** The node's own values, without `nodeId`. */
  metadata: Hop;
  /** 8 bits; `null` without a drop word. */
  dropQueueId: number | null;
  /** 8 bits; `null` without a drop word. Encoding writes all ones for `null` where the bits select the drop word. */
  dropReason: number | null;
}

/**
 * The codec of a report's variable metadata (report v2.0 section 3.3.1, v1.0 section 3.2). The padding of the drop word
 * is written as 0 and ignored; v0.5 has fixed headers instead.
 *
 * @param bits RepMdBits: 16 bits (v2.0, bit 0 = 0x8000) or 6 bits (v1.0, bit 0 = 0x20)
 * @param domainBytes domain-specific bytes at the end (v2.0), a multiple of 4; default 0
 * @throws RangeError for bad bits or size
 */
export function reportMetadata(
  version: Exclude<ReportVersion, '0.5'>,
  bits: number,
  domainBytes = 0,
): FixedHeaderCodec<ReportMetadata> {
  if (version === '1.0') requireFit('bits', bits, 6);
  const shape =
    version === '1.0' ? shapeOf(LAYOUT.REPORT10, bits << 10, domainBytes) : shapeOf(LAYOUT.REPORT20, bits, domainBytes);
  return {
    ...makeCodec<ReportMetadata>({
      layer: 'report',
      decode(bytes, offset) {
        requireBytes(bytes, offset, shape.byteLength, 'report');
        const drop: DropValues = { dropQueueId: null, dropReason: null };
        const metadata = readBlock(shape, bytes, offset, drop);
        return { metadata, dropQueueId: drop.dropQueueId, dropReason: drop.dropReason };
      },
      measure: () => shape.byteLength,
      check(value) {
        checkBlock(shape, value.metadata);
        if (value.dropQueueId !== null) requireFit('dropQueueId', value.dropQueueId, 8);
        if (value.dropReason !== null) requireFit('dropReason', value.dropReason, 8);
      },
      write: (value, out, offset) => writeBlock(shape, value.metadata, out, offset, value),
    }),
    byteLength: shape.byteLength,
  };
}
