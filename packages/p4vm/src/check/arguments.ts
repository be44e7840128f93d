import type { Span } from '../source/position.js';
import type { Argument, CallExpression, Parameter } from '../syntax/ast.js';
import { contains, hasInteger, hasVariable, sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { ANY, UNKNOWN } from '../types/primitives.js';
import type { FunctionType, ParameterType, Type, TypeVariable } from '../types/type.js';
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

/** What a call gives: types and values. `span` is the place for errors that no argument causes alone. */
export type Given = Pick<CallExpression, 'typeArguments' | 'arguments' | 'span'>;

export interface CheckedArguments {
  readonly bound: readonly BoundArgument[];
  readonly bindings: Bindings;
  /** What the signature's type variables stand for, in their order. */
  readonly types: readonly Type[];
}

/** The signature of a function or method. */
export function signatureOf(what: string, parameters: readonly Parameter[], type: FunctionType): Signature {
  return { what, parameters, types: type.parameters, variables: type.typeParameters };
}

/** Whether a call fits a signature by the number and the names of its arguments. */
export function isApplicable(parameters: readonly ParameterType[], args: readonly Argument[]): boolean {
  if (args.length > parameters.length) return false;
  const names = new Set(args.flatMap((argument) => (argument.name === undefined ? [] : [argument.name.text])));
  if (names.size === 0) return parameters.every((parameter, i) => i < args.length || parameter.isOptional);
  return (
    names.size === args.length &&
    [...names].every((name) => parameters.some((parameter) => parameter.name === name)) &&
    parameters.every((parameter) => names.has(parameter.name) || parameter.isOptional)
  );
}

/** Infers the arguments of a call, unless they have been. Of a wrong call, this reports the errors in them. */
export function inferArguments(c: Checker, args: readonly Argument[]): undefined {
  for (const { value } of args) if (value.kind !== 'any' && !c.found.types.has(value)) infer(c, value);
}

/** Reports a wrong call, and the errors in its arguments. */
export function wrongCall(c: Checker, { arguments: args }: Given, code: string, span: Span, message: string): Type {
  c.error(code, span, message);
  inferArguments(c, args);
  return UNKNOWN;
}

/** The argument of each parameter; undefined, after a diagnostic, if they do not fit. */
function bind(c: Checker, signature: Signature, given: Given): (Argument | undefined)[] | undefined {
  const { parameters, types, what } = signature;
  const { arguments: args, span } = given;
  const named = args.filter((argument) => argument.name !== undefined);
  if (named.length !== 0 && named.length !== args.length) {
    const bare = args.find((argument) => argument.name === undefined)!;
    return c.error('mixed-arguments', bare.span, 'either all arguments have names or none');
  }
  if (named.length === 0) {
    if (args.length > parameters.length) {
      const message = `${what} takes ${parameters.length} arguments, here are ${args.length}`;
      return c.error('argument-count', args[parameters.length]!.span, message);
    }
    const missing = parameters.findIndex((_, i) => i >= args.length && !types[i]!.isOptional);
    if (missing >= 0) {
      const needed = `${what} needs an argument for "${parameters[missing]!.name.text}"`;
      return c.error('argument-count', span, `${needed}: ${args.length} of ${parameters.length} are given`);
    }
    return parameters.map((_, i) => args[i]);
  }
  const result: (Argument | undefined)[] = parameters.map(() => undefined);
  let isBound = true;
  for (const argument of named) {
    const name = argument.name!;
    const position = parameters.findIndex((parameter) => parameter.name.text === name.text);
    if (position < 0) {
      c.error('ERR_CONTROL_UNKNOWN_PARAMETER', name.span, `${what} has no parameter "${name.text}"`);
      isBound = false;
    } else if (result[position] !== undefined) {
      c.error('duplicate-argument', argument.span, `"${name.text}" is given twice`);
      isBound = false;
    } else result[position] = argument;
  }
  if (!isBound) return undefined;
  const missing = parameters.findIndex((_, i) => result[i] === undefined && !types[i]!.isOptional);
  if (missing >= 0) {
    return c.error('argument-count', span, `${what} needs an argument for "${parameters[missing]!.name.text}"`);
  }
  return result;
}

function explicitBindings(c: Checker, signature: Signature, given: Given): Bindings | undefined {
  const { what, variables, preset } = signature;
  const bindings: Bindings = new Map(preset);
  const types = given.typeArguments.map((node) => resolveType(c, node));
  if (types.length === 0) return bindings;
  if (types.length !== variables.length) {
    const message = `${what} takes ${variables.length} type arguments, here are ${types.length}`;
    return c.error('type-argument-count', given.span, message);
  }
  variables.forEach((variable, i) => {
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
    const mentions = ({ type: formal }: ParameterType): boolean => contains(formal, (part) => part === variable);
    const concerned = bound.filter((_, i) => mentions(signature.types[i]!));
    const isLeftOut = concerned.length > 0 && concerned.every((argument) => argument === undefined);
    const culprit = bound[signature.types.findIndex((each) => each.direction !== 'none' && mentions(each))];
    if (type === undefined && (signature.isLoose || isLeftOut)) bindings.set(variable, ANY);
    else if (type === undefined) {
      const isWrong = bound.some((argument) => argument && c.found.types.get(argument.value)?.kind === 'unknown');
      const message = `what "${variable.name}" of ${signature.what} stands for cannot be inferred: write it in <>`;
      if (!isWrong) c.error('cannot-infer', span, message);
      bindings.set(variable, UNKNOWN);
    } else if (culprit !== undefined && type.kind === 'string') {
      c.error('parameter-type', culprit.span, 'a string cannot be passed at run time');
    } else if (culprit !== undefined && hasInteger(type)) {
      const message = `the width of a number given for "${variable.name}" of ${signature.what} must be known`;
      c.error('width-unknown', culprit.span, `${message}: write it as in 8w1`);
      bindings.set(variable, UNKNOWN);
    }
  }
  return true;
}

function checkOut(c: Checker, argument: Argument, parameter: ParameterType, target: Type): void {
  const { value } = argument;
  if (value.kind === 'any') {
    const message = `"_" can only be given for "out" parameters, and "${parameter.name}" is "inout"`;
    if (parameter.direction === 'out') settle(c, value, target, undefined);
    else c.error('argument-any', value.span, message);
    return;
  }
  const purpose = `"${parameter.direction}" parameter "${parameter.name}" needs something to write to`;
  if (!checkWritable(c, value, purpose)) return;
  const type = c.found.types.get(value) ?? UNKNOWN;
  if (sameType(type, target)) return;
  const needed = `${describeType(target)} is needed for "${parameter.name}"`;
  c.error('type-mismatch', value.span, `${needed}, but this is ${describeType(type)}`);
}

/** Checks the arguments of a call against the callee's signature, and infers its type variables. */
export function checkArguments(c: Checker, signature: Signature, given: Given): CheckedArguments | undefined {
  const { span } = given;
  inferArguments(c, given.arguments);
  const bound = bind(c, signature, given);
  const bindings = explicitBindings(c, signature, given);
  if (bound === undefined || bindings === undefined) return undefined;
  if (!inferBindings(c, signature, bound, bindings, span)) return undefined;
  const result = bound.map((argument, i): BoundArgument => {
    const formal = signature.types[i]!;
    const type = substitute(c, formal.type, bindings, argument?.span ?? span);
    if (argument !== undefined) {
      if (formal.direction === 'out' || formal.direction === 'inout') checkOut(c, argument, formal, type);
      else if (argument.value.kind === 'any') {
        const message = `"_" can only be given for "out" parameters, and "${formal.name}" is not one`;
        c.error('argument-any', argument.span, message);
      } else if (coerce(c, argument.value, type) && formal.direction === 'none' && !signature.isAction) {
        isKnownOrReport(c, argument.value, `the argument for "${formal.name}", a parameter without a direction,`);
      }
    }
    return { parameter: signature.parameters[i]!, type, argument };
  });
  const types = signature.variables.map((variable) => bindings.get(variable) ?? UNKNOWN);
  return { bound: result, bindings, types };
}
