/** The chart of what hop records cost. */
import { type Chart, groupedBars } from '@int/harness';

export interface Cost {
  readonly title: string;
  /** Nanoseconds of processor time per hop record. */
  readonly cpu: number;
}

export function parquetChart(results: readonly Cost[]): Chart {
  return groupedBars({
    title: 'Processor time per hop record',
    description: 'Nanoseconds of processor time per hop record, on a logarithmic scale, by what writes the files.',
    unit: 'ns, logarithmic',
    series: ['processor'],
    groups: results.map(({ title, cpu }) => ({ name: title, values: [cpu] })),
  });
}
