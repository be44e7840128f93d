import { create } from '@bufbuild/protobuf';
import type { StructType, Type } from '@int/p4vm/internals';
import * as p4config from '../messages/p4config.js';
import { shortestBytes } from '../values/bytes.js';
import type { Annotations } from './annotations.js';
import { P4InfoError } from './p4info-error.js';

type Bitstring = p4config.P4BitstringLikeTypeSpec;

/**
 * The types of a program in P4Info: specifications of types (`P4DataTypeSpec`), and `P4TypeInfo` with those that have names,
 * which grows as they are asked for.
 */
export class TypeSpecs {
  readonly info: p4config.P4TypeInfo = create(p4config.P4TypeInfoSchema);

  constructor(
    readonly annotations: Annotations,
    readonly errors: readonly string[],
  ) {}

  /** Whether no type with a name was asked for. */
  get isEmpty(): boolean {
    const { structs, headers, headerUnions, enums, serializableEnums, newTypes, error } = this.info;
    const all = [structs, headers, headerUnions, enums, serializableEnums, newTypes];
    return error === undefined && all.every((each) => Object.keys(each).length === 0);
  }

  /** Width of a value in bits as the control plane gives it; 0 for strings, enums without values and errors. */
  width(type: Type): number {
    if (type.kind === 'newtype') {
      const translated = this.#translation(type.name);
      // A new type of a translated one is none itself.
      if (translated === undefined) return this.width(originalOf(type));
      return translated.sdnType.case === 'sdnBitwidth' ? translated.sdnType.value : 0;
    }
    switch (type.kind) {
      case 'bits':
        return type.width;
      case 'bool':
        return 1;
      case 'serializable-enum':
        return type.underlying.width;
      case 'set':
        return this.width(type.element);
      default:
        return 0;
    }
  }

  /** The name of a new type, for `type_name`. Notes the type. */
  nameOf(type: Type): p4config.P4NamedType | undefined {
    this.note(type);
    const isNamed = type.kind === 'newtype' || type.kind === 'enum';
    return isNamed ? create(p4config.P4NamedTypeSchema, { name: type.name }) : undefined;
  }

  /** Notes the named types that a type consists of. */
  note(type: Type): void {
    this.of(type);
  }

