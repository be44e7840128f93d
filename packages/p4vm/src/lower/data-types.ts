import type { DataType, IrField, StructDataType } from '../ir/program.js';
import { describeType } from '../types/describe.js';
import type { StackType, StructType, Type } from '../types/type.js';

export const VOID: DataType = /* @__PURE__ */ { kind: 'void' };
export const BOOL: DataType = /* @__PURE__ */ { kind: 'bool' };
/** The type of indices, shift amounts and counts that the program writes as `int`. */
export const BIT32: DataType = /* @__PURE__ */ { kind: 'bits', width: 32, isSigned: false };
/** The type of an `int` that appears only in a log. */
const WIDE: DataType = /* @__PURE__ */ { kind: 'bits', width: 64, isSigned: true };

/** True if values of one type are values of the other without conversion. Serializable enums are their bits. */
export function sameDataType(left: DataType, right: DataType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind) return false;
  switch (left.kind) {
    case 'bits':
      return right.kind === 'bits' && left.width === right.width && left.isSigned === right.isSigned;
    case 'varbit':
      return right.kind === 'varbit' && left.maxWidth === right.maxWidth;
    case 'enum':
      return right.kind === 'enum' && left.name === right.name;
    case 'stack':
      return right.kind === 'stack' && left.element === right.element && left.size === right.size;
    case 'struct':
    case 'header':
    case 'union':
      return false;
    default:
      return true;
  }
}

/** True for types whose values are single numbers. */
export function isScalar({ kind }: DataType): boolean {
  return kind === 'bits' || kind === 'bool' || kind === 'enum' || kind === 'error';
}

/** A type as P4 writes it; tuples as `tuple<...>`, serializable enums by their name. */
export function printType(type: DataType): string {
  switch (type.kind) {
    case 'bits':
      return type.enumName ?? `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
    case 'varbit':
      return `varbit<${type.maxWidth}>`;
    case 'stack':
      return `${type.element.name}[${type.size}]`;
    case 'enum':
    case 'struct':
    case 'header':
    case 'union':
      return type.name;
    default:
      return type.kind;
  }
}

function isStructData(type: DataType): type is StructDataType {
  return type.kind === 'struct' || type.kind === 'header' || type.kind === 'union';
}

/** Longest name, in characters, that this stage makes up. */
const MAX_NAME = 200;

/** Turns types of the checker into types of values at run time, one object per struct, tuple and stack. */
export class DataTypes {
  readonly #structs: StructDataType[] = [];
  readonly #nominal = new Map<StructType, StructDataType>();
  readonly #structural = new Map<string, DataType>();
  /** Results for tuples and stacks, so that each is converted once, however often it is part of another. */
  readonly #known = new Map<Type, DataType | undefined>();
  readonly #ids = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #enums = new Map<string, readonly string[]>();

  /** In order of use: a struct follows the structs of its fields. */
  get structs(): readonly StructDataType[] {
    return this.#structs;
  }

  get enums(): { readonly name: string; readonly members: readonly string[] }[] {
    return [...this.#enums].map(([name, members]) => ({ name, members }));
  }

  /** Undefined for types without values at run time (packages, tables, ...). */
  of(type: Type): DataType | undefined {
    switch (type.kind) {
      case 'bool':
        return BOOL;
      case 'void':
      case 'any':
        return VOID;
      case 'error':
      case 'string':
        return type;
      case 'bits':
        return this.#shared({ kind: 'bits', width: type.width, isSigned: type.isSigned });
      case 'integer':
        return WIDE;
      case 'varbit':
        return this.#shared({ kind: 'varbit', maxWidth: type.maxWidth });
      case 'enum':
        this.#enums.set(type.name, type.members);
        return this.#shared({ kind: 'enum', name: type.name, members: type.members });
      case 'serializable-enum': {
        this.#enums.set(type.name, [...type.members.keys()]);
        const { width, isSigned } = type.underlying;
        return this.#shared({ kind: 'bits', width, isSigned, enumName: type.name });
      }
      case 'newtype':
        return this.of(type.underlying);
      case 'set':
        return this.of(type.element);
      case 'struct':
      case 'header':
      case 'union':
        return this.#struct(type);
      case 'tuple':
      case 'stack': {
        if (!this.#known.has(type))
          this.#known.set(type, type.kind === 'tuple' ? this.#tuple(type.elements) : this.#stack(type));
        return this.#known.get(type);
      }
      default:
        return undefined;
    }
  }

  #stack({ element: of, size }: StackType): DataType | undefined {
    const element = this.of(of);
    if (element === undefined || !isStructData(element)) return undefined;
    return this.#shared({ kind: 'stack', element, size });
  }

  #shared(type: DataType): DataType {
    const key = this.#key(type);
    const known = this.#structural.get(key);
    if (known !== undefined) return known;
    this.#structural.set(key, type);
    return type;
  }

  #key(type: DataType): string {
    if (type.kind === 'stack') return `stack ${type.element.id} ${type.size}`;
    if (isStructData(type)) return type.id;
    return `${type.kind} ${printType(type)}`;
  }

  #struct(type: StructType): StructDataType | undefined {
    const known = this.#nominal.get(type);
    if (known !== undefined) return known;
    const fields: IrField[] = [];
    for (const field of type.fields) {
      const data = this.of(field.type);
      if (data === undefined) return undefined;
      fields.push({ name: field.name, type: data, annotations: field.annotations });
    }
    // A struct expression given to a generic extern has a type of its own, without a name.
    const name = type.name === '' ? 'struct' : describeType(type);
    const struct: StructDataType = { kind: type.kind, name, id: this.#id(name), fields };
    this.#nominal.set(type, struct);
    this.#structs.push(struct);
    return struct;
  }

  #tuple(elements: readonly Type[]): StructDataType | undefined {
    const types: DataType[] = [];
    for (const element of elements) {
      const data = this.of(element);
      if (data === undefined) return undefined;
      types.push(data);
    }
    const key = `tuple ${types.map((type) => this.#key(type)).join(', ')}`;
    const known = this.#structural.get(key);
    if (known?.kind === 'struct') return known;
    const struct: StructDataType = {
      kind: 'struct',
      name: tupleName(types),
      id: this.#id('tuple'),
      fields: types.map((type, index) => ({ name: `f${index}`, type, annotations: new Map<string, string>() })),
    };
    this.#structural.set(key, struct);
    this.#structs.push(struct);
    return struct;
  }

  #id(name: string): string {
    const base = name
      .slice(0, MAX_NAME)
      .replace(/[^A-Za-z0-9_]+/g, '_')
      .replace(/_$/, '');
    let id = base;
    let count = this.#counts.get(base) ?? 0;
    for (; this.#ids.has(id); id = `${base}_${count}`) count++;
    this.#counts.set(base, count);
    this.#ids.add(id);
    return id;
  }
}

/** Names of nested tuples double with each level, so long ones are cut. */
function tupleName(types: readonly DataType[]): string {
  const name = `tuple<${types.slice(0, MAX_NAME).map(printType).join(', ')}>`;
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}...>`;
}
