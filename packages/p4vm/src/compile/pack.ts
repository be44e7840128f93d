import type { DataType, Expression } from '../ir/program.js';
import type { Span } from '../source/position.js';
import { type Item, packBytes, plus } from './bits.js';
import { decided, decidedAs, observed, observedField } from './definedness.js';
import { expressionValue } from './expressions.js';
import { type AggregatePlace, aggregatePlace, enclosingHeader, memberOf, placeOf, readPlace } from './places.js';
import type { Routine } from './routine.js';
import { bitsOf, isAggregate, isKeptSigned } from './storage.js';
import { describe } from './trace.js';
import type { Value } from './value.js';

/** One scalar or varbit of the data of a hash or checksum. */
interface Leaf {
  readonly type: DataType;
  /** Validity of its header: a field of an invalid header is skipped. Undefined: the leaf always counts. */
  readonly condition: string | undefined;
  read(): Value;
}

/** The leaves of a value, in order. */
function leavesOf(routine: Routine, expression: Expression): readonly Leaf[] {
  const { type } = expression;
  if (expression.kind === 'aggregate') {
    if (type.kind === 'header' || type.kind === 'struct' || type.kind === 'stack') {
      return expression.elements.flatMap((each) => leavesOf(routine, each));
    }
  }
  const header = expression.kind === 'member' ? enclosingHeader(expression) : undefined;
  const condition = header && `${aggregatePlace(routine, header).code}.$valid`;
  if (header !== undefined && !isAggregate(type)) {
    const place = placeOf(routine, expression);
    return [{ type, condition, read: () => observed(routine, expression, place, readPlace(routine, place)) }];
  }
  if (isAggregate(type)) {
    return placeLeaves(routine, aggregatePlace(routine, expression), condition, describe(expression), expression.span);
  }
  const value = routine.keepValue(expressionValue(routine, expression));
  return [{ type, condition: undefined, read: () => value }];
}

function placeLeaves(
  routine: Routine,
  place: AggregatePlace,
  condition: string | undefined,
  what: string,
  span: Span,
): readonly Leaf[] {
  const { type, code } = place;
  if (type.kind === 'varbit') {
    return [{ type, condition, read: () => ({ kind: 'aggregate', code }) }];
  }
  if (type.kind === 'stack') {
    return Array.from({ length: type.size }, (_, index) => {
      const element = { ...place, type: type.element, code: `${code}.items[${index}]`, isFixed: false };
      return placeLeaves(routine, { ...element, header: element.code }, condition, `${what}[${index}]`, span);
    }).flat();
  }
  const inner = type.kind === 'header' ? `${code}.$valid` : condition;
  return type.fields.flatMap((field): readonly Leaf[] => {
    const part = memberOf(routine.unit, place, field.name, field.type);
    const name = `${what}.${field.name}`;
    if (part.kind === 'aggregate') return placeLeaves(routine, part, inner, name, span);
    if (part.kind === 'slice') throw new TypeError('fields are no slices');
    const read = (): Value => observedField(routine, part, readPlace(routine, part), name, span);
    return [{ type: field.type, condition: inner, read }];
  });
}

/** The bits of a scalar to be written. */
function itemOf(routine: Routine, { type }: Leaf, value: Value): Item {
  if (value.kind === 'words' || value.kind === 'big') {
    return { words: routine.packedWords(value), width: value.width, isCut: value.kind === 'words' };
  }
  const { width, isSigned } = bitsOf(type);
  const [word = '0'] = routine.packedWords(value);
  const plain = isKeptSigned(type) ? word.replace(/^([\w$.]+) >>> 0$/, '$1') : word;
  return { words: [plain], width, isCut: !isSigned };
}

/** A run of leaves under one condition. */
interface Group {
  readonly condition: string | undefined;
  readonly leaves: Leaf[];
  bits: number;
  hasVarbit: boolean;
}

