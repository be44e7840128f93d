/** What the study measures, and what is made of its results. */
import { defineStudy, wholeNumber } from '@int/harness';
import { delays } from './chart.js';
import { measure, type StudyOptions, type StudyResult } from './measure.js';
import { renderStudy } from './table.js';

const SEEDS = 10;
const SHORT_SEEDS = 2;

export const immediateEvents = defineStudy({
  name: 'immediate-events',
  about:
    'How many faults of known scenarios are found from their telemetry, how soon, and how many false alarms there are.',
  usage: `  --seeds N         of each kind of scenario (${SEEDS}; ${SHORT_SEEDS} with --short)
  --seed FIRST      the first one (1)
  --flows N         watches fewer flows than scenarios have
`,
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    flows: { type: 'string' },
  },
  file: 'study.json',
  digits: 7,
  plan: ({ short, seeds, seed, flows }): StudyOptions => ({
    seeds: wholeNumber('seeds', seeds ?? String(short ? SHORT_SEEDS : SEEDS), 1),
    firstSeed: wholeNumber('seed', seed, 0),
    ...(flows !== undefined && { flows: wholeNumber('flows', flows, 64) }),
  }),
  measure: (plan, say): StudyResult => measure(plan, say),
  report: renderStudy,
  charts: ({ kinds }) => [['delays.svg', delays(kinds)]],
});
