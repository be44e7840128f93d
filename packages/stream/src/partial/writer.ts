/** Writes numbers and bytes into a buffer that grows. */
export class ByteWriter {
  #bytes: Uint8Array = new Uint8Array(256);
  #length = 0;

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

  /** Writes an integer from 0 to 2^53 - 1: seven bits a byte, the lowest first. */
  number(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Writes an integer from -2^52 to 2^52 - 1. Integers near 0 are short. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** Writes 32 bits, big-endian. */
  word(value: number): void {
    this.#reserve(4);
    const bytes = this.#bytes;
    bytes[this.#length++] = value >>> 24;
    bytes[this.#length++] = value >>> 16;
    bytes[this.#length++] = value >>> 8;
    bytes[this.#length++] = value;
  }

  bytes(source: Uint8Array): void {
    this.#reserve(source.length);
    this.#bytes.set(source, this.#length);
    this.#length += source.length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
