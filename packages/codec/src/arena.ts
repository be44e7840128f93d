/**
 * Memory for columns. To have them in a SharedArrayBuffer or in a WebAssembly.Memory, make an arena over that buffer.
 * Without an arena, a batch allocates an ArrayBuffer of its own.
 */
export class Arena {
  readonly buffer: ArrayBufferLike;
  #next: number;
  readonly #end: number;

  /**
   * @param buffer the memory for the columns
   * @param byteOffset first byte to use
   * @param byteLength how many bytes may be used
   * @throws RangeError if the range is not inside the buffer
   */
  constructor(buffer: ArrayBufferLike, byteOffset = 0, byteLength = buffer.byteLength - byteOffset) {
    if (!(byteOffset >= 0 && byteLength >= 0 && byteOffset + byteLength <= buffer.byteLength)) {
      throw new RangeError(`arena of ${byteLength} bytes at ${byteOffset} exceeds a buffer of ${buffer.byteLength}`);
    }
    this.buffer = buffer;
    this.#next = byteOffset;
    this.#end = byteOffset + byteLength;
  }

  /** Offset of the next free byte. */
  get position(): number {
    return this.#next;
  }

  /**
   * Takes `byteLength` bytes, aligned to 64 (a cache line).
   * @returns the byte offset in `buffer`
   * @throws RangeError if the arena is exhausted
   */
  take(byteLength: number): number {
    const start = Math.ceil(this.#next / 64) * 64;
    if (start + byteLength > this.#end) {
      throw new RangeError(`arena exhausted: ${byteLength} bytes wanted at ${start}, end is ${this.#end}`);
    }
    this.#next = start + byteLength;
    return start;
  }

  words(count: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(count * 4), count);
  }

  bytes(count: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(count), count);
  }
}
