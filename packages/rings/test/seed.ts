/** The seed of every property in this package: INT_SEED if it is set, else the same one each time. */
export const seed: number = Number(process.env.INT_SEED ?? 20_251_120);

/** A sequence of 32-bit words that depends only on the seed (xorshift32), for tests that need many plain numbers. */
export function wordSequence(start: number = seed): () => number {
  let state = start | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Half as many records or rounds, and four times as many with INT_LONG=1, as in `npm run soak`. */
export const many = (count: number): number => (process.env.INT_LONG === '1' ? 4 * count : count / 2);
