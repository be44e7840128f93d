import type { DataType, Expression } from '../ir/program.js';
import type { Span } from '../source/position.js';
import { type Item, packBytes, plus } from './bits.js';
import type { Code } from './code.js';
import { decided, decidedAs, observed, observedField } from './definedness.js';
import { decidedValue, expressionValue } from './expressions.js';
import { aggregatePlace, enclosingHeader, joinedName, type Leaf, leavesOf, placeOf, readPlace } from './places.js';
import type { Routine } from './routine.js';
import { bitsOf, isAggregate, isKeptSigned } from './storage.js';
import { describe } from './trace.js';
import type { Value } from './value.js';

/** One scalar or varbit of the data of a hash or checksum. */
interface Datum {
  readonly type: DataType;
  /** Validity of its header: a field of an invalid header is skipped. Undefined: the datum always counts. */
  readonly condition: string | undefined;
  read(): Value;
}

/** The data of a value, in order. */
function dataOf(routine: Routine, expression: Expression): readonly Datum[] {
  const { type, span } = expression;
  if (expression.kind === 'aggregate' && isAggregate(type)) {
    return expression.elements.flatMap((each) => dataOf(routine, each));
  }
  if (isAggregate(type)) {
    return leavesOf(routine.unit, aggregatePlace(routine, expression), describe(expression)).map((leaf) => ({
      type: leaf.place.type,
      condition: leaf.place.header && `${leaf.place.header}.$valid`,
      read: () => leafValue(routine, leaf, span),
    }));
  }
  const header = expression.kind === 'member' ? enclosingHeader(expression) : undefined;
  if (header === undefined) {
    const value = routine.keepValue(expressionValue(routine, expression));
    return [{ type, condition: undefined, read: () => value }];
  }
  const condition = `${aggregatePlace(routine, header).code}.$valid`;
  const place = placeOf(routine, expression);
  return [{ type, condition, read: () => observed(routine, expression, place, readPlace(routine, place)) }];
}

function leafValue(routine: Routine, { place, what }: Leaf, span: Span): Value {
  const value = readPlace(routine, place);
  return place.kind === 'scalar' ? observedField(routine, place, value, what, span) : value;
}

/** The bits of a scalar to be written. */
function itemOf(routine: Routine, { type }: Datum, value: Value): Item {
  if (value.kind === 'words' || value.kind === 'big') {
    return { words: routine.packedWords(value), width: value.width, isCut: value.kind === 'words' };
  }
  const { width, isSigned } = bitsOf(type);
  const [word = '0'] = routine.packedWords(value);
  const plain = isKeptSigned(type) ? word.replace(/^([\w$.]+) >>> 0$/, '$1') : word;
  return { words: [plain], width, isCut: !isSigned };
}

/** A run of data under one condition. */
interface Group {
  readonly condition: string | undefined;
  readonly data: Datum[];
  bits: number;
}

function groupsOf(data: readonly Datum[]): readonly Group[] {
  const groups: Group[] = [];
  for (const each of data) {
    let group = groups.at(-1);
    if (group === undefined || group.condition !== each.condition) {
      group = { condition: each.condition, data: [], bits: 0 };
      groups.push(group);
    }
    group.data.push(each);
    if (each.type.kind !== 'varbit') group.bits += bitsOf(each.type).width;
  }
  return groups;
}

/**
 * How fields of invalid headers count. `left-out`: not at all, as in checksums, which read their lists from the
 * packet's headers. `full-width`: with their values, as in `hash`, whose list is a value of fixed width computed
 * before.
 */
export type InvalidFields = 'left-out' | 'full-width';

/**
 * Packs data into the buffer as the switch's calculations do: fields without gaps, zero bits at the end up to a whole
 * byte. Returns the name of the variable with the length in bytes.
 */
export function packData(routine: Routine, data: Expression, invalidFields: InvalidFields): string {
  const { unit, code } = routine;
  const buffer = bufferOf(routine);
  const all = dataOf(routine, data);
  const groups = groupsOf(invalidFields === 'left-out' ? all : all.map((each) => ({ ...each, condition: undefined })));
  const length = unit.names.take('length');
  const isWhole = groups.every((group, index) => (group.bits & 7) === 0 || index === groups.length - 1);
  if (!isWhole) {
    packSlowly(routine, groups, buffer);
    code.line(`const ${length} = ${buffer}.bits + 7 >>> 3;`);
    return length;
  }
  code.line(`let ${length} = 0;`);
  for (const group of groups) conditionally(code, group, () => packGroup(routine, group, buffer, length));
  return length;
}

