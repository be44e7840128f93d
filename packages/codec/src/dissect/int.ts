/** The parts of INT in a packet: shim, header, stack, tail. */
import { CODES } from '../codes.js';
import { domainItems } from '../encode/int-header.js';
import { FieldGroup } from '../headers/codec.js';
import { type BlockShape, type Step, shapeOf } from '../headers/hop-shape.js';
import { intMd, intMon, intMx, intV05, intV10 } from '../headers/int.js';
import { intTail, probeMarker, SHIM_V2, shimV05, shimV10 } from '../headers/shim.js';
import { MARKING, type Scan } from '../scan/state.js';
import type { Parts } from './field.js';

export const ENCAPSULATION = { UDP: 1, TCP: 2, UDP_NEW: 3, VXLAN_GPE: 4, GENEVE: 5, GRE: 6 } as const;
const VERSION = { V05: 1, V10: 2, V2: 3, KAFKA_XDP: 4, INTMON: 5 } as const;
const MX = 2;
const NAMES = ['', 'INT-MD', 'INT-MX'] as const;

/** The header of int-afxdp-kafka behind four bytes of shim. */
const KAFKA_XDP = /* @__PURE__ */ new FieldGroup('int', {
  reserved: 16,
  hopCount: 8,
  reserved2: 8,
  instructions: 8,
  reserved3: 24,
});

/** Whether the scan has read an INT header whose stack can be told apart. A problem may lie behind it. */
function hasStack(scan: Scan): boolean {
  const { code, hopCount } = scan;
  const isSound = code === CODES.OK || code === CODES.TRUNCATED || code === CODES.BAD_BOS;
  return scan.mode !== 0 && (isSound || hopCount > 0 || scan.at >= scan.intEnd);
}

/** First byte of INT over UDP or TCP: the probe marker, if there is one, else the shim. */
export function intStart(scan: Scan): number {
  return scan.shimOffset - (scan.marking === MARKING.PROBE_MARKER && !isPlain(scan) ? 8 : 0);
}

/** Formats without a shim of the specification. */
function isPlain(scan: Scan): boolean {
  return scan.intVersion === VERSION.KAFKA_XDP || scan.intVersion === VERSION.INTMON;
}

/**
 * INT over UDP or TCP, from the probe marker or shim on.
 * @returns the first byte behind what was added
 */
export function addInt(parts: Parts, scan: Scan, end: number): number {
  const shim = scan.shimOffset;
  const limit = Math.min(end, scan.ipEnd);
  if (scan.intVersion === VERSION.INTMON) return addHeader(parts, scan, shim, limit);
  if (scan.intVersion === VERSION.KAFKA_XDP) {
    parts.bytes('shim', shim, Math.min(shim + 4, end));
    return shim + 4 < end ? addHeader(parts, scan, shim + 4, end) : end;
  }
  const start = intStart(scan);
  if (start < shim) parts.headerGroup('probe-marker', probeMarker, start, limit);
  const whole = addShim(parts, scan, shim, limit);
  return whole ? addHeader(parts, scan, shim + 4, limit) : limit;
}

function addShim(parts: Parts, scan: Scan, shim: number, end: number): boolean {
  if (shim >= end) return false;
  const first = scan.bytes[shim]!;
  const before2 = isV05(scan, shim + 4, end) ? shimV05 : shimV10;
  return parts.headerGroup('shim', first >>> 4 === 0 ? before2 : SHIM_V2[(first >>> 2) & 3]!, shim, end);
}

/** Whether the header behind a shim of version 0.5 or 1.0 is that of 0.5. */
function isV05(scan: Scan, at: number, end: number): boolean {
  if (scan.mode !== 0) return scan.intVersion === VERSION.V05;
  return at < end && scan.bytes[at]! >>> 4 === 0;
}

/** The codec of the INT header at `at`, or `null` if it is of no version that is known. */
function headerCodec(scan: Scan, at: number): [codec: object, text: string] | null {
  const { intVersion, mode } = scan;
  if (intVersion === VERSION.INTMON) return [intMon, 'IntMon'];
  if (mode !== 0) {
    switch (intVersion) {
      case VERSION.V05:
        return [intV05, 'INT-MD 0.5'];
      case VERSION.V10:
        return [intV10, 'INT-MD 1.0'];
      case VERSION.KAFKA_XDP:
        return [KAFKA_XDP, 'int-afxdp-kafka'];
      default:
        return [mode === MX ? intMx : intMd, `${NAMES[mode]} 2`];
    }
  }
  // The scan has refused the header, or has found it cut.
  switch (scan.bytes[at]! >>> 4) {
    case 0:
      return [intV05, 'INT-MD 0.5'];
    case 1:
      return [intV10, 'INT-MD 1.0'];
    case 2:
      return [intMd, 'INT 2'];
    default:
      return null;
  }
}

/**
 * An INT header, its stack, and the tail of version 0.5.
 * @param end one past the last byte that may be INT's
 * @returns the first byte behind what was added
 */
