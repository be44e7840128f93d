import type { FieldMatch } from '../generated/p4/v1/p4runtime_pb.js';
import { fits, numberOfBytes } from '../values/bytes.js';
import type { EntityWriter } from './entity-writer.js';
import { invalid } from './refusal.js';
import type { FieldSchema } from './schema.js';
import type { TargetMatch } from './target.js';

/*
 * Matches of table entries and value sets. (P4Runtime 1.5, section "Match Format"; every violation is INVALID_ARGUMENT)
 */

const ANY: TargetMatch = { kind: 'any' };

function ones(width: number): bigint {
  return (1n << BigInt(width)) - 1n;
}

function numberOf({ name, width }: FieldSchema, bytes: Uint8Array): bigint {
  if (!fits(bytes, width)) {
    invalid(
      bytes.length === 0
        ? `the value of match field ${name} is empty`
        : `Bytestring provided does not fit within ${width} bits: match field ${name}`,
    );
  }
  return numberOfBytes(bytes);
}

function dontCare(name: string, advice: string): never {
  return invalid(`Invalid representation of 'don't care' match of field ${name}, ${advice}`);
}

function readMatch(field: FieldSchema, { fieldMatchType: given }: FieldMatch): TargetMatch {
  const { name, width, kind } = field;
  if (given.case !== kind) {
    invalid(
      given.case === undefined
        ? `Invalid match type: match field ${name} has no match`
        : `Invalid match type: match field ${name} is ${kind}, and its match is ${given.case}`,
    );
  }
  switch (given.case) {
    case 'exact':
      return { kind: 'exact', value: numberOf(field, given.value.value) };
    case 'optional':
      return { kind: 'exact', value: numberOf(field, given.value.value) };
    case 'lpm': {
      const { prefixLen: length } = given.value;
      const value = numberOf(field, given.value.value);
      if (length < 0) invalid(`Prefix length cannot be < 0: match field ${name}, ${length}`);
      if (length > width) invalid(`Prefix length cannot be > bitwidth: match field ${name}, ${length} of ${width}`);
      if (length === 0) dontCare(name, 'omit match field instead of using a prefix length of 0');
      if (width > length && BigInt.asUintN(width - length, value) !== 0n) {
        invalid(`Invalid LPM value, incorrect number of trailing zeros: match field ${name}, prefix of ${length}`);
      }
      return { kind: 'prefix', value, length };
    }
    case 'ternary': {
      const value = numberOf(field, given.value.value);
      const mask = numberOf(field, given.value.mask);
      if (mask === 0n) dontCare(name, 'omit match field instead of using 0 mask');
      if ((value & mask) !== value) {
        invalid(`Invalid ternary value, make sure value & mask == value: match field ${name}`);
      }
      return { kind: 'mask', value, mask };
    }
    case 'range': {
      const low = numberOf(field, given.value.low);
      const high = numberOf(field, given.value.high);
      if (low > high) invalid(`Invalid range value, make sure low <= high: match field ${name}`);
      if (low === 0n && high === ones(width)) {
        dontCare(name, 'omit match field instead of using low=0 and high=2**bitwidth-1');
      }
      return { kind: 'range', low, high };
    }
    default:
      return invalid(`Invalid match type: match field ${name}`);
  }
}

/**
 * Reads a key: one match per field of the schema, `any` for those left out.
 *
 * @throws Refusal INVALID_ARGUMENT
 */
export function readKeys(fields: readonly FieldSchema[], matches: readonly FieldMatch[]): TargetMatch[] {
  const keys: TargetMatch[] = [];
  // Almost always the fields come in the order of P4Info.
  let inOrder = 0;
  for (const match of matches) {
    let field = fields[inOrder];
    while (field !== undefined && field.id !== match.fieldId) field = fields[++inOrder];
    if (field === undefined) return readUnordered(fields, matches);
    keys[inOrder++] = readMatch(field, match);
  }
  return complete(fields, keys);
}

function readUnordered(fields: readonly FieldSchema[], matches: readonly FieldMatch[]): TargetMatch[] {
  const keys: TargetMatch[] = [];
  for (const match of matches) {
    const field = fields.find(({ id }) => id === match.fieldId);
    if (field === undefined) return invalid(`Unknown field in match key: ${match.fieldId}`);
    if (keys[field.position] !== undefined) invalid(`match field ${field.name} is given twice`);
    keys[field.position] = readMatch(field, match);
  }
  return complete(fields, keys);
}

function complete(fields: readonly FieldSchema[], keys: TargetMatch[]): TargetMatch[] {
  for (let i = 0; i < fields.length; i++) {
    if (keys[i] !== undefined) continue;
    if (fields[i]!.kind === 'exact') invalid(`Missing non-ternary field in match key: ${fields[i]!.name}`);
    keys[i] = ANY;
  }
  return keys;
}

/** Writes a match as a FieldMatch message; nothing for one that matches anything. @param tag of the repeated field */
export function writeMatch(writer: EntityWriter, tag: number, field: FieldSchema, match: TargetMatch): void {
  const { id, width, kind } = field;
  let [value, second] = [0n, 0n];
  switch (match.kind) {
    case 'any':
      return;
    case 'exact':
      value = match.value;
      second = kind === 'range' ? value : ones(width);
      break;
    case 'mask':
      if (match.mask === 0n) return;
      value = match.value & match.mask;
      second = match.mask;
      break;
    case 'prefix':
      if (match.length === 0) return;
      second = (ones(match.length) << BigInt(width - match.length)) & ones(width);
      value = match.value & second;
      break;
    case 'range':
      if (match.low === 0n && match.high === ones(width)) return;
      value = match.low;
      second = match.high;
  }
  const outer = writer.open(tag);
  writer.number(0x08, id);
  const inner = writer.open(TAGS[kind]);
  writer.value(0x0a, value);
  if (kind === 'ternary' || kind === 'range') writer.value(0x12, second);
  else if (kind === 'lpm') writer.number(0x10, match.kind === 'prefix' ? match.length : width);
  writer.close(inner);
  writer.close(outer);
}

/** Tags of the matches in FieldMatch. */
const TAGS = { exact: 0x12, ternary: 0x1a, lpm: 0x22, range: 0x32, optional: 0x3a } as const;

/** Whether two matches of a field say the same. */
export function sameMatch(field: FieldSchema, left: TargetMatch, right: TargetMatch): boolean {
  if (left.kind === 'exact' && right.kind === 'exact') return left.value === right.value;
  const [a, b] = [canonical(field, left), canonical(field, right)];
  return a[0] === b[0] && a[1] === b[1];
}

function canonical({ width, kind }: FieldSchema, match: TargetMatch): readonly [bigint, bigint] {
  switch (match.kind) {
    case 'any':
      return kind === 'range' ? [0n, ones(width)] : [0n, 0n];
    case 'exact':
      return [match.value, kind === 'range' ? match.value : ones(width)];
    case 'mask':
      return [match.value & match.mask, match.mask];
    case 'prefix': {
      const mask = (ones(match.length) << BigInt(width - match.length)) & ones(width);
      return [match.value & mask, mask];
    }
    case 'range':
      return [match.low, match.high];
  }
}
