import { CALL_DEPTH, tooManyMembers } from '../budget/budget.js';
import { MAX_MEMBERS } from '../budget/limits.js';
import type { Span } from '../source/position.js';
import type {
  EnumDeclaration,
  ErrorDeclaration,
  ExternDeclaration,
  ObjectTypeDeclaration,
  StructDeclaration,
  TypedefDeclaration,
} from '../syntax/ast.js';
import { typeKey } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN, VOID } from '../types/primitives.js';
import type {
  ApplicableType,
  ExternType,
  Field,
  FunctionType,
  PackageType,
  ParameterType,
  SerializableEnumType,
  StructType,
  Type,
  TypeVariable,
} from '../types/type.js';
import type { Checker } from './checker.js';
import { check } from './convert.js';
import { bindTypeParameters, substitute, typeEntry, variablesOf } from './generics.js';
import { checkDefaults, checkDistinct, resolveParameters } from './parameters.js';
import type { TypeEntry } from './scope.js';
import { resolveDefiniteType, resolveType } from './type-nodes.js';
import { checkFields, checkParts, checkTypedef } from './type-rules.js';

/** Annotations by name, as text: the string if the annotation has one. */
function annotationTexts(annotations: StructDeclaration['annotations']): ReadonlyMap<string, string> {
  return new Map(
    annotations.map((each) => {
      const [value] = each.values;
      return [each.name, value?.kind === 'string' ? value.value : each.text.trim()];
    }),
  );
}

/** Makes specialisations of a generic declaration, one per list of type arguments. */
export function memoised<T extends Type>(
  make: (typeArguments: readonly Type[], span: Span) => T,
): TypeEntry['specialise'] {
  const made = new Map<string, T>();
  return (typeArguments, span) => {
    const key = typeArguments.map(typeKey).join(';');
    let type = made.get(key);
    if (type === undefined) {
      type = make(typeArguments, span);
      made.set(key, type);
    }
    return type;
  };
}

/** A struct, header or header union. */
export function declareStruct(c: Checker, declaration: StructDeclaration): TypeEntry {
  const { kind, name, typeParameters } = declaration;
  const outer = c.scope;
  checkDistinct(c, declaration.fields, 'field');
  const build = (typeArguments: readonly Type[], use: Span | undefined): StructType => {
    const fields: Field[] = [];
    const type: StructType = { kind, name: name.text, typeArguments, fields };
    c.origins.set(type, entry);
    const scope = bindTypeParameters(c, outer, typeParameters, typeArguments);
    // Type arguments are checked at the place where they are written.
    const isDefinite = use === undefined || typeParameters.length === 0;
    const resolveFields = (): void => {
      for (const { name: own, type: node, annotations, span } of declaration.fields) {
        const fieldType = isDefinite ? resolveDefiniteType(c, node) : resolveType(c, node);
        fields.push({ name: own.text, type: fieldType, annotations: annotationTexts(annotations), span });
      }
    };
    c.budget.enter(name.span, CALL_DEPTH);
    c.spend(declaration.fields.length, name.span);
    c.within(scope, { kind: 'top', loops: 0, owner: declaration }, () => {
      // What is found is recorded only if there is one such type.
      if (typeParameters.length === 0) resolveFields();
      else c.discarding(resolveFields);
    });
    c.budget.leave(CALL_DEPTH);
    if (!checkParts(c, type, use ?? name.span)) fields.length = 0;
    const places = declaration.fields.map((field) => (isDefinite ? field.type.span : use));
    checkFields(c, type, places);
    return type;
  };
  const specialise = memoised(build);
  const entry: TypeEntry = { kind: 'type', name, declaration, parameters: typeParameters.length, specialise };
  // Resolved here as well, so that errors are reported in a struct that is not used.
  if (typeParameters.length === 0) specialise([], name.span);
  else build(variablesOf(typeParameters), undefined);
  c.declare(entry);
  return entry;
}

function serializableEnum(c: Checker, declaration: EnumDeclaration, underlying: Type): Type {
  if (underlying.kind === 'unknown') return UNKNOWN;
  if (underlying.kind !== 'bits') {
    const message = `values of an enum have type bit<> or int<>, not ${describeType(underlying)}`;
    return c.wrong('enum-type', declaration.underlying!.span, message);
  }
  const members = new Map<string, bigint>();
  const type: SerializableEnumType = { kind: 'serializable-enum', name: declaration.name.text, underlying, members };
  for (const member of declaration.members) {
    // The parser refuses members without values.
    const given = member.value!;
    if (!check(c, given, underlying)) continue;
    const value = c.found.constants.get(given);
    if (value?.kind === 'integer') members.set(member.name.text, value.value);
    else c.error('not-constant', given.span, 'the value of an enum member must be known at compile time');
  }
  return type;
}

/** An enum, with or without values. */
export function declareEnum(c: Checker, declaration: EnumDeclaration): TypeEntry {
  checkDistinct(c, declaration.members, 'member');
  const { name, underlying } = declaration;
  const members = declaration.members.map((each) => each.name.text);
  const type: Type =
    underlying === undefined
      ? { kind: 'enum', name: name.text, members }
      : serializableEnum(c, declaration, resolveDefiniteType(c, underlying));
  const entry = typeEntry(name, type, declaration);
  c.declare(entry);
  return entry;
}

/** A struct or enum within a typedef. */
export function declareInPlace(c: Checker, declaration: StructDeclaration | EnumDeclaration): Type {
  const entry = declaration.kind === 'enum' ? declareEnum(c, declaration) : declareStruct(c, declaration);
  return entry.parameters === 0 ? entry.specialise([], declaration.span) : UNKNOWN;
}

