/** A chart of delays: a row of marks for each kind of event. */
import { type Chart, strips } from '@int/harness';
import type { KindResult } from './measure.js';

const TICKS = [
  { value: 1, text: '1 ms' },
  { value: 10, text: '10 ms' },
  { value: 100, text: '100 ms' },
  { value: 1000, text: '1 s' },
  { value: 10_000, text: '10 s' },
] as const;

/** How long each event took, on a logarithmic axis, with the median of each kind. */
export function delays(kinds: readonly KindResult[]): Chart {
  const medians = kinds.map(({ kind, delayMedianMs }) => `${kind} ${Math.round(delayMedianMs ?? 0)} ms`).join(', ');
  return strips({
    title: 'From a fault to its event; the line is the median',
    description: `Delays of each kind of immediate event, on a logarithmic axis; medians: ${medians}.`,
    domain: [1, 10_000],
    ticks: TICKS,
    rows: kinds.map(({ kind, delaysMs, delayMedianMs }) => ({ name: kind, values: delaysMs, median: delayMedianMs })),
  });
}
