import type {
  CallExpression,
  ControlDeclaration,
  Expression,
  MemberExpression,
  ObjectTypeDeclaration,
  ParserDeclaration,
} from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { typeSize } from '../types/measure.js';
import { BOOL, INTEGER, UNKNOWN, VOID } from '../types/primitives.js';
import type { ApplicableType, ExternType, FunctionType, StackType, Type } from '../types/type.js';
import { checkArguments, inferArguments, signatureOf, wrongCall } from './arguments.js';
import { selectMethod } from './calls.js';
import type { BuiltinName } from './checked-program.js';
import type { Checker } from './checker.js';
import { infer } from './expressions.js';
import { substitute } from './generics.js';
import { checkWritable } from './lvalues.js';
import { checkPacketMethod } from './packet-rules.js';
import { typeNamed } from './type-nodes.js';
import { isHeader } from './type-rules.js';
import { integerValue } from './values.js';

type SizeName = Extract<BuiltinName, `${string}Size${string}`>;

function isSizeName(name: string): name is SizeName {
  return /^(min|max)SizeIn(Bits|Bytes)$/.test(name);
}

function noArguments(c: Checker, e: CallExpression, name: string): void {
  inferArguments(c, e.arguments);
  const [first] = e.arguments;
  if (first !== undefined) c.error('argument-count', first.span, `"${name}" takes no arguments`);
  const [typeArgument] = e.typeArguments;
  if (typeArgument === undefined) return;
  c.error('type-argument-count', typeArgument.span, `"${name}" takes no type arguments`);
}

function sizeCall(c: Checker, e: CallExpression, object: Expression, type: Type, method: SizeName): Type {
  noArguments(c, e, method);
  if (type.kind === 'unknown') return INTEGER;
  const size = typeSize(type);
  if (size === undefined) {
    c.error('no-size', object.span, `${describeType(type)} has no size known at compile time`);
    return INTEGER;
  }
  const bits = method.startsWith('min') ? size.minimum : size.maximum;
  c.found.constants.set(e, integerValue(BigInt(method.endsWith('Bytes') ? (bits + 7) >> 3 : bits)));
  c.found.calls.set(e, { kind: 'builtin', object, method, count: undefined });
  return INTEGER;
}

function headerMethod(c: Checker, e: CallExpression, object: Expression, type: Type, method: BuiltinName): Type {
  noArguments(c, e, method);
  if (method !== 'isValid') {
    if (type.kind === 'union') {
      c.error('unknown-method', e.span, `a header union has no "${method}": it is valid when one of its headers is`);
      return VOID;
    }
    checkWritable(c, object, `"${method}" changes the header`);
  }
  c.found.calls.set(e, { kind: 'builtin', object, method, count: undefined });
  return method === 'isValid' ? BOOL : VOID;
}

function stackMethod(c: Checker, e: CallExpression, object: Expression, type: StackType, method: BuiltinName): Type {
  inferArguments(c, e.arguments);
  const [argument] = e.arguments;
  if (argument === undefined || e.arguments.length !== 1 || argument.name !== undefined) {
    c.error('argument-count', e.span, `"${method}" takes one argument, the number of elements`);
    return VOID;
  }
  checkWritable(c, object, `"${method}" changes the stack`);
  const value = c.found.constants.get(argument.value);
  const given = c.found.types.get(argument.value);
  if (given?.kind === 'unknown') return VOID;
  if (given?.kind !== 'integer' && given?.kind !== 'bits') {
    c.error('type-mismatch', argument.span, `"${method}" takes a number of elements`);
  } else if (value?.kind !== 'integer') {
    c.error('not-constant', argument.span, `the number of elements for "${method}" must be known at compile time`);
  } else if (value.value < 0n || value.value > 0xffff_ffffn) {
    c.error('index-range', argument.span, `${value.value} is not a number of elements: it must be positive`);
  } else {
    const count = Number(value.value);
    if (count > type.size) c.warn('index-range', argument.span, `the stack has ${type.size} elements only`);
    c.found.calls.set(e, { kind: 'builtin', object, method, count });
  }
  return VOID;
}

