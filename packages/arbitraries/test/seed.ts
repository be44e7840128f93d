/** Seed of all property tests; `INT_SEED` sets another. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_250_217);
