import type { KeyMatch } from '../ir/program.js';
import { onesOf } from '../tables/data-width.js';
import type { KeyShape } from '../tables/key-match.js';
import { parseInteger, parseIpv4, parseIpv6, parseMac } from './address-text.js';
import { CommandFailure } from './command-errors.js';

/** A number given to a command. It has as many whole bytes as its field, with all their bits. */
export interface CommandValue {
  readonly value: bigint;
  readonly bytes: number;
}

/** A key given to a command: the match, and the text that the command prints for it. */
export interface CommandKey {
  readonly match: KeyMatch;
  readonly text: string;
}

/** Longest number in characters. No field has as many bits. */
const MAX_DIGITS = 4096;

/**
 * An integer as Python's `int` reads it: with base 10 decimal only, with base 0 also `0x`, `0o`, `0b`, and decimals
 * without leading zeros.
 */
export function pythonInteger(text: string, base: 0 | 10): bigint | undefined {
  if (text.length > MAX_DIGITS) return undefined;
  const isDecimal = /^[+-]?\d+(_\d+)*$/.test(text);
  if (base === 10 ? !isDecimal : isDecimal && /^[+-]?0[\d_]*[1-9]/.test(text)) return undefined;
  return parseInteger(text);
}

/** Bytes in hexadecimal, two digits each, with a separator between. */
export function hexBytes(value: bigint, bytes: number, separator: string): string {
  const digits = value.toString(16).padStart(2 * bytes, '0');
  return (digits.match(/../g) ?? []).join(separator);
}

function bad(message: string): CommandFailure {
  return new CommandFailure('ERR_CONTROL_BAD_VALUE', message);
}

/**
 * Reads a value for a field: an address for fields of 32, 48 or 128 bits, or an integer of at most as many whole bytes as
 * the field has. A negative integer is taken in two's complement.
 *
 * @throws CommandFailure with the reason only
 */
function parseParameter(text: string, width: number): CommandValue {
  const bytes = Math.ceil(width / 8);
  const address = (value: bigint | undefined, kind: string): CommandValue => {
    if (value === undefined) throw bad(`Invalid ${kind} address`);
    return { value, bytes };
  };
  if (width === 32 && text.includes('.')) return address(parseIpv4(text), 'IPv4');
  if (width === 48 && text.includes(':')) return address(parseMac(text), 'MAC');
  if (width === 128 && text.includes(':')) return address(parseIpv6(text), 'IPv6');
  const value = pythonInteger(text, 0);
  if (value === undefined) throw bad('Invalid input, could not cast to integer, try in hex with 0x prefix');
  if (value > onesOf(8 * bytes) || value < -(1n << BigInt(width - 1))) throw bad('Parameter is too large');
  return { value: value < 0n ? BigInt.asUintN(width, value) : value, bytes };
}

/** As {@link parseParameter}, with a failure that says what is wrong. */
function parseWorded(what: string, text: string, width: number): CommandValue {
  try {
    return parseParameter(text, width);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw bad(`Invalid ${what}: Error while parsing ${text} - ${error.message}`);
  }
}

/** @throws CommandFailure worded as for action parameters */
export function parseRuntimeData(texts: readonly string[], widths: readonly number[]): CommandValue[] {
  return texts.map((text, i) => parseWorded('runtime data', text, widths[i]!));
}

function halves(text: string, separator: string, message: string): readonly [string, string] {
  const parts = text.split(separator);
  if (parts.length !== 2) throw bad(`Invalid match key: ${message}`);
  return [parts[0]!, parts[1]!];
}

const shown = ({ value, bytes }: CommandValue): string => hexBytes(value, bytes, ':');

/**
 * Reads a match of a key: `value`, for lpm `value/length`, for ternary and optional `value&&&mask`, for range
 * `low->high`. Bits above the key's width are cut.
 *
 * @throws CommandFailure worded as for match keys
 */
export function parseCommandKey({ kind, width }: KeyShape, text: string): CommandKey {
  const ones = onesOf(width);
  const read = (part: string): CommandValue => parseWorded('match key', part, width);
  switch (kind) {
    case 'exact': {
      const value = read(text);
      return { match: { kind: 'exact', value: value.value & ones }, text: `EXACT-${shown(value)}` };
    }
    case 'lpm': {
      const [prefix, digits] = halves(text, '/', `Invalid LPM value ${text}, use '/' to separate prefix and length`);
      const value = read(prefix);
      const length = pythonInteger(digits, 10);
      if (length === undefined) throw bad(`Invalid match key: Invalid LPM value ${text}, bad prefix length`);
      const match: KeyMatch = { kind: 'prefix', value: value.value & ones, length: Number(length) };
      return { match, text: `LPM-${shown(value)}/${length}` };
    }
    case 'ternary':
    case 'optional': {
      const [left, right] = halves(text, '&&&', `Invalid ternary value ${text}, use '&&&' to separate key and mask`);
      const value = read(left);
      const mask = read(right);
      const match: KeyMatch = { kind: 'mask', value: value.value & ones, mask: mask.value & ones };
      return { match, text: `TERNARY-${shown(value)} &&& ${shown(mask)}` };
    }
    case 'range': {
      const hint = `Invalid range value ${text}, use '->' to separate range start and range end`;
      const [left, right] = halves(text, '->', hint);
      const low = read(left);
      const high = read(right);
      if (low.value > high.value) throw bad(`Invalid match key: start is less than end in expression ${text}`);
      const match: KeyMatch = { kind: 'range', low: low.value & ones, high: high.value <= ones ? high.value : ones };
      return { match, text: `RANGE-${shown(low)} -> ${shown(high)}` };
    }
  }
}
