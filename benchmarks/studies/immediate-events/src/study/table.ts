/** The study's result as text. */
import type { StudyResult } from './measure.js';

function lines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`;
}

function ms(value: number | null): string {
  return value === null ? '-' : `${Math.round(value).toLocaleString('en')} ms`;
}

export function renderStudy(result: StudyResult): string {
  const { seeds, scenarios, minutes, reports, kinds, scenarioKinds } = result;
  const byKind = [
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
    ...kinds.map((each) => [
      each.kind,
      String(each.labels),
      String(each.found),
      percent(each.recall),
      String(each.falseAlarms),
      String(each.drained),
      (each.falseAlarms / minutes).toFixed(2),
      ms(each.delayMedianMs),
      ms(each.delayP90Ms),
      ms(each.delayMaxMs),
    ]),
  ];
  const byScenario = [
    ['scenario', 'labels', 'found', 'false alarms'],
    ...scenarioKinds.map(({ scenario, labels, found, falseAlarms }) => [
      scenario,
      String(labels),
      String(found),
      Object.entries(falseAlarms)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ') || '0',
    ]),
  ];
  const size = `${minutes.toFixed(1)} minutes, ${reports.toLocaleString('en')} reports`;
  const head = `${scenarios} scenarios, ${seeds} of each kind: ${size}`;
  return [head, '', ...lines(byKind), '', ...lines(byScenario)].join('\n');
}
