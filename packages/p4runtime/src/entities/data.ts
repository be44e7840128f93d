import { create } from '@bufbuild/protobuf';
import * as p4config from '../messages/p4config.js';
import * as p4v1 from '../messages/p4v1.js';
import { numberOfBytes, shortestBytes } from '../values/bytes.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import { parseValue, type Value } from '../values/parse-value.js';

/**
 * Data of registers and digests: numbers (signed ones of `int<W>`), booleans, names of enum members and errors, structs and
 * headers as objects (an invalid header is null), tuples and stacks as lists.
 */
export type Data = Value | null | readonly Data[] | { readonly [name: string]: Data };

type Spec = p4config.P4DataTypeSpec;

/** Data of an answer. @throws P4RuntimeError `ERR_P4RUNTIME_ANSWER` if they are not of the type */
export function decodeData(
  spec: Spec | undefined,
  data: p4v1.P4Data | undefined,
  types: p4config.P4TypeInfo | undefined,
): Data {
  const { case: kind, value } = data?.data ?? { case: undefined };
  switch (kind) {
    case 'bitstring':
      return bits(spec, value, types);
    case 'bool':
    case 'enum':
    case 'error':
      return value;
    case 'enumValue':
      return numberOfBytes(value);
    case 'varbit':
      return value.bitstring;
    case 'struct': {
      const name = spec?.typeSpec.case === 'struct' ? spec.typeSpec.value.name : '';
      const members = own(types?.structs, name)?.members ?? [];
      return object(
        value.members.map((each, at) => [members[at]?.name ?? `${at}`, decodeData(members[at]?.typeSpec, each, types)]),
      );
    }
    case 'tuple': {
      const members = spec?.typeSpec.case === 'tuple' ? spec.typeSpec.value.members : [];
      return value.members.map((each, at) => decodeData(members[at], each, types));
    }
    case 'header': {
      if (!value.isValid) return null;
      const name = spec?.typeSpec.case === 'header' ? spec.typeSpec.value.name : '';
      const members = own(types?.headers, name)?.members ?? [];
      return object(value.bitstrings.map((each, at) => [members[at]?.name ?? `${at}`, numberOfBytes(each)]));
    }
    case 'headerStack':
      return value.entries.map((each) => {
        const name = spec?.typeSpec.case === 'headerStack' ? spec.typeSpec.value.header?.name : undefined;
        const members = own(types?.headers, name ?? '')?.members ?? [];
        if (!each.isValid) return null;
        return object(each.bitstrings.map((bytes, at) => [members[at]?.name ?? `${at}`, numberOfBytes(bytes)]));
      });
    default:
      throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', `data of the kind ${kind ?? 'none'} are not expected`);
  }
}

/** The message of a register's value: numbers, booleans, and members of enums. */
export function encodeData(
  what: string,
  spec: Spec | undefined,
  data: Data,
  types: p4config.P4TypeInfo | undefined,
): p4v1.P4Data {
  const make = (value: p4v1.P4Data['data']): p4v1.P4Data => create(p4v1.P4DataSchema, { data: value });
  const { case: kind, value: type } = underlying(spec, types)?.typeSpec ?? { case: undefined };
  if (kind === 'struct' && isObject(data)) {
    const members = own(types?.structs, type.name)?.members ?? [];
    const given = members.map(({ name, typeSpec }) =>
      encodeData(`${what}.${name}`, typeSpec, own(data, name) ?? 0, types),
    );
    return make({ case: 'struct', value: create(p4v1.P4StructLikeSchema, { members: given }) });
  }
  if (kind === 'tuple' && Array.isArray(data)) {
    const members = type.members.map((each, at) =>
      encodeData(`${what}[${at}]`, each, (data as readonly Data[])[at] ?? 0, types),
    );
    return make({ case: 'tuple', value: create(p4v1.P4StructLikeSchema, { members }) });
  }
  if (typeof data === 'object' && !(data instanceof Uint8Array)) return refuse(`${what}: this is no value of its type`);
  switch (kind) {
    case 'bitstring': {
      const width =
        type.typeSpec.case === 'varbit' ? type.typeSpec.value.maxBitwidth : (type.typeSpec.value?.bitwidth ?? 0);
      const number = parseValue({ what, bitwidth: width }, data, types);
      const isSigned = type.typeSpec.case === 'int';
      return make({
        case: 'bitstring',
        value: isSigned ? signedBytes(BigInt.asIntN(width, number)) : shortestBytes(number),
      });
    }
    case 'bool':
      return make({ case: 'bool', value: parseValue({ what, bitwidth: 1 }, data, types) === 1n });
    case 'enum':
    case 'error':
      return typeof data === 'string'
        ? make({ case: kind, value: data })
        : refuse(`${what}: the name of a member is needed`);
    case 'serializableEnum': {
      const bitwidth = own(types?.serializableEnums, type.name)?.underlyingType?.bitwidth ?? 0;
      const number = parseValue({ what, bitwidth, typeName: type }, data, types);
      return make({ case: 'enumValue', value: shortestBytes(number) });
    }
    default:
      return refuse(`${what}: values of its type cannot be written`);
  }
}

/** The shortest bytes in two's complement. */
function signedBytes(value: bigint): Uint8Array<ArrayBuffer> {
  let length = 1;
  while (BigInt.asIntN(8 * length, value) !== value) length++;
  const bytes = new Uint8Array(length);
  for (let at = length - 1, rest = value; at >= 0; at--, rest >>= 8n) bytes[at] = Number(BigInt.asUintN(8, rest));
  return bytes;
}

function bits(spec: Spec | undefined, bytes: Uint8Array, types: p4config.P4TypeInfo | undefined): bigint {
  const { case: kind, value } = underlying(spec, types)?.typeSpec ?? { case: undefined };
  const number = numberOfBytes(bytes);
  return kind === 'bitstring' && value.typeSpec.case === 'int' ? BigInt.asIntN(8 * bytes.length, number) : number;
}

/** The type below a new type. */
function underlying(spec: Spec | undefined, types: p4config.P4TypeInfo | undefined): Spec | undefined {
  if (spec?.typeSpec.case !== 'newType') return spec;
  const found = own(types?.newTypes, spec.typeSpec.value.name)?.representation;
  if (found?.case === 'originalType') return found.value;
  if (found?.case !== 'translatedType' || found.value.sdnType.case !== 'sdnBitwidth') return undefined;
  const bit = create(p4config.P4BitTypeSpecSchema, { bitwidth: found.value.sdnType.value });
  const value = create(p4config.P4BitstringLikeTypeSpecSchema, { typeSpec: { case: 'bit', value: bit } });
  return create(p4config.P4DataTypeSpecSchema, { typeSpec: { case: 'bitstring', value } });
}

/** A member of a map, whatever its name. */
function own<T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}

const isObject = (data: Data): data is { readonly [name: string]: Data } =>
  typeof data === 'object' && data !== null && !Array.isArray(data) && !(data instanceof Uint8Array);

function object(entries: readonly (readonly [string, Data])[]): Data {
  return Object.fromEntries(entries);
}

function refuse(message: string): never {
  throw new P4RuntimeError('ERR_P4RUNTIME_VALUE', message);
}
