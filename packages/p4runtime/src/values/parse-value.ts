import { parseInteger, parseIpv4, parseIpv6, parseMac } from '@int/p4vm/internals';
import type * as p4config from '../messages/p4config.js';
import { numberOfBytes, shortestBytes } from './bytes.js';
import { P4RuntimeError } from './p4runtime-error.js';

/**
 * A value: a number, bytes (most significant first), or text: decimal, `0x..`, an IPv4, IPv6 or MAC address, `true`,
 * `false`, a member of the type's enum.
 */
export type Value = number | bigint | boolean | string | Uint8Array;

/** What is known of the type of a value. */
export interface ValueType {
  /** What has the value, for messages. */
  readonly what: string;
  /** Width in bits; 0: a string, or an enum without values. */
  readonly bitwidth: number;
  readonly typeName?: p4config.P4NamedType | undefined;
}

/** @throws P4RuntimeError `ERR_P4RUNTIME_VALUE` if the text or the number is no value of the type */
export function parseValue({ what, bitwidth, typeName }: ValueType, value: Value, types?: p4config.P4TypeInfo): bigint {
  const number = numberOf(value, bitwidth, typeName?.name, types);
  if (number === undefined) return refuse(`${what}: ${shown(value)} is no value of ${bitwidth} bits`);
  const most = 1n << BigInt(bitwidth);
  if (number >= most || number < -(most >> 1n)) return refuse(`${what}: ${number} does not fit in ${bitwidth} bits`);
  return BigInt.asUintN(bitwidth, number);
}

/** The bytes of a value as requests carry them. Values of types that are strings are their UTF-8. */
export function bytesOf(type: ValueType, value: Value, types?: p4config.P4TypeInfo): Uint8Array<ArrayBuffer> {
  if (type.bitwidth > 0) return shortestBytes(parseValue(type, value, types));
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (typeof value !== 'string') return refuse(`${type.what}: ${shown(value)} is no string`);
  return new TextEncoder().encode(value);
}

/** A value as answers carry it: a number, or the text of a type that is a string. */
export function valueOfBytes({ bitwidth }: Pick<ValueType, 'bitwidth'>, bytes: Uint8Array): bigint | string {
  return bitwidth > 0 ? numberOfBytes(bytes) : new TextDecoder().decode(bytes);
}

function numberOf(
  value: Value,
  bitwidth: number,
  typeName: string | undefined,
  types: p4config.P4TypeInfo | undefined,
): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (value instanceof Uint8Array) return numberOfBytes(value);
  const text = value.trim();
  const number = parseInteger(text);
  if (number !== undefined) return number;
  if (text === 'true' || text === 'false') return text === 'true' ? 1n : 0n;
  const address = bitwidth === 32 ? parseIpv4(text) : bitwidth === 48 ? parseMac(text) : parseIpv6Of(bitwidth, text);
  return address ?? enumMember(text, typeName, types);
}

const parseIpv6Of = (bitwidth: number, text: string): bigint | undefined =>
  bitwidth === 128 ? parseIpv6(text) : undefined;

/** `MEMBER` or `enum.MEMBER` of a serializable enum. P4Info does not say which enum a field has, so names must agree. */
function enumMember(text: string, typeName = '', types?: p4config.P4TypeInfo): bigint | undefined {
  const dot = text.lastIndexOf('.');
  const owner = dot === -1 ? typeName : text.slice(0, dot);
  const found = Object.entries(types?.serializableEnums ?? {}).find(([name]) => name === owner)?.[1];
  const member = found?.members.find(({ name }) => name === text.slice(dot + 1));
  return member === undefined ? undefined : numberOfBytes(member.value);
}

const shown = (value: Value): string =>
  value instanceof Uint8Array
    ? `${value.length} bytes`
    : JSON.stringify(typeof value === 'bigint' ? `${value}` : value);

function refuse(message: string): never {
  throw new P4RuntimeError('ERR_P4RUNTIME_VALUE', message);
}