  of(type: Type): p4config.P4DataTypeSpec {
    return create(p4config.P4DataTypeSpecSchema, { typeSpec: this.#spec(type) });
  }

  #spec(type: Type): p4config.P4DataTypeSpec['typeSpec'] {
    switch (type.kind) {
      case 'bits':
      case 'varbit':
        return { case: 'bitstring', value: bitstring(type) };
      case 'bool':
        return { case: 'bool', value: create(p4config.P4BoolTypeSchema) };
      case 'tuple': {
        const members = type.elements.map((each) => this.of(each));
        return { case: 'tuple', value: create(p4config.P4TupleTypeSpecSchema, { members }) };
      }
      case 'struct':
        return { case: 'struct', value: this.#struct(type) };
      case 'header':
        return { case: 'header', value: this.#header(type) };
      case 'union':
        return { case: 'headerUnion', value: this.#union(type) };
      case 'stack':
        return this.#stack(type);
      case 'enum':
        return { case: 'enum', value: this.#enum(type) };
      case 'serializable-enum':
        return { case: 'serializableEnum', value: this.#serializableEnum(type) };
      case 'error':
        this.info.error ??= create(p4config.P4ErrorTypeSpecSchema, { members: [...this.errors] });
        return { case: 'error', value: create(p4config.P4ErrorTypeSchema) };
      case 'newtype':
        return { case: 'newType', value: this.#newType(type) };
      case 'set':
        return this.#spec(type.element);
      default:
        throw new P4InfoError('ERR_P4INFO_TYPE', `P4Info has no type for a value of kind ${type.kind}`);
    }
  }

  #stack({ element, size }: Type & { kind: 'stack' }): p4config.P4DataTypeSpec['typeSpec'] {
    if (element.kind === 'header') {
      const header = this.#header(element);
      return { case: 'headerStack', value: create(p4config.P4HeaderStackTypeSpecSchema, { header, size }) };
    }
    if (element.kind !== 'union') throw new P4InfoError('ERR_P4INFO_TYPE', `a stack of ${element.kind}`);
    const headerUnion = this.#union(element);
    return {
      case: 'headerUnionStack',
      value: create(p4config.P4HeaderUnionStackTypeSpecSchema, { headerUnion, size }),
    };
  }

  #struct(type: StructType): p4config.P4NamedType {
    const name = nameOf(type);
    if (!Object.hasOwn(this.info.structs, name)) {
      const members = type.fields.map((field) =>
        create(p4config.P4StructTypeSpec_MemberSchema, {
          name: this.annotations.fieldName(type.name, field.name),
          typeSpec: this.of(field.type),
        }),
      );
      put(this.info.structs, name, create(p4config.P4StructTypeSpecSchema, { members }));
    }
    return create(p4config.P4NamedTypeSchema, { name });
  }

  #header(type: StructType): p4config.P4NamedType {
    const name = nameOf(type);
    if (!Object.hasOwn(this.info.headers, name)) {
      const members = this.flatFields(type).map((field) =>
        create(p4config.P4HeaderTypeSpec_MemberSchema, { name: field.name, typeSpec: this.#headerField(field.type) }),
      );
      put(this.info.headers, name, create(p4config.P4HeaderTypeSpecSchema, { members }));
    }
    return create(p4config.P4NamedTypeSchema, { name });
  }

  /** The fields of a header; structs within it by their members, with names such as `a.b`. */
  flatFields(type: StructType, path = ''): { readonly name: string; readonly type: Type }[] {
    return type.fields.flatMap((field) => {
      const name = `${path}${this.annotations.fieldName(type.name, field.name)}`;
      return field.type.kind === 'struct' ? this.flatFields(field.type, `${name}.`) : [{ name, type: field.type }];
    });
  }

  #headerField(type: Type): Bitstring {
    switch (type.kind) {
      case 'bits':
      case 'varbit':
        return bitstring(type);
      case 'bool':
        return bitstring({ kind: 'bits', width: 1, isSigned: false });
      case 'newtype':
        this.note(type);
        return this.#headerField(type.underlying);
      case 'serializable-enum':
        this.note(type);
        return bitstring(type.underlying);
      default:
        throw new P4InfoError('ERR_P4INFO_TYPE', `a header field of kind ${type.kind}`);
    }
  }

  #union(type: StructType): p4config.P4NamedType {
    const name = nameOf(type);
    if (!Object.hasOwn(this.info.headerUnions, name)) {
      const members = type.fields.map((field) => {
        if (field.type.kind !== 'header') throw new P4InfoError('ERR_P4INFO_TYPE', `a union of ${field.type.kind}`);
        return create(p4config.P4HeaderUnionTypeSpec_MemberSchema, {
          name: this.annotations.fieldName(type.name, field.name),
          header: this.#header(field.type),
        });
      });
      put(this.info.headerUnions, name, create(p4config.P4HeaderUnionTypeSpecSchema, { members }));
    }
    return create(p4config.P4NamedTypeSchema, { name });
  }

  #enum({ name, members }: Type & { kind: 'enum' }): p4config.P4NamedType {
    const known = members.map((member) => create(p4config.P4EnumTypeSpec_MemberSchema, { name: member }));
    put(this.info.enums, name, create(p4config.P4EnumTypeSpecSchema, { members: known }));
    return create(p4config.P4NamedTypeSchema, { name });
  }

  #serializableEnum({ name, underlying, members }: Type & { kind: 'serializable-enum' }): p4config.P4NamedType {
    const spec = create(p4config.P4SerializableEnumTypeSpecSchema, {
      underlyingType: create(p4config.P4BitTypeSpecSchema, { bitwidth: underlying.width }),
      members: [...members].map(([member, value]) =>
        create(p4config.P4SerializableEnumTypeSpec_MemberSchema, {
          name: member,
          value: shortestBytes(BigInt.asUintN(underlying.width, value)),
        }),
      ),
    });
    put(this.info.serializableEnums, name, spec);
    return create(p4config.P4NamedTypeSchema, { name });
  }

  #newType({ name, underlying }: Type & { kind: 'newtype' }): p4config.P4NamedType {
    if (!Object.hasOwn(this.info.newTypes, name)) {
      const original = originalOf(underlying);
      const translation = this.#translation(name);
      const spec = this.annotations.describe(this.annotations.ofType(name), ['p4runtime_translation']);
      put(
        this.info.newTypes,
        name,
        create(p4config.P4NewTypeSpecSchema, {
          representation:
            translation === undefined
              ? { case: 'originalType', value: this.of(original) }
              : { case: 'translatedType', value: translation },
          annotations: spec.annotations,
          structuredAnnotations: spec.structuredAnnotations,
        }),
      );
    }
    return create(p4config.P4NamedTypeSchema, { name });
  }

  /** What `@p4runtime_translation(URI, TYPE)` says of a new type. TYPE: a width, `bit<W>` or `string`. */
  #translation(name: string): p4config.P4NewTypeTranslation | undefined {
    const found = this.annotations.ofType(name).find((each) => each.name === 'p4runtime_translation');
    if (found === undefined) return undefined;
    const [uri, width] = found.values;
    const type = found.text.slice(found.text.lastIndexOf(',') + 1).trim();
    const bits = /^bit\s*<\s*(\d+)\s*>$/.exec(type)?.[1];
    const sdn = bits === undefined ? (typeof width === 'bigint' ? Number(width) : undefined) : Number(bits);
    // The annotation's text may not parse as expressions, because a type is none.
    const quoted = /^\s*"([^"]*)"/.exec(found.text)?.[1];
    const text = typeof uri === 'string' ? uri : quoted;
    if (text === undefined || (sdn === undefined && type !== 'string')) {
      const message = `@p4runtime_translation of ${name} needs a URI and a width, bit<W> or string`;
      throw new P4InfoError('ERR_P4INFO_ANNOTATION', message);
    }
    return create(p4config.P4NewTypeTranslationSchema, {
      uri: text,
      sdnType:
        sdn === undefined
          ? { case: 'sdnString', value: create(p4config.P4NewTypeTranslation_SdnStringSchema) }
          : { case: 'sdnBitwidth', value: sdn },
    });
  }
}

