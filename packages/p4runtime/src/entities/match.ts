import { create } from '@bufbuild/protobuf';
import * as p4config from '../messages/p4config.js';
import * as p4v1 from '../messages/p4v1.js';
import { numberOfBytes, shortestBytes } from '../values/bytes.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import { bytesOf, parseValue, type Value, valueOfBytes } from '../values/parse-value.js';

/** The match of a field, made by a function of {@link match}. */
export type Match =
  | { readonly kind: 'exact'; readonly value: Value }
  | { readonly kind: 'lpm'; readonly value: Value; readonly length: number | undefined }
  | { readonly kind: 'ternary'; readonly value: Value; readonly mask: Value | undefined }
  | { readonly kind: 'range'; readonly low: Value; readonly high: Value }
  | { readonly kind: 'optional'; readonly value: Value };

/** Matches of one kind. */
export type MatchBy<Kind> = Extract<Match, { kind: Kind }>;

/** A match, or a value: that of an exact or optional field, `10.0.0.0/8`, `0x800&&&0xf00`, `1..5`, `_` for anything. */
export type MatchInput = Match | Value;

const exact = (value: Value): MatchBy<'exact'> => ({ kind: 'exact', value });
const lpm = (value: Value, length?: number): MatchBy<'lpm'> => ({ kind: 'lpm', value, length });
const ternary = (value: Value, mask?: Value): MatchBy<'ternary'> => ({ kind: 'ternary', value, mask });
const range = (low: Value, high: Value): MatchBy<'range'> => ({ kind: 'range', low, high });
const optional = (value: Value): MatchBy<'optional'> => ({ kind: 'optional', value });

/**
 * Matches of fields by their kinds:
 *
 * - `exact(value)`
 * - `lpm('10.0.0.0/8')` or `lpm('10.0.0.0', 8)`: the first bits
 * - `ternary('10.0.0.0/8')`, `ternary(0x800, 0xf00)`, or `ternary(5)` for all bits: a value under a mask
 * - `range(low, high)`, both included
 * - `optional(value)`
 */
export const match: {
  readonly exact: (value: Value) => MatchBy<'exact'>;
  readonly lpm: (value: Value, length?: number) => MatchBy<'lpm'>;
  readonly ternary: (value: Value, mask?: Value) => MatchBy<'ternary'>;
  readonly range: (low: Value, high: Value) => MatchBy<'range'>;
  readonly optional: (value: Value) => MatchBy<'optional'>;
} = /* @__PURE__ */ { exact, lpm, ternary, range, optional };

const { EXACT, LPM, TERNARY, RANGE, OPTIONAL } = p4config.MatchField_MatchType;

/**
 * The message of a match; undefined for one that matches anything, which requests leave out.
 *
 * @throws P4RuntimeError `ERR_P4RUNTIME_MATCH`, `ERR_P4RUNTIME_VALUE`
 */
export function encodeMatch(
  field: p4config.MatchField,
  input: MatchInput,
  types: p4config.P4TypeInfo | undefined,
): p4v1.FieldMatch | undefined {
  const given = typeof input === 'object' && 'kind' in input ? split(field, input) : read(field, input);
  const type = field.match.case === 'matchType' ? field.match.value : undefined;
  const valueType = { what: field.name, bitwidth: field.bitwidth, typeName: field.typeName };
  const number = (value: Value): bigint => parseValue(valueType, value, types);
  const ones = (1n << BigInt(field.bitwidth)) - 1n;
  const message = (fieldMatchType: p4v1.FieldMatch['fieldMatchType']): p4v1.FieldMatch =>
    create(p4v1.FieldMatchSchema, { fieldId: field.id, fieldMatchType });
  if (given === undefined) {
    return type === EXACT ? wrong(field, 'anything') : undefined;
  }
  switch (type) {
    case EXACT: {
      if (given.kind !== 'exact') return wrong(field, given.kind);
      const value = create(p4v1.FieldMatch_ExactSchema, { value: bytesOf(valueType, given.value, types) });
      return message({ case: 'exact', value });
    }
    case OPTIONAL: {
      if (given.kind !== 'exact' && given.kind !== 'optional') return wrong(field, given.kind);
      const value = create(p4v1.FieldMatch_OptionalSchema, { value: bytesOf(valueType, given.value, types) });
      return message({ case: 'optional', value });
    }
    case LPM: {
      if (given.kind !== 'lpm' && given.kind !== 'exact') return wrong(field, given.kind);
      const length = (given.kind === 'lpm' ? given.length : undefined) ?? field.bitwidth;
      if (!Number.isInteger(length) || length < 0 || length > field.bitwidth) {
        return refuse(`${field.name}: there is no prefix of ${length} bits`);
      }
      if (length === 0) return undefined;
      const kept = number(given.value) & prefix(field.bitwidth, length);
      const value = create(p4v1.FieldMatch_LPMSchema, { value: shortestBytes(kept), prefixLen: length });
      return message({ case: 'lpm', value });
    }
    case TERNARY: {
      if (given.kind === 'range') return wrong(field, given.kind);
      const mask = maskOf(field, given, number, ones);
      if (mask === 0n) return undefined;
      const value = create(p4v1.FieldMatch_TernarySchema, {
        value: shortestBytes(number(given.value) & mask),
        mask: shortestBytes(mask),
      });
      return message({ case: 'ternary', value });
    }
    case RANGE: {
      if (given.kind !== 'range' && given.kind !== 'exact') return wrong(field, given.kind);
      const low = number(given.kind === 'range' ? given.low : given.value);
      const high = number(given.kind === 'range' ? given.high : given.value);
      if (low > high) return refuse(`${field.name}: the range ${low}..${high} is empty`);
      if (low === 0n && high === ones) return undefined;
      const value = create(p4v1.FieldMatch_RangeSchema, { low: shortestBytes(low), high: shortestBytes(high) });
      return message({ case: 'range', value });
    }
    default:
      return refuse(`${field.name} has a kind of match that is not known`);
  }
}

