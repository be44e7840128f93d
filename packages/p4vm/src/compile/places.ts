import type { DataType, Expression, StructDataType } from '../ir/program.js';
import { isLValue } from '../ir/walk.js';
import { decidedValue, referenceOf } from './expressions.js';
import { propertyOf } from './names.js';
import { asBits, convert, slice } from './operators.js';
import { type Routine, sliceWords } from './routine.js';
import { type AggregateType, bitsOf, isAggregate, WORDS_WIDTH } from './storage.js';
import type { ScalarHome, Unit } from './unit.js';
import { atom, bigOf, booleanOf, maskOf, numberOf, type Value, wordsOf, wrapBig, wrapNumber } from './value.js';

/** A header's membership in a union: a change of its validity concerns all members. */
export interface Membership {
  readonly union: string;
  readonly type: StructDataType;
  readonly field: string;
}

export interface ScalarPlace {
  readonly kind: 'scalar';
  readonly type: DataType;
  /** The assignable codes: one, or one per word. */
  readonly targets: readonly string[];
  readonly isKeptSigned: boolean;
  readonly marks: readonly string[];
  /** Code of the header that it is a field of. */
  readonly header?: string | undefined;
}

export interface SlicePlace {
  readonly kind: 'slice';
  readonly type: DataType;
  readonly base: ScalarPlace;
  readonly high: number;
  readonly low: number;
}

export interface AggregatePlace {
  readonly kind: 'aggregate';
  readonly type: AggregateType;
  /** Code of the object, which may be repeated. */
  readonly code: string;
  /** The object is never replaced, so its members can have their own names. */
  readonly isFixed: boolean;
  readonly membership: Membership | undefined;
  /** The stack whose `next` is on the path, which `extract` advances. */
  readonly nextOf: string | undefined;
  /** A temporary object of the compiler: its validity does not count for the packet. */
  readonly isTemporary: boolean;
  /** Statements that mark the headers and stacks on the path, itself included, as written. */
  readonly marks: readonly string[];
  /** Code of the header that it is, or is a field of. */
  readonly header: string | undefined;
}

export type Place = ScalarPlace | SlicePlace | AggregatePlace;

/** The place of an l-value. Its indices are evaluated now, into constants. */
export function placeOf(routine: Routine, target: Expression): Place {
  const { unit } = routine;
  switch (target.kind) {
    case 'variable': {
      const home = unit.homeOf(target.variable);
      if (home.kind === 'scalar') {
        return scalarPlace(target.type, home);
      }
      return objectPlace(target.type, home.name, home.isFixed);
    }
    case 'member':
      return memberOf(unit, aggregatePlace(routine, target.base), target.field, target.type);
    case 'element':
      return elementPlace(routine, target);
    case 'stack-next':
    case 'stack-last':
      return endOfStack(routine, target);
    case 'slice': {
      const base = placeOf(routine, target.base);
      if (base.kind === 'aggregate') throw new TypeError('slices are of bits');
      const { type, high, low } = target;
      return base.kind === 'slice'
        ? { kind: 'slice', type, base: base.base, high: high + base.low, low: low + base.low }
        : { kind: 'slice', type, base, high, low };
    }
    default:
      // A value that is no l-value, such as the result of a function, whose member is read.
      return objectPlace(target.type, referenceOf(routine, target), false);
  }
}

/** The place of a scalar variable. */
export function scalarPlace(type: DataType, { names, isKeptSigned }: ScalarHome): ScalarPlace {
  return { kind: 'scalar', type, targets: names, isKeptSigned, marks: [] };
}

/** The mark of a header itself. */
export function ownMark(code: string): string {
  return `${code}.$touched = true;`;
}

/** The mark of a stack whose first `count` elements may differ from new ones. */
function stackMark(stack: string, count: string | number): string {
  return `if (${stack}.$used < ${count}) ${stack}.$used = ${count};`;
}

/** The place of an object. `outer`: the marks of the objects around it. */
export function objectPlace(
  type: DataType,
  code: string,
  isFixed: boolean,
  outer: readonly string[] = [],
  rest: Partial<Pick<AggregatePlace, 'membership' | 'nextOf' | 'isTemporary' | 'header'>> = {},
): AggregatePlace {
  if (!isAggregate(type)) throw new TypeError(`${type.kind} is no aggregate`);
  return {
    kind: 'aggregate',
    type,
    code,
    isFixed,
    membership: undefined,
    nextOf: undefined,
    isTemporary: false,
    marks: type.kind === 'header' ? [...outer, ownMark(code)] : outer,
    ...rest,
    header: type.kind === 'header' ? code : rest.header,
  };
}

