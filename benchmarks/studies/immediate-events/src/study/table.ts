/** The study's result as Markdown. */
import { markdownTable } from '@int/harness';
import type { StudyResult } from './measure.js';

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`;
}

function ms(value: number | null): string {
  return value === null ? '-' : `${Math.round(value).toLocaleString('en')} ms`;
}

export function renderStudy(result: StudyResult): string {
  const { seeds, scenarios, minutes, reports, kinds, scenarioKinds } = result;
  const byKind = markdownTable(
    [
      'event',
      'labels',
      'found',
      'recall',
      'false alarms',
      'of drained links',
      'a minute',
      'delay: median',
      '90 %',
      'longest',
    ],
    kinds.map((each) => [
      each.kind,
      each.labels,
      each.found,
      percent(each.recall),
      each.falseAlarms,
      each.drained,
      (each.falseAlarms / minutes).toFixed(2),
      ms(each.delayMedianMs),
      ms(each.delayP90Ms),
      ms(each.delayMaxMs),
    ]),
  );
  const byScenario = markdownTable(
    ['scenario', 'labels', 'found', 'false alarms'],
    scenarioKinds.map(({ scenario, labels, found, falseAlarms }) => [
      scenario,
      labels,
      found,
      Object.entries(falseAlarms)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ') || '0',
    ]),
  );
  const size = `${minutes.toFixed(1)} minutes, ${reports.toLocaleString('en')} reports`;
  return `${scenarios} scenarios, ${seeds} of each kind: ${size}.\n\n${byKind}\n\n${byScenario}`;
}
