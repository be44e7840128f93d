import type { ByteFields } from './fields.js';

/** Writes numbers into a buffer that grows. */
export class ByteWriter implements ByteFields {
  #bytes: Uint8Array = new Uint8Array(256);
  #length = 0;

  get offset(): number {
    return this.#length;
  }

  /** A copy of what was written. The writer is empty then. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  number(value: number): number {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
    return value;
  }

  signed(value: number): number {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
    return value;
  }

  between(_least: number, _most: number, _what: string, value: number): number {
    return this.number(value);
  }

  flag(_what: string, value: boolean): boolean {
    this.byte(value ? 1 : 0);
    return value;
  }

  count(_least: number, value: number): number {
    return this.number(value);
  }

  fail(): void {}

  word(value: number): number {
    this.#reserve(4);
    const bytes = this.#bytes;
    bytes[this.#length++] = value >>> 24;
    bytes[this.#length++] = value >>> 16;
    bytes[this.#length++] = value >>> 8;
    bytes[this.#length++] = value;
    return value;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
