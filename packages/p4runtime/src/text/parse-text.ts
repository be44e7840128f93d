import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type MessageShape,
  type Registry,
  ScalarType,
} from '@bufbuild/protobuf';
import { type ReflectList, type ReflectMap, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import { bytesOfString } from './strings.js';
import { Tokens } from './tokens.js';

/** Most messages within each other. */
const MAX_DEPTH = 100;

/**
 * Reads a message from the protobuf text format, as P4Info files and requests are written for people. Unknown fields are
 * errors. Source: "Text Format Language Specification" of Protocol Buffers.
 *
 * @param options `registry`: types for `[type.googleapis.com/NAME] { ... }`
 * @throws TextFormatError with the place in the text
 */
export function parseText<Desc extends DescMessage>(
  schema: Desc,
  text: string,
  options: { readonly registry?: Registry } = {},
): MessageShape<Desc> {
  const message = create(schema);
  new Parser(text, options.registry).message(reflect(schema, message), undefined);
  return message;
}

class Parser {
  readonly #tokens: Tokens;
  #depth = 0;

  constructor(
    text: string,
    readonly registry: Registry | undefined,
  ) {
    this.#tokens = new Tokens(text);
  }

  /** Fields up to a symbol, or to the end. */
  message(into: ReflectMessage, end: string | undefined): void {
    const tokens: Tokens = this.#tokens;
    if (++this.#depth > MAX_DEPTH) {
      tokens.fail('ERR_TEXT_DEPTH', `more than ${MAX_DEPTH} messages within each other`);
    }
    const given = new Set<object>();
    while (end === undefined ? tokens.token.kind !== 'end' : !tokens.at(end)) {
      if (tokens.at('[')) this.#expandedAny(into);
      else this.#field(into, given);
      if (!tokens.accept(',')) tokens.accept(';');
    }
    if (end !== undefined) tokens.advance();
    this.#depth--;
  }

  #field(into: ReflectMessage, given: Set<object>): void {
    const tokens: Tokens = this.#tokens;
    const { start } = tokens.token;
    if (tokens.token.kind !== 'name') {
      tokens.fail('ERR_TEXT_SYNTAX', `the name of a field of ${into.desc.name} is needed here, not ${tokens.found()}`);
    }
    const name = tokens.advance().text;
    const field = into.fields.find((each) => each.name === name);
    if (field === undefined) {
      tokens.fail('ERR_TEXT_UNKNOWN', `${into.desc.name} has no field ${name}`, start);
    }
    if (field.fieldKind !== 'list' && field.fieldKind !== 'map') {
      const once = field.oneof ?? field;
      if (given.has(once)) tokens.fail('ERR_TEXT_TWICE', `${once.name} of ${into.desc.name} is given already`, start);
      given.add(once);
    }
    const isMessage =
      field.fieldKind === 'message' ||
      field.fieldKind === 'map' ||
      (field.fieldKind === 'list' && field.listKind === 'message');
    // Only messages do without a colon.
    if (isMessage) tokens.accept(':');
    else tokens.expect(':');
    switch (field.fieldKind) {
      case 'list':
        this.#elements(() => (into.get(field) as ReflectList).add(this.#value(field)));
        break;
      case 'map':
        this.#elements(() => this.#entry(into, field));
        break;
      default:
        into.set(field, this.#value(field));
    }
  }

  /** One value, or those of a list in brackets. */
  #elements(read: () => void): void {
    const tokens: Tokens = this.#tokens;
    if (!tokens.accept('[')) {
      read();
      return;
    }
    if (tokens.accept(']')) return;
    do read();
    while (tokens.accept(','));
    tokens.expect(']');
  }

  #value(field: DescField): unknown {
    if (field.fieldKind === 'map') return undefined;
    if (field.message !== undefined) return this.#nested(field.message);
    return field.enum === undefined ? this.#scalar(field.scalar!) : this.#enum(field.enum);
  }

  #nested(desc: DescMessage): ReflectMessage {
    const message = reflect(desc);
    this.message(message, this.#open());
    return message;
  }

  /** Opens a message. @returns the symbol that closes it */
  #open(): string {
    const tokens: Tokens = this.#tokens;
    if (tokens.accept('{')) return '}';
    if (tokens.accept('<')) return '>';
    return tokens.fail('ERR_TEXT_SYNTAX', `"{" is needed here, not ${tokens.found()}`);
  }

  #entry(into: ReflectMessage, field: DescField & { fieldKind: 'map' }): void {
    const tokens: Tokens = this.#tokens;
    const end = this.#open();
    let key: unknown = emptyScalar(field.mapKey);
    let value: unknown =
      field.mapKind === 'message' ? reflect(field.message) : field.mapKind === 'enum' ? 0 : emptyScalar(field.scalar);
    const given = new Set<string>();
    while (!tokens.at(end)) {
      const { text: name, kind, start } = tokens.token;
      if (kind !== 'name' || (name !== 'key' && name !== 'value')) {
        tokens.fail('ERR_TEXT_UNKNOWN', `an entry of a map has key and value, not ${tokens.found()}`);
      }
      if (given.has(name)) tokens.fail('ERR_TEXT_TWICE', `${name} is given already`, start);
      given.add(name);
      tokens.advance();
      if (name === 'value' && field.mapKind === 'message') tokens.accept(':');
      else tokens.expect(':');
      if (name === 'key') key = this.#scalar(field.mapKey);
      else if (field.mapKind === 'message') value = this.#nested(field.message);
      else value = field.mapKind === 'enum' ? this.#enum(field.enum) : this.#scalar(field.scalar);
      if (!tokens.accept(',')) tokens.accept(';');
    }
    tokens.advance();
    if (key === '__proto__') {
      // An assignment would change the prototype of the map.
      const map = (into.message as unknown as Record<string, object>)[field.localName]!;
      const plain = field.mapKind === 'message' ? (value as ReflectMessage).message : value;
      Object.defineProperty(map, key, { value: plain, configurable: true, enumerable: true, writable: true });
    } else (into.get(field) as ReflectMap).set(key, value);
  }

  /** `[type.googleapis.com/NAME] { ... }` in an Any. */
  #expandedAny(into: ReflectMessage): void {
    const tokens: Tokens = this.#tokens;
    const { start } = tokens.token;
    tokens.expect('[');
    let url = '';
    while (!tokens.at(']') && tokens.token.kind !== 'end') url += tokens.advance().text;
    tokens.expect(']');
    const name = url.slice(url.lastIndexOf('/') + 1);
    const desc = this.registry?.getMessage(name);
    if (into.desc.typeName !== AnySchema.typeName || !url.includes('/')) {
      tokens.fail('ERR_TEXT_UNKNOWN', `${into.desc.name} has no extension ${url}`, start);
    }
    if (desc === undefined) tokens.fail('ERR_TEXT_UNKNOWN', `the type ${name} is not known`, start);
    tokens.accept(':');
    const inner = this.#nested(desc);
    const any = anyPack(desc, inner.message as MessageShape<DescMessage>);
    const [typeUrl, value] = [
      into.fields.find(({ number }) => number === 1)!,
      into.fields.find(({ number }) => number === 2)!,
    ];
    if (into.isSet(typeUrl) || into.isSet(value)) tokens.fail('ERR_TEXT_TWICE', 'this Any has a value already', start);
    into.set(typeUrl, url);
    into.set(value, any.value);
  }

  #enum(desc: DescEnum): number {
    const tokens: Tokens = this.#tokens;
    const { kind, start } = tokens.token;
    if (kind === 'name') {
      const name = tokens.advance().text;
      const found = desc.values.find((each) => each.name === name);
      return found?.number ?? tokens.fail('ERR_TEXT_UNKNOWN', `${desc.name} has no member ${name}`, start);
    }
    return Number(this.#integer(-(2n ** 31n), 2n ** 31n - 1n));
  }

  #scalar(type: ScalarType): unknown {
    switch (type) {
      case ScalarType.STRING:
        return this.#text();
      case ScalarType.BYTES:
        return this.#bytes();
      case ScalarType.BOOL:
        return this.#bool();
      case ScalarType.FLOAT:
      case ScalarType.DOUBLE:
        return this.#float(type === ScalarType.FLOAT);
      case ScalarType.UINT32:
      case ScalarType.FIXED32:
        return Number(this.#integer(0n, 2n ** 32n - 1n));
      case ScalarType.INT32:
      case ScalarType.SINT32:
      case ScalarType.SFIXED32:
        return Number(this.#integer(-(2n ** 31n), 2n ** 31n - 1n));
      case ScalarType.UINT64:
      case ScalarType.FIXED64:
        return this.#integer(0n, 2n ** 64n - 1n);
      default:
        return this.#integer(-(2n ** 63n), 2n ** 63n - 1n);
    }
  }

  /** Strings next to each other are one. */
  #bytes(): Uint8Array<ArrayBuffer> {
    const tokens: Tokens = this.#tokens;
    if (tokens.token.kind !== 'string') {
      tokens.fail('ERR_TEXT_VALUE', `a string is needed here, not ${tokens.found()}`);
    }
    const parts: Uint8Array[] = [];
    while (tokens.token.kind === 'string') {
      const { text, start } = tokens.token;
      const bytes = bytesOfString(text);
      if (typeof bytes === 'number') return tokens.fail('ERR_TEXT_VALUE', 'this escape is not valid', start + bytes);
      parts.push(bytes);
      tokens.advance();
    }
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  #text(): string {
    const { start } = this.#tokens.token;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#bytes());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return this.#tokens.fail('ERR_TEXT_VALUE', 'this string is no UTF-8', start);
    }
  }

  #bool(): boolean {
    const tokens: Tokens = this.#tokens;
    const { kind, text } = tokens.token;
    if (kind === 'number') return this.#integer(0n, 1n) === 1n;
    const isTrue = ['true', 'True', 't'].includes(text);
    if (kind !== 'name' || !(isTrue || ['false', 'False', 'f'].includes(text))) {
      tokens.fail('ERR_TEXT_VALUE', `true or false is needed here, not ${tokens.found()}`);
    }
    tokens.advance();
    return isTrue;
  }

  #integer(least: bigint, most: bigint): bigint {
    const tokens: Tokens = this.#tokens;
    const { start } = tokens.token;
    const isNegative = tokens.accept('-');
    const { text } = tokens.token;
    const isOctal = /^0[0-7]+$/.test(text);
    if (tokens.token.kind !== 'number' || !/^(?:0[xX][0-9A-Fa-f]+|0[0-7]*|[1-9]\d*)$/.test(text)) {
      tokens.fail('ERR_TEXT_VALUE', `a whole number is needed here, not ${tokens.found()}`);
    }
    // BigInt is quadratic in the digits.
    const size = text.length > 100 ? most + 1n : BigInt(isOctal ? `0o${text.slice(1)}` : text);
    const value = isNegative ? -size : size;
    if (value < least || value > most) {
      tokens.fail('ERR_TEXT_VALUE', `${tokens.found()} is not from ${least} to ${most}`, start);
    }
    tokens.advance();
    return value;
  }

  #float(isSingle: boolean): number {
    const tokens: Tokens = this.#tokens;
    const sign = tokens.accept('-') ? -1 : 1;
    const { kind, text } = tokens.token;
    const word = kind === 'name' ? text.toLowerCase() : '';
    let value: number;
    if (word === 'inf' || word === 'infinity') value = Number.POSITIVE_INFINITY;
    else if (word === 'nan') value = Number.NaN;
    else if (kind === 'number' && !/^0[xX0-9]/.test(text)) value = Number(text.replace(/[fF]$/, ''));
    else return tokens.fail('ERR_TEXT_VALUE', `a number is needed here, not ${tokens.found()}`);
    tokens.advance();
    return isSingle ? Math.fround(sign * value) : sign * value;
  }
}

/** The value of a map's key or value that is left out. */
function emptyScalar(type: ScalarType): unknown {
  switch (type) {
    case ScalarType.STRING:
      return '';
    case ScalarType.BYTES:
      return new Uint8Array(0);
    case ScalarType.BOOL:
      return false;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 0n;
    default:
      return 0;
  }
}
