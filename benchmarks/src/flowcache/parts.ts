/** The parts of the benchmark, which can be measured one by one, and what each has in the file of results. */
import type { Results } from './results.js';

/** Members of the file by part. */
const MEMBERS = {
  speed: ['speed', 'reinserting'],
  events: ['rates', 'readers'],
  latency: ['latency'],
  shards: ['shards'],
  rounding: ['rounding'],
} as const satisfies Readonly<Record<string, readonly (keyof Results)[]>>;
export type Part = keyof typeof MEMBERS;
export const PARTS: readonly Part[] = Object.keys(MEMBERS) as Part[];

/** What was measured of some parts. */
export function membersOf(results: Results, parts: readonly Part[]): Partial<Results> {
  return Object.fromEntries(parts.flatMap((part) => MEMBERS[part].map((name) => [name, results[name]])));
}