/** The place of something with members. */
export function aggregatePlace(routine: Routine, expression: Expression): AggregatePlace {
  const place = placeOf(routine, expression);
  if (place.kind !== 'aggregate') throw new TypeError(`${expression.type.kind} has no members`);
  return place;
}

/** A field of a place. */
export function memberOf(
  unit: Unit,
  base: AggregatePlace,
  field: string,
  type: DataType,
): ScalarPlace | AggregatePlace {
  const owner = base.type;
  if (owner.kind === 'stack' || owner.kind === 'varbit') throw new TypeError(`${owner.kind} has no fields`);
  if (!isAggregate(type)) {
    const targets = unit.types.fieldNames(owner, field, type).map((name) => `${base.code}.${name}`);
    const isKeptSigned = unit.types.keepsSigned(owner, type);
    return { kind: 'scalar', type, targets, isKeptSigned, marks: base.marks, header: base.header };
  }
  const property = propertyOf(field);
  const code = base.isFixed ? unit.fixedMember(base.code, property) : `${base.code}.${property}`;
  const membership = owner.kind === 'union' ? { union: base.code, type: owner, field } : undefined;
  const { nextOf, isTemporary, header } = base;
  return objectPlace(type, code, base.isFixed, base.marks, { membership, nextOf, isTemporary, header });
}

/** A scalar or varbit in an aggregate. */
export interface Leaf {
  readonly place: ScalarPlace | AggregatePlace;
  /** Its name in the program, and within the aggregate. */
  readonly what: string;
  readonly name: string;
}

/** The scalars and varbits in a place that the program calls `what`, in order. */
export function leavesOf(unit: Unit, place: AggregatePlace, what: string, name = ''): readonly Leaf[] {
  const { type } = place;
  if (type.kind === 'varbit') return [{ place, what, name }];
  if (type.kind === 'stack') {
    const indices = Array.from({ length: type.size }, (_, index) => index);
    return indices.flatMap((index) => {
      const code = `${place.code}.items[${index}]`;
      const element = { ...place, type: type.element, code, isFixed: false, header: code };
      return leavesOf(unit, element, `${what}[${index}]`, joinedName(name, String(index)));
    });
  }
  return type.fields.flatMap((field): readonly Leaf[] => {
    const part = memberOf(unit, place, field.name, field.type);
    const inner = { what: `${what}.${field.name}`, name: joinedName(name, field.name) };
    return part.kind === 'aggregate' ? leavesOf(unit, part, inner.what, inner.name) : [{ place: part, ...inner }];
  });
}

/** The name of a part of something that may have no name itself. */
export function joinedName(outer: string, inner: string): string {
  return outer === '' || inner === '' ? outer + inner : `${outer}.${inner}`;
}

/** A substitute for an element that does not exist: reads give 0, writes are lost. */
function missingElement(unit: Unit, type: StructDataType): string {
  return unit.types.once(`missing ${type.id}`, `${type.id}$missing`, (name, code) => {
    const object = unit.temporaryObject(type, `no_${type.id}`);
    code.open(`function ${name}() {`);
    code.line('faults.stackIndex++;');
    code.line(`${unit.types.functionOf('zero', type)}(${object});`);
    code.line(`return ${object};`);
    code.close();
  });
}

function elementPlace(routine: Routine, target: Expression<'element'>): Place {
  const { unit } = routine;
  const stack = aggregatePlace(routine, target.base);
  if (stack.type.kind !== 'stack') throw new TypeError('elements are of stacks');
  const { element, size } = stack.type;
  const index = decidedValue(routine, 'index', target.index);
  const code = routine.index(index);
  if (/^\d+$/.test(code) && Number(code) < size) {
    const member = `items[${code}]`;
    const object = stack.isFixed ? unit.fixedMember(stack.code, member) : `${stack.code}.${member}`;
    const { nextOf, isTemporary } = stack;
    const marks = [...stack.marks, stackMark(stack.code, Number(code) + 1)];
    return objectPlace(element, object, stack.isFixed, marks, { nextOf, isTemporary });
  }
  const at = routine.keep(code);
  const missing = `${missingElement(unit, element)}()`;
  const inside = index.kind === 'number' && index.isSigned ? `${at} >= 0 && ${at} < ${size}` : `${at} < ${size}`;
  const object = routine.keep(`${inside} ? ${stack.code}.items[${at}] : ${missing}`);
  const marks = [...stack.marks, `${stack.code}.$used = ${size};`];
  return objectPlace(element, object, false, marks, { nextOf: stack.nextOf });
}

