const WORD = 0x1_0000_0000;
const GIGA = 1_000_000_000;

/**
 * The conversion of a pcapng interface's ticks to nanoseconds: `floor(ticks * multiplier / divisor) + offset`. Prepared
 * once per interface, so that a conversion needs no BigInt.
 */
export interface TickScale {
  /** 1 to 10^9. */
  readonly multiplier: number;
  /** Divisors to apply one after the other, each 2 to 10^9: floor(floor(x / a) / b) is floor(x / (a * b)). */
  readonly divisors: readonly number[];
  /** Bits to shift right, 0 to 127: for resolutions that are a power of two. */
  readonly shift: number;
  /** Whether the offset is subtracted. */
  readonly offsetIsNegative: boolean;
  /** |if_tsoffset| * 10^9, least significant word first. */
  readonly offset0: number;
  readonly offset1: number;
  readonly offset2: number;
  /** Ticks are nanoseconds since the epoch: no conversion is needed. */
  readonly isIdentity: boolean;
}

/**
 * @param resolution if_tsresol: a negative power of 10, or of 2 if bit 7 is set (pcapng section 4.2)
 * @param offsetSeconds if_tsoffset: signed 64-bit seconds
 */
export function tickScale(resolution: number, offsetSeconds: bigint): TickScale {
  const exponent = resolution & 0x7f;
  const isBinary = (resolution & 0x80) !== 0;
  const divisors: number[] = [];
  if (!isBinary) {
    let left = exponent - 9;
    for (; left > 9; left -= 9) divisors.push(GIGA);
    if (left > 0) divisors.push(10 ** left);
  }
  const offset = (offsetSeconds < 0n ? -offsetSeconds : offsetSeconds) * 1_000_000_000n;
  return {
    multiplier: isBinary ? GIGA : 10 ** Math.max(0, 9 - exponent),
    divisors,
    shift: isBinary ? exponent : 0,
    offsetIsNegative: offsetSeconds < 0n,
    offset0: Number(offset & 0xffff_ffffn),
    offset1: Number((offset >> 32n) & 0xffff_ffffn),
    offset2: Number(offset >> 64n),
    isIdentity: resolution === 9 && offset === 0n,
  };
}

/**
 * A whole second in nanoseconds since 1970-01-01 00:00:00 UTC, as the two words of an unsigned 64-bit number. Many
 * frames share a second, so it is computed rarely, and adding the fraction is cheap.
 */
export class Second {
  seconds = 0;
  high = 0;
  low = 0;

  /** @param seconds 0 to 2^32 - 1 */
  set(seconds: number): void {
    const upper = (seconds >>> 16) * GIGA;
    const sum = (seconds & 0xffff) * GIGA + (upper & 0xffff) * 0x1_0000;
    this.seconds = seconds;
    this.low = sum >>> 0;
    this.high = Math.floor(upper / 0x1_0000) + Math.floor(sum / WORD);
  }
}

/**
 * Times in nanoseconds since 1970-01-01 00:00:00 UTC as the two words of an unsigned 64-bit number. All intermediate
 * values stay below 2^53, where doubles are exact.
 */
export class Nanoseconds {
  /** Result of {@link setQuotient}. */
  high = 0;
  low = 0;
  #rest = 0;

  /**
   * Puts a time of pcapng into row `index` of two columns.
   * @param ticksHigh upper 32 bits of the tick count
   * @param ticksLow lower 32 bits
   * @returns false if the time is before 1970 or needs more than 64 bits; the row is then undefined
   */
  putTicks(
    highs: Uint32Array,
    lows: Uint32Array,
    index: number,
    ticksHigh: number,
    ticksLow: number,
    scale: TickScale,
  ): boolean {
    if (scale.isIdentity) {
      highs[index] = ticksHigh;
      lows[index] = ticksLow;
      return true;
    }
    // ticks * multiplier, a product of up to 94 bits in three words.
    const factor = scale.multiplier;
    let upper = (ticksLow >>> 16) * factor;
    let sum = (ticksLow & 0xffff) * factor + (upper & 0xffff) * 0x1_0000;
    let w0 = sum >>> 0;
    const carry = Math.floor(sum / WORD) + Math.floor(upper / 0x1_0000);
    upper = (ticksHigh >>> 16) * factor;
    sum = (ticksHigh & 0xffff) * factor + (upper & 0xffff) * 0x1_0000 + carry;
    let w1 = sum >>> 0;
    let w2 = Math.floor(sum / WORD) + Math.floor(upper / 0x1_0000);
    const divisors = scale.divisors;
    for (let step = 0; step < divisors.length; step += 1) {
      const divisor = divisors[step]!;
      this.#rest = 0;
      w2 = this.#divideWord(w2, divisor);
      w1 = this.#divideWord(w1, divisor);
      w0 = this.#divideWord(w0, divisor);
    }

    let shift = scale.shift;
    for (; shift >= 32; shift -= 32) {
      w0 = w1;
      w1 = w2;
      w2 = 0;
    }
    if (shift > 0) {
      w0 = ((w0 >>> shift) | (w1 << (32 - shift))) >>> 0;
      w1 = ((w1 >>> shift) | (w2 << (32 - shift))) >>> 0;
      w2 = w2 >>> shift;
    }

    if (scale.offsetIsNegative) {
      let word = w0 - scale.offset0;
      w0 = word >>> 0;
      word = w1 - scale.offset1 - (word < 0 ? 1 : 0);
      w1 = word >>> 0;
      w2 = w2 - scale.offset2 - (word < 0 ? 1 : 0);
    } else {
      let word = w0 + scale.offset0;
      w0 = word >>> 0;
      word = w1 + scale.offset1 + (word >= WORD ? 1 : 0);
      w1 = word >>> 0;
      w2 = w2 + scale.offset2 + (word >= WORD ? 1 : 0);
    }
    highs[index] = w1;
    lows[index] = w0;
    return w2 === 0;
  }

  /**
   * Sets the words to the quotient of a 64-bit number.
   * @param divisor 1 to 10^9
   * @returns the remainder
   */
  setQuotient(high: number, low: number, divisor: number): number {
    this.#rest = 0;
    this.high = this.#divideWord(high, divisor);
    this.low = this.#divideWord(low, divisor);
    return this.#rest;
  }

  /** One step of long division, 16 bits at a time so that `rest * 2^16 + digit` is exact; leaves the new rest. */
  #divideWord(word: number, divisor: number): number {
    const upper = this.#rest * 0x1_0000 + (word >>> 16);
    const quotient = Math.floor(upper / divisor);
    const lower = (upper - quotient * divisor) * 0x1_0000 + (word & 0xffff);
    const digit = Math.floor(lower / divisor);
    this.#rest = lower - digit * divisor;
    return quotient * 0x1_0000 + digit;
  }
}

/** The 64-bit number of two unsigned words. */
export function joinWords(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}
