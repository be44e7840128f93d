/** What the study measures, and what is made of its results. */
import { defineStudy, wholeNumber } from '@int/harness';
import { delays, thresholds } from './chart.js';
import { measure, type StudyOptions, type StudyResult } from './measure.js';
import { renderStudy } from './table.js';

const SEEDS = 10;

export const incidentDetection = defineStudy({
  name: 'incident-detection',
  about:
    'How many attacks of labelled traffic become incidents, how soon, at which thresholds, and how many false alarms there are.',
  usage: `  --seeds N         of each scenario (${SEEDS}; 1 with --short)
  --seed FIRST      the first one (1)
`,
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
  file: 'study.json',
  digits: 7,
  plan: ({ short, seeds, seed }): StudyOptions => ({
    seeds: wholeNumber('seeds', seeds ?? String(short ? 1 : SEEDS), 1),
    firstSeed: wholeNumber('seed', seed, 0),
    isShort: short === true,
  }),
  measure: (plan, say): StudyResult => measure(plan, say),
  report: renderStudy,
  charts: ({ curves, scenarios }) => [
    ['thresholds.svg', thresholds(curves)],
    ['delays.svg', delays(scenarios)],
  ],
});
