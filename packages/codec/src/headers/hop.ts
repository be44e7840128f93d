/**
 * One hop's block of metadata, by layout and instruction bitmap.
 *
 * The order of words comes from `planFor`, which the batch decoder uses too; here a plan becomes steps that read and
 * write named values. Domain-specific words stand behind the baseline metadata, but before a Checksum Complement
 * (INT v2.1 section 5.8).
 */
import { HOP_COLUMNS, type HopColumn, NOT_AVAILABLE } from '../columns.js';
import { CodecError } from '../errors.js';
import type { Hop, Layer, ReportVersion } from '../model.js';
import { LAYOUT, OP, planFor } from '../plan.js';
import {
  type FixedHeaderCodec,
  makeCodec,
  readUint32,
  requireBytes,
  requireFit,
  requireSize,
  writeUint32,
} from './codec.js';

/** All ones in the 31 bits of a value in the 2016 layout: not supported. */
const NOT_AVAILABLE_31 = 0x7fff_ffff;

type NumberName = {
  [K in keyof Hop]-?: NonNullable<Hop[K]> extends number ? K : never;
}[keyof Hop];
type TimeName = 'ingressTimestamp' | 'egressTimestamp';

/** Queue id and drop reason of a drop word: part of a report, not of a hop. */
interface DropValues {
  dropQueueId: number | null;
  dropReason: number | null;
}

/** Reads and writes one metadata item at a byte offset within a block. */
type Step =
  | { readonly kind: 'word' | 'value31'; readonly at: number; readonly name: NumberName }
  | {
      readonly kind: 'split';
      readonly at: number;
      readonly upper: NumberName;
      readonly lower: NumberName;
      /** Bits of the lower part: 16 or 24. */
      readonly shift: number;
    }
  | { readonly kind: 'pair'; readonly at: number; readonly upper: NumberName; readonly lower: NumberName }
  | { readonly kind: 'time64' | 'time32' | 'time31'; readonly at: number; readonly name: TimeName }
  | { readonly kind: 'drop' | 'skip' | 'skip31'; readonly at: number };

const SPLITS: Partial<Record<HopColumn, readonly [NumberName, NumberName, number]>> = {
  l1Interfaces: ['l1IngressInterface', 'l1EgressInterface', 16],
  queue: ['queueId', 'queueOccupancy', 24],
  buffer: ['bufferId', 'bufferOccupancy', 24],
  congestion: ['congestionQueueId', 'queueCongestion', 24],
};

/** Values of the 2016 layout that have another name than their column. */
const NAMES_31: Partial<Record<HopColumn, NumberName>> = { queue: 'queueOccupancy', congestion: 'queueCongestion' };

const timeName = (column: HopColumn): TimeName =>
  column.startsWith('ingress') ? 'ingressTimestamp' : 'egressTimestamp';

function wordStep(column: HopColumn, at: number): Step {
  const split = SPLITS[column];
  if (split !== undefined) return { kind: 'split', at, upper: split[0], lower: split[1], shift: split[2] };
  if (column === 'ingressTimestampHigh' || column === 'egressTimestampHigh') {
    return { kind: 'time64', at, name: timeName(column) };
  }
  if (column === 'l2IngressInterface') {
    return { kind: 'pair', at, upper: 'l2IngressInterface', lower: 'l2EgressInterface' };
  }
  return { kind: 'word', at, name: column as NumberName };
}

function stepOf(op: number, column: HopColumn, at: number, layout: number): Step {
  switch (op) {
    case OP.WORD:
      return wordStep(column, at);
    case OP.TIMESTAMP32:
      return { kind: 'time32', at, name: timeName(column) };
    case OP.TIMESTAMP31:
      return { kind: 'time31', at, name: timeName(column) };
    case OP.HALVES:
      return { kind: 'split', at, upper: 'l2IngressInterface', lower: 'l2EgressInterface', shift: 16 };
    case OP.VALUE31:
      return { kind: 'value31', at, name: NAMES_31[column] ?? (column as NumberName) };
    case OP.UPPER31:
      return { kind: 'value31', at, name: 'l1IngressInterface' };
    case OP.LOWER31:
      return { kind: 'value31', at, name: 'l1EgressInterface' };
    case OP.DROP:
      return { kind: 'drop', at };
    default:
      return { kind: layout === LAYOUT.Y2016 ? 'skip31' : 'skip', at };
  }
}

