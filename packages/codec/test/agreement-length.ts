import { runs } from '../../../.ci/test/length.js';

/** Seed of the tests that compare readings of the same packets; `INT_SEED` sets another. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_250_218);

/** Packets to compare, about. The long form takes minutes. */
export const PACKETS: number = runs(16_000);
