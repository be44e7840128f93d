import type { BoundArgument, ResolvedCall } from '../check/checked-program.js';
import type { Expression, IrArgument } from '../ir/program.js';
import type { Span } from '../source/position.js';
import type { CallExpression } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import { actionFor } from './actions.js';
import { booleanConstant, constantNumber, defaultOf } from './constants.js';
import { BOOL, printType, VOID } from './data-types.js';
import { hasEffects, isInOrder } from './effects.js';
import { Evaluator } from './evaluate.js';
import { knownNumber, lowerExpression, lowerPlace } from './expressions.js';
import { functionFor } from './functions.js';
import { applyInstance } from './instances.js';
import type { Lowering } from './lowering.js';
import type { Scope, StaticValue } from './scope.js';
import { staticValue } from './statics.js';
import { tableFor } from './tables.js';

/** Functions of core.p4 and v1model.p4 that the machine knows. */
const EXTERN_FUNCTIONS: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'verify',
  'random',
  'digest',
  'mark_to_drop',
  'hash',
  'verify_checksum',
  'update_checksum',
  'verify_checksum_with_payload',
  'update_checksum_with_payload',
  'clone',
  'clone3',
  'clone_preserving_field_list',
  'resubmit',
  'resubmit_preserving_field_list',
  'recirculate',
  'recirculate_preserving_field_list',
  'truncate',
  'assert',
  'assume',
  'log_msg',
]);

/** Positions of arguments that must be numbers, although their declared type is open. */
const NUMBERS: ReadonlyMap<string, readonly number[]> = /* @__PURE__ */ new Map([
  ['hash', [0, 2, 4]],
  ['random', [0, 1, 2]],
]);

type Resolved<Kind extends ResolvedCall['kind']> = Extract<ResolvedCall, { readonly kind: Kind }>;

/** True for a type whose values are objects known before the first packet. */
export function isObjectType(type: Type): boolean {
  return type.kind === 'extern' || type.kind === 'parser' || type.kind === 'control';
}

/** The arguments of a call, in order of the parameters; objects are left out. */
function lowerArguments(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  bound: readonly BoundArgument[],
): IrArgument[] {
  const values = bound.filter((each) => !isObjectType(each.type));
  const lowered = values.map((each) => lowerArgument(lowering, scope, each));
  const ordered = values.map((each) => each.argument);
  if (!isInOrder(call.arguments, ordered) && lowered.some(({ value }) => value !== undefined && hasEffects(value))) {
    lowering.refuse(call.span, 'arguments that are calls must be given in the order of the parameters');
  }
  return lowered;
}

/** Lowers an argument. A missing one gets the parameter's default value; `_` and optional ones get none. */
export function lowerArgument(lowering: Lowering, scope: Scope, bound: BoundArgument): IrArgument {
  const { direction, defaultValue } = bound.parameter;
  const value = bound.argument?.value ?? defaultValue;
  if (value === undefined || value.kind === 'any') return { direction, value: undefined };
  if (direction === 'out' || direction === 'inout') {
    return { direction, value: lowerPlace(lowering, scope, value) };
  }
  if (value.kind === 'dots') {
    return { direction, value: defaultOf(lowering.dataType(bound.type, value.span), value.span) };
  }
  return { direction, value: lowerExpression(lowering, scope, value) };
}

/** A call as an expression. Its type is void if it has no result. */
export function lowerCall(lowering: Lowering, scope: Scope, call: CallExpression): Expression {
  const { span } = call;
  const resolved = lowering.checked.calls.get(call);
  switch (resolved?.kind) {
    case 'function': {
      const objects = objectArguments(lowering, scope, resolved.arguments);
      const args = lowerArguments(lowering, scope, call, resolved.arguments);
      const target = lowering.called(functionFor(lowering, resolved.declaration, objects), span);
      return { kind: 'call-function', type: target.returnType, target, arguments: args, span };
    }
    case 'action': {
      const args = lowerArguments(lowering, scope, call, resolved.arguments);
      const target = lowering.called(actionFor(lowering, scope, resolved.declaration), span);
      return { kind: 'call-action', type: VOID, target, arguments: args, span };
    }
    case 'extern-function':
      return lowerExternFunction(lowering, scope, call, resolved);
    case 'extern-method':
      return lowerMethod(lowering, scope, call, resolved);
    case 'apply': {
      const objects = objectArguments(lowering, scope, resolved.arguments);
      const args = lowerArguments(lowering, scope, call, resolved.arguments);
      const target = lowering.called(applyInstance(lowering, scope, call, resolved, objects), span);
      return { kind: 'apply-instance', type: VOID, target, arguments: args, span };
    }
    case 'apply-table': {
      const table = lowering.called(tableFor(lowering, scope, resolved.table), span);
      return { kind: 'apply-table', type: VOID, table, result: 'none', span };
    }
    case 'builtin':
      return lowerBuiltin(lowering, scope, call, resolved);
    case 'constructor':
      return lowering.refuse(span, 'an object cannot be made here');
    case undefined:
      return lowering.missing(span, 'this call is not resolved');
  }
}