function externMethod(c: Checker, e: CallExpression, callee: MemberExpression, type: ExternType): Type {
  const object = c.objects.get(type);
  const name = callee.member.text;
  if (object?.declaration.kind !== 'extern') return UNKNOWN;
  const candidates = object.declaration.methods.filter((each) => !each.isConstructor && each.name.text === name);
  if (candidates.length === 0) {
    return wrongCall(c, e, 'unknown-method', callee.member.span, `extern "${type.name}" has no method "${name}"`);
  }
  const found = selectMethod(c, candidates, e, `method "${name}"`);
  if (found === undefined) return UNKNOWN;
  const { method, type: declared } = found;
  if (c.place.kind === 'top') {
    c.error('call-place', e.span, `"${name}" cannot be called outside of parsers, controls, actions and functions`);
  }
  const signature = substitute(c, declared, object.bindings, e.span) as FunctionType;
  const checked = checkArguments(c, signatureOf(`method "${name}"`, method.parameters, signature), e);
  if (checked === undefined) return declared.typeParameters.length === 0 ? signature.returnType : UNKNOWN;
  const returnType = substitute(c, signature.returnType, checked.bindings, e.span);
  const typeArguments = checked.types;
  checkPacketMethod(c, type.name, name, e.arguments.length, typeArguments[0], e.span);
  c.found.calls.set(e, {
    kind: 'extern-method',
    object: callee.base,
    method,
    typeArguments,
    arguments: checked.bound,
    returnType,
  });
  return returnType;
}

function applyObject(
  c: Checker,
  e: CallExpression,
  callee: MemberExpression,
  type: ApplicableType,
  isDirect: boolean,
): Type {
  const target = c.objects.get(type)?.declaration as
    | ParserDeclaration
    | ControlDeclaration
    | ObjectTypeDeclaration
    | undefined;
  if (target === undefined) return UNKNOWN;
  const name = target.name.text;
  if (isDirect) {
    if (target.kind !== 'parser' && target.kind !== 'control') {
      c.error('not-callable', callee.base.span, `"${name}" is a type without a body: it cannot be applied`);
      inferArguments(c, e.arguments);
      return VOID;
    }
    if (target.constructorParameters.some((parameter) => parameter.defaultValue === undefined)) {
      c.error(
        'argument-count',
        callee.base.span,
        `"${name}" needs constructor arguments: make an instance of it and apply that`,
      );
    }
    if (c.open.has(target))
      c.error('recursion', callee.base.span, `"${name}" applies itself: there is no recursion in P4`);
  }
  if (type.kind === 'parser' && c.place.kind !== 'state') {
    c.error('call-place', e.span, 'a parser can only be applied in states of a parser');
  }
  if (type.kind === 'control' && c.place.kind !== 'apply') {
    c.error('call-place', e.span, 'a control can only be applied in the apply block of a control');
  }
  const signature = { parameters: target.parameters, types: type.parameters, variables: [] };
  const checked = checkArguments(c, { what: `${type.kind} "${name}"`, ...signature }, e);
  if (checked !== undefined) {
    c.found.calls.set(e, { kind: 'apply', object: callee.base, target, isDirect, arguments: checked.bound });
  }
  return VOID;
}

function applyTable(c: Checker, e: CallExpression, callee: MemberExpression, name: string): Type {
  noArguments(c, e, 'apply');
  if (c.place.kind !== 'apply' && c.place.kind !== 'key') {
    c.error('call-place', e.span, `table "${name}" can only be applied in the apply block of a control`);
  }
  const symbol = callee.base.kind === 'path' ? c.found.references.get(callee.base) : undefined;
  if (symbol?.kind === 'table') {
    c.found.calls.set(e, { kind: 'apply-table', table: symbol.declaration });
  }
  return { kind: 'table-result', table: name };
}

/** `object.method(...)` and `Type.method(...)`. */
export function inferMethodCall(c: Checker, e: CallExpression, callee: MemberExpression): Type {
  const name = callee.member.text;
  const named = typeNamed(c, callee.base);
  const type = named ?? infer(c, callee.base);
  if (type.kind === 'unknown') {
    inferArguments(c, e.arguments);
    return UNKNOWN;
  }
  if (named !== undefined) {
    if (name === 'apply' && (named.kind === 'parser' || named.kind === 'control')) {
      return applyObject(c, e, callee, named, true);
    }
    if (isSizeName(name)) return sizeCall(c, e, callee.base, named, name);
    return wrongCall(c, e, 'unknown-method', callee.member.span, `type ${describeType(named)} has no method "${name}"`);
  }
  if (type.kind === 'extern') return externMethod(c, e, callee, type);
  if (isSizeName(name)) return sizeCall(c, e, callee.base, type, name);
  if (name === 'apply') {
    if (type.kind === 'table') return applyTable(c, e, callee, type.name);
    if (type.kind === 'parser' || type.kind === 'control') return applyObject(c, e, callee, type, false);
  }
  if (isHeader(type) && (name === 'isValid' || name === 'setValid' || name === 'setInvalid')) {
    return headerMethod(c, e, callee.base, type, name);
  }
  if (type.kind === 'stack' && isHeader(type.element) && (name === 'push_front' || name === 'pop_front')) {
    return stackMethod(c, e, callee.base, type, name);
  }
  return wrongCall(c, e, 'unknown-method', callee.member.span, `${describeType(type)} has no method "${name}"`);
}
