/** A chart of times: a row of marks for each measure, a mark for each seed. */
import { type Chart, strips } from '@int/harness';
import type { StudyResult } from './measure.js';
import { MEASURES } from './measures.js';

const TICKS = [
  { value: 10, text: '10 ms' },
  { value: 100, text: '100 ms' },
  { value: 1000, text: '1 s' },
  { value: 10_000, text: '10 s' },
] as const;

/** On a logarithmic axis, with the median of each. What has not happened has no mark. */
export function times({ seeds, measures }: StudyResult): Chart {
  const rows = MEASURES.filter(({ unit }) => unit === 'ms').flatMap(({ scenario, name, text }) => {
    const found = measures.find((each) => each.scenario === scenario && each.name === name);
    if (found === undefined) return [];
    return [{ name: text, values: found.values.filter((value) => value !== null), median: found.median }];
  });
  const medians = rows.map((row) => `${row.name} ${Math.round(row.median ?? 0)} ms`).join(', ');
  return strips({
    title: 'The closed loop: from what happens to what is done about it; the line is the median',
    description: `Times of ${seeds} seeds of each scenario, on a logarithmic axis; medians: ${medians}.`,
    domain: [10, 12_000],
    ticks: TICKS,
    rows,
  });
}
