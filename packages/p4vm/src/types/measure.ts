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

const leaves = /* @__PURE__ */ new WeakMap<Type, number>();

/** How many values without parts a value of the type is made of: what work on it grows with. */
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
