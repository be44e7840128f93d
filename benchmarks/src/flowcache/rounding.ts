/** How far the means of the compact layout, in floats, are from those of the exact one. */
import { FlowCache } from '@int/flowcache';
import { MIXES, Workload } from './workload.js';

export interface RoundingClass {
  /** Values that went into the means of this class: at least, and fewer than. */
  readonly from: number;
  readonly to: number;
  readonly means: number;
  /** |compact - exact| / exact, over the means of the class. */
  readonly mean: number;
  readonly max: number;
}

const ROWS = 4096;

/** Gives the same reports to a cache of either layout, and compares every mean they hold by the number of its values. */
export function measureRounding(path: string, reports: number): RoundingClass[] {
  const workload = new Workload(path);
  const [exact, compact] = (['exact', 'compact'] as const).map((layout) => new FlowCache({ rows: ROWS, layout }));
  const made = workload.makeReports();
  for (let left = reports; left > 0; left -= workload.size) {
    workload.fill(made, MIXES.zipf, workload.size);
    for (const cache of [exact!, compact!]) cache.update(made, 0, workload.size);
  }
  const classes = new Map<number, { means: number; sum: number; max: number }>();
  for (const entry of exact!) {
    const other = compact!.get(entry.flow);
    if (other === undefined || other.packets !== entry.packets) throw new Error('the layouts hold different flows');
    entry.hops.forEach(({ metrics }, hop) => {
      for (const [name, { sum, count }] of Object.entries(metrics)) {
        const value = Number(sum) / count;
        if (value === 0) continue;
        const error = Math.abs(other.hops[hop]!.metrics[name as keyof typeof metrics]!.mean - value) / value;
        const decade = Math.floor(Math.log10(count));
        const known = classes.get(decade) ?? { means: 0, sum: 0, max: 0 };
        known.means++;
        known.sum += error;
        known.max = Math.max(known.max, error);
        classes.set(decade, known);
      }
    });
  }
  return [...classes]
    .sort(([a], [b]) => a - b)
    .map(([decade, { means, sum, max }]) => ({
      from: 10 ** decade,
      to: 10 ** (decade + 1),
      means,
      mean: sum / means,
      max,
    }));
}
