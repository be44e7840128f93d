import type { DataType, ExternInstance, IrProgram, Table } from './program.js';

/*
 * Estimates of a program's memory in bytes, after the sizes of objects, arrays and numbers in JavaScript engines. They
 * are rather too high than too low. Limits are compared with them.
 */

const OBJECT = 48;
/** A property, with the number that it may refer to. */
const PROPERTY = 16;
const ENTRY = 512;
const TABLE = 4096;
/** Two buckets, made on the first use of a cell. */
const METER_CELL = 256;
const COUNTER_CELL = 16;

function bigBytes(width: number): number {
  return 24 + Math.ceil(width / 64) * 8;
}

function scalarBytes(type: DataType): number {
  if (type.kind !== 'bits' || type.width <= 32) return PROPERTY;
  // Up to 128 bits as words, beyond as one bigint.
  return type.width <= 128 ? PROPERTY * Math.ceil(type.width / 32) : PROPERTY + bigBytes(type.width);
}

const known = /* @__PURE__ */ new WeakMap<DataType, number>();

/** Bytes of an object of an aggregate type, or of a scalar as its property. */
export function objectBytes(type: DataType): number {
  switch (type.kind) {
    case 'varbit':
      return 256 + Math.ceil(type.maxWidth / 8);
    case 'stack':
      return 2 * OBJECT + type.size * (8 + objectBytes(type.element));
    case 'struct':
    case 'header':
    case 'union': {
      let bytes = known.get(type);
      if (bytes === undefined) {
        bytes = OBJECT;
        for (const field of type.fields) bytes += 8 + objectBytes(field.type);
        known.set(type, bytes);
      }
      return bytes;
    }
    default:
      return scalarBytes(type);
  }
}

function cellBytes(type: DataType | undefined): number {
  if (type?.kind !== 'bits') return type?.kind === 'bool' ? 1 : 4;
  const { width, isSigned } = type;
  if (width <= 32) return isSigned ? 4 : width <= 8 ? 1 : width <= 16 ? 2 : 4;
  return width <= 64 && !isSigned ? 8 : 8 + bigBytes(width);
}

/** The cells of an extern object, all of them. */
export function externBytes({ type, arguments: given, typeArguments }: ExternInstance): number {
  const [first] = given;
  const size = first?.kind === 'integer' ? Number(first.value) : 0;
  switch (type) {
    case 'counter':
      return OBJECT + size * COUNTER_CELL;
    case 'meter':
      return OBJECT + size * METER_CELL;
    case 'register':
      return OBJECT + size * cellBytes(typeArguments[0]);
    default:
      return OBJECT;
  }
}

function keyWidth(type: DataType): number {
  return type.kind === 'bits' ? type.width : 32;
}

/** Bits of all keys of a table or value set. */
export function keyBits(keys: readonly { readonly type: DataType }[]): number {
  return keys.reduce((sum, { type }) => sum + keyWidth(type), 0);
}

/** One entry of a table with these keys and `data` values of action data, or one member of a value set. */
export function entryBytes(keys: readonly { readonly type: DataType }[], data = 0): number {
  return ENTRY + keys.length * 64 + keyBits(keys) + data * 64;
}

/** A table with the entries of its program. */
export function tableBytes({ keys, entries }: Pick<Table, 'keys' | 'entries'>): number {
  return TABLE + 8 * keyBits(keys) + entries.length * entryBytes(keys);
}

/** All objects that the program declares, except headers, metadata and variables. */
export function declaredBytes({ externs, tables }: IrProgram): number {
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  return sum(externs.map(externBytes)) + sum(tables.map(tableBytes));
}
