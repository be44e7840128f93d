/**
 * What every header codec offers, and the table-driven engine behind those of fixed layout.
 *
 * A layout is a list of fields in wire order with their widths in bits; a field of up to 32 bits does not cross a
 * 32-bit boundary of its header, which holds for every header here.
 */
import { formatIpv4, formatIpv6At, formatMac, parseIpv4, writeAddress, writeMac } from '../address.js';
import type { CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import type { Layer } from '../model.js';

/** Reads and writes one kind of header. Stateless; all multi-byte fields are big-endian. */
export interface HeaderCodec<T> {
  /** The layer named in errors. */
  readonly layer: Layer;
  /**
   * Reads one header. Raw parts (options, data) of the result are views of `bytes`, not copies.
   *
   * @param bytes where the header lies
   * @param offset its first byte, default 0
   * @throws CodecError `TRUNCATED` if `bytes` end before the header does: `offset` names where the part that is cut
   *   starts (the header, or one item of a list in it). Other codes for fields that cannot be
   * @throws TypeError, RangeError if `bytes` is no Uint8Array or `offset` no non-negative integer
   */
  decode(bytes: Uint8Array, offset?: number): T;
  /**
   * Bytes that `encodeInto` would write.
   *
   * @throws RangeError if a part of variable size has a size the header cannot express
   */
  encodingLength(value: T): number;
  /**
   * Writes one header. Checks everything first: nothing is written if it throws.
   *
   * @returns bytes written
   * @throws RangeError naming the field that does not fit, or if `out` is too small
   */
  encodeInto(value: T, out: Uint8Array, offset?: number): number;
  /** As `encodeInto`, into a new array of the right size. */
  encode(value: T): Uint8Array;
}

/** A header of fixed size. */
export interface FixedHeaderCodec<T> extends HeaderCodec<T> {
  /** Bytes of the header. */
  readonly byteLength: number;
}

/** A field of `T`: its name, its width in bits and, unless it is a number, what kind it is. */
type FieldOf<T> = {
  [K in keyof T & string]-?: T[K] extends boolean
    ? readonly [name: K, width: 1, kind: 'flag']
    : T[K] extends bigint
      ? readonly [name: K, width: 64, kind: 'bigint']
      : T[K] extends string
        ? readonly [name: K, width: 32 | 48 | 128, kind: 'address']
        : T[K] extends number
          ? readonly [name: K, width: number]
          : never;
}[keyof T & string];

/** A field that always has one value; anything else is an error with this code. */
type ConstantField = readonly [name: null, width: number, value: number, code: CodeName];

/** A field that the codec itself reads and writes, because it follows from others: a length, a count. */
type DerivedField = readonly [name: null, width: number];

/** A layout in wire order. */
export type FieldTable<T> = readonly (FieldOf<T> | ConstantField | DerivedField)[];

const enough = (bytes: Uint8Array, offset: number, length: number): boolean => bytes.length - offset >= length;

/**
 * Checks that `length` bytes lie at `offset`.
 *
 * @throws CodecError `TRUNCATED` at `at`, or TypeError, RangeError for arguments that are no range at all
 */
export function requireBytes(bytes: Uint8Array, offset: number, length: number, layer: Layer, at = offset): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('bytes must be a Uint8Array');
  if (!(Number.isInteger(offset) && offset >= 0))
    throw new RangeError(`offset must be a non-negative integer, not ${offset}`);
  if (!enough(bytes, offset, length)) {
    const present = Math.max(0, bytes.length - offset);
    throw new CodecError('TRUNCATED', layer, at, `${length} bytes needed, ${present} there`);
  }
}

/**
 * Checks that `out` has room.
 *
 * @throws TypeError, RangeError
 */
function requireRoom(out: Uint8Array, offset: number, length: number): void {
  if (!(out instanceof Uint8Array)) throw new TypeError('out must be a Uint8Array');
  if (!(Number.isInteger(offset) && offset >= 0 && enough(out, offset, length))) {
    throw new RangeError(`${length} bytes at ${offset} do not fit into ${out.length} bytes`);
  }
}

/**
 * Checks that a value fits its field.
 *
 * @throws RangeError naming the field
 */
export function requireFit(name: string, value: number, width: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value < 2 ** width)) {
    throw new RangeError(`${name} must be an integer that fits ${width} bits, not ${value}`);
  }
}

/**
 * Checks the size of a raw part.
 *
 * @throws TypeError, RangeError naming the part
 */