export function addHeader(parts: Parts, scan: Scan, at: number, end: number): number {
  if (at >= end) return end;
  const found = headerCodec(scan, at);
  if (found === null) return at;
  let next = at;
  let isWhole = false;
  parts.group('int', at, (inside) => {
    isWhole = inside.header(found[0], at, end);
    const last = inside.list.at(-1)!;
    next = last.offset + last.length;
    return found[1];
  });
  if (!isWhole || !hasStack(scan)) return next;
  const stackEnd = Math.min(scan.stackEnd, end);
  addStack(parts, scan, stackEnd);
  if (scan.intVersion !== VERSION.V05 || scan.encapsulation > ENCAPSULATION.UDP_NEW) return stackEnd;
  if (scan.intEnd <= scan.stackEnd) return stackEnd;
  parts.headerGroup('tail', intTail, scan.stackEnd, end);
  return Math.max(stackEnd, Math.min(scan.intEnd, end));
}

function addStack(parts: Parts, scan: Scan, end: number): void {
  const { layout, bitmap, stackOffset, stride, hopCount, domainWords, sourceBytes } = scan;
  let at = stackOffset;
  if (stride === 0 && sourceBytes > 0) {
    parts.bytes('sourceMetadata', at, at + sourceBytes);
    at += sourceBytes;
  }
  for (let k = 0; k < hopCount; k++) {
    const own = k === hopCount - 1 ? sourceBytes : 0;
    const shape = shapeOf(layout, bitmap, 4 * domainWords + own);
    const start = at;
    const index = hopCount - 1 - k;
    const fill = (inside: Parts): string => {
      addBlock(inside, scan, shape, start, own > 0);
      return `hop ${index + 1}`;
    };
    parts.group('hop', start, fill, index);
    at += shape.byteLength;
  }
  parts.bytes('undecoded', at, end);
}

/** The values of a block: a hop's, or the reporting node's own. */
export function addBlock(parts: Parts, scan: Scan, shape: BlockShape, at: number, isSource = false): void {
  let domain = shape.domainBytes === 0;
  for (const step of shape.steps) {
    if (!domain && step.at >= shape.domainOffset) {
      domain = true;
      addDomain(parts, scan, at + shape.domainOffset, shape.domainBytes, isSource);
    }
    addStep(parts, scan, step, at + step.at);
  }
  if (!domain) addDomain(parts, scan, at + shape.domainOffset, shape.domainBytes, isSource);
}

function addDomain(parts: Parts, scan: Scan, at: number, length: number, isSource: boolean): void {
  const domain = scan.settings.domains[scan.domainId];
  const exported = 4 * scan.domainWords;
  if (!isSource) {
    parts.bytes('domain', at, at + length);
  } else if (domain === undefined) {
    parts.bytes('domain', at, at + exported);
    parts.bytes('sourceMetadata', at + exported, at + length);
  } else {
    let from = at;
    for (const { bytes, mode } of domainItems(domain, scan.domainInstructions)) {
      parts.bytes(mode === 'source-only' ? 'sourceMetadata' : 'domain', from, from + bytes);
      from += bytes;
    }
  }
}

/** One item: all ones say that the hop does not have it. */
function addStep(parts: Parts, scan: Scan, { kind, parts: names }: Step, at: number): void {
  const { view } = scan;
  const word = view.getUint32(at);
  const [upper, lower] = names;
  switch (kind) {
    case 'time64': {
      const value = view.getBigUint64(at);
      parts.field(upper![0], value === 0xffff_ffff_ffff_ffffn ? null : value, at, 0, 64);
      break;
    }
    case 'pair': {
      const none = view.getBigUint64(at) === 0xffff_ffff_ffff_ffffn;
      parts.field(upper![0], none ? null : word, at, 0, 32);
      parts.field(lower![0], none ? null : view.getUint32(at + 4), at + 4, 0, 32);
      break;
    }
    case 'split': {
      const none = word === 0xffff_ffff;
      const [, width] = lower!;
      parts.field(upper![0], none ? null : Math.floor(word / 2 ** width), at, 0, 32 - width);
      parts.field(lower![0], none ? null : word % 2 ** width, at, 32 - width, width);
      break;
    }
    case 'drop': {
      const none = word === 0xffff_ffff;
      parts.field('dropQueueId', none ? null : word >>> 24, at, 0, 8);
      parts.field('dropReason', none ? null : (word >>> 16) & 255, at, 8, 8);
      parts.field('padding', word & 0xffff, at, 16, 16);
      break;
    }
    case 'time31':
    case 'value31':
    case 'skip31': {
      parts.field('bottomOfStack', word >>> 31 === 1, at, 0, 1);
      const value = word & 0x7fff_ffff;
      const none = value === 0x7fff_ffff;
      parts.field(upper?.[0] ?? 'reserved', none ? null : kind === 'time31' ? BigInt(value) : value, at, 1, 31);
      break;
    }
    case 'skip':
      parts.field('reserved', word, at, 0, 32);
      break;
    default:
      parts.field(upper![0], word === 0xffff_ffff ? null : kind === 'time32' ? BigInt(word) : word, at, 0, 32);
  }
}
