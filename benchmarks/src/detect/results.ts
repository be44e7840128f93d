/** What was measured, and how it is shown. */
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

/** Prints a table: the first column to the left, the others to the right. */
function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)) + 2);
  console.log(`\n${title}`);
  for (const row of [head, ...rows]) {
    console.log(`  ${row.map((cell, k) => (k === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[k]!))).join('')}`);
  }
}

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

/** Rows of a Markdown table, the first column to the left, the others to the right. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The tables of the README: medians. */
export function markdown(results: readonly Result[], rules: readonly RuleResult[]): string {
  const detectors = markdownTable(
    [
      'detector',
      'reports with an event',
      'C',
      'accelerator',
      'x C',
      'TypeScript',
      'exact state',
      'observe',
      'Maps',
      'Maps / accelerator',
    ],
    results.map(({ detector, withEvent, contenders }) => {
      const of = (name: string): Figures => contenders[name]!;
      const accelerator = of(ACCELERATOR);
      return [
        detector,
        percent(withEvent),
        fixed(contenders[C_REFERENCE]?.median ?? null, 1),
        fixed(accelerator.median, 1),
        fixed(accelerator.ratioToC, 2),
        ...[PLAIN, EXACT].map((name) => fixed(of(name).median, 1)),
        ...[OBSERVE, MAPS].map((name) => fixed(of(name).median, 0)),
        fixed(accelerator.fasterThanPeer, 1),
      ];
    }),
  );
  const lookups = markdownTable(
    ['rules', 'reports that match', ...Object.keys(rules[0]?.contenders ?? {})],
    rules.map(({ rules: count, matched, contenders }) => [
      String(count),
      percent(matched),
      ...Object.values(contenders).map(({ median }) => `${fixed(median, 1)} ns`),
    ]),
  );
  return `${detectors}\n\n${lookups}`;
}
