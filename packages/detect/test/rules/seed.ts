/** The seed of every property of rules: INT_SEED if it is set, else the same one each time. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_250_310);
