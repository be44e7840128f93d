import { StreamError } from '../errors.js';
import type { ByteFields } from './fields.js';

/** Reads what a ByteWriter has written. Throws a StreamError for anything else, and never reads beyond the end. */
export class ByteReader implements ByteFields {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get offset(): number {
    return this.#at;
  }

  fail(message: string): never {
    throw new StreamError('ERR_STREAM_MALFORMED', this.#at, message);
  }

  byte(): number {
    if (this.#at >= this.#bytes.length) throw new StreamError('ERR_STREAM_TRUNCATED', this.#at, 'the bytes end here');
    return this.#bytes[this.#at++]!;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        // A longer form would be a second encoding of the same number.
        if (byte === 0 && count > 0) this.fail('a number with leading zeros');
        if (value > Number.MAX_SAFE_INTEGER) this.fail('a number above 2^53 - 1');
        return value;
      }
      scale *= 0x80;
    }
    return this.fail('a number above 2^53 - 1');
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  between(least: number, most: number, what: string): number {
    const value = this.number();
    if (value < least || value > most) this.fail(`${what} is ${value}, not ${least} to ${most}`);
    return value;
  }

  flag(what: string): boolean {
    return this.between(0, 1, what) === 1;
  }

  word(): number {
    const bytes = this.#bytes;
    const at = this.#at;
    if (at + 4 > bytes.length) throw new StreamError('ERR_STREAM_TRUNCATED', bytes.length, 'the bytes end here');
    this.#at = at + 4;
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  }

  /** Refuses a count that the rest cannot hold, before memory is taken. */
  count(least: number): number {
    const count = this.number();
    if (count * least > this.#bytes.length - this.#at) this.fail(`${count} entries in ${this.#bytes.length} bytes`);
    return count;
  }

  end(): void {
    if (this.#at !== this.#bytes.length) this.fail(`${this.#bytes.length - this.#at} bytes too many`);
  }
}
