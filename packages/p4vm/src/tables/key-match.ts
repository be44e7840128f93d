import type { KeyMatch, MatchKind, TableKey } from '../ir/program.js';
import { refuse } from './control-error.js';
import { onesOf, widthOf } from './data-width.js';

/** A key for match indexes: its match kind, and its width in bits. */
export interface KeyShape {
  readonly name: string;
  readonly kind: Exclude<MatchKind, 'selector'>;
  readonly width: number;
}

/** The shape of a table key that is not a selector key. */
export function shapeOf(key: Pick<TableKey, 'name' | 'type' | 'matchKind'>): KeyShape {
  if (key.matchKind === 'selector') throw new TypeError('a selector key is not matched');
  return { name: key.name, kind: key.matchKind, width: widthOf(key.type) };
}

/** Bits of a prefix, from the top of the key. */
export function prefixMask(width: number, length: number): bigint {
  return (onesOf(length) << BigInt(width - length)) & onesOf(width);
}

/** Length in bits of a mask that is a prefix; -1 for other masks. */
function prefixLength(width: number, mask: bigint): number {
  let length = 0;
  while (length < width && (mask >> BigInt(width - 1 - length)) & 1n) length++;
  return mask === prefixMask(width, length) ? length : -1;
}

/** The numbers of a match that must fit the key. */
function numbersOf(match: KeyMatch): readonly bigint[] {
  if (match.kind === 'range') return [match.low, match.high];
  if (match.kind === 'mask') return [match.value, match.mask];
  return match.kind === 'any' ? [] : [match.value];
}

/**
 * Brings a match into the canonical form of its key: `exact` for exact keys, `prefix` for lpm keys, `range` for range
 * keys, `mask` (value already masked) for ternary and optional ones.
 *
 * @throws ControlError `ERR_CONTROL_BAD_MATCH` if the key does not allow such a match, `ERR_CONTROL_VALUE_TOO_WIDE` if
 *   a number does not fit
 */
export function canonicalMatch(shape: KeyShape, match: KeyMatch): KeyMatch {
  const { kind, name, width } = shape;
  const ones = onesOf(width);
  const refused = (): never =>
    refuse('ERR_CONTROL_BAD_MATCH', `key ${name} is ${kind}: a match of kind ${match.kind} says too much`);
  for (const number of numbersOf(match)) {
    if (number < 0n || number > ones)
      refuse('ERR_CONTROL_VALUE_TOO_WIDE', `${number} does not fit key ${name} of ${width} bits`);
  }
  if (match.kind === 'prefix' && !(Number.isInteger(match.length) && match.length >= 0 && match.length <= width))
    refuse('ERR_CONTROL_BAD_MATCH', `key ${name} has ${width} bits: no prefix of ${match.length}`);
  if (match.kind === 'range' && match.low > match.high)
    refuse('ERR_CONTROL_BAD_MATCH', `range ${match.low}..${match.high} of key ${name} is empty`);
  switch (kind) {
    case 'exact':
      if (match.kind === 'exact') return match;
      if (match.kind === 'mask' && match.mask === ones) return { kind: 'exact', value: match.value };
      if (match.kind === 'prefix' && match.length === width) return { kind: 'exact', value: match.value };
      if (match.kind === 'range' && match.low === match.high) return { kind: 'exact', value: match.low };
      return refused();
    case 'lpm': {
      if (match.kind === 'prefix') return match;
      if (match.kind === 'exact') return { kind: 'prefix', value: match.value, length: width };
      if (match.kind === 'any') return { kind: 'prefix', value: 0n, length: 0 };
      const length = match.kind === 'mask' ? prefixLength(width, match.mask) : -1;
      if (match.kind !== 'mask' || length < 0) return refused();
      return { kind: 'prefix', value: match.value, length };
    }
    case 'range':
      if (match.kind === 'range') return match;
      if (match.kind === 'exact') return { kind: 'range', low: match.value, high: match.value };
      if (match.kind === 'any') return { kind: 'range', low: 0n, high: ones };
      if (match.kind === 'prefix' || prefixLength(width, match.mask) >= 0) {
        const mask = match.kind === 'prefix' ? prefixMask(width, match.length) : match.mask;
        return { kind: 'range', low: match.value & mask, high: (match.value & mask) | (ones ^ mask) };
      }
      return refused();
    case 'ternary':
    case 'optional': {
      if (match.kind === 'range' && match.low !== match.high && (match.low !== 0n || match.high !== ones)) {
        return refused();
      }
      const { value, mask } =
        match.kind === 'range' && match.low === match.high ? { value: match.low, mask: ones } : maskOf(width, match);
      return { kind: 'mask', value, mask };
    }
  }
}

/** Whether a bit pattern matches. */
export function matchesPattern(width: number, match: KeyMatch, value: bigint): boolean {
  switch (match.kind) {
    case 'any':
      return true;
    case 'exact':
      return value === match.value;
    case 'mask':
      return (value & match.mask) === (match.value & match.mask);
    case 'prefix': {
      const mask = prefixMask(width, match.length);
      return (value & mask) === (match.value & mask);
    }
    case 'range':
      return value >= match.low && value <= match.high;
  }
}

/** A match of any kind as value and mask; ranges have none and count as any value. */
export function maskOf(width: number, match: KeyMatch): { readonly value: bigint; readonly mask: bigint } {
  switch (match.kind) {
    case 'exact':
      return { value: match.value, mask: onesOf(width) };
    case 'mask':
      return { value: match.value & match.mask, mask: match.mask };
    case 'prefix': {
      const mask = prefixMask(width, match.length);
      return { value: match.value & mask, mask };
    }
    default:
      return { value: 0n, mask: 0n };
  }
}

/** A canonical match as text, equal for matches of the same values. */
export function matchText(width: number, match: KeyMatch): string {
  if (match.kind === 'range') return `${match.low}..${match.high}`;
  const { value, mask } = maskOf(width, match);
  return `${value}/${mask}`;
}
