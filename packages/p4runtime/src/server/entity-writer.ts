/**
 * Writes messages of the protobuf wire format. Reads of large tables take most of their time here, so it makes no object
 * per message.
 */
export class EntityWriter {
  #bytes = new Uint8Array(512);
  #at = 0;

  /** Begins anew. */
  reset(): void {
    this.#at = 0;
  }

  /** What was written, as a view until the next {@link reset}. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  /** A field of type uint32, int32 (from 0), bool or enum. @param tag the field's tag, below 128 */
  number(tag: number, value: number): void {
    this.#need(11);
    this.#bytes[this.#at++] = tag;
    this.#varint(value);
  }

  /** A field of type uint64 or int64 (from 0). */
  long(tag: number, value: bigint): void {
    if (value <= 0xffff_ffffn) {
      this.number(tag, Number(value));
      return;
    }
    this.#need(11);
    this.#bytes[this.#at++] = tag;
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  /** A field of type bytes, or a message as bytes. */
  bytes(tag: number, value: Uint8Array): void {
    this.#need(11 + value.length);
    this.#bytes[this.#at++] = tag;
    this.#varint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** A field of type bytes: the shortest byte string of an unsigned value. */
  value(tag: number, value: bigint): void {
    if (value > 0xffff_ffffn) {
      this.#wide(tag, value);
      return;
    }
    this.#need(6);
    const bytes = this.#bytes;
    const word = Number(value);
    const length = word < 0x100 ? 1 : word < 0x1_0000 ? 2 : word < 0x100_0000 ? 3 : 4;
    bytes[this.#at++] = tag;
    bytes[this.#at++] = length;
    for (let shift = 8 * (length - 1); shift >= 0; shift -= 8) bytes[this.#at++] = word >>> shift;
  }

  /** Begins a message. @returns what {@link close} takes */
  open(tag: number): number {
    this.#need(2);
    this.#bytes[this.#at++] = tag;
    return this.#at++;
  }

  close(start: number): void {
    const length = this.#at - start - 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
      return;
    }
    // The length takes more than the byte that was kept for it.
    const size = length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : length < 0x1000_0000 ? 4 : 5;
    this.#need(size);
    this.#bytes.copyWithin(start + size, start + 1, this.#at);
    const end = this.#at + size - 1;
    this.#at = start;
    this.#varint(length);
    this.#at = end;
  }

  #wide(tag: number, value: bigint): void {
    const text = value.toString(16);
    const length = (text.length + 1) >> 1;
    this.#need(11 + length);
    this.#bytes[this.#at++] = tag;
    this.#varint(length);
    const end = this.#at + length;
    for (let i = end - 1, to = text.length; i >= this.#at; i--, to -= 2) {
      this.#bytes[i] = Number.parseInt(text.slice(Math.max(0, to - 2), to), 16);
    }
    this.#at = end;
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  #need(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#at + size));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
