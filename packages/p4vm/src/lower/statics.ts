import type { BoundArgument, ResolvedConstructor } from '../check/checked-program.js';
import type { ExternArgument, ExternInstance } from '../ir/program.js';
import { externBytes } from '../ir/state-bytes.js';
import type { Span } from '../source/position.js';
import type { Annotation, CallExpression, Expression, InstanceDeclaration } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import { isObjectType } from './calls.js';
import { isScalar, printType } from './data-types.js';
import { Evaluator } from './evaluate.js';
import { annotationTexts, type Lowering } from './lowering.js';
import { Scope, type StaticValue } from './scope.js';

/**
 * Extern object types of v1model.p4 that programs make, with the positions of constructor arguments that are sizes or
 * members of enums.
 */
const EXTERN_OBJECTS: ReadonlyMap<string, { readonly size?: number; readonly member?: number }> =
  /* @__PURE__ */ new Map([
    ['counter', { size: 0, member: 1 }],
    ['direct_counter', { member: 0 }],
    ['meter', { size: 0, member: 1 }],
    ['direct_meter', { member: 0 }],
    ['register', { size: 0 }],
    ['action_profile', { size: 0 }],
    ['action_selector', { size: 1, member: 0 }],
    ['Checksum16', {}],
  ]);

/** The name and the annotations of an instance. */
interface Naming {
  readonly name: string;
  readonly annotations: readonly Annotation[];
  readonly span: Span;
}

/** The object an expression names: an instance, a parameter bound to one, or one made on the spot. */
export function staticValue(lowering: Lowering, scope: Scope, expression: Expression): StaticValue {
  if (expression.kind === 'path') {
    const symbol = lowering.checked.references.get(expression);
    if (symbol?.kind === 'instance') return instanceFor(lowering, scope, symbol.declaration);
    if (symbol?.kind === 'parameter' || symbol?.kind === 'constructor-parameter') {
      const known = scope.static(symbol.declaration);
      if (known !== undefined) return known;
    }
    return lowering.refuse(expression.span, `which object ${expression.name.text} is, is not known at compile time`);
  }
  if (expression.kind === 'call') {
    const resolved = lowering.checked.calls.get(expression);
    if (resolved?.kind === 'constructor') {
      return makeInline(lowering, scope, expression, resolved.constructor, constructorName(resolved.constructor));
    }
  }
  return lowering.refuse(expression.span, 'which object this is, is not known at compile time');
}

/** Name of the type that a constructor makes an instance of. */
export function constructorName(construction: ResolvedConstructor): string {
  return construction.kind === 'package' ? construction.name : construction.declaration.name.text;
}

/** The object of a declaration in a scope, made on first use. */
export function instanceFor(lowering: Lowering, scope: Scope, declaration: InstanceDeclaration): StaticValue {
  const known = scope.instance(declaration);
  if (known !== undefined) return known;
  const construction =
    lowering.checked.instances.get(declaration) ?? lowering.missing(declaration.span, 'this instance is not resolved');
  if (declaration.initializer !== undefined) {
    lowering.refuse(declaration.span, 'abstract methods of extern objects are not supported');
  }
  const home = lowering.home(declaration, scope);
  const made = makeInstance(lowering, home, construction, {
    name: lowering.controlName(home.prefix, declaration),
    annotations: declaration.annotations,
    span: declaration.span,
  });
  home.instances.set(declaration, made);
  return made;
}

/**
 * The object that a constructor call makes, one per call and scope. `name` follows the scope's prefix; `annotations` are
 * those of the property that it is made for.
 */
export function makeInline(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  construction: ResolvedConstructor,
  name: string,
  annotations: readonly Annotation[] = [],
): StaticValue {
  const known = scope.instances.get(call);
  if (known !== undefined) return known;
  const made = makeInstance(lowering, scope, construction, {
    name: lowering.nameBelow(scope.prefix, name, call.span),
    annotations,
    span: call.span,
  });
  scope.instances.set(call, made);
  return made;
}

