/** The seed of all random tests: INT_SEED, or a constant. fast-check prints it when a property fails. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_240_607);
