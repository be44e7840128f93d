/** Seed of all property tests: the same on every run, unless `INT_SEED` says otherwise. */
export const SEED = Number(process.env.INT_SEED ?? 20_261_121);