function makeInstance(
  lowering: Lowering,
  scope: Scope,
  construction: ResolvedConstructor,
  naming: Naming,
): StaticValue {
  const { name, span } = naming;
  switch (construction.kind) {
    case 'extern':
      return makeExtern(lowering, scope, construction, naming);
    case 'package':
      return lowering.refuse(span, 'packages within packages are not supported');
    default: {
      const own = lowering.instanceName(name);
      const inner = new Scope(lowering.global, `${own}.`);
      for (const each of construction.arguments)
        inner.setStatic(each.parameter, argumentValue(lowering, scope, each, span));
      const { declaration } = construction;
      return { kind: 'instance', handle: { name: own, declaration, scope: inner, span, lowered: undefined } };
    }
  }
}

/** Value of a constructor's argument: an object, or a value known at compile time. */
function argumentValue(lowering: Lowering, scope: Scope, bound: BoundArgument, span: Span): StaticValue {
  const value = bound.argument?.value ?? bound.parameter.defaultValue;
  if (value === undefined) return lowering.refuse(span, `no value is given for ${bound.parameter.name.text}`);
  if (isObjectType(bound.type)) return staticValue(lowering, scope, value);
  const known = new Evaluator(lowering, scope).value(value);
  if (known === undefined) return lowering.refuse(value.span, 'this value is not known at compile time');
  return { kind: 'value', value: known };
}

function makeExtern(
  lowering: Lowering,
  scope: Scope,
  construction: Extract<ResolvedConstructor, { kind: 'extern' }>,
  { name, annotations, span }: Naming,
): StaticValue {
  const type = construction.declaration.name.text;
  lowering.budget.spend('instances', 1, span);
  if (!EXTERN_OBJECTS.has(type)) lowering.refuse(span, `the extern object ${type} is not one of v1model.p4`);
  const abstract = construction.declaration.methods.find((method) => method.isAbstract);
  if (abstract !== undefined) lowering.refuse(span, 'abstract methods of extern objects are not supported');
  const typeArguments = construction.typeArguments.map((each) => lowering.dataType(each, span));
  const [first] = typeArguments;
  if (type === 'register' && first !== undefined && !isScalar(first)) {
    lowering.refuse(span, `registers of ${printType(first)} are not supported`);
  }
  const instance: ExternInstance = {
    id: lowering.externs.length,
    type,
    name,
    typeArguments,
    arguments: construction.arguments
      .filter((each) => each.argument !== undefined || each.parameter.defaultValue !== undefined)
      .map((each) => externArgument(lowering, scope, each, span)),
    annotations: annotationTexts(annotations),
    span,
  };
  checkArguments(lowering, instance);
  lowering.budget.spend('stateBytes', externBytes(instance), span);
  lowering.externs.push(instance);
  lowering.notes.annotations.set(instance, annotations);
  lowering.notes.typeArguments.set(instance, construction.typeArguments);
  return { kind: 'extern', instance };
}

/** Checks the arguments, because a program may declare extern objects differently from v1model.p4. */
function checkArguments(lowering: Lowering, { type, arguments: given, span }: ExternInstance): void {
  const { size, member } = EXTERN_OBJECTS.get(type) ?? {};
  const first = size === undefined ? undefined : given[size];
  const isSize = first?.kind === 'integer' && first.value >= 0n && first.value <= 0xffff_ffffn;
  if ((size !== undefined && !isSize) || (member !== undefined && given[member]?.kind !== 'enum')) {
    lowering.refuse(span, `these are not the arguments of ${type} in v1model.p4`);
  }
}

function enumName(type: Type): string {
  return type.kind === 'enum' || type.kind === 'serializable-enum' ? type.name : '';
}

function externArgument(lowering: Lowering, scope: Scope, bound: BoundArgument, span: Span): ExternArgument {
  const given = argumentValue(lowering, scope, bound, span);
  if (given.kind !== 'value')
    return lowering.refuse(span, 'an object as the argument of an extern object is not supported');
  const { value } = given;
  switch (value.kind) {
    case 'integer':
    case 'boolean':
    case 'string':
      return value;
    case 'enum':
      return { kind: 'enum', name: enumName(bound.type), member: value.member };
    default:
      return lowering.refuse(
        span,
        'an argument of an extern object must be a number, a boolean, a string or an enum member',
      );
  }
}
