import { MAX_BITS } from '../budget/limits.js';
import type { Span } from '../source/position.js';
import type {
  BitsTypeNode,
  Expression,
  NamedTypeNode,
  PathExpression,
  StackTypeNode,
  TypeNode,
} from '../syntax/ast.js';
import { contains, hasVariable } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { structuralSize } from '../types/measure.js';
import { ANY, BOOL, ERROR, INTEGER, MATCH_KIND, STRING, UNKNOWN, VOID } from '../types/primitives.js';
import type { StackType, Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { declareInPlace } from './declare-types.js';
import { infer } from './expressions.js';
import type { TypeEntry } from './scope.js';
import { checkElement, checkParts, checkStack } from './type-rules.js';

const PLAIN_TYPES = {
  'bool-type': BOOL,
  'error-type': ERROR,
  'match-kind-type': MATCH_KIND,
  'string-type': STRING,
  'void-type': VOID,
  'any-type': ANY,
  'integer-type': INTEGER,
};

/** Largest size of a varbit, array or stack. A larger one is a mistake. */
const MAXIMUM_SIZE = 1n << 20n;

/** The value of an expression that must be a known number; undefined, after a diagnostic, if it is not. */
export function constantInteger(c: Checker, expression: Expression, what: string): bigint | undefined {
  const type = infer(c, expression);
  if (type.kind === 'unknown') return undefined;
  if (type.kind !== 'integer' && type.kind !== 'bits' && type.kind !== 'serializable-enum') {
    return c.error('type-mismatch', expression.span, `${what} must be a number, not ${describeType(type)}`);
  }
  const value = c.found.constants.get(expression);
  if (value?.kind !== 'integer') {
    return c.error('not-constant', expression.span, `${what} must be known at compile time`);
  }
  return value.value;
}

function width(c: Checker, node: BitsTypeNode): number | undefined {
  if (node.width === undefined) return 1;
  const value = constantInteger(c, node.width, `the width of ${node.base}<>`);
  if (value === undefined) return undefined;
  const least = node.base === 'int' ? 1n : 0n;
  const most = node.base === 'varbit' ? MAXIMUM_SIZE : BigInt(MAX_BITS);
  if (value < least || value > most) {
    return c.error(
      'type-width',
      node.width.span,
      `${value} is not a width of ${node.base}<>: it must be from ${least} to ${most}`,
    );
  }
  return Number(value);
}

function namedType(c: Checker, node: NamedTypeNode): Type {
  const entry = lookupType(c, node);
  const typeArguments = node.arguments.map((argument) => resolveType(c, argument));
  if (entry === undefined) return UNKNOWN;
  return specialiseOrReport(c, entry, typeArguments, node.span);
}

/** The declaration that a type's name refers to; undefined, after a diagnostic, if there is none. */
export function lookupType(c: Checker, node: NamedTypeNode): TypeEntry | undefined {
  const entry = c.lookup(node.name, node.isAbsolute, 'type');
  if (entry !== undefined && entry.kind !== 'type') {
    return c.error('not-a-type', node.name.span, `"${node.name.text}" is not a type`, {
      message: 'declared here',
      span: entry.name.span,
    });
  }
  return entry;
}

function stackType(c: Checker, node: StackTypeNode): Type {
  const element = resolveType(c, node.element);
  const size = constantInteger(c, node.size, 'the size of an array or header stack');
  if (size === undefined || element.kind === 'unknown') return UNKNOWN;
  if (size < 1n || size > MAXIMUM_SIZE) {
    const range = `it must be from 1 to ${MAXIMUM_SIZE}`;
    return c.wrong('stack-size', node.size.span, `${size} is not a size of an array or header stack: ${range}`);
  }
  const stack: StackType = { kind: 'stack', element, size: Number(size) };
  checkStack(c, stack, node.span);
  return checkParts(c, stack, node.span) ? stack : UNKNOWN;
}

function resolve(c: Checker, node: TypeNode): Type {
  switch (node.kind) {
    case 'bool-type':
    case 'error-type':
    case 'match-kind-type':
    case 'string-type':
    case 'void-type':
    case 'any-type':
    case 'integer-type':
      return PLAIN_TYPES[node.kind];
    case 'bits-type': {
      const bits = width(c, node);
      if (bits === undefined) return UNKNOWN;
      if (node.base === 'varbit') return { kind: 'varbit', maxWidth: bits };
      return { kind: 'bits', width: bits, isSigned: node.base === 'int' };
    }
    case 'tuple-type': {
      const elements = node.elements.map((element) => {
        const type = resolveType(c, element);
        checkElement(c, 'tuple', type, element.span);
        return type;
      });
      const tuple: Type = { kind: 'tuple', elements };
      return checkParts(c, tuple, node.span) ? tuple : UNKNOWN;
    }
    case 'list-type': {
      const element = resolveType(c, node.element);
      checkElement(c, 'list', element, node.element.span);
      return { kind: 'list', element };
    }
    case 'stack-type':
      return stackType(c, node);
    case 'named-type':
      return namedType(c, node);
    case 'declared-type':
      return declareInPlace(c, node.declaration);
  }
}

/** The type that a node denotes. It is recorded unless it contains type variables. */
export function resolveType(c: Checker, node: TypeNode): Type {
  const type = resolve(c, node);
  c.spend(structuralSize(type), node.span);
  if (!hasVariable(type)) c.found.typeNodes.set(node, type);
  return type;
}

/** As `resolveType`, for places that do not accept `_`: variables, fields, casts. */
export function resolveDefiniteType(c: Checker, node: TypeNode): Type {
  const type = resolveType(c, node);
  if (!contains(type, (part) => part.kind === 'any')) return type;
  return c.wrong('indefinite-type', node.span, '"_" cannot stand for a type here');
}

/** The entry of the type that a path names; undefined, without a diagnostic, for values and unknown names. */
export function typeEntryOf(c: Checker, path: PathExpression): TypeEntry | undefined {
  const scope = path.isAbsolute ? c.scope.root : c.scope;
  const entry = scope.lookup(path.name.text);
  return entry?.kind === 'type' ? entry : undefined;
}

/** The type an expression names, if it names one. */
export function typeNamed(c: Checker, expression: Expression): Type | undefined {
  if (expression.kind === 'type-expression') return resolveType(c, expression.type);
  if (expression.kind !== 'path') return undefined;
  const entry = typeEntryOf(c, expression);
  if (entry === undefined) return undefined;
  if (entry.declaration !== undefined) {
    c.found.references.set(expression, { kind: 'type', declaration: entry.declaration });
  }
  return specialiseOrReport(c, entry, [], expression.span);
}

/** The type of an entry for type arguments, if their number is right. */
export function specialiseOrReport(c: Checker, entry: TypeEntry, typeArguments: readonly Type[], span: Span): Type {
  if (entry.parameters === typeArguments.length) return entry.specialise(typeArguments, span);
  return c.wrong(
    'type-argument-count',
    span,
    `"${entry.name.text}" takes ${entry.parameters} type arguments, here are ${typeArguments.length}`,
  );
}
