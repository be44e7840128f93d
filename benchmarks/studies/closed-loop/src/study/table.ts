/** The study's result as Markdown. */
import { markdownTable } from '@int/harness';
import type { StudyResult } from './measure.js';
import { MEASURES, type Measure } from './measures.js';

function textOf(value: number | null, unit: Measure['unit']): string {
  if (value === null) return 'never';
  if (unit === 'ms') return `${Math.round(value).toLocaleString('en')} ms`;
  if (unit === 'share') return `${(100 * value).toFixed(1)} %`;
  return unit === 'ratio' ? value.toFixed(2) : String(value);
}

function barOf({ bar, unit }: Measure): string {
  if (bar === undefined) return '';
  if (bar.most !== undefined) return `≤ ${textOf(bar.most, unit)}`;
  return bar.least !== undefined ? `≥ ${textOf(bar.least, unit)}` : 'happens';
}

export function renderStudy({ seeds, scenarios, measures }: StudyResult): string {
  const rows = measures.map((result) => {
    const each = MEASURES.find(({ scenario, name }) => scenario === result.scenario && name === result.name)!;
    const text = (value: number | null): string => textOf(value, each.unit);
    return [
      each.scenario,
      each.text,
      text(result.median),
      text(result.p90),
      `${text(result.worst)} (seed ${result.worstSeed})`,
      barOf(each),
      each.bar === undefined ? '' : `${seeds - result.missed.length} of ${seeds}`,
    ];
  });
  const table = markdownTable(['scenario', 'measure', 'median', '90 %', 'worst', 'bar', 'met by'], rows);
  return `${scenarios.length * seeds} scenarios, ${seeds} of each kind.\n\n${table}`;
}