/** The objects among the arguments of a call, in order of the parameters. */
function objectArguments(lowering: Lowering, scope: Scope, bound: readonly BoundArgument[]): StaticValue[] {
  return bound
    .filter((each) => isObjectType(each.type))
    .map(({ argument, parameter }) =>
      argument === undefined
        ? lowering.refuse(parameter.span, `an object is needed for ${parameter.name.text}`)
        : staticValue(lowering, scope, argument.value),
    );
}

function lowerExternFunction(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  resolved: Resolved<'extern-function'>,
): Expression {
  const { span } = call;
  if (resolved.name === 'static_assert') return lowerStaticAssert(lowering, scope, call, resolved.arguments);
  if (!EXTERN_FUNCTIONS.has(resolved.name)) {
    return lowering.refuse(span, `the extern function ${resolved.name} is not one of core.p4 or v1model.p4`);
  }
  const args = lowerArguments(lowering, scope, call, resolved.arguments);
  for (const at of NUMBERS.get(resolved.name) ?? []) {
    const value = args[at]?.value;
    if (value === undefined || value.type.kind === 'bits') continue;
    lowering.refuse(value.span, `${resolved.name} needs a number here, not ${printType(value.type)}`, 'not-a-number');
  }
  if (resolved.name === 'digest') noteDigest(lowering, resolved.typeArguments[0], span);
  return {
    kind: 'call-extern',
    type: lowering.dataType(resolved.returnType, span),
    name: resolved.name,
    typeArguments: resolved.typeArguments.map((type) => lowering.dataType(type, span)),
    arguments: args,
    span,
  };
}

/** Notes the type of a learn list, under the list's name. */
function noteDigest(lowering: Lowering, type: Type | undefined, span: Span): void {
  if (type === undefined) return;
  const data = lowering.dataType(type, span);
  const name = data.kind === 'struct' && data.name !== '' ? data.name : 'digest';
  if (!lowering.notes.digests.has(name)) lowering.notes.digests.set(name, type);
}

function lowerStaticAssert(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  bound: readonly BoundArgument[],
): Expression {
  const [check, message] = bound.map((each) =>
    each.argument === undefined ? undefined : new Evaluator(lowering, scope).value(each.argument.value),
  );
  if (check === undefined) lowering.refuse(call.span, 'what static_assert checks is not known at compile time');
  if (constantNumber(check) === 0n) {
    const text = message?.kind === 'string' ? `: ${message.value}` : '';
    lowering.refuse(call.span, `static_assert does not hold${text}`, 'static-assert');
  }
  return booleanConstant(true, call.span);
}

function lowerMethod(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  resolved: Resolved<'extern-method'>,
): Expression {
  const { span } = call;
  const method = resolved.method.name.text;
  const type = lowering.dataType(resolved.returnType, span);
  const object = staticValue(lowering, scope, resolved.object);
  const args = lowerArguments(lowering, scope, call, resolved.arguments);
  if (object.kind === 'packet') {
    switch (method) {
      case 'extract':
      case 'lookahead':
      case 'advance':
      case 'length':
      case 'emit':
        return { kind: 'call-packet', type, method, arguments: args, span };
      default:
        return lowering.refuse(span, `packets have no method ${method}`);
    }
  }
  if (object.kind !== 'extern') return lowering.missing(span, 'a method of what is no extern object');
  const { instance } = object;
  if (instance.type === 'direct_meter' && !lowering.meterReads.has(instance)) lowering.meterReads.set(instance, span);
  const typeArguments = resolved.typeArguments.map((each) => lowering.dataType(each, span));
  return { kind: 'call-method', type, instance, method, typeArguments, arguments: args, span };
}

function lowerBuiltin(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  resolved: Resolved<'builtin'>,
): Expression {
  const { span } = call;
  const { method, object } = resolved;
  switch (method) {
    case 'isValid':
      return { kind: 'is-valid', type: BOOL, header: lowerExpression(lowering, scope, object), span };
    case 'setValid':
    case 'setInvalid': {
      const header = lowerPlace(lowering, scope, object);
      return { kind: 'set-validity', type: VOID, header, valid: method === 'setValid', span };
    }
    case 'push_front':
    case 'pop_front': {
      const stack = lowerPlace(lowering, scope, object);
      return { kind: 'push-pop', type: VOID, stack, method, count: countOf(lowering, scope, call, resolved), span };
    }
    default:
      return lowering.missing(span, `${method} has no value`);
  }
}

function countOf(lowering: Lowering, scope: Scope, call: CallExpression, resolved: Resolved<'builtin'>): number {
  if (resolved.count !== undefined) return resolved.count;
  const argument = call.arguments[0];
  const known = argument === undefined ? undefined : knownNumber(lowering, scope, argument.value);
  return known === undefined ? lowering.missing(call.span, 'how many elements to move is not known') : Number(known);
}

/** The header type of `extract(_)`, which skips a header; undefined for other calls. */
export function skippedHeader(lowering: Lowering, call: CallExpression): { type: Type; span: Span } | undefined {
  const resolved = lowering.checked.calls.get(call);
  if (resolved?.kind !== 'extern-method' || resolved.method.name.text !== 'extract') return undefined;
  const [first] = resolved.arguments;
  const type = resolved.typeArguments[0];
  if (first?.argument?.value.kind !== 'any' || type === undefined) return undefined;
  return { type, span: first.argument.span };
}
