import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import type { P4DataTypeSpec, P4TypeInfo } from '../generated/p4/config/v1/p4types_pb.js';
import { type P4Data, P4DataSchema, P4HeaderSchema, P4StructLikeSchema } from '../generated/p4/v1/p4data_pb.js';
import { fits, numberOfBytes, shortestBytes, signedBytes, signedPattern } from '../values/bytes.js';
import { invalid, refuse } from './refusal.js';

/** A type of `P4Data`, with all names resolved. */
export type DataSpec =
  | { readonly kind: 'bits'; readonly width: number; readonly isSigned: boolean }
  | { readonly kind: 'bool' }
  /** A number at run time: the position of the member. */
  | { readonly kind: 'enum' | 'error'; readonly members: readonly string[] }
  | { readonly kind: 'enum-value'; readonly width: number }
  | { readonly kind: 'struct' | 'tuple'; readonly members: readonly DataSpec[] }
  | { readonly kind: 'header'; readonly members: readonly DataSpec[] }
  /** A type that the server cannot convert. */
  | { readonly kind: 'other' };

const OTHER: DataSpec = { kind: 'other' };
/** Deepest nesting, and most types within one: P4Info may come from a stranger, and may refer to itself. */
const MOST_DEPTH = 32;
const MOST_TYPES = 65_536;

/** Resolves the types of P4Info. */
export class DataSpecs {
  readonly #info: P4TypeInfo | undefined;
  #left = MOST_TYPES;

  constructor(info: P4TypeInfo | undefined) {
    this.#info = info;
  }

  /** @throws Refusal INVALID_ARGUMENT if a name is not defined, or types are nested too deeply */
  of(spec: P4DataTypeSpec | undefined, what: string, depth = 0): DataSpec {
    if (depth > MOST_DEPTH || --this.#left < 0) return invalid(`P4Info: the type of ${what} is too large`);
    const type = spec?.typeSpec;
    const inner = (each: P4DataTypeSpec | undefined): DataSpec => this.of(each, what, depth + 1);
    const named = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T => {
      if (map === undefined || !Object.hasOwn(map, name)) return invalid(`P4Info: ${what} has undefined type ${name}`);
      return map[name]!;
    };
    switch (type?.case) {
      case 'bitstring': {
        const bits = type.value.typeSpec;
        if (bits.case === 'bit' || bits.case === 'int') {
          return { kind: 'bits', width: bits.value.bitwidth, isSigned: bits.case === 'int' };
        }
        return OTHER;
      }
      case 'bool':
        return { kind: 'bool' };
      case 'tuple':
        return { kind: 'tuple', members: type.value.members.map(inner) };
      case 'struct': {
        const { members } = named(this.#info?.structs, type.value.name);
        return { kind: 'struct', members: members.map(({ typeSpec }) => inner(typeSpec)) };
      }
      case 'header': {
        const { members } = named(this.#info?.headers, type.value.name);
        return {
          kind: 'header',
          members: members.map(({ typeSpec }): DataSpec => {
            const bits = typeSpec?.typeSpec;
            if (bits?.case !== 'bit' && bits?.case !== 'int') return OTHER;
            return { kind: 'bits', width: bits.value.bitwidth, isSigned: bits.case === 'int' };
          }),
        };
      }
      case 'enum': {
        const { members } = named(this.#info?.enums, type.value.name);
        return { kind: 'enum', members: members.map(({ name }) => name) };
      }
      case 'error':
        return { kind: 'error', members: this.#info?.error?.members ?? [] };
      case 'serializableEnum': {
        const { underlyingType } = named(this.#info?.serializableEnums, type.value.name);
        return { kind: 'enum-value', width: underlyingType?.bitwidth ?? 0 };
      }
      case 'newType': {
        const { representation } = named(this.#info?.newTypes, type.value.name);
        if (representation.case === 'originalType') return inner(representation.value);
        const sdn = representation.value?.sdnType;
        return sdn?.case === 'sdnBitwidth' ? { kind: 'bits', width: sdn.value, isSigned: false } : OTHER;
      }
      default:
        return OTHER;
    }
  }
}

/** The bits of a scalar that a client sends. @throws Refusal INVALID_ARGUMENT for another type, OUT_OF_RANGE for its values */
export function readScalar(spec: DataSpec, data: P4Data | undefined, what: string): bigint {
  const given = data?.data;
  const wrong = (): never => invalid(`${what} does not have the type of P4Info`);
  const tooWide = (width: number): never =>
    refuse(Code.OutOfRange, `Bytestring provided does not fit within ${width} bits: ${what}`);
  switch (spec.kind) {
    case 'bits': {
      if (given?.case !== 'bitstring') return wrong();
      const bits = spec.isSigned ? signedPattern(given.value, spec.width) : patternOf(given.value, spec.width);
      return bits ?? tooWide(spec.width);
    }
    case 'bool':
      return given?.case === 'bool' ? BigInt(given.value) : wrong();
    case 'enum':
    case 'error': {
      const at = given?.case === spec.kind ? spec.members.indexOf(given.value) : -1;
      return at < 0 ? wrong() : BigInt(at);
    }
    case 'enum-value':
      return given?.case === 'enumValue' ? (patternOf(given.value, spec.width) ?? tooWide(spec.width)) : wrong();
    default:
      return wrong();
  }
}

function patternOf(bytes: Uint8Array, width: number): bigint | undefined {
  return fits(bytes, width) ? numberOfBytes(bytes) : undefined;
}

/** Takes the next value, as unsigned bits. */
type Next = () => bigint;

/** The data of a type from the values of its scalars, in order. Headers are valid. */
export function writeData(spec: DataSpec, next: Next): P4Data {
  switch (spec.kind) {
    case 'bits': {
      const value = next();
      const bytes = spec.isSigned ? signedBytes(value, spec.width) : shortestBytes(BigInt.asUintN(spec.width, value));
      return create(P4DataSchema, { data: { case: 'bitstring', value: bytes } });
    }
    case 'bool':
      return create(P4DataSchema, { data: { case: 'bool', value: next() !== 0n } });
    case 'enum':
      return create(P4DataSchema, { data: { case: 'enum', value: spec.members[Number(next())] ?? '' } });
    case 'error':
      return create(P4DataSchema, { data: { case: 'error', value: spec.members[Number(next())] ?? '' } });
    case 'enum-value':
      return create(P4DataSchema, {
        data: { case: 'enumValue', value: shortestBytes(BigInt.asUintN(spec.width, next())) },
      });
    case 'struct':
    case 'tuple': {
      const value = create(P4StructLikeSchema, { members: spec.members.map((member) => writeData(member, next)) });
      return create(P4DataSchema, { data: { case: spec.kind, value } });
    }
    case 'header': {
      const bitstrings = spec.members.map((member) => {
        const { data } = writeData(member, next);
        return data.case === 'bitstring' ? data.value : Uint8Array.of(0);
      });
      const value = create(P4HeaderSchema, { isValid: true, bitstrings });
      return create(P4DataSchema, { data: { case: 'header', value } });
    }
    case 'other':
      return create(P4DataSchema, {
        data: { case: 'bitstring', value: shortestBytes(BigInt.asUintN(65_536, next())) },
      });
  }
}
