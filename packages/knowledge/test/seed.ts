/** Seed of the property tests; `INT_SEED` sets another. It is part of what a failing test prints. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_261_109);
