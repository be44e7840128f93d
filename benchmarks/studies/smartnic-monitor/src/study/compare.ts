import type { Histogram } from '@int/flowcache';
import type { SenderTruth } from './workload.js';

/** A histogram against what was sent. */
export interface Comparison {
  readonly sent: number;
  readonly counted: number;
  /** Sum over all bins of how far the count is from what was sent. */
  readonly difference: number;
  /** Bins with more than was sent: something that no loss explains. */
  readonly tooMany: number;
}

/** What was sent of the values in a bin. */
function sentIn(truth: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let value = from; value < Math.min(to, truth.length); value++) sum += truth[value]!;
  return sum;
}

function compare(histogram: Histogram, truth: Float64Array): Comparison {
  const { edges, counts } = histogram;
  let difference = histogram.underflow + histogram.overflow;
  let tooMany = 0;
  counts.forEach((count, bin) => {
    const sent = sentIn(truth, edges[bin]!, edges[bin + 1]!);
    difference += Math.abs(sent - count);
    if (count > sent) tooMany++;
  });
  return { sent: truth.reduce((sum, each) => sum + each, 0), counted: histogram.total, difference, tooMany };
}

/** The three histograms of the paper's figure 6. */
export function compareAll(
  histogramOf: (what: 'endToEnd' | 'queueOccupancy' | 'egressUtilization') => Histogram,
  truth: SenderTruth,
): { readonly endToEnd: Comparison; readonly queue: Comparison; readonly utilization: Comparison } {
  return {
    endToEnd: compare(histogramOf('endToEnd'), truth.endToEnd),
    queue: compare(histogramOf('queueOccupancy'), truth.queue),
    utilization: compare(histogramOf('egressUtilization'), truth.utilization),
  };
}
