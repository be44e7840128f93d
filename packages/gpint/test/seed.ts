/** Seed of all randomised tests: INT_SEED, or a constant, so that a run can be repeated. */
export const SEED = Number(process.env.INT_SEED ?? 20_240_917);

/** Runs of a property: so many, and twenty times as many with INT_LONG=1. */
export const runs = (count: number): number => (process.env.INT_LONG === '1' ? 20 * count : count);
