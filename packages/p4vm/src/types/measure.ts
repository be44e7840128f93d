import type { Type } from './type.js';

/** Bits of a value: `minimum` with empty varbits, `maximum` with full ones. */
export interface TypeSize {
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Size of a serialised value, or undefined for types without one (enums without values, error, `int`, externs, ...).
 * Source: P4_16 language specification, "Compile-time size determination".
 */
export function typeSize(type: Type): TypeSize | undefined {
  switch (type.kind) {
    case 'bits':
      return { minimum: type.width, maximum: type.width };
    case 'bool':
      return { minimum: 1, maximum: 1 };
    case 'varbit':
      return { minimum: 0, maximum: type.maxWidth };
    case 'serializable-enum':
    case 'newtype':
      return typeSize(type.underlying);
    case 'stack': {
      const element = typeSize(type.element);
      return element && { minimum: type.size * element.minimum, maximum: type.size * element.maximum };
    }
    case 'tuple':
      return sum(type.elements);
    case 'struct':
    case 'header':
      return sum(type.fields.map((field) => field.type));
    case 'union': {
      const sizes = type.fields.map((field) => typeSize(field.type));
      if (sizes.includes(undefined)) return undefined;
      return {
        minimum: Math.max(0, ...sizes.map((size) => size!.minimum)),
        maximum: Math.max(0, ...sizes.map((size) => size!.maximum)),
      };
    }
    default:
      return undefined;
  }
}

/** The types a type is made of. Those of a struct, header or union count only with `isDeep`. */
export function partsOf(type: Type, isDeep: boolean): readonly Type[] {
  switch (type.kind) {
    case 'stack':
    case 'list':
    case 'set':
      return [type.element];
    case 'tuple':
      return type.elements;
    case 'struct':
    case 'header':
    case 'union':
      return isDeep || type.name === '' ? type.fields.map((field) => field.type) : type.typeArguments;
    case 'newtype':
      return isDeep ? [type.underlying] : [];
    case 'extern':
    case 'package':
      return type.typeArguments;
    case 'parser':
    case 'control':
      return type.parameters.map((parameter) => parameter.type);
    case 'function':
      return [type.returnType, ...type.parameters.map((parameter) => parameter.type)];
    default:
      return [];
  }
}

/**
 * A number for each type, from those of its parts; 1 without parts. Such a type is computed again each time: a struct
 * may still get its fields.
 */
function measured(
  parts: (type: Type) => readonly Type[],
  combine: (measures: readonly number[]) => number,
): (type: Type) => number {
  const known = new WeakMap<Type, number>();
  return function measure(type) {
    let result = known.get(type);
    if (result !== undefined) return result;
    const found = parts(type);
    if (found.length === 0) return 1;
    result = combine(found.map(measure));
    known.set(type, result);
    return result;
  };
}

/** Nesting depth of a type: 1 without parts. */
export const typeDepth: (type: Type) => number = /* @__PURE__ */ measured(
  (type) => partsOf(type, true),
  (depths) => 1 + Math.max(...depths),
);

/**
 * Number of types in a type's notation: the cost of comparing and describing it grows with it. A named type counts
 * once, with its type arguments.
 */
export const structuralSize: (type: Type) => number = /* @__PURE__ */ measured(
  (type) => partsOf(type, false),
  (sizes) => sizes.reduce((total, size) => total + size, 1),
);

const leaves = /* @__PURE__ */ new WeakMap<Type, number>();

/** Number of scalar values in a value of the type. The cost of work on it grows with this number. */
export function leafCount(type: Type): number {
  let parts: readonly Type[];
  switch (type.kind) {
    case 'stack':
      return type.size * leafCount(type.element);
    case 'tuple':
      parts = type.elements;
      break;
    case 'struct':
    case 'header':
    case 'union':
      parts = type.fields.map((field) => field.type);
      break;
    default:
      return 1;
  }
  let count = leaves.get(type);
  if (count === undefined) {
    count = parts.reduce((total, part) => total + leafCount(part), 1);
    leaves.set(type, count);
  }
  return count;
}

function sum(types: readonly Type[]): TypeSize | undefined {
  let minimum = 0;
  let maximum = 0;
  for (const type of types) {
    const size = typeSize(type);
    if (size === undefined) return undefined;
    minimum += size.minimum;
    maximum += size.maximum;
  }
  return { minimum, maximum };
}