export function requireSize(name: string, value: Uint8Array, multiple: number, maximum: number, rest = 0): void {
  if (!(value instanceof Uint8Array)) throw new TypeError(`${name} must be a Uint8Array`);
  if (value.length > maximum || value.length % multiple !== rest) {
    const step = rest === 0 ? `a multiple of ${multiple} bytes` : `${rest} bytes more than a multiple of ${multiple}`;
    throw new RangeError(`${name} must be ${step}, at most ${maximum}, not ${value.length}`);
  }
}

export function readUint16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 8) | bytes[offset + 1]!;
}

export function readUint32(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>> 0;
}

export function writeUint16(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >>> 8;
  out[offset + 1] = value;
}

export function writeUint32(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >>> 24;
  out[offset + 1] = value >>> 16;
  out[offset + 2] = value >>> 8;
  out[offset + 3] = value;
}

/** Reads `width` bits (up to 32) from bit `position`, counted from the most significant bit at `offset`. */
function readBits(bytes: Uint8Array, offset: number, position: number, width: number): number {
  let byte = offset + (position >>> 3);
  if ((position & 7) === 0) {
    if (width === 8) return bytes[byte]!;
    if (width === 16) return readUint16(bytes, byte);
    if (width === 32) return readUint32(bytes, byte);
  }
  const last = offset + ((position + width - 1) >>> 3);
  let value = bytes[byte]! & (0xff >>> (position & 7));
  while (byte < last) value = value * 256 + bytes[++byte]!;
  const drop = (8 - ((position + width) & 7)) & 7;
  return drop === 0 ? value : Math.floor(value / 2 ** drop);
}

/** Writes `width` bits (up to 32) at bit `position` into bytes that hold zeros there. */
function writeBits(out: Uint8Array, offset: number, position: number, width: number, value: number): void {
  const first = offset + (position >>> 3);
  if ((position & 7) === 0) {
    if (width === 8) {
      out[first] = value;
      return;
    }
    if (width === 16) {
      writeUint16(out, first, value);
      return;
    }
    if (width === 32) {
      writeUint32(out, first, value);
      return;
    }
  }
  const drop = (8 - ((position + width) & 7)) & 7;
  let rest = value * 2 ** drop;
  for (let byte = offset + ((position + width - 1) >>> 3); byte >= first; byte--) {
    out[byte]! |= rest % 256;
    rest = Math.floor(rest / 256);
  }
}

type Kind = 'number' | 'flag' | 'bigint' | 'address';
interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly position: number;
  readonly width: number;
}
interface Constant {
  readonly position: number;
  readonly width: number;
  readonly value: number;
  readonly code: CodeName;
}
type Value = number | boolean | bigint | string;
const EMPTY: Readonly<Record<Kind, Value>> = { number: 0, flag: false, bigint: 0n, address: '' };

/** The fields of a header or of its fixed part. */
export class FieldGroup<T> {
  readonly byteLength: number;
  readonly #layer: Layer;
  readonly #fields: readonly Field[];
  readonly #constants: readonly Constant[];
  /** A value of the right shape: to clone it and fill it in is several times faster than to add the fields one by one. */
  readonly #template: Readonly<Record<string, Value>>;

  constructor(layer: Layer, table: FieldTable<T>) {
    const fields: Field[] = [];
    const constants: Constant[] = [];
    let position = 0;
    const template: Record<string, Value> = {};
    for (const entry of table as readonly (ConstantField | DerivedField | readonly [string, number, Kind?])[]) {
      const width = entry[1];
      if (entry[0] !== null) {
        const kind = entry[2] ?? 'number';
        fields.push({ name: entry[0], kind, position, width });
        template[entry[0]] = EMPTY[kind];
      } else if (entry.length === 4) {
        constants.push({ position, width, value: entry[2], code: entry[3] });
      }
      position += width;
    }
    this.#template = template;
    if (position % 8 !== 0) throw new RangeError(`a layout of ${position} bits is not a whole number of bytes`);
    this.#layer = layer;
    this.#fields = fields;
    this.#constants = constants;
    this.byteLength = position / 8;
  }

