/**
 * A typed face for binary-parser.
 *
 * binary-parser compiles a description into a function with `new Function`, so it does not run where a content security
 * policy forbids that; and it reads raw parts past the end without complaint, knows neither error codes nor offsets,
 * and returns `any`. All of that is dealt with here, once.
 */
import { Parser } from 'binary-parser';
import { formatIpv4, formatIpv6At, formatMac } from '../address.js';
import type { CodeName } from '../codes.js';
import { CodecError } from '../errors.js';
import type { Layer } from '../model.js';

/** What a schema made of some bytes. */
export interface Parsed<T> {
  readonly value: T;
  /** Bytes that were read. */
  readonly byteLength: number;
}

/** A header described once more, with binary-parser. */
export interface HeaderSchema<T> {
  readonly layer: Layer;
  /**
   * Reads one header.
   *
   * @throws CodecError `TRUNCATED` if the bytes end before the header does, or the schema's own code for a field that
   *   cannot be; `offset` names the start of the header
   */
  parse(bytes: Uint8Array, offset?: number): Parsed<T>;
}

/** Name under which every parser notes how far it got. */
const END = 'byteLength';

/** What a schema has besides its parser. */
interface SchemaOptionsOf<T> {
  /** Codes of the fields whose `assert` may fail. */
  readonly codes?: Readonly<Record<string, CodeName>>;
  /** What is wrong with the fields together, if anything. */
  readonly fault?: (value: T) => CodeName | null;
  /** Puts the finishing touch to the values, where fields together mean something. */
  readonly finish?: (value: T) => T;
}

/** The field that binary-parser names in the message of an assertion. */
const ASSERTED = /^Assertion error: vars\.(\w+) is/;

/**
 * Makes a schema.
 *
 * @param describe builds the parser; called at the first use, so that nothing is compiled at import time
 * @param options what goes beyond a parser
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
        // DataView's complaint; an assertion is a plain Error.
        if (error instanceof RangeError) throw cut();
        const message = error instanceof Error ? error.message : String(error);
        const code = codes[ASSERTED.exec(message)?.[1] ?? ''];
        if (code === undefined) throw error;
        throw new CodecError(code, layer, offset, message);
      }
      const { [END]: byteLength, ...fields } = result as { [END]: number };
      // Raw parts are cut off silently, but the offset counts on.
      if (!(byteLength <= bytes.length - offset)) throw cut();
      const value = fields as T;
      const code = fault?.(value) ?? null;
      if (code !== null) throw new CodecError(code, layer, offset, 'the fields do not fit together');
      return { value: finish === undefined ? value : finish(value), byteLength };
    },
  };
}

/** What a field must be. */
interface Assertion {
  readonly assert: (found: number | string) => boolean;
}

/** Assertion of a number. A function, because binary-parser takes `assert: 0` for none. */
export const equals = (value: number): Assertion => ({ assert: (found) => found === value });

/** Assertion of a least number. */
export const atLeast = (value: number): Assertion => ({ assert: (found) => Number(found) >= value });

/** Formatter of a one-bit flag. */
export const FLAG = { formatter: (bit: number): boolean => bit === 1 } as const;

/** Options of a 48-bit address. binary-parser has no such type: raw bytes and a formatter. */
export const MAC = { length: 6, formatter: (bytes: Uint8Array): string => formatMac(bytes) } as const;

/** Formatter of a 32-bit address. */
export const IPV4 = { formatter: (word: number): string => formatIpv4(word) } as const;

/** Options of a 128-bit address. binary-parser has no such type: raw bytes and a formatter. */
export const IPV6 = { length: 16, formatter: (bytes: Uint8Array): string => formatIpv6At(bytes, 0) } as const;

export { Parser };
