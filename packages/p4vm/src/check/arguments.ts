import type { Span } from '../source/position.js';
import type { Argument, Parameter, TypeNode } from '../syntax/ast.js';
import { hasInteger, hasVariable, sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { ANY, UNKNOWN } from '../types/primitives.js';
import type { ParameterType, Type, TypeVariable } from '../types/type.js';
import type { BoundArgument } from './checked-program.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { coerce, settle } from './convert.js';
import { infer } from './expressions.js';
import { type Bindings, substitute, unify } from './generics.js';
import { checkWritable } from './lvalues.js';
import { resolveType } from './type-nodes.js';

/** Something that is called: a function, method, action, constructor or `apply`. */
export interface Signature {
  /** For messages, such as `method "extract"`. */
  readonly what: string;
  readonly parameters: readonly Parameter[];
  readonly types: readonly ParameterType[];
  readonly variables: readonly TypeVariable[];
  /** Types of variables that are known before the call is checked. */
  readonly preset?: ReadonlyMap<TypeVariable, Type>;
  /** Variables without a type are left open. Packages need this, as their optional parameters may be left out. */
  readonly isLoose?: boolean;
  /** Parameters without a direction take any value, as in calls of actions. */
  readonly isAction?: boolean;
}

export interface CheckedArguments {
  readonly bound: readonly BoundArgument[];
  readonly bindings: Bindings;
}

/** Whether a call fits a signature by the number and the names of its arguments. */
export function isApplicable(
  parameters: readonly Parameter[],
  types: readonly ParameterType[],
  args: readonly Argument[],
): boolean {
  if (args.length > parameters.length) return false;
  const names = new Set(args.flatMap((argument) => (argument.name === undefined ? [] : [argument.name.text])));
  if (names.size === 0) return types.every((type, i) => i < args.length || type.isOptional);
  return (
    names.size === args.length &&
    [...names].every((name) => parameters.some((parameter) => parameter.name.text === name)) &&
    parameters.every((parameter, i) => names.has(parameter.name.text) || types[i]!.isOptional)
  );
}

/** The argument of each parameter; undefined, after a diagnostic, if they do not fit. */
function bind(
  c: Checker,
  signature: Signature,
  args: readonly Argument[],
  span: Span,
): (Argument | undefined)[] | undefined {
  const { parameters, types, what } = signature;
  const named = args.filter((argument) => argument.name !== undefined);
  if (named.length !== 0 && named.length !== args.length) {
    const bare = args.find((argument) => argument.name === undefined)!;
    c.error('mixed-arguments', bare.span, 'either all arguments have names or none');
    return undefined;
  }
  if (named.length === 0) {
    if (args.length > parameters.length) {
      c.error(
        'argument-count',
        args[parameters.length]!.span,
        `${what} takes ${parameters.length} arguments, here are ${args.length}`,
      );
      return undefined;
    }
    const missing = parameters.findIndex((_, i) => i >= args.length && !types[i]!.isOptional);
    if (missing >= 0) {
      const { text } = parameters[missing]!.name;
      c.error(
        'argument-count',
        span,
        `${what} needs an argument for "${text}": ${args.length} of ${parameters.length} are given`,
      );
      return undefined;
    }
    return parameters.map((_, i) => args[i]);
  }
  const result: (Argument | undefined)[] = parameters.map(() => undefined);
  let isBound = true;
  for (const argument of named) {
    const position = parameters.findIndex((parameter) => parameter.name.text === argument.name!.text);
    if (position < 0) {
      c.error(
        'ERR_CONTROL_UNKNOWN_PARAMETER',
        argument.name!.span,
        `${what} has no parameter "${argument.name!.text}"`,
      );
      isBound = false;
    } else if (result[position] !== undefined) {
      c.error('duplicate-argument', argument.span, `"${argument.name!.text}" is given twice`);
      isBound = false;
    } else result[position] = argument;
  }
  if (!isBound) return undefined;
  const missing = parameters.findIndex((_, i) => result[i] === undefined && !types[i]!.isOptional);
  if (missing >= 0) {
    c.error('argument-count', span, `${what} needs an argument for "${parameters[missing]!.name.text}"`);
    return undefined;
  }
  return result;
}

function explicitBindings(
  c: Checker,
  signature: Signature,
  nodes: readonly TypeNode[],
  span: Span,
): Bindings | undefined {
  const bindings: Bindings = new Map(signature.preset);
  const types = nodes.map((node) => resolveType(c, node));
  if (types.length === 0) return bindings;
  if (types.length !== signature.variables.length) {
    c.error(
      'type-argument-count',
      span,
      `${signature.what} takes ${signature.variables.length} type arguments, here are ${types.length}`,
    );
    return undefined;
  }
  signature.variables.forEach((variable, i) => {
    if (types[i]!.kind !== 'any') bindings.set(variable, types[i]!);
  });
  return bindings;
}

function inferBindings(
  c: Checker,
  signature: Signature,
  bound: readonly (Argument | undefined)[],
  bindings: Bindings,
  span: Span,
): boolean {
  const variables = new Set(signature.variables);
  let isInferred = true;
  bound.forEach((argument, i) => {
    const formal = signature.types[i]!;
    if (!hasVariable(formal.type)) return;
    // A default value also gives types to the variables.
    const value = argument?.value ?? signature.parameters[i]!.defaultValue;
    const actual = value && c.found.types.get(value);
    if (argument === undefined && actual !== undefined && hasVariable(actual)) return;
    if (value === undefined || actual === undefined || value.kind === 'any' || value.kind === 'dots') return;
    if (unify(c, formal.type, actual, variables, bindings)) return;
    const needed = describeType(substitute(c, formal.type, bindings, span));
    c.error(
      'type-mismatch',
      argument?.span ?? span,
      `${needed} is needed for "${formal.name}", but this is ${describeType(actual)}`,
    );
    isInferred = false;
  });
  if (!isInferred) return false;
  for (const variable of signature.variables) {
    const type = bindings.get(variable);
    const isLeftOut = signature.types.every((each, i) => !mentions(each.type, variable) || bound[i] === undefined);
    if (
      type === undefined &&
      (signature.isLoose || (isLeftOut && signature.types.some((each) => mentions(each.type, variable))))
    )
      bindings.set(variable, ANY);
    else if (type === undefined) {
      const isWrong = bound.some((argument) => argument && c.found.types.get(argument.value)?.kind === 'unknown');
      if (!isWrong)
        c.error(
          'cannot-infer',
          span,
          `what "${variable.name}" of ${signature.what} stands for cannot be inferred: write it in <>`,
        );
      bindings.set(variable, UNKNOWN);
    } else if (type.kind === 'string') {
      const position = signature.types.findIndex((each) => each.direction !== 'none' && mentions(each.type, variable));
      const culprit = bound[position];
      if (culprit !== undefined) c.error('parameter-type', culprit.span, 'a string cannot be passed at run time');
    } else if (hasInteger(type)) {
      const position = signature.types.findIndex((each) => each.direction !== 'none' && mentions(each.type, variable));
      const culprit = bound[position];
      if (culprit === undefined) continue;
      c.error(
        'width-unknown',
        culprit.span,
        `the width of a number given for "${variable.name}" of ${signature.what} must be known: write it as in 8w1`,
      );
      bindings.set(variable, UNKNOWN);
    }
  }
  return true;
}

function mentions(type: Type, variable: TypeVariable): boolean {
  if (type === variable) return true;
  switch (type.kind) {
    case 'stack':
    case 'list':
    case 'set':
      return mentions(type.element, variable);
    case 'tuple':
      return type.elements.some((element) => mentions(element, variable));
    case 'struct':
    case 'header':
    case 'union':
      return type.typeArguments.some((argument) => mentions(argument, variable));
    default:
      return false;
  }
}

function checkOut(c: Checker, argument: Argument, parameter: ParameterType, target: Type): void {
  const { value } = argument;
  if (value.kind === 'any') {
    if (parameter.direction === 'out') settle(c, value, target, undefined);
    else
      c.error(
        'argument-any',
        value.span,
        `"_" can only be given for "out" parameters, and "${parameter.name}" is "inout"`,
      );
    return;
  }
  if (!checkWritable(c, value, `"${parameter.direction}" parameter "${parameter.name}" needs something to write to`))
    return;
  const type = c.found.types.get(value) ?? UNKNOWN;
  if (sameType(type, target)) return;
  c.error(
    'type-mismatch',
    value.span,
    `${describeType(target)} is needed for "${parameter.name}", but this is ${describeType(type)}`,
  );
}

/** Checks the arguments of a call against the callee's signature, and infers its type variables. */
export function checkArguments(
  c: Checker,
  signature: Signature,
  typeArguments: readonly TypeNode[],
  args: readonly Argument[],
  span: Span,
): CheckedArguments | undefined {
  for (const argument of args) {
    if (argument.value.kind !== 'any' && !c.found.types.has(argument.value)) infer(c, argument.value);
  }
  const bound = bind(c, signature, args, span);
  const bindings = explicitBindings(c, signature, typeArguments, span);
  if (bound === undefined || bindings === undefined) return undefined;
  if (!inferBindings(c, signature, bound, bindings, span)) return undefined;
  const result = bound.map((argument, i): BoundArgument => {
    const formal = signature.types[i]!;
    const type = substitute(c, formal.type, bindings, argument?.span ?? span);
    if (argument !== undefined) {
      if (formal.direction === 'out' || formal.direction === 'inout') checkOut(c, argument, formal, type);
      else if (argument.value.kind === 'any') {
        c.error(
          'argument-any',
          argument.span,
          `"_" can only be given for "out" parameters, and "${formal.name}" is not one`,
        );
      } else if (coerce(c, argument.value, type) && formal.direction === 'none' && !signature.isAction) {
        isKnownOrReport(c, argument.value, `the argument for "${formal.name}", a parameter without a direction,`);
      }
    }
    return { parameter: signature.parameters[i]!, type, argument };
  });
  return { bound: result, bindings };
}
