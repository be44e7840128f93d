import type { Expression, PathExpression } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { structuralSize } from '../types/measure.js';
import { ANY, BOOL, INTEGER, INVALID_HEADER, STRING, UNKNOWN } from '../types/primitives.js';
import type { Field, Type } from '../types/type.js';
import { inferCall } from './calls.js';
import { inferCast } from './casts.js';
import type { Checker } from './checker.js';
import { inheritKnown } from './constants.js';
import { inferIndex, inferMember } from './members.js';
import { inferBinary, inferConditional, inferSlice, inferUnary } from './operators.js';
import { checkDistinct } from './parameters.js';
import { aggregate, booleanValue, integerValue, wrapInteger } from './values.js';

function inferPath(c: Checker, e: PathExpression): Type {
  const entry = c.lookup(e.name, e.isAbsolute, 'name');
  if (entry === undefined) return UNKNOWN;
  if (entry.kind !== 'value') {
    const what = entry.kind === 'type' ? 'a type' : entry.kind === 'action' ? 'an action' : 'a function';
    return c.wrong('not-a-value', e.span, `"${e.name.text}" is ${what}, and a value is needed here`, {
      message: 'declared here',
      span: entry.name.span,
    });
  }
  c.found.references.set(e, entry.symbol);
  if (entry.constant !== undefined) c.found.constants.set(e, entry.constant);
  if (entry.isKnown) c.known.add(e);
  return entry.type;
}

/** The value of a list or struct of which the parts have been inferred, if all are known. */
function inferValue(c: Checker, e: Expression, parts: readonly Expression[]): void {
  const value = aggregate(parts.map((part) => c.found.constants.get(part)));
  if (value === undefined) inheritKnown(c, e, parts);
  else c.found.constants.set(e, value);
}

function compute(c: Checker, e: Expression): Type {
  switch (e.kind) {
    case 'integer': {
      if (e.width === undefined) {
        c.found.constants.set(e, integerValue(e.value));
        return INTEGER;
      }
      const type: Type = { kind: 'bits', width: e.width, isSigned: e.isSigned };
      const value = wrapInteger(e.value, e.width, e.isSigned);
      if (value !== e.value) {
        c.warn('value-cut', e.span, `${e.value} does not fit ${describeType(type)}: it is cut to ${value}`);
      }
      c.found.constants.set(e, integerValue(value));
      return type;
    }
    case 'boolean':
      c.found.constants.set(e, booleanValue(e.value));
      return BOOL;
    case 'string':
      c.found.constants.set(e, { kind: 'string', value: e.value });
      return STRING;
    case 'path':
      return inferPath(c, e);
    case 'type-expression':
      return c.wrong('not-a-value', e.span, 'this is a type, and a value is needed here');
    case 'member':
      return inferMember(c, e);
    case 'index':
      return inferIndex(c, e);
    case 'slice':
      return inferSlice(c, e);
    case 'call':
      return inferCall(c, e);
    case 'unary':
      return inferUnary(c, e);
    case 'binary':
      return inferBinary(c, e);
    case 'conditional':
      return inferConditional(c, e);
    case 'cast':
      return inferCast(c, e);
    case 'list': {
      const elements = e.elements.map((element) => infer(c, element));
      if (!e.hasDots) inferValue(c, e, e.elements);
      return { kind: 'tuple', elements };
    }
    case 'struct-expression': {
      checkDistinct(c, e.fields, 'field');
      const fields = e.fields.map(
        ({ name, value, span }): Field => ({ name: name.text, type: infer(c, value), annotations: new Map(), span }),
      );
      const values = e.fields.map((field) => field.value);
      if (!e.hasDots) inferValue(c, e, values);
      return { kind: 'struct', name: '', typeArguments: [], fields };
    }
    case 'invalid':
      c.found.constants.set(e, { kind: 'invalid-header' });
      return INVALID_HEADER;
    case 'dots':
    case 'default':
    case 'any':
      return ANY;
    case 'this':
      return c.wrong(
        'unsupported-this',
        e.span,
        '"this" is for implementations of abstract methods, which are not supported',
      );
    case 'mask':
    case 'range':
      return c.wrong(
        'set-as-value',
        e.span,
        `a ${e.kind} is a set of values: it can only be a label of a select or of an entry`,
      );
  }
}

/** Infers the type of an expression, and its value if it is known, and records both. */
export function infer(c: Checker, e: Expression): Type {
  c.budget.enter(e.span);
  const type = compute(c, e);
  c.budget.leave();
  // Types without a name are compared and described part by part.
  c.spend(1 + structuralSize(type), e.span);
  c.found.types.set(e, type);
  return type;
}
