/** Seed of the property tests of expressions; `INT_SEED` sets another. fast-check prints it when a property fails. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_250_302);
