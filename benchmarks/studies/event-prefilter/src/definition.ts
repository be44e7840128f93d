/** What the study measures, and what is made of its results. */
import { defineStudy } from '@int/harness';
import { charts } from './figures.js';
import { FULL, SHORT } from './plan.js';
import { measureRates } from './rates.js';
import { renderReport } from './report.js';
import { type Results, resultsOf } from './results.js';
import { measureSurvivors } from './survivors.js';

export const eventPrefilter = defineStudy({
  name: 'event-prefilter',
  about: 'How many reports a second one core of a collector covers, by detector and threshold.',
  usage: '',
  options: {},
  file: 'prefilter.json',
  digits: 7,
  plan: ({ short }): Results['form'] => (short ? 'short' : 'full'),
  measure(form, say): Results {
    const effort = form === 'short' ? SHORT : FULL;
    const survivors = measureSurvivors(effort, say);
    return resultsOf(form, effort, survivors, measureRates(effort, say));
  },
  report: renderReport,
  charts,
});
