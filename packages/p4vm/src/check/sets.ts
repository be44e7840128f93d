import type { Span } from '../source/position.js';
import type { Expression } from '../syntax/ast.js';
import { sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { ANY } from '../types/primitives.js';
import type { Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { coerce } from './convert.js';
import { infer } from './expressions.js';

/** Whether values of a type can be matched on: in select, in keys of tables, in value sets. */
export function isMatchable(type: Type): boolean {
  if (type.kind === 'newtype') return isMatchable(type.underlying);
  return ['bits', 'bool', 'enum', 'serializable-enum', 'error', 'unknown'].includes(type.kind);
}

/** Whether a type is a number, as masks and ranges need. */
export function isNumeric(type: Type): boolean {
  return type.kind === 'newtype' || type.kind === 'serializable-enum'
    ? isNumeric(type.underlying)
    : type.kind === 'bits';
}

function checkBound(c: Checker, e: Expression, type: Type): boolean {
  const given = infer(c, e);
  // Masks and ends of ranges of a serializable enum may be its numbers.
  if (type.kind === 'serializable-enum' && !sameType(given, type)) return coerce(c, e, type.underlying);
  return coerce(c, e, type);
}

function checkPair(
  c: Checker,
  label: Expression,
  first: Expression,
  second: Expression,
  type: Type,
  what: string,
): void {
  const isRight = checkBound(c, first, type);
  if (!checkBound(c, second, type) || !isRight) return;
  if (!isNumeric(type) && type.kind !== 'unknown') {
    c.error('label-type', label.span, `a ${what} can only be of numbers, not ${describeType(type)}`);
  }
  c.found.types.set(label, { kind: 'set', element: type });
}

/** A label for one key: a value of the key's type, or a set of such values. */
function checkLabel(c: Checker, label: Expression, type: Type): void {
  switch (label.kind) {
    case 'default':
    case 'any':
      c.found.types.set(label, ANY);
      return;
    case 'mask':
      checkPair(c, label, label.value, label.mask, type, 'mask');
      return;
    case 'range': {
      checkPair(c, label, label.low, label.high, type, 'range');
      const low = c.found.constants.get(label.low);
      const high = c.found.constants.get(label.high);
      if (low?.kind === 'integer' && high?.kind === 'integer' && low.value > high.value) {
        c.warn('empty-range', label.span, `the range is empty: ${low.value} is more than ${high.value}`);
      }
      return;
    }
    default: {
      const given = infer(c, label);
      if (given.kind === 'set') checkValueSet(c, label, given.element, [type]);
      else coerce(c, label, type);
    }
  }
}

/** The key types of a value set: the parts of structs and tuples, and of structs and tuples within them. */
export function partsOf(element: Type): readonly Type[] {
  if (element.kind === 'struct') return element.fields.flatMap((field) => partsOf(field.type));
  return element.kind === 'tuple' ? element.elements.flatMap(partsOf) : [element];
}

function checkValueSet(c: Checker, label: Expression, element: Type, keys: readonly Type[]): void {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined && sameType(element, only)) return;
  const parts = partsOf(element);
  if (parts.length === keys.length && parts.every((part, i) => sameType(part, keys[i]!))) return;
  c.error(
    'label-type',
    label.span,
    `the value set is of ${describeType(element)}, and the keys are ${keys.map(describeType).join(', ')}`,
  );
}

/** The labels one by one: a single list in braces stands for its elements. */
export function flatLabels(labels: readonly Expression[]): readonly Expression[] {
  const [first] = labels;
  return labels.length === 1 && first?.kind === 'list' ? first.elements : labels;
}

/** Labels of one case of a select or of one entry, for all its keys. */
export function checkLabels(c: Checker, labels: readonly Expression[], keys: readonly Type[], span: Span): boolean {
  const [first] = labels;
  if (labels.length === 1 && first !== undefined && keys.length !== 1) {
    if (first.kind === 'default' || first.kind === 'any') {
      c.found.types.set(first, ANY);
      return true;
    }
    const given = infer(c, first);
    if (given.kind === 'set') {
      checkValueSet(c, first, given.element, keys);
      return true;
    }
  }
  // A list in braces counts as one in parentheses.
  if (labels.length === 1 && first?.kind === 'list' && first.elements.length === keys.length && !first.hasDots) {
    const areRight = checkLabels(c, first.elements, keys, span);
    c.found.types.set(first, { kind: 'tuple', elements: keys });
    return areRight;
  }
  if (labels.length !== keys.length) {
    c.error('label-count', span, `there are ${keys.length} keys, but ${labels.length} labels here`);
    return false;
  }
  labels.forEach((label, i) => {
    checkLabel(c, label, keys[i]!);
  });
  return true;
}