/** The type below all new types. */
function originalOf(type: Type): Type {
  return type.kind === 'newtype' ? originalOf(type.underlying) : type;
}

/** Sets a member of a map, whatever its name: `__proto__` is a name in P4. */
function put<T>(map: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(map, name, { value, configurable: true, enumerable: true, writable: true });
}

/** A type's name; of a generic one with its type arguments. */
function nameOf({ name, typeArguments }: StructType): string {
  return typeArguments.length === 0 ? name : `${name}<${typeArguments.map(describe).join(', ')}>`;
}

function describe(type: Type): string {
  switch (type.kind) {
    case 'bits':
      return `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
    case 'struct':
    case 'header':
    case 'union':
      return nameOf(type);
    default:
      return 'name' in type ? type.name : type.kind;
  }
}

function bitstring(type: Type & { kind: 'bits' | 'varbit' }): Bitstring {
  if (type.kind === 'varbit') {
    const varbit = create(p4config.P4VarbitTypeSpecSchema, { maxBitwidth: type.maxWidth });
    return create(p4config.P4BitstringLikeTypeSpecSchema, { typeSpec: { case: 'varbit', value: varbit } });
  }
  const value = create(p4config.P4BitTypeSpecSchema, { bitwidth: type.width });
  return create(p4config.P4BitstringLikeTypeSpecSchema, {
    typeSpec: type.isSigned
      ? { case: 'int', value: create(p4config.P4IntTypeSpecSchema, { bitwidth: type.width }) }
      : { case: 'bit', value },
  });
}