/** How a block is laid out. */
interface BlockShape {
  readonly steps: readonly Step[];
  readonly domainOffset: number;
  readonly domainBytes: number;
  readonly byteLength: number;
}

/** Shapes last used: traffic has few, hostile traffic many, so their number is bounded. */
const shapes = /* @__PURE__ */ new Map<number, BlockShape>();
const MAX_SHAPES = 1024;

function shapeOf(layout: number, bitmap: number, domainBytes: number): BlockShape {
  requireFit('bitmap', bitmap, 16);
  if (!(Number.isInteger(domainBytes) && domainBytes >= 0 && domainBytes % 4 === 0)) {
    throw new RangeError(`domainBytes must be a multiple of 4, not ${domainBytes}`);
  }
  const key = (domainBytes * 16 + layout) * 0x10000 + bitmap;
  let shape = shapes.get(key);
  if (shape === undefined) {
    if (shapes.size === MAX_SHAPES) shapes.clear();
    shape = buildShape(layout, bitmap, domainBytes);
    shapes.set(key, shape);
  }
  return shape;
}

function buildShape(layout: number, bitmap: number, domainBytes: number): BlockShape {
  const plan = planFor(layout, bitmap);
  const complement = layout === LAYOUT.V2 && (bitmap & 1) !== 0;
  const domainOffset = (plan.words - (complement ? 1 : 0)) * 4;
  const steps: Step[] = [];
  for (let word = 0; word < plan.words; word++) {
    const at = word * 4 + (complement && word === plan.words - 1 ? domainBytes : 0);
    const step = stepOf(plan.ops[word]!, HOP_COLUMNS[plan.columns[word]!]!, at, layout);
    steps.push(step);
    if (step.kind === 'time64' || step.kind === 'pair') word++;
  }
  return { steps, domainOffset, domainBytes, byteLength: plan.words * 4 + domainBytes };
}

const timeOf = (word: number, none: number): bigint | null => (word === none ? null : BigInt(word));

function readStep(step: Step, bytes: Uint8Array, offset: number, hop: Hop, drop: DropValues | null): void {
  const word = readUint32(bytes, offset + step.at);
  const value31 = (word & NOT_AVAILABLE_31) >>> 0;
  switch (step.kind) {
    case 'word':
      hop[step.name] = word === NOT_AVAILABLE ? null : word;
      break;
    case 'value31':
      hop[step.name] = value31 === NOT_AVAILABLE_31 ? null : value31;
      break;
    case 'split':
      hop[step.upper] = word === NOT_AVAILABLE ? null : word >>> step.shift;
      hop[step.lower] = word === NOT_AVAILABLE ? null : word % 2 ** step.shift;
      break;
    case 'pair': {
      // One half of ones is a value: only the whole item says 'not available'.
      const lower = readUint32(bytes, offset + step.at + 4);
      const none = word === NOT_AVAILABLE && lower === NOT_AVAILABLE;
      hop[step.upper] = none ? null : word;
      hop[step.lower] = none ? null : lower;
      break;
    }
    case 'time64': {
      const lower = readUint32(bytes, offset + step.at + 4);
      hop[step.name] = word === NOT_AVAILABLE && lower === NOT_AVAILABLE ? null : (BigInt(word) << 32n) | BigInt(lower);
      break;
    }
    case 'time32':
      hop[step.name] = timeOf(word, NOT_AVAILABLE);
      break;
    case 'time31':
      hop[step.name] = timeOf(value31, NOT_AVAILABLE_31);
      break;
    case 'drop':
      if (drop !== null && word !== NOT_AVAILABLE) {
        drop.dropQueueId = word >>> 24;
        drop.dropReason = (word >>> 16) & 0xff;
      }
      break;
    default:
  }
}

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

function readBlock(shape: BlockShape, bytes: Uint8Array, offset: number, drop: DropValues | null): Hop {
  const hop: Hop = {};
  for (const step of shape.steps) readStep(step, bytes, offset, hop, drop);
  if (shape.domainBytes > 0) {
    const start = offset + shape.domainOffset;
    hop.domain = bytes.subarray(start, start + shape.domainBytes);
  }
  return hop;
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
 * Reads one hop's block that is known to lie inside `bytes`: what {@link hopBlock} decodes, without its checks.
 * `domain` is a view of `bytes`.
 */
export function readHop(layout: number, bitmap: number, domainBytes: number, bytes: Uint8Array, offset: number): Hop {
  return readBlock(shapeOf(layout, bitmap, domainBytes), bytes, offset, null);
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
