import { CALL_DEPTH } from '../budget/budget.js';
import type { Span } from '../source/position.js';
import type {
  Argument,
  CallExpression,
  ExternMethod,
  FunctionDeclaration,
  PathExpression,
  TypeNode,
} from '../syntax/ast.js';
import { hasVariable, typeKey } from '../types/compare.js';
import { UNKNOWN, VOID } from '../types/primitives.js';
import type { FunctionType, Type } from '../types/type.js';
import {
  checkArguments,
  type Given,
  inferArguments,
  isApplicable,
  type Signature,
  signatureOf,
  wrongCall,
} from './arguments.js';
import type { Checker } from './checker.js';
import { constructFromCall } from './constructors.js';
import { isImplicit } from './convert.js';
import { copyTree } from './copy.js';
import { infer } from './expressions.js';
import { checkFunctionBody } from './functions.js';
import { bindTypeParameters, substitute } from './generics.js';
import { inferMethodCall } from './methods.js';
import type { ActionEntry, Entry, FunctionEntry, Overload, Scope } from './scope.js';
import { resolveType, typeEntryOf } from './type-nodes.js';
import { booleanValue } from './values.js';

/** Selects one of several declarations of a name, by the number and names of a call's arguments. */
function selectOverload<T extends { readonly type: FunctionType }>(
  c: Checker,
  candidates: readonly T[],
  { arguments: args, span }: Given,
  what: string,
): T | undefined {
  if (candidates.length === 1) return candidates[0];
  c.spend(candidates.length * (1 + args.length), span);
  const applicable = candidates.filter(({ type }) => isApplicable(type.parameters, args));
  if (applicable.length === 1) return applicable[0];
  // A declaration that needs no default values takes precedence.
  const exact = applicable.filter(({ type }) => type.parameters.length === args.length);
  if (exact.length === 1) return exact[0];
  inferArguments(c, args);
  const fitting = applicable.filter(({ type: { parameters } }) =>
    args.every(({ name, value }, i) => {
      const formal = (name ? parameters.find((each) => each.name === name.text) : parameters[i])!.type;
      const actual = c.found.types.get(value);
      return actual === undefined || hasVariable(formal) || isImplicit(actual, formal);
    }),
  );
  if (fitting.length === 1) return fitting[0];
  if (applicable.length > 0) {
    return c.error('ambiguous-call', span, `${applicable.length} declarations of ${what} take these arguments`);
  }
  const others = `there are ${candidates.length} with other parameters`;
  return c.error('no-overload', span, `no ${what} takes these ${args.length} arguments: ${others}`);
}

/** As `selectOverload`, for the methods and constructors of an extern. */
export function selectMethod(
  c: Checker,
  methods: readonly ExternMethod[],
  given: Given,
  what: string,
): { readonly method: ExternMethod; readonly type: FunctionType } | undefined {
  const candidates = methods.map((method) => ({ method, type: c.methodTypes.get(method)! }));
  return selectOverload(c, candidates, given, what);
}

/** Reports a call that is not allowed in the current place. */
function checkFunctionPlace(c: Checker, name: string, isExtern: boolean, span: Span): void {
  const { kind } = c.place;
  if (kind === 'top' && !(isExtern && name === 'static_assert')) {
    c.error('call-place', span, `"${name}" cannot be called outside of parsers, controls, actions and functions`);
  }
  if (isExtern && name === 'verify' && kind !== 'state') {
    c.error('only-in-parser', span, '"verify" can only be called in states of a parser');
  }
}

/** The specialisation of a function for these type arguments: a copy, checked once. */
function specialiseFunction(
  c: Checker,
  declaration: FunctionDeclaration,
  scope: Scope,
  types: readonly Type[],
): FunctionDeclaration {
  let copies = c.copies.get(declaration);
  if (copies === undefined) {
    copies = new Map();
    c.copies.set(declaration, copies);
  }
  const key = types.map(typeKey).join(';');
  const previous = copies.get(key);
  if (previous !== undefined) return previous;
  const copy: FunctionDeclaration = { ...copyTree(c, declaration), typeParameters: [] };
  copies.set(key, copy);
  const inner = bindTypeParameters(c, scope, declaration.typeParameters, types);
  c.budget.enter(declaration.span, CALL_DEPTH);
  checkFunctionBody(c, copy, inner);
  c.budget.leave(CALL_DEPTH);
  return copy;
}

function callFunction(
  c: Checker,
  e: CallExpression,
  name: string,
  overload: Extract<Overload, { kind: 'function' }>,
  entry: FunctionEntry,
): Type {
  const { declaration, type } = overload;
  if (overload.isOpen) {
    return wrongCall(c, e, 'recursion', e.span, `function "${name}" calls itself: there is no recursion in P4`);
  }
  checkFunctionPlace(c, name, false, e.span);
  const checked = checkArguments(c, signatureOf(`function "${name}"`, declaration.parameters, type), e);
  if (checked === undefined) {
    return substitute(c, type.returnType, new Map(type.typeParameters.map((v) => [v, UNKNOWN])), e.span);
  }
  const returnType = substitute(c, type.returnType, checked.bindings, e.span);
  const { types } = checked;
  const isOpen = types.some((each) => each.kind === 'unknown');
  const target =
    type.typeParameters.length === 0 || isOpen ? declaration : specialiseFunction(c, declaration, entry.scope, types);
  const bound = checked.bound.map((each, i) => ({ ...each, parameter: target.parameters[i]! }));
  c.found.calls.set(e, { kind: 'function', declaration: target, arguments: bound, returnType });
  return returnType;
}

