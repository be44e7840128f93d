/** Recall and precision by the threshold, and how long attacks go unseen. */
import { type Chart, lineChart, strips } from '@int/harness';
import type { Curve, CurvePoint, ScenarioResult } from './measure.js';

const TICKS = [
  { value: 10, text: '0.01 s' },
  { value: 100, text: '0.1 s' },
  { value: 1000, text: '1 s' },
  { value: 10_000, text: '10 s' },
  { value: 100_000, text: '100 s' },
  { value: 1_000_000, text: '1,000 s' },
] as const;

/** A chart for each detector, side by side; 1 on the axis is the default. */
export function thresholds(curves: readonly Curve[]): Chart {
  const pointsOf = (of: (point: CurvePoint) => number | null) =>
    curves.flatMap(({ name, points }) => points.map((point) => ({ x: point.times, y: of(point), facet: name })));
  return lineChart({
    title: 'Recall and precision by the threshold',
    description: `Of ${curves.map(({ name }) => name).join(', ')}: share of attacks found, and share of incidents that are true, by the threshold in multiples of its default.`,
    x: { label: 'threshold, times its default', scale: 'log' },
    y: { label: 'share', scale: 'linear', domain: [0, 1] },
    facets: curves.map(({ name }) => name),
    series: [
      { label: 'recall', look: 0, points: pointsOf(({ recall }) => recall) },
      { label: 'precision', look: 1, isDashed: true, points: pointsOf(({ precision }) => precision) },
    ],
  });
}

/** From the first packet of each attack to its incident. */
export function delays(scenarios: readonly ScenarioResult[]): Chart {
  const found = scenarios.filter(({ delaysMs }) => delaysMs.length > 0);
  const medians = found.map(({ scenario, delayMedianMs }) => `${scenario} ${Math.round(delayMedianMs!)} ms`);
  return strips({
    title: 'From the first packet of an attack to its incident; the line is the median',
    description: `Delays by scenario, on a logarithmic axis; medians: ${medians.join(', ')}.`,
    domain: [10, 2_000_000],
    ticks: TICKS,
    rows: found.map(({ scenario, delaysMs, delayMedianMs }) => ({
      name: scenario,
      values: delaysMs,
      median: delayMedianMs,
    })),
  });
}
