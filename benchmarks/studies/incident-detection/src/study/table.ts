/** The study's result as Markdown. */
import { markdownTable } from '@int/harness';
import type { StudyResult } from './measure.js';

const percent = (share: number | null): string => (share === null ? '-' : `${(100 * share).toFixed(1)} %`);
const seconds = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1000).toFixed(1)} s`);

export function renderStudy({ seeds, firstSeed, scenarios, curves, jitter }: StudyResult): string {
  const byScenario = markdownTable(
    ['scenario', 'attacks', 'found', 'false alarms', 'recall', 'precision', 'delay: median', 'longest', 'worst seed'],
    scenarios.map((each) => [
      each.scenario,
      each.attacks,
      each.found,
      each.falseAlarms,
      percent(each.recall),
      percent(each.precision),
      seconds(each.delayMedianMs),
      seconds(each.delayMaxMs),
      each.worstSeed,
    ]),
  );
  const byThreshold = markdownTable(
    ['detector', 'option', 'value', 'times the default', 'recall', 'precision', 'false alarms'],
    curves.flatMap(({ name, option, points }) =>
      points.map(({ value, times, recall, precision, falseAlarms }) => [
        name,
        `\`${option}\``,
        value < 0.001 ? value.toExponential(0) : value,
        times.toFixed(2),
        percent(recall),
        percent(precision),
        falseAlarms,
      ]),
    ),
  );
  const byJitter = markdownTable(
    ['jitter of a beacon', 'recall'],
    jitter.map((each) => [percent(each.jitter), percent(each.recall)]),
  );
  const which = `Seeds ${firstSeed} to ${firstSeed + seeds - 1} of each scenario.`;
  return `${which}\n\n${byScenario}\n\n${byThreshold}\n\n${byJitter}`;
}
