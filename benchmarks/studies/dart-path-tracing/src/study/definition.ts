/** What the study measures, and what is made of its results. */
import { defineStudy, wholeNumber } from '@int/harness';
import { measureAdaptive, measureInsertion, measureLoss } from './beyond.js';
import { measureCounters } from './counters.js';
import { charts } from './figures.js';
import { measurePaper } from './paper.js';
import { extensions, headline, wrongAnswers } from './quoted.js';
import { renderReport } from './report.js';
import type { Results } from './results.js';

const KEYS = 10_000_000;
const SHORT_KEYS = 200_000;
/** Keys of each point past the paper, at most: enough for three digits. */
const MOST_BEYOND = 1_000_000;

/** The same with ten times the keys: `--keys 100000000 --out ...`. */
const LARGE = '100-million/study.json';

export const dartPathTracing = defineStudy({
  name: 'dart-path-tracing',
  about: 'How often queries of a DART store succeed, compared with theory, and what other ways of writing give.',
  usage: `  --keys N          flows, from 1000 on (${KEYS}; ${SHORT_KEYS} with --short); 100 million take 5.5 GB of memory
`,
  options: { keys: { type: 'string' } },
  file: 'study.json',
  digits: 7,
  plan: ({ short, keys }) => ({
    keys: keys === undefined ? (short ? SHORT_KEYS : KEYS) : wholeNumber('keys', keys, 1000),
  }),
  measure({ keys }, say): Results {
    const begun = performance.now();
    const some = Math.min(MOST_BEYOND, keys);
    const paper = measurePaper(keys, say);
    return {
      keys,
      paper,
      adaptive: measureAdaptive(some, say),
      insertion: measureInsertion(some, say),
      loss: measureLoss(some, say),
      counters: measureCounters(Math.min(keys, 10 * MOST_BEYOND), say),
      largestBytes: Math.max(...paper.byAge.map(({ simulationBytes }) => simulationBytes)),
      seconds: (performance.now() - begun) / 1000,
    };
  },
  report: renderReport,
  charts: ({ paper }) => charts(paper),
  figures: {
    headline: (read) => headline(read('study.json')),
    'headline-100-million': (read) => `${headline(read(LARGE))}\n\n${wrongAnswers(read(LARGE), read('study.json'))}`,
    extensions: (read) => extensions(read('study.json')),
  },
});
