import type { DataType, IrProgram, KeyMatch } from '../ir/program.js';
import { refuse } from '../tables/control-error.js';
import { onesOf, widthOf } from '../tables/data-width.js';
import { type KeyShape, prefixMask } from '../tables/key-match.js';
import { parseInteger, parseIpv4, parseIpv6, parseMac } from './address-text.js';

/**
 * A value: a number, or text: decimal, `0x..`, an IPv4, IPv6 or MAC address, `true`, `false`, a member of the type's
 * enum, or an error.
 */
export type ValueInput = number | bigint | boolean | string;

/**
 * A match for a key: a value; text such as `10.0.0.0/8`, `0x800&&&0xf00`, `1..5`, `_` (anything); or its parts: for lpm
 * keys value and length, for range keys low and high, for others value and mask.
 */
export type MatchInput = ValueInput | readonly [ValueInput, ValueInput] | KeyMatch | null;

/** Names that may stand for values. */
export interface ValueNames {
  readonly errors: readonly string[];
  /** Members of enums without values, by the enum's name. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
}

export function valueNames(program: IrProgram): ValueNames {
  return {
    errors: program.errors,
    enums: new Map(program.enums.map(({ name, members }) => [name, members])),
  };
}

function named(type: DataType, text: string, names: ValueNames): bigint | undefined {
  if (type.kind === 'bool' && (text === 'true' || text === 'false')) return text === 'true' ? 1n : 0n;
  let members: readonly string[] = [];
  if (type.kind === 'error') members = names.errors;
  else if (type.kind === 'enum') members = type.members;
  const at = members.indexOf(text.replace(/^.*\./, ''));
  return at < 0 ? undefined : BigInt(at);
}

function integerOf(type: DataType, width: number, input: ValueInput, names: ValueNames): bigint | undefined {
  if (typeof input === 'bigint') return input;
  if (typeof input === 'boolean') return input ? 1n : 0n;
  if (typeof input === 'number') return Number.isSafeInteger(input) ? BigInt(input) : undefined;
  const text = input.trim();
  const number = parseInteger(text) ?? named(type, text, names);
  if (number !== undefined) return number;
  if (width === 32) return parseIpv4(text);
  if (width === 48) return parseMac(text);
  return width === 128 ? parseIpv6(text) : undefined;
}

/**
 * A value as a bit pattern of its type. Negative numbers are taken in two's complement.
 *
 * @throws ControlError `ERR_CONTROL_BAD_VALUE` if the value cannot be read, `ERR_CONTROL_VALUE_TOO_WIDE` if it does not
 *   fit
 */
export function parseValue(type: DataType, input: ValueInput, what: string, names: ValueNames): bigint {
  const width = widthOf(type);
  const value = integerOf(type, width, input, names);
  if (value === undefined) refuse('ERR_CONTROL_BAD_VALUE', `${what}: ${JSON.stringify(input)} is no value of it`);
  if (value > onesOf(width) || value < -(1n << BigInt(width - 1)))
    refuse('ERR_CONTROL_VALUE_TOO_WIDE', `${what}: ${value} does not fit ${width} bits`);
  return BigInt.asUintN(width, value);
}

/** @throws ControlError `ERR_CONTROL_BAD_VALUE`, `ERR_CONTROL_VALUE_TOO_WIDE`, `ERR_CONTROL_BAD_MATCH` */
export function parseMatch(shape: KeyShape, type: DataType, input: MatchInput, names: ValueNames): KeyMatch {
  const match = readMatch(shape, type, input, names);
  // Only the command language, which treats optional keys as ternary, may give other masks.
  if (shape.kind === 'optional' && match.kind === 'mask' && match.mask !== 0n && match.mask !== onesOf(shape.width))
    refuse('ERR_CONTROL_BAD_MATCH', `key ${shape.name} is optional: a value or anything`);
  return match;
}

function readMatch(shape: KeyShape, type: DataType, input: MatchInput, names: ValueNames): KeyMatch {
  if (input === null || input === '_') return { kind: 'any' };
  if (typeof input === 'object' && 'kind' in input) return input;
  const what = `key ${shape.name}`;
  const read = (value: ValueInput): bigint => parseValue(type, value, what, names);
  if (typeof input === 'object') {
    const value = read(input[0]);
    if (shape.kind === 'lpm') return { kind: 'prefix', value, length: Number(input[1]) };
    const other = read(input[1]);
    return shape.kind === 'range' ? { kind: 'range', low: value, high: other } : { kind: 'mask', value, mask: other };
  }
  const parts = typeof input === 'string' ? /^(.*?)\s*(\/|&&&|\.\.|->)\s*(.*)$/.exec(input) : null;
  if (parts === null) return { kind: 'exact', value: read(input) };
  const [, left, separator, right] = parts as unknown as [string, string, string, string];
  const value = read(left);
  if (separator === '/') {
    const length = Number(parseInteger(right) ?? -1n);
    if (length < 0 || length > shape.width) refuse('ERR_CONTROL_BAD_MATCH', `${what}: no prefix of ${right} bits`);
    if (shape.kind === 'lpm') return { kind: 'prefix', value, length };
    return { kind: 'mask', value, mask: prefixMask(shape.width, length) };
  }
  const other = read(right);
  return separator === '&&&' ? { kind: 'mask', value, mask: other } : { kind: 'range', low: value, high: other };
}

/** A match as text that {@link parseMatch} reads: `0xa000000/8`, `0x800&&&0xf00`, `0x1..0x5`, `0x1`, `_`. */
export function formatMatch(match: KeyMatch): string {
  const hex = (value: bigint): string => `0x${value.toString(16)}`;
  switch (match.kind) {
    case 'any':
      return '_';
    case 'exact':
      return hex(match.value);
    case 'prefix':
      return `${hex(match.value)}/${match.length}`;
    case 'mask':
      return match.mask === 0n ? '_' : `${hex(match.value)}&&&${hex(match.mask)}`;
    case 'range':
      return `${hex(match.low)}..${hex(match.high)}`;
  }
}