  /** Reads the fields; the bytes must be there. @throws CodecError if a constant field differs. */
  read(bytes: Uint8Array, offset: number): T {
    for (const { position, width, value, code } of this.#constants) {
      const found = readBits(bytes, offset, position, width);
      if (found !== value) {
        throw new CodecError(code, this.#layer, offset + (position >>> 3), `${value} expected, ${found} found`);
      }
    }
    const result = { ...this.#template };
    for (const field of this.#fields) result[field.name] = readField(bytes, offset, field);
    return result as T;
  }

  /** @throws RangeError (numbers), TypeError or AddressError (others) for a value that does not fit its field. */
  check(value: T): void {
    const values = value as Readonly<Record<string, Value>>;
    for (const field of this.#fields) checkField(field, values[field.name]);
  }

  /** Writes the fields. The caller has checked them, and that there is room. */
  write(value: T, out: Uint8Array, offset: number): void {
    const values = value as Readonly<Record<string, Value>>;
    out.fill(0, offset, offset + this.byteLength);
    for (const { position, width, value: constant } of this.#constants) {
      writeBits(out, offset, position, width, constant);
    }
    for (const field of this.#fields) writeField(out, offset, field, values[field.name]!);
  }
}

function readField(bytes: Uint8Array, offset: number, { kind, position, width }: Field): Value {
  switch (kind) {
    case 'number':
      return readBits(bytes, offset, position, width);
    case 'flag':
      return readBits(bytes, offset, position, 1) === 1;
    case 'bigint':
      return (
        (BigInt(readBits(bytes, offset, position, 32)) << 32n) | BigInt(readBits(bytes, offset, position + 32, 32))
      );
    case 'address': {
      const byte = offset + (position >>> 3);
      if (width === 48) return formatMac(bytes, byte);
      return width === 32 ? formatIpv4(readUint32(bytes, byte)) : formatIpv6At(bytes, byte);
    }
  }
}

function checkField({ name, kind, width }: Field, value: Value | undefined): void {
  if (kind === 'number') {
    requireFit(name, value as number, width);
  } else if (kind === 'flag') {
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be a boolean`);
  } else if (kind === 'bigint') {
    if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint`);
    if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${name} must fit 64 bits, not ${value}`);
  } else {
    if (typeof value !== 'string') throw new TypeError(`${name} must be text`);
    if (width === 48) writeMac(value, SCRATCH);
    else if (width === 32) parseIpv4(value);
    else if (!value.includes(':')) throw new RangeError(`${name} must be an IPv6 address, not ${value}`);
    else writeAddress(value, SCRATCH);
  }
}

const SCRATCH = /* @__PURE__ */ new Uint8Array(16);

function writeField(out: Uint8Array, offset: number, { kind, position, width }: Field, value: Value): void {
  switch (kind) {
    case 'number':
      writeBits(out, offset, position, width, value as number);
      break;
    case 'flag':
      writeBits(out, offset, position, 1, value === true ? 1 : 0);
      break;
    case 'bigint':
      writeBits(out, offset, position, 32, Number((value as bigint) >> 32n));
      writeBits(out, offset, position + 32, 32, Number((value as bigint) & 0xffff_ffffn));
      break;
    case 'address':
      if (width === 48) writeMac(value as string, out, offset + (position >>> 3));
      else writeAddress(value as string, out, offset + (position >>> 3));
  }
}

/** Everything of a codec but what follows from the rest. */
export interface HeaderParts<T> {
  readonly layer: Layer;
  decode(bytes: Uint8Array, offset: number): T;
  /** Bytes; checks the parts of variable size. */
  measure(value: T): number;
  /** Checks everything else that `write` relies on. */
  check(value: T): void;
  /** Writes; everything has been checked. */
  write(value: T, out: Uint8Array, offset: number): void;
}

/** A codec from its parts. */
export function makeCodec<T>(parts: HeaderParts<T>): HeaderCodec<T> {
  const encodeInto = (value: T, out: Uint8Array, offset = 0): number => {
    const length = parts.measure(value);
    parts.check(value);
    requireRoom(out, offset, length);
    parts.write(value, out, offset);
    return length;
  };
  return {
    layer: parts.layer,
    decode: (bytes, offset = 0) => parts.decode(bytes, offset),
    encodingLength: (value) => parts.measure(value),
    encodeInto,
    encode(value) {
      const out = new Uint8Array(parts.measure(value));
      encodeInto(value, out);
      return out;
    },
  };
}

/** A codec of a header with nothing but fields. */
export function fixedHeader<T>(layer: Layer, table: FieldTable<T>): FixedHeaderCodec<T> {
  const fields = new FieldGroup<T>(layer, table);
  return {
    ...makeCodec<T>({
      layer,
      decode(bytes, offset) {
        requireBytes(bytes, offset, fields.byteLength, layer);
        return fields.read(bytes, offset);
      },
      measure: () => fields.byteLength,
      check: (value) => fields.check(value),
      write: (value, out, offset) => fields.write(value, out, offset),
    }),
    byteLength: fields.byteLength,
  };
}
