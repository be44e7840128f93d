/** What the study measures, and what is made of its results. */
import { defineStudy, surroundingsLine, wholeNumber } from '@int/harness';
import { type RunPlan, type RunResult, run } from './run.js';
import { table } from './table.js';

interface Plan {
  readonly base: Omit<RunPlan, 'rate'>;
  /** Reports a second; each is tried until one loses datagrams. */
  readonly rates: readonly number[];
  /** Reports a second that "as fast as it can" is taken for, to choose the threshold and the number of datagrams. */
  readonly open: number;
}

const RATES = [50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 500_000, 600_000, 800_000];

export const accuracy = defineStudy({
  name: 'smartnic-monitor',
  program: 'src/accuracy.ts',
  about: 'What the monitor has counted against what was sent, by the rate of reports.',
  usage: '  --shards N        of the flow cache (1)\n',
  options: { shards: { type: 'string', default: '1' } },
  file: 'accuracy.json',
  plan: ({ short, shards }): Plan => ({
    base: {
      seconds: short ? 1 : 5,
      events: 400_000,
      reportsPerDatagram: 16,
      flows: 100_000,
      shards: wholeNumber('shards', shards, 1),
      rows: 1 << 15,
      seed: 1,
    },
    rates: short ? RATES.slice(0, 2) : RATES,
    open: short ? 300_000 : 800_000,
  }),
  async measure({ base, rates, open }, say) {
    const results: RunResult[] = [];
    for (const rate of rates) {
      say(`${rate} reports a second`);
      const result = await run({ ...base, rate });
      results.push(result);
      if (result.lostInKernel + result.lostInProgram > 0) break;
    }
    say('as fast as the sender can');
    results.push(await run({ ...base, rate: 0 }, open));
    return { results };
  },
  report: (all) => `${surroundingsLine(all)}.\n\n${table(all.results)}`,
  charts: () => [],
  complaint: ({ results }) => (results.every(({ closes }) => closes) ? null : 'the accounting does not close'),
});