/** `static_assert` is evaluated at once. */
function staticAssert(c: Checker, e: CallExpression): void {
  const [check, message] = e.arguments;
  const value = check && c.found.constants.get(check.value);
  if (value?.kind !== 'boolean') return;
  c.found.constants.set(e, booleanValue(true));
  if (value.value) return;
  const text = message && c.found.constants.get(message.value);
  c.error('static-assertion', e.span, text?.kind === 'string' ? text.value : 'static_assert fails');
}

function callExtern(
  c: Checker,
  e: CallExpression,
  name: string,
  overload: Extract<Overload, { kind: 'extern-function' }>,
): Type {
  const { method, type } = overload;
  checkFunctionPlace(c, name, true, e.span);
  const checked = checkArguments(c, signatureOf(`function "${name}"`, method.parameters, type), e);
  if (checked === undefined) return type.typeParameters.length === 0 ? type.returnType : UNKNOWN;
  const { bound, bindings, types } = checked;
  const returnType = substitute(c, type.returnType, bindings, e.span);
  c.found.calls.set(e, { kind: 'extern-function', name, typeArguments: types, arguments: bound, returnType });
  if (name === 'static_assert') staticAssert(c, e);
  return returnType;
}

/** An action called like a function. */
function callAction(c: Checker, e: CallExpression, entry: ActionEntry): Type {
  const { declaration } = entry;
  const name = declaration.name.text;
  if (entry.isOpen) {
    c.error('recursion', e.span, `action "${name}" calls itself: there is no recursion in P4`);
  } else if (c.place.kind !== 'apply' && c.place.kind !== 'action') {
    c.error('call-place', e.span, `action "${name}" can only be called in the apply block of a control and in actions`);
  }
  const checked = checkArguments(c, actionSignature(entry), e);
  if (checked !== undefined) c.found.calls.set(e, { kind: 'action', declaration, arguments: checked.bound });
  return VOID;
}

/** The signature of an action for calls of it, and for its use as a default action or in an entry. */
export function actionSignature(entry: ActionEntry): Signature {
  const { name, parameters } = entry.declaration;
  return { what: `action "${name.text}"`, parameters, types: entry.parameters, variables: [], isAction: true };
}

/** The declaration that a call's name refers to: the innermost one with this number of arguments, if there is one. */
function lookupCallable(c: Checker, path: PathExpression, args: readonly Argument[]): Entry | undefined {
  const entry = c.lookup(path.name, path.isAbsolute, 'function or action');
  if (entry?.kind !== 'action' || path.isAbsolute) return entry;
  if (isApplicable(entry.parameters, args)) return entry;
  const other = c.scope.root.lookup(path.name.text);
  return other?.kind === 'functions' ? other : entry;
}

function callPath(c: Checker, e: CallExpression, path: PathExpression): Type {
  const type = typeEntryOf(c, path);
  if (type !== undefined) return constructFromCall(c, e, type, e);
  const name = path.name.text;
  const entry = lookupCallable(c, path, e.arguments);
  if (entry?.kind === 'action') {
    c.found.references.set(path, { kind: 'action', declaration: entry.declaration });
    return callAction(c, e, entry);
  }
  if (entry?.kind !== 'functions') {
    if (entry !== undefined) {
      c.error('not-callable', path.span, `"${name}" cannot be called`, {
        message: 'declared here',
        span: entry.name.span,
      });
    }
    inferArguments(c, e.arguments);
    return UNKNOWN;
  }
  const overload = selectOverload(c, entry.overloads, e, `function "${name}"`);
  if (overload === undefined) return UNKNOWN;
  if (overload.kind === 'function') {
    c.found.references.set(path, { kind: 'function', declaration: overload.declaration });
    return callFunction(c, e, name, overload, entry);
  }
  c.found.references.set(path, { kind: 'extern-function', declaration: overload.declaration });
  return callExtern(c, e, name, overload);
}

/** A named type with type arguments, as a callee: `register<bit<8>>(10)`. */
function callType(c: Checker, e: CallExpression, node: TypeNode): Type {
  if (node.kind === 'named-type') {
    const scope = node.isAbsolute ? c.scope.root : c.scope;
    const entry = scope.lookup(node.name.text);
    if (entry?.kind === 'type') return constructFromCall(c, e, entry, { ...e, typeArguments: node.arguments });
  }
  resolveType(c, node);
  inferArguments(c, e.arguments);
  return c.wrong('not-callable', e.span, 'this type has no constructor');
}

/** A call of any kind. */
export function inferCall(c: Checker, e: CallExpression): Type {
  switch (e.callee.kind) {
    case 'path':
      return callPath(c, e, e.callee);
    case 'type-expression':
      return callType(c, e, e.callee.type);
    case 'member':
      return inferMethodCall(c, e, e.callee);
    default:
      infer(c, e.callee);
      inferArguments(c, e.arguments);
      if (c.found.types.get(e.callee)?.kind === 'unknown') return UNKNOWN;
      return c.wrong('not-callable', e.callee.span, 'this cannot be called');
  }
}