function endOfStack(routine: Routine, target: Expression<'stack-next' | 'stack-last'>): Place {
  const { unit } = routine;
  const stack = aggregatePlace(routine, target.base);
  if (stack.type.kind !== 'stack') throw new TypeError('next and last are of stacks');
  const { element, size } = stack.type;
  const isNext = target.kind === 'stack-next';
  const outside = isNext ? `${stack.code}.next >= ${size}` : `${stack.code}.next === 0`;
  const index = isNext ? `${stack.code}.next` : `${stack.code}.next - 1`;
  if (routine.fail === undefined) {
    const missing = `${missingElement(unit, element)}()`;
    const object = routine.keep(`${outside} ? ${missing} : ${stack.code}.items[${index}]`);
    return objectPlace(element, object, false, [...stack.marks, `${stack.code}.$used = ${size};`]);
  }
  routine.code.line(`if (${outside}) ${routine.fail(unit.errorOf('StackOutOfBounds'))}`);
  const object = routine.keep(`${stack.code}.items[${index}]`);
  const marks = [...stack.marks, stackMark(stack.code, `${stack.code}.next${isNext ? ' + 1' : ''}`)];
  return objectPlace(element, object, false, marks, { nextOf: isNext ? stack.code : undefined });
}

/** The header that an l-value is a field of, or a field of a struct in it. */
export function enclosingHeader(expression: Expression): Expression | undefined {
  let each = expression;
  while (each.kind === 'slice') each = each.base;
  while (each.kind === 'member') {
    each = each.base;
    if (each.type.kind === 'header') return isLValue(each) ? each : undefined;
    if (each.type.kind !== 'struct') return undefined;
  }
  return undefined;
}

// Reading and writing

/** The value in a place; for aggregates a reference. */
export function readPlace(routine: Routine, place: Place): Value {
  switch (place.kind) {
    case 'aggregate':
      return { kind: 'aggregate', code: place.code };
    case 'slice': {
      const { width, isSigned } = bitsOf(place.type);
      const bits = slice(routine, asBits(readScalar(place.base)), place.high, place.low);
      return convert(routine, asBits(bits), width, isSigned);
    }
    case 'scalar':
      return readScalar(place);
  }
}

function readScalar({ type, targets, isKeptSigned }: ScalarPlace): Value {
  const [first = '0'] = targets;
  if (type.kind === 'bool') return booleanOf(first);
  if (type.kind === 'string') return { kind: 'string', code: first };
  const { width, isSigned } = bitsOf(type);
  if (targets.length > 1) return wordsOf(targets, width, isSigned);
  if (width > WORDS_WIDTH) return bigOf(first, width, isSigned);
  return numberOf(isKeptSigned ? `${first} >>> 0` : first, width, isSigned);
}

/** Writes a scalar (not an aggregate: see `assignAggregate`). */
export function writePlace(routine: Routine, place: ScalarPlace | SlicePlace, value: Value): void {
  if (place.kind === 'slice') writeSlice(routine, place, value);
  else writeScalar(routine, place, value);
}

function writeScalar(routine: Routine, place: ScalarPlace, value: Value): void {
  store(routine, place, value);
  routine.mark(place.marks);
}