/** `typedef` or `type`. */
export function declareTypedef(c: Checker, declaration: TypedefDeclaration): void {
  const underlying = resolveDefiniteType(c, declaration.type);
  checkTypedef(c, declaration.isNew, underlying, declaration.type.span);
  const { name } = declaration;
  let type = underlying;
  if (declaration.isNew && underlying.kind !== 'unknown') type = { kind: 'newtype', name: name.text, underlying };
  if (declaration.isNew) checkParts(c, type, name.span);
  c.declare(typeEntry(name, type, declaration));
}

/** `error { ... }`: adds its members to the earlier ones. */
export function declareErrors(c: Checker, declaration: ErrorDeclaration): void {
  const members = declaration.kind === 'error' ? c.errors : c.matchKinds;
  const what = declaration.kind === 'error' ? 'error' : 'match kind';
  for (const name of declaration.members) {
    const previous = members.get(name.text);
    if (previous === undefined) {
      if (members.size >= MAX_MEMBERS) throw tooManyMembers(name.span);
      members.set(name.text, name);
    } else {
      c.duplicate(`${what} `, name, previous);
    }
  }
}

function bindingsOf(variables: readonly TypeVariable[], types: readonly Type[]): Map<TypeVariable, Type> {
  return new Map(variables.map((variable, i) => [variable, types[i]!]));
}

/** The type of a function, method or constructor. Its type variables are its own and those of its extern. */
export function methodType(c: Checker, method: ExternDeclaration['methods'][number]): FunctionType {
  const variables = variablesOf(method.typeParameters);
  const scope = bindTypeParameters(c, c.scope, method.typeParameters, variables);
  return c.within(scope, c.place, () => {
    const returnType = method.returnType === undefined ? VOID : resolveType(c, method.returnType);
    const owner = method.isConstructor ? 'constructor' : 'extern';
    const parameters = resolveParameters(c, owner, method.parameters);
    checkDefaults(c, method.parameters, parameters);
    if (['extern', 'parser', 'control', 'package', 'match-kind', 'set', 'any'].includes(returnType.kind)) {
      c.error('return-type', method.returnType!.span, `${describeType(returnType)} cannot be returned`);
    }
    const type: FunctionType = { kind: 'function', typeParameters: variables, parameters, returnType };
    c.methodTypes.set(method, type);
    return type;
  });
}

/** An extern object type with its methods. */
export function declareExtern(c: Checker, declaration: ExternDeclaration): void {
  const { name, typeParameters } = declaration;
  const variables = variablesOf(typeParameters);
  c.variables.set(declaration, variables);
  const entry: TypeEntry = {
    kind: 'type',
    name,
    declaration,
    parameters: typeParameters.length,
    specialise: memoised((typeArguments): ExternType => {
      const type: ExternType = { kind: 'extern', name: name.text, typeArguments };
      c.objects.set(type, { declaration, bindings: bindingsOf(variables, typeArguments) });
      c.origins.set(type, entry);
      return type;
    }),
  };
  c.declare(entry);
  const scope = bindTypeParameters(c, c.scope, typeParameters, variables);
  c.within(scope, { kind: 'top', loops: 0, owner: declaration }, () => {
    for (const [i, method] of declaration.methods.entries()) {
      const { parameters } = methodType(c, method);
      if (!method.isConstructor && method.name.text === name.text) {
        c.error('method-name', method.name.span, `a method cannot have the name of its extern, "${name.text}"`);
      }
      c.spend(declaration.methods.length, method.span);
      const before = declaration.methods.slice(0, i).filter((other) => other.name.text === method.name.text);
      const twin = before.find((other) => sameNames(c.methodTypes.get(other)!.parameters, parameters));
      if (twin !== undefined) c.duplicate('', method.name, twin.name, ' with these parameters');
    }
  });
}

/** Whether two lists of parameters cannot be told apart by number and names. */
export function sameNames(first: readonly ParameterType[], second: readonly ParameterType[]): boolean {
  return first.length === second.length && first.every((each, i) => each.name === second[i]!.name);
}

/** The type of a parser, control or package, before type arguments are known. */
export function declareObjectType(c: Checker, declaration: ObjectTypeDeclaration): void {
  const { name, typeParameters, kind } = declaration;
  const variables = variablesOf(typeParameters);
  c.variables.set(declaration, variables);
  const scope = bindTypeParameters(c, c.scope, typeParameters, variables);
  const parameters = c.within(scope, { kind: 'top', loops: 0, owner: declaration }, () => {
    const types = resolveParameters(c, kind, declaration.parameters);
    checkDefaults(c, declaration.parameters, types);
    return types;
  });
  const entry: TypeEntry = {
    kind: 'type',
    name,
    declaration,
    parameters: typeParameters.length,
    specialise: memoised((typeArguments, span): ApplicableType | PackageType => {
      const bindings = bindingsOf(variables, typeArguments);
      const bound = parameters.map((each) => ({ ...each, type: substitute(c, each.type, bindings, span) }));
      const type: ApplicableType | PackageType =
        kind === 'package'
          ? { kind, name: name.text, typeArguments, parameters: bound }
          : { kind: kind === 'parser-type' ? 'parser' : 'control', name: name.text, parameters: bound };
      c.objects.set(type, { declaration, bindings });
      c.origins.set(type, entry);
      return type;
    }),
  };
  c.declare(entry);
}
