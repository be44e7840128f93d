/** Charts of the figures: lines with confidence intervals. */
import { type Chart, lineChart } from '@int/harness';
import { type FigurePart, facetOf, methodsOf } from './figures.js';
import { METHODS, type MethodId } from './matrix.js';
import type { CellResult } from './measures.js';

/** Methods in charts: each has its own colour and mark. */
const LOOKS: readonly MethodId[] = ['gpint-2', 'gpint-3', 'gpint-5', 'euler', 'snmp', 'gpint-3-ft'];

/** Ends of a logarithmic axis: room for the marks, and for as much of the intervals as is near them. */
function logDomain(points: readonly { readonly mean: number; readonly halfWidth: number }[]): [number, number] {
  const values = points.map(({ mean }) => mean);
  const highs = points.map(({ mean, halfWidth }) => mean + halfWidth);
  return [0.6 * Math.min(...values), Math.min(1.1 * Math.max(...highs), 4 * Math.max(...values))];
}

/** The chart of a part: the measure over the number of switches. */
export function chartOf(part: FigurePart, repetitions: number): Chart {
  const { facet, measure, name, results, title, yLabel } = part;
  const methods = methodsOf(part);
  const sizes = [...new Set(results.map(({ cell }) => cell.switches))].sort((a, b) => a - b);
  const range = sizes.at(-1)! - sizes[0]!;
  const points = (method: MethodId): readonly CellResult[] => results.filter(({ cell }) => cell.method === method);
  const series = methods.map((method, at) => {
    // Side by side, so that the intervals do not hide each other.
    const dodge = (at - (methods.length - 1) / 2) * 0.008 * range;
    return {
      label: METHODS[method].label,
      look: LOOKS.indexOf(method),
      points: points(method).map(({ cell, estimates }) => ({
        x: cell.switches + dodge,
        y: estimates[measure].mean,
        halfWidth: estimates[measure].halfWidth,
        facet: facetOf(facet, cell),
      })),
    };
  });
  const estimates = results.map((result) => result.estimates[measure]);
  const isLog = measure === 'elapsed' && estimates.every(({ mean }) => mean > 0);
  return lineChart({
    title: `Figure ${name}: ${title}`,
    description: `${yLabel} over the number of switches for ${series.map(({ label }) => label).join(', ')}; means of ${repetitions} repetitions with 95 % confidence intervals.`,
    x: { label: 'switches', scale: 'linear', ticks: sizes },
    y: { label: yLabel, ...(isLog ? { scale: 'log', domain: logDomain(estimates) } : { scale: 'linear' }) },
    series,
    facets: facet === 'none' ? [] : [...new Set(results.map(({ cell }) => facetOf(facet, cell)))],
  });
}
