/** Seed of all randomised tests: INT_SEED, or a constant, so that a run can be repeated. */
export const SEED = Number(process.env.INT_SEED ?? 20_261_121);
