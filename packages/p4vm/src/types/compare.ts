import { partsOf } from './measure.js';
import { isPlain, type ParameterType, type Type } from './type.js';

function sameList(first: readonly Type[], second: readonly Type[]): boolean {
  return first.length === second.length && first.every((type, i) => sameType(type, second[i]!));
}

function sameParameters(first: readonly ParameterType[], second: readonly ParameterType[]): boolean {
  return (
    first.length === second.length &&
    first.every((parameter, i) => {
      const other = second[i]!;
      return parameter.direction === other.direction && sameType(parameter.type, other.type);
    })
  );
}

interface Generic {
  readonly name: string;
  readonly typeArguments: readonly Type[];
}

/**
 * Whether two objects are one specialisation of a generic type. They may differ because one contains `_`. Names are
 * unique.
 */
function sameArguments(first: Generic, second: Generic): boolean {
  return (
    first.name === second.name && first.typeArguments.length > 0 && sameList(first.typeArguments, second.typeArguments)
  );
}

/**
 * Whether two types are the same: nominal types by identity, the others by structure. The unknown type and `_` equal
 * all types. Parser and control types are compared by their parameters' directions and types, as the language does when
 * an instance is passed to a constructor.
 */
export function sameType(first: Type, second: Type): boolean {
  if (first === second) return true;
  if (first.kind === 'unknown' || second.kind === 'unknown' || first.kind === 'any' || second.kind === 'any')
    return true;
  switch (first.kind) {
    case 'bits':
      return second.kind === 'bits' && first.width === second.width && first.isSigned === second.isSigned;
    case 'varbit':
      return second.kind === 'varbit' && first.maxWidth === second.maxWidth;
    case 'stack':
      return second.kind === 'stack' && first.size === second.size && sameType(first.element, second.element);
    case 'tuple':
      return second.kind === 'tuple' && sameList(first.elements, second.elements);
    case 'list':
    case 'set':
      return second.kind === first.kind && sameType(first.element, second.element);
    case 'struct':
      // Structs without a name: the type of `{a = 1}` before its struct type is known.
      if (second.kind !== 'struct') return false;
      if (first.name !== '' || second.name !== '') return sameArguments(first, second);
      return (
        first.fields.length === second.fields.length &&
        first.fields.every(
          (field, i) => field.name === second.fields[i]!.name && sameType(field.type, second.fields[i]!.type),
        )
      );
    case 'parser':
    case 'control':
      return second.kind === first.kind && sameParameters(first.parameters, second.parameters);
    case 'header':
    case 'union':
    case 'extern':
    case 'package':
      return second.kind === first.kind && sameArguments(first, second);
    default:
      return isPlain(first) && first.kind === second.kind;
  }
}

/** Whether a type, or a part of it as written, is what is looked for. */
export function contains(type: Type, isWanted: (part: Type) => boolean): boolean {
  return isWanted(type) || partsOf(type, false).some((part) => contains(part, isWanted));
}

/** Whether a type variable occurs in a type. Fields of generic structs are not visited: their arguments are. */
export function hasVariable(type: Type): boolean {
  return contains(type, (part) => part.kind === 'variable');
}

/** Whether `int` of any width occurs in a value of the type. */
export function hasInteger(type: Type): boolean {
  switch (type.kind) {
    case 'integer':
      return true;
    case 'tuple':
      return type.elements.some(hasInteger);
    case 'struct':
      return type.name === '' && type.fields.some((field) => hasInteger(field.type));
    default:
      return false;
  }
}

const identities = /* @__PURE__ */ new WeakMap<object, number>();
let lastIdentity = 0;

function identity(type: object): string {
  let number = identities.get(type);
  if (number === undefined) {
    number = ++lastIdentity;
    identities.set(type, number);
  }
  return `#${number}`;
}

/** A text that is equal for two types if and only if they are the same: the key for caches of specialisations. */
export function typeKey(type: Type): string {
  switch (type.kind) {
    case 'bits':
      return `${type.isSigned ? 'i' : 'b'}${type.width}`;
    case 'varbit':
      return `v${type.maxWidth}`;
    case 'stack':
      return `${typeKey(type.element)}[${type.size}]`;
    case 'tuple':
      return `<${type.elements.map(typeKey).join()}>`;
    case 'list':
    case 'set':
      return `${type.kind}<${typeKey(type.element)}>`;
    case 'struct':
      return type.name === ''
        ? `{${type.fields.map((field) => `${field.name}:${typeKey(field.type)}`).join()}}`
        : identity(type);
    case 'parser':
    case 'control':
      return `${type.kind}(${type.parameters.map((each) => `${each.direction} ${typeKey(each.type)}`).join()})`;
    default:
      return isPlain(type) ? type.kind : identity(type);
  }
}
