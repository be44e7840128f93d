/** What the study measures, and what is made of its results. */
import { defineStudy, wholeNumber } from '@int/harness';
import { times } from './chart.js';
import { measure, type StudyOptions, type StudyResult } from './measure.js';
import { SCENARIO_NAMES, type ScenarioName } from './measures.js';
import { renderStudy } from './table.js';

const SEEDS = 100;
const SHORT_SEEDS = 1;

export const closedLoop = defineStudy({
  name: 'closed-loop',
  about: 'How long the closed loop takes from a failing link, a hot link, a flood and a scan to tables that answer it.',
  usage: `  --seeds N         of each scenario (${SEEDS}; ${SHORT_SEEDS} with --short)
  --seed FIRST      the first one (1)
  --scenario NAME   only this one, of ${SCENARIO_NAMES.join(', ')}; may be given several times
  --played FILE     keeps what was played in FILE, a line for each scenario, and plays what is not there; of several, the last
                    one gets the lines
`,
  options: {
    seeds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    scenario: { type: 'string', multiple: true },
    played: { type: 'string', multiple: true },
  },
  file: 'study.json',
  digits: 5,
  plan: ({ short, seeds, seed, scenario, played }): StudyOptions => ({
    seeds: wholeNumber('seeds', seeds ?? String(short ? SHORT_SEEDS : SEEDS), 1),
    firstSeed: wholeNumber('seed', seed, 0),
    scenarios: scenario?.map(nameOf) ?? SCENARIO_NAMES,
    played: played ?? [],
  }),
  measure: (plan, say): Promise<StudyResult> => measure(plan, say),
  report: renderStudy,
  charts: (results) => [['times.svg', times(results)]],
});

function nameOf(text: string): ScenarioName {
  const name = SCENARIO_NAMES.find((each) => each === text);
  if (name === undefined) throw new RangeError(`--scenario must be one of ${SCENARIO_NAMES.join(', ')}, not ${text}`);
  return name;
}
