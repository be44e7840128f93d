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

/**
 * Makes a schema.
 *
 * @param describe builds the parser; called at the first use, so that nothing is compiled at import time
 * @param code what an `assert` that fails means
 * @param finish puts the finishing touch to the values, where fields together mean something
 */
export function schema<T>(
  layer: Layer,
  describe: () => Parser,
  code: CodeName = 'TRUNCATED',
  finish?: (value: T) => T,
): HeaderSchema<T> {
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
        throw new CodecError(code, layer, offset, error instanceof Error ? error.message : String(error));
      }
      const { [END]: byteLength, ...fields } = result as { [END]: number };
      // Raw parts are cut off silently, but the offset counts on.
      if (byteLength > bytes.length - offset) throw cut();
      const value = fields as T;
      return { value: finish === undefined ? value : finish(value), byteLength };
    },
  };
}

/** Formatter of a one-bit flag. */
export const FLAG = { formatter: (bit: number): boolean => bit === 1 } as const;

/** Options of a 48-bit address. binary-parser has no such type: raw bytes and a formatter. */
export const MAC = { length: 6, formatter: (bytes: Uint8Array): string => formatMac(bytes) } as const;

/** Formatter of a 32-bit address. */
export const IPV4 = { formatter: (word: number): string => formatIpv4(word) } as const;

/** Options of a 128-bit address. binary-parser has no such type: raw bytes and a formatter. */
export const IPV6 = { length: 16, formatter: (bytes: Uint8Array): string => formatIpv6At(bytes, 0) } as const;

export { Parser };
