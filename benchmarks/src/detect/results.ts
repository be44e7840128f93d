/** What was measured, and how it is shown. */
import { mergeRows, printTable } from '@int/harness';
import { HOPS } from './workload.js';

export const C_REFERENCE = 'C -O3 -march=native';
export const ACCELERATOR = 'accelerator in place';
export const EXACT = 'accelerator, exact state';
export const PLAIN = 'plain TypeScript';
export const OBSERVE = 'objects (observe)';
export const MAPS = 'objects and Maps';
export const SCAN = 'linear scan';

export interface Figures {
  /** Nanoseconds per report. */
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median over the rounds of: this contender's time in the round / that of C. */
  readonly ratioToC: number | null;
  readonly ratioOfMinimaToC: number | null;
  /** Median of the slow reference (objects and Maps, linear scan) / median of this one. */
  readonly fasterThanPeer: number;
}

export interface Result {
  readonly detector: string;
  readonly threshold: number | null;
  /** Shares of the reports with an event, and events per report, once the state is warm. */
  readonly withEvent: number;
  readonly eventsPerReport: number;
  readonly checksum: number;
  readonly contenders: Record<string, Figures>;
}

export interface RuleResult {
  readonly rules: number;
  readonly matched: number;
  readonly probes: number;
  readonly contenders: Record<string, Figures>;
}

export const percent = (value: number): string => `${(100 * value).toFixed(value < 0.01 ? 2 : 1)} %`;
const fixed = (value: number | null, digits: number): string => (value === null ? '-' : value.toFixed(digits));

export function print({ detector, withEvent, contenders }: Result): void {
  printTable(
    `${detector}: ${percent(withEvent)} of the reports have an event`,
    ['contender', 'ns/report', 'ns/hop', 'min', 'Mhops/s', 'x C', 'x C (min)', 'vs Maps'],
    Object.entries(contenders).map(([name, f]) => [
      name,
      fixed(f.median, 2),
      fixed(f.median / HOPS, 2),
      fixed(f.min, 2),
      fixed((1000 * HOPS) / f.median, 1),
      fixed(f.ratioToC, 2),
      fixed(f.ratioOfMinimaToC, 2),
      `${fixed(f.fasterThanPeer, 1)}x`,
    ]),
  );
}

export function printRules({ rules, matched, probes, contenders }: RuleResult): void {
  printTable(
    `${rules} rules: ${percent(matched)} of the reports match one; at most ${probes} probes a look-up`,
    ['contender', 'ns/report', 'min', 'Mlookups/s', 'vs scan'],
    Object.entries(contenders).map(([name, f]) => [
      name,
      fixed(f.median, 1),
      fixed(f.min, 1),
      fixed(1000 / f.median, 3),
      `${fixed(f.fasterThanPeer, 1)}x`,
    ]),
  );
}

/** Rows of two runs: a detector has one for each share of events, in the order of shares. */
export function mergeDetectors(before: readonly Result[], now: readonly Result[]): Result[] {
  const named = (rows: readonly Result[]): [string, Result][] => {
    const counts = new Map<string, number>();
    return rows.map((row) => {
      const count = counts.get(row.detector) ?? 0;
      counts.set(row.detector, count + 1);
      return [`${row.detector}, ${count}`, row];
    });
  };
  return mergeRows(([name]) => name, named(before), named(now)).map(([, row]) => row);
}