/** A match of an answer, by the kind of its field. */
export function decodeMatch(
  field: p4config.MatchField,
  { fieldMatchType: { case: kind, value } }: p4v1.FieldMatch,
): Match {
  switch (kind) {
    case 'exact':
    case 'optional':
      return { kind, value: valueOfBytes(field, value.value) };
    case 'lpm':
      return { kind, value: numberOfBytes(value.value), length: value.prefixLen };
    case 'ternary':
      return { kind, value: numberOfBytes(value.value), mask: numberOfBytes(value.mask) };
    case 'range':
      return { kind, low: numberOfBytes(value.low), high: numberOfBytes(value.high) };
    default:
      throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', `${field.name}: a match of a kind that is not known`);
  }
}

/** The first `length` of `width` bits. */
function prefix(width: number, length: number): bigint {
  return ((1n << BigInt(length)) - 1n) << BigInt(width - length);
}

function maskOf(
  field: p4config.MatchField,
  match: Exclude<Match, { kind: 'range' }>,
  number: (value: Value) => bigint,
  ones: bigint,
): bigint {
  if (match.kind === 'lpm') return prefix(field.bitwidth, match.length ?? field.bitwidth);
  return match.kind === 'ternary' && match.mask !== undefined ? number(match.mask) : ones;
}

/** A match whose value may be text with its mask or length: `ternary('10.0.0.0/8')`. */
function split(field: p4config.MatchField, match: Match): Match | undefined {
  const isOpen =
    (match.kind === 'lpm' && match.length === undefined) || (match.kind === 'ternary' && match.mask === undefined);
  if (!isOpen || !('value' in match) || typeof match.value !== 'string') return match;
  const found = read(field, match.value);
  return found?.kind === 'exact' ? match : found;
}

/** A match from text; undefined for `_`. */
function read(field: p4config.MatchField, input: Value): Match | undefined {
  if (typeof input !== 'string') return exact(input);
  const text = input.trim();
  if (text === '_') return undefined;
  // Types that are strings take any text as it is.
  const parts = field.bitwidth === 0 ? null : /^(.+?)\s*(\/|&&&|\.\.|->)\s*(.+)$/.exec(text);
  if (parts === null) return exact(input);
  const [, left = '', separator, right = ''] = parts;
  if (separator === '/') {
    const length = /^\d{1,6}$/.test(right) ? Number(right) : Number.NaN;
    if (!(length <= field.bitwidth)) return refuse(`${field.name}: there is no prefix of ${right} bits`);
    return lpm(left, length);
  }
  return separator === '&&&' ? ternary(left, right) : range(left, right);
}

function wrong({ name, match }: p4config.MatchField, kind: string): never {
  const wanted = match.case === 'matchType' ? p4config.MatchField_MatchType[match.value].toLowerCase() : 'other';
  return refuse(`${name} takes ${wanted} matches, not ${kind}`);
}

function refuse(message: string): never {
  throw new P4RuntimeError('ERR_P4RUNTIME_MATCH', message);
}
