/** Figures of the dashboard: what it costs the collector, and its page in a browser. */
import { markdownTable, paragraph } from '@int/harness';
import { machineOf, ofFile, one, percent, whole } from './reading.js';

interface Check {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly isMet: boolean;
}

interface Cost {
  readonly rate: number;
  readonly switches: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly phases: readonly {
    readonly name: string;
    readonly processor: number;
    readonly more: number;
    readonly busiestMs: number | null;
    readonly reportsPerSecond: number;
    readonly framesPerSecond: number;
    readonly framesSkipped: number;
  }[];
  readonly checks: readonly Check[];
}

interface Page {
  readonly rate: number;
  readonly seconds: number;
  readonly memoryMinutes: number;
  readonly checks: readonly Check[];
}

const checksOf = (checks: readonly Check[]): string =>
  markdownTable(
    ['', 'measured', 'bound', ''],
    checks.map(({ what, value, limit, isMet }) => [what, one(value), String(limit), isMet ? 'met' : 'missed']),
  );

const cost = (): string =>
  ofFile<Cost>('dashboard', (all) =>
    [
      paragraph(
        `A collector with ${whole(all.rate)} reports a second of ${all.switches} switches with 8 queues each, on a ${machineOf(all)};`,
        `medians of ${all.rounds} rounds of ${all.seconds} s by turns. \`more\` is what the dashboard takes of a core at the full rate, the thread`,
        'that serves the page included:',
      ),
      markdownTable(
        ['', 'of a core', 'more', 'longest at a stretch, ms', 'reports/s taken', 'frames/s sent', 'skipped'],
        all.phases.map((each) => [
          each.name,
          percent(each.processor),
          percent(each.more),
          one(each.busiestMs),
          whole(each.reportsPerSecond),
          whole(each.framesPerSecond),
          whole(each.framesSkipped),
        ]),
      ),
      checksOf(all.checks),
    ].join('\n\n'),
  );

const page = (): string =>
  ofFile<Page>('dashboard-page', (all) =>
    [
      paragraph(
        `The page in Chromium without a graphics card, on a ${machineOf(all)}, which also runs the collector at ${whole(all.rate)} reports a`,
        `second; frames over ${all.seconds} s, memory over ${all.memoryMinutes} minutes:`,
      ),
      checksOf(all.checks),
    ].join('\n\n'),
  );

export const dashboard = { dashboard: cost, 'dashboard-page': page } as const;
