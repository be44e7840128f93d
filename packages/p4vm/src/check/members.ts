import type { Expression, IndexExpression, MemberExpression } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { BOOL, bit, UNKNOWN } from '../types/primitives.js';
import type { Field, StackType, Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';
import type { Checker } from './checker.js';
import { inheritKnown } from './constants.js';
import { coerce, enumToNumber } from './convert.js';
import { infer } from './expressions.js';
import { typeNamed } from './type-nodes.js';
import { isHeader } from './type-rules.js';
import { integerValue } from './values.js';

/** `Type.member`: a member of an enum or of `error`. */
function typeMember(c: Checker, e: MemberExpression, type: Type): Type {
  const name = e.member.text;
  let value: ConstantValue;
  switch (type.kind) {
    case 'enum': {
      c.spend(type.members.length >> 4, e.span);
      const position = type.members.indexOf(name);
      if (position < 0) return noEnumMember(c, e, type.name, type.members);
      value = { kind: 'enum', member: name, position };
      break;
    }
    case 'serializable-enum': {
      const number = type.members.get(name);
      if (number === undefined) return noEnumMember(c, e, type.name, type.members.keys());
      value = integerValue(number);
      break;
    }
    case 'error': {
      c.spend(c.errors.size >> 2, e.span);
      const position = [...c.errors.keys()].indexOf(name);
      if (position < 0) {
        const hint = c.hint(e.member, c.errors.keys());
        return c.wrong('unknown-member', e.member.span, `no error "${name}" is declared${hint}`);
      }
      value = { kind: 'error', name, position };
      break;
    }
    case 'unknown':
      return UNKNOWN;
    default:
      return c.wrong('no-members', e.member.span, `${describeType(type)} has no member "${name}"`);
  }
  c.found.constants.set(e, value);
  c.found.members.set(e, { kind: 'constant' });
  return type;
}

function noEnumMember(c: Checker, e: MemberExpression, type: string, members: Iterable<string>): Type {
  const message = `enum "${type}" has no member "${e.member.text}"${c.hint(e.member, members)}`;
  return c.wrong('unknown-member', e.member.span, message);
}

function stackMember(c: Checker, e: MemberExpression, stack: StackType): Type {
  const name = e.member.text;
  if (name === 'size') {
    c.found.members.set(e, { kind: 'stack', property: 'size' });
    c.found.constants.set(e, integerValue(BigInt(stack.size)));
    return bit(32);
  }
  if (name !== 'next' && name !== 'last' && name !== 'lastIndex') {
    return c.wrong('unknown-member', e.member.span, `${describeType(stack)} has no member "${name}"`);
  }
  if (!isHeader(stack.element)) {
    const message = `"${name}" is for header stacks, and this is ${describeType(stack)}`;
    return c.wrong('unknown-member', e.member.span, message);
  }
  if (c.place.kind !== 'state') {
    c.error('only-in-parser', e.member.span, `"${name}" of a header stack can only be used in states of a parser`);
  }
  c.found.members.set(e, { kind: 'stack', property: name });
  return name === 'lastIndex' ? bit(32) : stack.element;
}

function fieldMember(c: Checker, e: MemberExpression, type: Type, fields: readonly Field[]): Type {
  c.spend(fields.length >> 4, e.span);
  const position = fields.findIndex((field) => field.name === e.member.text);
  const field = fields[position];
  if (field === undefined) {
    const names = fields.map((each) => each.name);
    const message = `${describeType(type)} has no field "${e.member.text}"${c.hint(e.member, names)}`;
    return c.wrong('unknown-field', e.member.span, message);
  }
  c.found.members.set(e, { kind: 'field', field });
  const base = c.found.constants.get(e.base);
  if (base?.kind === 'aggregate' && type.kind !== 'union') {
    const value = base.elements[position];
    if (value !== undefined) c.found.constants.set(e, value);
  } else if (base === undefined) inheritKnown(c, e, [e.base]);
  return field.type;
}

/** `base.member`, except for methods that are called. */
export function inferMember(c: Checker, e: MemberExpression): Type {
  const named = typeNamed(c, e.base);
  if (named !== undefined) return typeMember(c, e, named);
  const type = infer(c, e.base);
  switch (type.kind) {
    case 'unknown':
      return UNKNOWN;
    case 'struct':
    case 'header':
    case 'union':
      return fieldMember(c, e, type, type.fields);
    case 'stack':
      return stackMember(c, e, type);
    case 'table-result': {
      const name = e.member.text;
      if (name !== 'hit' && name !== 'miss' && name !== 'action_run') {
        const message = `the result of a table has no "${name}": it has hit, miss and action_run`;
        return c.wrong('unknown-member', e.member.span, message);
      }
      c.found.members.set(e, { kind: 'table-result', property: name });
      return name === 'action_run' ? { kind: 'action-enum', table: type.table } : BOOL;
    }
    default:
      return c.wrong('no-members', e.member.span, `${describeType(type)} has no member "${e.member.text}"`);
  }
}

function checkIndex(c: Checker, index: Expression, size: number, what: string): number | undefined {
  const value = c.found.constants.get(index);
  if (value?.kind !== 'integer') return undefined;
  if (value.value < 0n || value.value >= BigInt(size)) {
    return c.error('index-range', index.span, `index ${value.value} is out of range: ${what} has ${size} elements`);
  }
  return Number(value.value);
}

/** `base[index]`. */
export function inferIndex(c: Checker, e: IndexExpression): Type {
  const type = infer(c, e.base);
  infer(c, e.index);
  const index = enumToNumber(c, e.index);
  if (type.kind === 'unknown' || index.kind === 'unknown') {
    return type.kind === 'stack' ? type.element : UNKNOWN;
  }
  if (type.kind !== 'stack' && type.kind !== 'tuple') {
    return c.wrong('not-indexable', e.base.span, `${describeType(type)} has no elements`);
  }
  if (index.kind !== 'bits' && index.kind !== 'integer') {
    c.error('index-type', e.index.span, `an index must be a number, not ${describeType(index)}`);
    return type.kind === 'stack' ? type.element : UNKNOWN;
  }
  if (type.kind === 'tuple' && !c.found.constants.has(e.index)) {
    return c.wrong('not-constant', e.index.span, 'the index of a tuple must be known at compile time');
  }
  const position =
    type.kind === 'tuple'
      ? checkIndex(c, e.index, type.elements.length, 'the tuple')
      : checkIndex(c, e.index, type.size, 'the stack');
  if (type.kind === 'tuple' && position === undefined) return UNKNOWN;
  if (index.kind === 'integer') coerceIndex(c, e.index);
  const base = c.found.constants.get(e.base);
  const value = base?.kind === 'aggregate' && position !== undefined ? base.elements[position] : undefined;
  if (value !== undefined) c.found.constants.set(e, value);
  else inheritKnown(c, e, type.kind === 'tuple' ? [e.base] : [e.base, e.index]);
  return type.kind === 'tuple' ? type.elements[position!]! : type.element;
}

/** An index without a width gets one, so that nothing of type `int` is left to run. */
function coerceIndex(c: Checker, index: Expression): void {
  const value = c.found.constants.get(index);
  if (value?.kind === 'integer' && (value.value < 0n || value.value > 0xffff_ffffn)) return;
  coerce(c, index, bit(32));
}
