/**
 * A typed interface to binary-parser.
 *
 * binary-parser compiles a description into a function with `new Function`, so it does not run if a content security
 * policy forbids that. It returns raw parts beyond the end of the input cut, knows neither error codes nor offsets, and
 * returns `any`. This file adds checks, codes and types.
 */
import { Parser } from 'binary-parser';
import { formatIpv4, formatIpv6At, formatMac } from '../address.js';
import type { CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import type { Layer } from '../model.js';

/** What a schema has read. */
export interface Parsed<T> {
  readonly value: T;
  /** Bytes that were read. */
  readonly byteLength: number;
}

/** The description of a header with binary-parser. */
export interface HeaderSchema<T> {
  readonly layer: Layer;
  /**
   * Reads one header.
   *
   * @throws CodecError `TRUNCATED` if the bytes end before the header does, or the schema's own code for an impossible
   *   value; `offset` is the start of the header
   */
  parse(bytes: Uint8Array, offset?: number): Parsed<T>;
}

/** The field in which every parser notes the offset that it has reached. */
const END = 'byteLength';

/** What a schema has in addition to its parser. */
interface SchemaOptionsOf<T> {
  /** Codes of the fields whose `assert` may fail. */
  readonly codes?: Readonly<Record<string, CodeName>>;
  /** The problem of the fields together, if there is one. */
  readonly fault?: (value: T) => CodeName | null;
  /** Changes the values after all are read. */
  readonly finish?: (value: T) => T;
}

/** Finds the field that the message of an assertion names. */
const ASSERTED = /^Assertion error: vars\.(\w+) is/;

/**
 * Makes a schema.
 *
 * @param describe builds the parser. It is called at the first use, so that importing compiles nothing
 */
export function schema<T>(layer: Layer, describe: () => Parser, options: SchemaOptionsOf<T> = {}): HeaderSchema<T> {
  const { codes = {}, fault, finish } = options;
  let parser: Parser | undefined;
  return {
    layer,
    parse(bytes, offset = 0) {
      parser ??= describe().saveOffset(END);
      const cut = (): CodecError => new CodecError('TRUNCATED', layer, offset, 'the bytes end before the header does');
      if (offset > bytes.length) throw cut();
      let result: Record<string, unknown>;
      try {
        result = parser.parse(bytes.subarray(offset)) as Record<string, unknown>;
      } catch (error) {
        // A RangeError is that of DataView; an assertion is an Error.
        if (error instanceof RangeError) throw cut();
        const message = error instanceof Error ? error.message : String(error);
        const code = codes[ASSERTED.exec(message)?.[1] ?? ''];
        if (code === undefined) throw error;
        throw new CodecError(code, layer, offset, message);
      }
      const { [END]: byteLength, ...fields } = result as { [END]: number };
      // Raw parts are cut without an error, but the offset counts their full length.
      if (!(byteLength <= bytes.length - offset)) throw cut();
      const value = fields as T;
      const code = fault?.(value) ?? null;
      if (code !== null) throw new CodecError(code, layer, offset, 'the fields do not fit together');
      return { value: finish === undefined ? value : finish(value), byteLength };
    },
  };
}

/** A check of a field. */
interface Assertion {
  readonly assert: (found: number | string) => boolean;
}

/** The field must have this value. It is a function, because binary-parser ignores `assert: 0`. */
export const equals = (value: number): Assertion => ({ assert: (found) => found === value });

/** The field must have at least this value. */
export const atLeast = (value: number): Assertion => ({ assert: (found) => Number(found) >= value });

/** Formatter of a one-bit flag. */
export const FLAG = { formatter: (bit: number): boolean => bit === 1 } as const;

/** Options of a 48-bit address: raw bytes and a formatter, because binary-parser has no such type. */
export const MAC = { length: 6, formatter: (bytes: Uint8Array): string => formatMac(bytes) } as const;

/** Formatter of a 32-bit address. */
export const IPV4 = { formatter: (word: number): string => formatIpv4(word) } as const;

/** Options of a 128-bit address: raw bytes and a formatter, because binary-parser has no such type. */
export const IPV6 = { length: 16, formatter: (bytes: Uint8Array): string => formatIpv6At(bytes, 0) } as const;

export { Parser };
