/** Random numbers for the model, and byte strings. */

/** Small generator of numbers: fast-check's per value would take most of the time. */
export class Numbers {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  /** A value of up to 3 significant bits at either end of a width, so that keys meet again. */
  bits(width: number): bigint {
    const small = BigInt(this.below(8)) & ((1n << BigInt(Math.min(width, 3))) - 1n);
    return this.chance(2) ? small : small << BigInt(Math.max(0, width - 3));
  }

  /** The bytes of a value; sometimes with zeros in front, which mean the same. */
  bytes(value: bigint): Uint8Array {
    return bytesOf(value, this.chance(6) ? 1 + this.below(2) : 0);
  }

  /** Up to `most` random bytes; mostly none. */
  opaque(most: number): Uint8Array {
    if (!this.chance(4)) return new Uint8Array(0);
    return Uint8Array.from({ length: 1 + this.below(most) }, () => this.below(256));
  }
}

/** The shortest bytes of a value, with zeros in front. */
export function bytesOf(value: bigint, padding = 0): Uint8Array {
  const digits = value.toString(16);
  const text = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from([...new Array<number>(padding).fill(0), ...Buffer.from(text, 'hex')]);
}

/** The shortest two's complement bytes of a number. */
export function signedBytesOf(value: bigint): Uint8Array {
  let width = 8;
  while (BigInt.asIntN(width, value) !== value) width += 8;
  return bytesOf(BigInt.asUintN(width, value), 0).length * 8 === width
    ? bytesOf(BigInt.asUintN(width, value))
    : bytesOf(BigInt.asUintN(width, value), width / 8 - bytesOf(BigInt.asUintN(width, value)).length);
}
