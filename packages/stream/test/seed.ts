/** Seed of the property tests; `INT_SEED` sets another. It is part of what a failing test prints. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_261_109);

/** How many times as long the tests over random inputs run; `INT_LONG=1`: ten times. */
export const LENGTH: number = process.env.INT_LONG === '1' ? 10 : 1;
