/** Seed of the property tests; `INT_SEED` sets another. It is part of what a failing test prints. */
export const SEED: number = Number(process.env.INT_SEED ?? 20_250_302);

/** How many times as long the tests over random inputs run: a part of what they are written for, and ten times that with
 * `INT_LONG=1`, as in `npm run soak`. */
export const LENGTH: number = process.env.INT_LONG === '1' ? 10 : 0.4;

/** As many runs of a property, of those it is written for. */
export function runs(count: number): number {
  return Math.max(1, Math.round(count * LENGTH));
}