function groupsOf(leaves: readonly Leaf[]): readonly Group[] {
  const groups: Group[] = [];
  for (const leaf of leaves) {
    let group = groups.at(-1);
    if (group === undefined || group.condition !== leaf.condition) {
      group = { condition: leaf.condition, leaves: [], bits: 0, hasVarbit: false };
      groups.push(group);
    }
    group.leaves.push(leaf);
    if (leaf.type.kind === 'varbit') group.hasVarbit = true;
    else group.bits += bitsOf(leaf.type).width;
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
  const leaves = leavesOf(routine, data);
  const groups = groupsOf(
    invalidFields === 'left-out' ? leaves : leaves.map((each) => ({ ...each, condition: undefined })),
  );
  const length = unit.names.take('length');
  const isWhole = groups.every((group, index) => (group.bits & 7) === 0 || index === groups.length - 1);
  if (!isWhole) {
    packSlowly(routine, groups, buffer);
    code.line(`const ${length} = ${buffer}.bits + 7 >>> 3;`);
    return length;
  }
  code.line(`let ${length} = 0;`);
  for (const group of groups) {
    if (group.condition !== undefined) code.open(`if (${group.condition}) {`);
    packGroup(routine, group, buffer, length);
    if (group.condition !== undefined) code.close();
  }
  return length;
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
  for (const leaf of group.leaves) {
    const value = leaf.read();
    if (value.kind === 'aggregate') {
      flush();
      routine.code.line(`${buffer}.reserve(${length}, (${value.code}.bits >>> 3) + 1);`);
      routine.code.line(`${unit.helper('storeVarbit')}(${value.code}, ${buffer}.bytes, ${length}, 0);`);
      routine.code.line(`${length} += ${value.code}.bits >>> 3;`);
      continue;
    }
    const item = itemOf(routine, leaf, value);
    items.push(item);
    bits += item.width;
  }
  flush();
}

/** Writes groups that may begin within a byte. */
function packSlowly(routine: Routine, groups: readonly Group[], buffer: string): void {
  routine.code.line(`${buffer}.bits = 0;`);
  for (const group of groups) {
    if (group.condition !== undefined) routine.code.open(`if (${group.condition}) {`);
    for (const leaf of group.leaves) {
      const value = leaf.read();
      if (value.kind === 'aggregate') {
        const { code } = value;
        routine.code.open(`for (let i = 0; i < ${code}.bits >>> 3; i++) {`);
        routine.code.line(`${buffer}.put(${code}.bytes[i], 8);`);
        routine.code.close();
        continue;
      }
      const { words, width } = itemOf(routine, leaf, value);
      for (let left = width; left > 0; ) {
        const count = ((left - 1) & 31) + 1;
        routine.code.line(`${buffer}.put(${words[(left - 1) >> 5] ?? '0'}, ${count});`);
        left -= count;
      }
    }
    if (group.condition !== undefined) routine.code.close();
  }
}

/** Codes of `RuntimeValue`s of all scalars of a value, with their names, as digests and logs (`use`) take them. */
export function namedValues(
  routine: Routine,
  expression: Expression,
  use: string,
): readonly { readonly name: string; readonly value: string }[] {
  const { type } = expression;
  if (!isAggregate(type)) {
    const value = decided(routine, use, expression, expressionValue(routine, expression));
    return [{ name: '', value: routine.runtimeValue(value) }];
  }
  if (expression.kind === 'aggregate' && type.kind !== 'varbit') {
    return expression.elements.flatMap((each, index) => {
      const name = type.kind === 'stack' ? String(index) : (type.fields[index]?.name ?? String(index));
      const value = routine.keepValue(isAggregate(each.type) ? { kind: 'void' } : expressionValue(routine, each));
      if (!isAggregate(each.type)) {
        return [{ name, value: routine.runtimeValue(decided(routine, use, each, value)) }];
      }
      return namedValues(routine, each, use).map((inner) => ({ ...inner, name: joined(name, inner.name) }));
    });
  }
  return placeValues(routine, aggregatePlace(routine, expression), use, describe(expression), expression.span);
}

function joined(outer: string, inner: string): string {
  return inner === '' ? outer : `${outer}.${inner}`;
}

function placeValues(
  routine: Routine,
  place: AggregatePlace,
  use: string,
  what: string,
  span: Span,
): readonly { readonly name: string; readonly value: string }[] {
  const { type, code } = place;
  if (type.kind === 'varbit') {
    return [{ name: '', value: `BigInt(${routine.unit.helper('formatVarbit')}(${code}) + '00') >> 8n` }];
  }
  if (type.kind === 'stack') {
    return Array.from({ length: type.size }, (_, index) => {
      const element = { ...place, type: type.element, code: `${code}.items[${index}]`, isFixed: false };
      const ofElement = placeValues(routine, { ...element, header: element.code }, use, `${what}[${index}]`, span);
      return ofElement.map((each) => ({ ...each, name: joined(String(index), each.name) }));
    }).flat();
  }
  return type.fields.flatMap((field) => {
    const part = memberOf(routine.unit, place, field.name, field.type);
    const name = `${what}.${field.name}`;
    if (part.kind === 'slice') throw new TypeError('fields are no slices');
    if (part.kind === 'scalar') {
      const value = observedField(routine, part, readPlace(routine, part), name, span);
      return [{ name: field.name, value: routine.runtimeValue(decidedAs(routine, use, name, span, value)) }];
    }
    return placeValues(routine, part, use, name, span).map((each) => ({
      ...each,
      name: joined(field.name, each.name),
    }));
  });
}
