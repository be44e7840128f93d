/** The codecs of one hop's block, and of a report's own metadata, which has the same kind of layout. */
import { NOT_AVAILABLE } from '../columns.js';
import { CodecError } from '../errors.js';
import type { TimeName } from '../fields.js';
import type { Hop, Layer, ReportVersion } from '../model.js';
import { LAYOUT } from '../plan.js';
import { type FixedHeaderCodec, makeCodec, requireBytes, requireFit, requireSize, writeUint32 } from './codec.js';
import { type DropValues, readBlock } from './hop-read.js';
import { type BlockShape, type Part, type Step, shapeOf } from './hop-shape.js';

function checkPart(hop: Hop, [name, width]: Part): void {
  const value = hop[name];
  if (value === null || value === undefined) return;
  if (name !== 'ingressTimestamp' && name !== 'egressTimestamp') {
    requireFit(name, value as number, width);
    return;
  }
  if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint`);
  if (value < 0n || value >> BigInt(width) !== 0n) throw new RangeError(`${name} must fit ${width} bits, not ${value}`);
}

function writeDrop(out: Uint8Array, at: number, drop: DropValues | null): void {
  const none = drop === null || drop.dropReason === null;
  writeUint32(out, at, none ? NOT_AVAILABLE : ((drop.dropQueueId ?? 0) << 24) | (drop.dropReason! << 16));
}

/** The value of a part; all ones if the hop lacks it. */
function numberOf(hop: Hop, [name, width]: Part): number {
  return Number(hop[name] ?? 2 ** width - 1);
}

function writeStep({ kind, at: position, parts }: Step, hop: Hop, out: Uint8Array, offset: number): void {
  const at = offset + position;
  const [upper, lower] = parts;
  if (kind === 'time64') {
    const value = hop[upper![0] as TimeName] ?? 0xffff_ffff_ffff_ffffn;
    writeUint32(out, at, Number(value >> 32n));
    writeUint32(out, at + 4, Number(value & 0xffff_ffffn));
  } else if (kind === 'pair') {
    writeUint32(out, at, numberOf(hop, upper!));
    writeUint32(out, at + 4, numberOf(hop, lower!));
  } else if (kind === 'split') {
    writeUint32(out, at, numberOf(hop, upper!) * 2 ** lower![1] + numberOf(hop, lower!));
  } else if (upper !== undefined) {
    writeUint32(out, at, numberOf(hop, upper));
  } else {
    writeUint32(out, at, kind === 'skip31' ? NOT_AVAILABLE >>> 1 : NOT_AVAILABLE);
  }
}

function checkBlock(shape: BlockShape, hop: Hop): void {
  for (const { parts } of shape.steps) for (const part of parts) checkPart(hop, part);
  const { domain } = hop;
  if (domain !== undefined) {
    requireSize('domain', domain, 4, shape.domainBytes);
    if (domain.length !== shape.domainBytes) {
      throw new RangeError(`domain must be ${shape.domainBytes} bytes, not ${domain.length}`);
    }
  }
}

function writeBlock(shape: BlockShape, hop: Hop, out: Uint8Array, offset: number, drop: DropValues | null): void {
  for (const step of shape.steps) {
    if (step.kind === 'drop') writeDrop(out, offset + step.at, drop);
    else writeStep(step, hop, out, offset);
  }
  const start = offset + shape.domainOffset;
  if (hop.domain !== undefined) out.set(hop.domain, start);
  else out.fill(0xff, start, start + shape.domainBytes);
}

/** Properties of a block besides layout and bitmap. */
export interface HopBlockOptions {
  /** Domain-specific bytes in the block: `4 * (Hop ML - words of the bitmap)`, a multiple of 4. Default 0. */
  readonly domainBytes?: number;
  /**
   * 2016 layout: whether this block ends the stack. The last value of such a block carries the bottom-of-stack bit. If
   * absent, the bits are written as 0 and not checked.
   */
  readonly bottomOfStack?: boolean;
}

/**
 * The codec of one hop's block.
 *
 * Decoding gives `null` for an item of all ones. Encoding writes all ones for an item that is `null` or missing, and
 * for missing domain-specific bytes. It ignores items that the bitmap does not select.
 *
 * @param layout one of `LAYOUT`, except `REPORT10` and `REPORT20`: for these see {@link reportMetadata}
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
 * The codec of a report's variable metadata (report v2.0 section 3.3.1, v1.0 section 3.2); v0.5 has fixed headers
 * instead. Encoding writes the padding of the drop word as 0; decoding ignores it.
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
