/**
 * What every header codec offers, and the codecs that follow from a layout: a table of fields in wire order.
 *
 * A field of up to 32 bits does not cross a 32-bit boundary of its header; this holds for every header here.
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
   * @throws CodecError `TRUNCATED` if `bytes` end before the header does; its `offset` is the start of the header, or
   *   of the item of a list that is cut. Other codes if a field has an impossible value
   * @throws TypeError if `bytes` is not a Uint8Array, RangeError if `offset` is not a non-negative integer
   */
  decode(bytes: Uint8Array, offset?: number): T;
  /**
   * Number of bytes that `encodeInto` writes.
   *
   * @throws RangeError if a part of variable size is larger than the header can say
   */
  encodingLength(value: T): number;
  /**
   * Writes one header. It checks everything first: if it throws, it has written nothing.
   *
   * @returns number of bytes written
   * @throws RangeError naming the field that does not fit, or if `out` is too small
   */
  encodeInto(value: T, out: Uint8Array, offset?: number): number;
  /** As `encodeInto`, into a new array of the right size. */
  encode(value: T): Uint8Array;
}

/** What a codec reads and writes. */
export type HeaderOf<C> = C extends HeaderCodec<infer T> ? T : never;

/** A header of fixed size. */
export interface FixedHeaderCodec<T> extends HeaderCodec<T> {
  /** Bytes of the header. */
  readonly byteLength: number;
}

/** Widths of the fields that are no unsigned numbers. */
const WIDTHS = { flag: 1, uint64: 64, mac: 48, ipv4: 32, ipv6: 128 } as const;
type Kind = 'number' | keyof typeof WIDTHS;

/** A field that always has the value `is`. Any other value is an error with this code. */
interface ConstantField {
  readonly bits: number;
  readonly is: number;
  readonly code: CodeName;
}

/** A field that the codec itself reads and writes because it follows from others: a length, a count. */
interface DerivedField {
  readonly bits: number;
}

/** The fields of a header in wire order. An unsigned number stands for its width in bits. */
export type Layout = Readonly<Record<string, number | keyof typeof WIDTHS | ConstantField | DerivedField>>;

/** A header of this layout as an object: numbers, booleans (`flag`), bigints (`uint64`), addresses as text. */
export type HeaderFields<L extends Layout> = {
  -readonly [K in keyof L as L[K] extends object ? never : K]: L[K] extends number
    ? number
    : L[K] extends 'flag'
      ? boolean
      : L[K] extends 'uint64'
        ? bigint
        : string;
};

const enough = (bytes: Uint8Array, offset: number, length: number): boolean => bytes.length - offset >= length;

/**
 * Checks that `length` bytes lie at `offset`.
 *
 * @throws CodecError `TRUNCATED` at `at`; TypeError or RangeError for arguments that are no range
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

/** Checks that `out` has room. @throws TypeError, RangeError */
function requireRoom(out: Uint8Array, offset: number, length: number): void {
  if (!(out instanceof Uint8Array)) throw new TypeError('out must be a Uint8Array');
  if (!(Number.isInteger(offset) && offset >= 0 && enough(out, offset, length))) {
    throw new RangeError(`${length} bytes at ${offset} do not fit into ${out.length} bytes`);
  }
}

/** Checks that a value fits its field. @throws RangeError that names the field */
export function requireFit(name: string, value: number, width: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value < 2 ** width)) {
    throw new RangeError(`${name} must be an integer that fits ${width} bits, not ${value}`);
  }
}

/** Checks the size of a raw part. @throws TypeError or RangeError that names the part */
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

/** A field and its place in a header. */
export interface FieldPlace {
  readonly name: string;
  readonly kind: Kind;
  /** First bit, counted from the most significant bit of the header. */
  readonly position: number;
  readonly width: number;
}
type Value = number | boolean | bigint | string;
const EMPTY: Readonly<Record<Kind, Value>> = { number: 0, flag: false, uint64: 0n, mac: '', ipv4: '', ipv6: '' };

/** The fields of a header or of its fixed part. */
export class FieldGroup<const L extends Layout> {
  readonly layer: Layer;
  readonly layout: L;
  readonly byteLength: number;
  readonly #fields: readonly FieldPlace[];
  readonly #constants: readonly (FieldPlace & ConstantField)[];
  readonly #derived: readonly FieldPlace[];
  /**
   * A value of the right shape. To clone it and fill it in is several times faster than to add the fields one by one.
   */
  readonly #template: Readonly<Record<string, Value>>;