/** Writes code that runs if the condition of a group holds. */
function conditionally(code: Code, { condition }: Group, write: () => void): void {
  if (condition !== undefined) code.open(`if (${condition}) {`);
  write();
  if (condition !== undefined) code.close();
}

/** Name of the buffer for packed data. */
export function bufferOf({ unit }: Routine): string {
  return unit.constant('buffer', 'packing', `new ${unit.helper('BitBuffer')}()`);
}

/** Writes a group that begins at a whole byte. */
function packGroup(routine: Routine, group: Group, buffer: string, length: string): void {
  const { unit } = routine;
  let items: Item[] = [];
  let bits = 0;
  const flush = (): void => {
    if (bits === 0) return;
    const bytes = (bits + 7) >> 3;
    routine.code.line(`${buffer}.reserve(${length}, ${bytes});`);
    for (const [index, byte] of packBytes(items).entries()) {
      routine.code.line(`${buffer}.bytes[${plus(length, index)}] = ${byte};`);
    }
    routine.code.line(`${length} += ${bytes};`);
    items = [];
    bits = 0;
  };
  for (const datum of group.data) {
    const value = datum.read();
    if (value.kind === 'aggregate') {
      flush();
      routine.code.line(`${buffer}.reserve(${length}, (${value.code}.bits >>> 3) + 1);`);
      routine.code.line(`${unit.helper('storeVarbit')}(${value.code}, ${buffer}.bytes, ${length}, 0);`);
      routine.code.line(`${length} += ${value.code}.bits >>> 3;`);
      continue;
    }
    const item = itemOf(routine, datum, value);
    items.push(item);
    bits += item.width;
  }
  flush();
}

/** Writes groups that may begin within a byte. */
function packSlowly(routine: Routine, groups: readonly Group[], buffer: string): void {
  routine.code.line(`${buffer}.bits = 0;`);
  for (const group of groups) {
    conditionally(routine.code, group, () => {
      for (const datum of group.data) putDatum(routine, datum, buffer);
    });
  }
}

function putDatum(routine: Routine, datum: Datum, buffer: string): void {
  const value = datum.read();
  if (value.kind === 'aggregate') {
    routine.code.open(`for (let i = 0; i < ${value.code}.bits >>> 3; i++) {`);
    routine.code.line(`${buffer}.put(${value.code}.bytes[i], 8);`);
    routine.code.close();
    return;
  }
  const { words, width } = itemOf(routine, datum, value);
  for (let left = width; left > 0; ) {
    const count = ((left - 1) & 31) + 1;
    routine.code.line(`${buffer}.put(${words[(left - 1) >> 5] ?? '0'}, ${count});`);
    left -= count;
  }
}

/** Codes of `RuntimeValue`s of all scalars of a value, with their names, as digests and logs (`use`) take them. */
export function namedValues(
  routine: Routine,
  expression: Expression,
  use: string,
): readonly { readonly name: string; readonly value: string }[] {
  const { type, span } = expression;
  if (!isAggregate(type)) {
    return [{ name: '', value: routine.runtimeValue(decidedValue(routine, use, expression)) }];
  }
  if (expression.kind === 'aggregate' && type.kind !== 'varbit') {
    return expression.elements.flatMap((each, index) => {
      const name = type.kind === 'stack' ? String(index) : (type.fields[index]?.name ?? String(index));
      if (isAggregate(each.type)) {
        return namedValues(routine, each, use).map((inner) => ({ ...inner, name: joinedName(name, inner.name) }));
      }
      const value = routine.keepValue(expressionValue(routine, each));
      return [{ name, value: routine.runtimeValue(decided(routine, use, each, value)) }];
    });
  }
  return leavesOf(routine.unit, aggregatePlace(routine, expression), describe(expression)).map((leaf) => {
    const { name, what } = leaf;
    const value = leafValue(routine, leaf, span);
    if (value.kind === 'aggregate') {
      return { name, value: `BigInt(${routine.unit.helper('formatVarbit')}(${value.code}) + '00') >> 8n` };
    }
    return { name, value: routine.runtimeValue(decidedAs(routine, use, what, span, value)) };
  });
}
