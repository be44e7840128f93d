/**
 * How long tests over random inputs run, as a share of what they are written for: a part by default, ten times as long with
 * `INT_LONG=1`, as in `npm run soak`. What the part still has to find: `npm run mutants`.
 */
export const LENGTH: number = process.env.INT_LONG === '1' ? 10 : 0.0625;

/** As many runs of a property or a loop, of those it is written for: a whole number, without which fast-check never ends. */
export function runs(count: number): number {
  return Math.max(1, Math.ceil(count * LENGTH));
}