function store(routine: Routine, { type, targets, isKeptSigned }: ScalarPlace, value: Value): void {
  const { code } = routine;
  const [first = '0'] = targets;
  if (value.kind === 'boolean' || value.kind === 'string') {
    code.line(`${first} = ${value.code};`);
    return;
  }
  const bits = asBits(value);
  const { width } = bitsOf(type);
  if (targets.length > 1) {
    const words = routine.words(bits, width);
    // Source and target may share words, as in `x = x ++ ...`: read all words before writing.
    const isPlain = words.every((each) => /^[\w$.[\]-]+$/.test(each));
    const kept = isPlain && !words.some((each, index) => targets.indexOf(each) !== -1 && targets.indexOf(each) < index);
    const ready = kept || words.length === 1 ? words : words.map((each) => routine.keep(each));
    for (const [index, target] of targets.entries()) routine.code.line(`${target} = ${ready[index] ?? '0'};`);
    return;
  }
  if (width > WORDS_WIDTH) routine.code.line(`${first} = ${routine.big(bits)};`);
  else if (bits.kind !== 'number') throw new TypeError('a wide value in a narrow place');
  else if (isKeptSigned) routine.code.line(`${first} = ${toSigned(bits.code)};`);
  else routine.code.line(`${first} = ${bits.code};`);
}

/** A 32-bit number as a signed one. */
function toSigned(code: string): string {
  if (/^\d+$/.test(code)) return String(Number(code) | 0);
  // The value was read from a field that is kept signed.
  if (/^[\w$]+\.[\w$.]+ >>> 0$/.test(code)) return code.slice(0, -6);
  return `${atom(code)} | 0`;
}

function writeSlice(routine: Routine, place: SlicePlace, value: Value): void {
  const { base, high, low } = place;
  const width = high - low + 1;
  const { width: total, isSigned } = bitsOf(base.type);
  const old = asBits(readScalar(base));
  const bits = asBits(value);
  if (old.kind === 'number') {
    const field = wrapNumber(bits.kind === 'number' ? bits.code : '0', width, false);
    const mask = (maskOf(width) << low) >>> 0;
    const keep = (maskOf(total) & ~mask) >>> 0;
    const piece = low === 0 ? atom(field) : `(${atom(field)} << ${low})`;
    const code = keep === 0 ? piece : `${atom(old.code)} & ${isSigned ? ~mask : keep} | ${piece}`;
    writeScalar(routine, base, numberOf(wrapNumber(code, total, isSigned), total, isSigned));
    return;
  }
  if (old.kind === 'words') {
    const source =
      bits.kind === 'number'
        ? [routine.keep(`${atom(wrapNumber(bits.code, width, false))} | 0`)]
        : routine.words({ ...bits, isSigned: false }, width).map((each) => routine.keep(each));
    const words = old.words.map((each, index) => {
      const from = low - 32 * index;
      const mask = sliceMask(from, from + width);
      if (mask === 0) return each;
      const piece = sliceWords(source, -from, 32);
      const code = piece.kind === 'number' ? piece.code.replace(/ >>> 0$/, '') : '0';
      return mask === -1 ? code : `${each} & ${~mask} | ${atom(code)} & ${mask}`;
    });
    const kept = words.map((each) => routine.keep(canonical(each)));
    writeScalar(routine, base, wordsOf(kept, total, isSigned));
    return;
  }
  const mask = ((1n << BigInt(width)) - 1n) << BigInt(low);
  const piece = bits.isSigned ? wrapBig(routine.big(bits), width, false) : routine.big(bits);
  const code = `${atom(old.code)} & ${~mask & ((1n << BigInt(total)) - 1n)}n | ${atom(piece)} << ${low}n`;
  writeScalar(routine, base, bigOf(isSigned ? wrapBig(code, total, true) : code, total, isSigned));
}

function canonical(word: string): string {
  return /^[\w$.[\]-]+$/.test(word) ? word : `${word} | 0`;
}

/** Bits `from` to `to - 1` of a word, as a signed number. */
function sliceMask(from: number, to: number): number {
  let mask = 0;
  for (let bit = Math.max(0, from); bit < Math.min(32, to); bit++) mask |= 1 << bit;
  return mask;
}

/** The place of a field given as a path, in a fixed object. */
export function pathPlace(unit: Unit, base: AggregatePlace, path: readonly string[]): Place | undefined {
  let place: Place = base;
  for (const name of path) {
    if (place.kind !== 'aggregate' || place.type.kind === 'stack' || place.type.kind === 'varbit') return undefined;
    const field = place.type.fields.find((each) => each.name === name);
    if (field === undefined) return undefined;
    place = memberOf(unit, place, name, field.type);
  }
  return place;
}