  constructor(layer: Layer, layout: L) {
    const fields: FieldPlace[] = [];
    const constants: (FieldPlace & ConstantField)[] = [];
    const derived: FieldPlace[] = [];
    let position = 0;
    for (const [name, form] of Object.entries<Layout[string]>(layout)) {
      const kind: Kind = typeof form === 'string' ? form : 'number';
      const width = typeof form === 'string' ? WIDTHS[form] : typeof form === 'number' ? form : form.bits;
      const field = { name, kind, position, width };
      if (typeof form !== 'object') fields.push(field);
      else if ('is' in form) constants.push({ ...field, ...form });
      else derived.push(field);
      position += width;
    }
    if (position % 8 !== 0) throw new RangeError(`a layout of ${position} bits is not a whole number of bytes`);
    this.layer = layer;
    this.layout = layout;
    this.byteLength = position / 8;
    this.#fields = fields;
    this.#constants = constants;
    this.#derived = derived;
    this.#template = Object.fromEntries(fields.map(({ name, kind }) => [name, EMPTY[kind]]));
  }

  /** Reads the fields; the bytes must be there. @throws CodecError if a constant field has another value. */
  read(bytes: Uint8Array, offset: number): HeaderFields<L> {
    for (const { position, width, is, code } of this.#constants) {
      const found = readBits(bytes, offset, position, width);
      if (found !== is) {
        throw new CodecError(code, this.layer, offset + (position >>> 3), `${is} expected, ${found} found`);
      }
    }
    const result = { ...this.#template };
    for (const field of this.#fields) result[field.name] = readField(bytes, offset, field);
    return result as HeaderFields<L>;
  }

  /** All fields in wire order: with those of a constant value, and those that follow from others. */
  places(): readonly FieldPlace[] {
    return [...this.#fields, ...this.#constants, ...this.#derived].sort((a, b) => a.position - b.position);
  }

  /** The derived field of that name, to be read and written by the codec. */
  derived(name: string): FieldPlace {
    return this.#derived.find((field) => field.name === name)!;
  }

  /** @throws RangeError (numbers), TypeError or AddressError (others) for a value that does not fit its field. */
  check(value: HeaderFields<L>): void {
    const values: Readonly<Record<string, Value>> = value;
    for (const field of this.#fields) checkField(field, values[field.name]);
  }

  /** Writes the fields, derived ones as 0. The caller has checked the values, and that there is room. */
  write(value: HeaderFields<L>, out: Uint8Array, offset: number): void {
    const values: Readonly<Record<string, Value>> = value;
    out.fill(0, offset, offset + this.byteLength);
    for (const { position, width, is } of this.#constants) writeBits(out, offset, position, width, is);
    for (const field of this.#fields) writeField(out, offset, field, values[field.name]!);
  }
}

export function readField(bytes: Uint8Array, offset: number, { kind, position, width }: FieldPlace): Value {
  const byte = offset + (position >>> 3);
  switch (kind) {
    case 'number':
      return readBits(bytes, offset, position, width);
    case 'flag':
      return readBits(bytes, offset, position, 1) === 1;
    case 'uint64':
      return (BigInt(readUint32(bytes, byte)) << 32n) | BigInt(readUint32(bytes, byte + 4));
    case 'mac':
      return formatMac(bytes, byte);
    case 'ipv4':
      return formatIpv4(readUint32(bytes, byte));
    case 'ipv6':
      return formatIpv6At(bytes, byte);
  }
}

function checkField({ name, kind, width }: FieldPlace, value: Value | undefined): void {
  if (kind === 'number') {
    requireFit(name, value as number, width);
  } else if (kind === 'flag') {
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be a boolean`);
  } else if (kind === 'uint64') {
    if (typeof value !== 'bigint') throw new TypeError(`${name} must be a bigint`);
    if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${name} must fit 64 bits, not ${value}`);
  } else {
    if (typeof value !== 'string') throw new TypeError(`${name} must be text`);
    if (kind === 'mac') writeMac(value, SCRATCH);
    else if (kind === 'ipv4') parseIpv4(value);
    else if (!value.includes(':')) throw new RangeError(`${name} must be an IPv6 address, not ${value}`);
    else writeAddress(value, SCRATCH);
  }
}

const SCRATCH = /* @__PURE__ */ new Uint8Array(16);

function writeField(out: Uint8Array, offset: number, { kind, position, width }: FieldPlace, value: Value): void {
  const byte = offset + (position >>> 3);
  switch (kind) {
    case 'number':
    case 'flag':
      writeBits(out, offset, position, width, Number(value));
      break;
    case 'uint64':
      writeUint32(out, byte, Number((value as bigint) >> 32n));
      writeUint32(out, byte + 4, Number((value as bigint) & 0xffff_ffffn));
      break;
    case 'mac':
      writeMac(value as string, out, byte);
      break;
    default:
      writeAddress(value as string, out, byte);
  }
}

/** What a codec is made of. */
export interface HeaderParts<T> {
  readonly layer: Layer;
  decode(bytes: Uint8Array, offset: number): T;
  /** Number of bytes. Checks the parts of variable size. */
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

/** The fields of the codecs that follow from a layout. */
const groups = /* @__PURE__ */ new WeakMap<object, PlacedFields>();

/** Fields whose places in a header are known. */
export interface PlacedFields {
  places(): readonly FieldPlace[];
}

function inGroup<T extends object>(fields: PlacedFields, codec: T): T {
  groups.set(codec, fields);
  return codec;
}

/** The fields of a header, or of its fixed part. @throws TypeError for a codec that does not follow from a layout */
export function groupOf(codec: object): PlacedFields {
  const group = groups.get(codec);
  if (group === undefined) throw new TypeError('this codec has no layout');
  return group;
}

/** A codec of a header with nothing but fields. */
export function fixedHeader<const L extends Layout>(layer: Layer, layout: L): FixedHeaderCodec<HeaderFields<L>> {
  const fields = new FieldGroup(layer, layout);
  const { byteLength } = fields;
  return inGroup(fields, {
    ...makeCodec<HeaderFields<L>>({
      layer,
      decode(bytes, offset) {
        requireBytes(bytes, offset, byteLength, layer);
        return fields.read(bytes, offset);
      },
      measure: () => byteLength,
      check: (value) => fields.check(value),
      write: (value, out, offset) => fields.write(value, out, offset),
    }),
    byteLength,
  });
}

/** The raw bytes at the end of a header: options, data. */
interface Tail<L extends Layout, Name extends string> {
  readonly name: Name;
  /** The derived field that gives their number: `value * unit + base` bytes. */
  readonly length: keyof L & string;
  readonly unit: 4 | 8;
  /** Default 0. Negative if the field counts the fixed part of the header as well. */
  readonly base?: number;
  /** The error if the field counts less than the fixed part. */
  readonly short?: readonly [code: CodeName, text: string];
}

/** A codec of a header with fields, and raw bytes behind them. The length field follows from the raw bytes. */
export function headerWithTail<L extends Layout, Name extends string>(
  fields: FieldGroup<L>,
  { name, length: lengthField, unit, base = 0, short }: Tail<L, Name>,
): HeaderCodec<HeaderFields<L> & Record<Name, Uint8Array>> {
  const { layer, byteLength } = fields;
  const { position, width } = fields.derived(lengthField);
  const most = (2 ** width - 1) * unit + base;
  const codec = makeCodec<HeaderFields<L> & Record<Name, Uint8Array>>({
    layer,
    decode(bytes, offset) {
      requireBytes(bytes, offset, byteLength + Math.max(0, base), layer);
      const values = fields.read(bytes, offset);
      const counted = readBits(bytes, offset, position, width) * unit;
      const end = byteLength + counted + base;
      if (short !== undefined && end < byteLength) {
        throw new CodecError(short[0], layer, offset + (position >>> 3), `${short[1]} ${counted} bytes`);
      }
      requireBytes(bytes, offset, end, layer);
      return Object.assign(values as object, { [name]: bytes.subarray(offset + byteLength, offset + end) }) as never;
    },
    measure(value) {
      requireSize(name, value[name], unit, most, Math.max(0, base));
      return byteLength + value[name].length;
    },
    check: (value) => fields.check(value),
    write(value, out, offset) {
      fields.write(value, out, offset);
      writeBits(out, offset, position, width, (value[name].length - base) / unit);
      out.set(value[name], offset + byteLength);
    },
  });
  return inGroup(fields, codec);
}
