import { Stopped } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { describeType } from '../types/describe.js';
import { leafCount, typeDepth } from '../types/measure.js';
import type { StackType, StructType, Type } from '../types/type.js';
import type { Checker } from './checker.js';

/** Whether values of a type exist only in the compiler, or not at all. */
function isObject(type: Type): boolean {
  return ['extern', 'parser', 'control', 'package', 'table', 'function'].includes(type.kind);
}

/** Whether values of a type can be kept in variables, passed and assigned at run time. */
export function isValueType(type: Type): boolean {
  return !isObject(type) && !['void', 'match-kind', 'set', 'list'].includes(type.kind);
}

function isOpen(type: Type): boolean {
  return type.kind === 'unknown' || type.kind === 'any' || type.kind === 'variable';
}

function allowedInHeader(type: Type): boolean {
  switch (type.kind) {
    case 'bits':
    case 'varbit':
    case 'bool':
    case 'serializable-enum':
      return true;
    case 'newtype':
      return allowedInHeader(type.underlying);
    case 'struct':
      return type.fields.every(
        (field) => isOpen(field.type) || (field.type.kind !== 'varbit' && allowedInHeader(field.type)),
      );
    case 'stack':
      return !isHeader(type.element) && allowedInHeader(type.element);
    default:
      return isOpen(type);
  }
}

/** Whether a type is that of a header or header union. */
export function isHeader(type: Type): boolean {
  return type.kind === 'header' || type.kind === 'union';
}

function allowedInStruct(type: Type): boolean {
  return isValueType(type) && type.kind !== 'integer' && type.kind !== 'string';
}

function allowedInArray(type: Type): boolean {
  if (isOpen(type) || isHeader(type)) return true;
  if (type.kind === 'stack') return !isHeader(type.element);
  return ['bits', 'varbit', 'bool', 'enum', 'serializable-enum', 'newtype', 'struct'].includes(type.kind);
}

/**
 * Checks the field types of a struct, header or union. `places`: per field, the place to report an error at. Source:
 * P4_16 language specification, "Type nesting rules".
 */
export function checkFields(c: Checker, struct: StructType, places: readonly Span[]): void {
  struct.fields.forEach((field, i) => {
    if (isOpen(field.type)) return;
    const isAllowed =
      struct.kind === 'header'
        ? allowedInHeader(field.type)
        : struct.kind === 'union'
          ? field.type.kind === 'header'
          : allowedInStruct(field.type);
    if (isAllowed) return;
    const container = struct.kind === 'union' ? 'header union' : struct.kind;
    c.error(
      'field-type',
      places[i] ?? field.span,
      `field "${field.name}" of ${container} "${struct.name}" cannot have type ${describeType(field.type)}`,
    );
  });
}

/** Largest number of parts of a type. A type with more is a mistake, and would slow down every later stage. */
const MAXIMUM_PARTS = 1 << 18;
/** Largest nesting depth of types. */
const MAXIMUM_DEPTH = 200;

/** Reports a type with too many parts. @throws Stopped for one that is nested too deep for any later stage */
export function checkParts(c: Checker, type: Type, span: Span): boolean {
  if (typeDepth(type) > MAXIMUM_DEPTH) {
    throw new Stopped('nesting-too-deep', span, `a type nested deeper than ${MAXIMUM_DEPTH} levels`);
  }
  const count = leafCount(type);
  if (count <= MAXIMUM_PARTS) return true;
  c.error('type-too-large', span, `the type has ${count} parts: at most ${MAXIMUM_PARTS} are supported`);
  return false;
}

/** Checks the element type of an array or header stack. */
export function checkStack(c: Checker, stack: StackType, span: Span): void {
  if (allowedInArray(stack.element)) return;
  c.error('element-type', span, `elements of an array or header stack cannot have type ${describeType(stack.element)}`);
}

/** Checks an element of a tuple or list type. */
export function checkElement(c: Checker, container: 'tuple' | 'list', element: Type, span: Span): void {
  if (isOpen(element)) return;
  const isAllowed =
    container === 'tuple'
      ? allowedInStruct(element) || element.kind === 'integer'
      : !isObject(element) && element.kind !== 'void' && element.kind !== 'set';
  if (!isAllowed) c.error('element-type', span, `elements of a ${container} cannot have type ${describeType(element)}`);
}

/** Checks the type that a typedef or, with `isNew`, a type declaration names. */
export function checkTypedef(c: Checker, isNew: boolean, type: Type, span: Span): void {
  if (isOpen(type)) return;
  const isAllowed = isNew
    ? type.kind === 'bits' || type.kind === 'bool' || type.kind === 'newtype'
    : type.kind !== 'void' && type.kind !== 'match-kind';
  if (isAllowed) return;
  c.error('typedef-type', span, `${isNew ? '"type"' : '"typedef"'} cannot give a name to ${describeType(type)}`);
}

/** Whether `==` and `!=` are defined for values of a type. */
export function isComparable(type: Type): boolean {
  switch (type.kind) {
    case 'struct':
    case 'header':
    case 'union':
      return type.fields.every((field) => isComparable(field.type));
    case 'tuple':
      return type.elements.every(isComparable);
    case 'stack':
      return isComparable(type.element);
    case 'newtype':
      return isComparable(type.underlying);
    case 'variable':
    case 'action-enum':
    case 'table-result':
    case 'list':
      return false;
    case 'match-kind':
      return true;
    default:
      return isValueType(type);
  }
}
