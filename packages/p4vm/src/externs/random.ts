/** Gives 32 random bits, as a number from 0 to 2^32 - 1. */
export type RandomBits = () => number;

/**
 * The generator sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, good statistics, not for secrets. The same seed
 * gives the same numbers everywhere.
 */
export function createRandomBits(seed: number): RandomBits {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88;
  let c = 0xb7e15162 ^ (seed >>> 16);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

/**
 * A random number from `low` to `high`, both included; `low` if `high` is below it. Free of bias: numbers that would
 * favour some values are drawn again.
 */
export function randomBetween(bits: RandomBits, low: bigint, high: bigint): bigint {
  if (high <= low) return low;
  const span = high - low;
  if (span <= 0xffffffffn) {
    const count = Number(span) + 1;
    const limit = 2 ** 32 - (2 ** 32 % count);
    for (;;) {
      const draw = bits();
      if (draw < limit) return low + BigInt(draw % count);
    }
  }
  const width = span.toString(2).length;
  for (;;) {
    let draw = 0n;
    for (let drawn = 0; drawn < width; drawn += 32) draw = (draw << 32n) | BigInt(bits());
    draw = BigInt.asUintN(width, draw);
    if (draw <= span) return low + draw;
  }
}
