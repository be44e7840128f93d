import type { Span } from '../source/position.js';
import type { Declaration, Identifier, TypeParameter } from '../syntax/ast.js';
import { hasVariable, sameType } from '../types/compare.js';
import { structuralSize } from '../types/measure.js';
import type { ParameterType, Type, TypeVariable } from '../types/type.js';
import type { Checker } from './checker.js';
import { Scope, type TypeEntry } from './scope.js';
import { isHeader } from './type-rules.js';

/** The types of type variables, as far as they are known. */
export type Bindings = Map<TypeVariable, Type>;

/** Type variables for the parameters of a declaration. */
export function variablesOf(parameters: readonly TypeParameter[]): TypeVariable[] {
  return parameters.map((parameter) => ({ kind: 'variable', name: parameter.name.text }));
}

/** An entry that gives a type a name. A type parameter has no declaration. */
export function typeEntry(name: Identifier, type: Type, declaration?: Declaration): TypeEntry {
  return { kind: 'type', name, declaration, parameters: 0, specialise: () => type };
}

/** A scope with type parameters, bound to the given types. A name used twice is an error. */
export function bindTypeParameters(
  c: Checker,
  outer: Scope,
  parameters: readonly TypeParameter[],
  types: readonly Type[],
): Scope {
  const scope = new Scope(outer);
  parameters.forEach((parameter, i) => {
    const previous = scope.local(parameter.name.text);
    if (previous === undefined) scope.add(typeEntry(parameter.name, types[i]!));
    else c.duplicate('type parameter ', parameter.name, previous.name);
  });
  return scope;
}

/** The type with variables replaced by what they stand for; those without a binding stay. Errors are reported at `span`. */
export function substitute(c: Checker, type: Type, bindings: ReadonlyMap<TypeVariable, Type>, span: Span): Type {
  if (bindings.size === 0) return type;
  c.spend(structuralSize(type), span);
  if (!hasVariable(type)) return type;
  const replaced = (part: Type): Type => substitute(c, part, bindings, span);
  const withTypes = (parameters: readonly ParameterType[]): ParameterType[] =>
    parameters.map((parameter) => ({ ...parameter, type: replaced(parameter.type) }));
  switch (type.kind) {
    case 'variable':
      return bindings.get(type) ?? type;
    case 'stack':
    case 'list':
    case 'set':
      return { ...type, element: replaced(type.element) };
    case 'tuple':
      return { ...type, elements: type.elements.map(replaced) };
    case 'struct':
    case 'header':
    case 'union':
    case 'extern':
    case 'package':
      return c.origins.get(type)?.specialise(type.typeArguments.map(replaced), span) ?? type;
    case 'parser':
    case 'control': {
      const result = { ...type, parameters: withTypes(type.parameters) };
      const object = c.objects.get(type);
      if (object !== undefined) c.objects.set(result, object);
      return result;
    }
    case 'function':
      return { ...type, parameters: withTypes(type.parameters), returnType: replaced(type.returnType) };
    default:
      return type;
  }
}

/** Merges two types of one variable: the more definite one if they agree, otherwise undefined. */
function merge(first: Type, second: Type): Type | undefined {
  if (first.kind === 'any' || first.kind === 'unknown') return second;
  if (sameType(first, second)) return first;
  if (first.kind === 'integer' && (second.kind === 'bits' || second.kind === 'serializable-enum')) return second;
  if (second.kind === 'integer' && (first.kind === 'bits' || first.kind === 'serializable-enum')) return first;
  if (first.kind === 'serializable-enum' && sameType(first.underlying, second)) return second;
  if (second.kind === 'serializable-enum' && sameType(second.underlying, first)) return first;
  // A list stands for a struct, header, tuple or stack with as many parts. The conversion checks this.
  const isLiteral = (type: Type): boolean => type.kind === 'tuple' || (type.kind === 'struct' && type.name === '');
  if (isLiteral(second) && (isContainer(first) || first.kind === 'tuple')) return first;
  if (isLiteral(first) && isContainer(second)) return second;
  if (second.kind === 'invalid-header' && isHeader(first)) return first;
  if (first.kind === 'invalid-header' && isHeader(second)) return second;
  return undefined;
}

function isContainer(type: Type): boolean {
  return type.kind === 'struct' || type.kind === 'header' || type.kind === 'stack' || type.kind === 'list';
}

/**
 * Finds types for `variables` in `formal` that make it agree with `actual`, and adds them to `bindings`. False if a variable
 * would have to be two types, or the shapes differ. Parts without variables are not compared: converting the argument
 * does that, and allows for implicit conversions.
 */
export function unify(
  c: Checker,
  formal: Type,
  actual: Type,
  variables: ReadonlySet<TypeVariable>,
  bindings: Bindings,
): boolean {
  if (formal.kind === 'variable' && variables.has(formal)) {
    if (actual.kind === 'unknown') return true;
    const bound = bindings.get(formal);
    const type = bound === undefined ? actual : merge(bound, actual);
    if (type === undefined) return false;
    bindings.set(formal, type);
    return true;
  }
  if (!hasVariable(formal) || actual.kind === 'unknown' || actual.kind === 'any') return true;
  const both = (first: Type, second: Type): boolean => unify(c, first, second, variables, bindings);
  const all = (first: readonly Type[], second: readonly Type[]): boolean =>
    first.length === second.length && first.every((type, i) => both(type, second[i]!));
  switch (formal.kind) {
    case 'stack':
      if (actual.kind === 'tuple') return actual.elements.every((element) => both(formal.element, element));
      return actual.kind === 'stack' && formal.size === actual.size && both(formal.element, actual.element);
    case 'list':
      if (actual.kind === 'tuple') return actual.elements.every((element) => both(formal.element, element));
      return actual.kind === 'list' && both(formal.element, actual.element);
    case 'set':
      return actual.kind === 'set' && both(formal.element, actual.element);
    case 'tuple':
      return actual.kind === 'tuple' && all(formal.elements, actual.elements);
    case 'struct':
    case 'header':
    case 'union':
    case 'extern':
    case 'package': {
      const fields = 'fields' in formal ? formal.fields : undefined;
      if (fields !== undefined && actual.kind === 'tuple') {
        const types = fields.map((field) => field.type);
        return all(types, actual.elements);
      }
      if (fields !== undefined && actual.kind === 'struct' && actual.name === '') {
        return actual.fields.every((field) => {
          const other = fields.find((each) => each.name === field.name);
          return other !== undefined && both(other.type, field.type);
        });
      }
      return (
        actual.kind === formal.kind &&
        c.origins.get(actual) === c.origins.get(formal) &&
        all(formal.typeArguments, actual.typeArguments)
      );
    }
    case 'parser':
    case 'control':
      return (
        actual.kind === formal.kind &&
        formal.parameters.length === actual.parameters.length &&
        formal.parameters.every(({ direction, type }, i) => {
          const other = actual.parameters[i]!;
          return direction === other.direction && both(type, other.type);
        })
      );
    default:
      return true;
  }
}
