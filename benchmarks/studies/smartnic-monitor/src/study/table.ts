import { markdownTable } from '@int/harness';
import type { Comparison } from './compare.js';
import type { RunResult } from './run.js';

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

/** How far a histogram is from what was sent, as in the paper: 1 - counted / sent. */
function inaccuracy({ sent, difference }: Comparison): string {
  return difference === 0 ? '0' : `${((100 * difference) / sent).toPrecision(3)} %`;
}

/** The results as a table in Markdown. */
export function table(results: readonly RunResult[]): string {
  const rows = results.map((result) => [
    result.plan.rate === 0 ? 'as fast as it can' : whole(result.plan.rate),
    whole(result.reportRate),
    whole(result.eventRate),
    whole(result.sent),
    whole(result.lostInKernel),
    whole(result.lostInProgram),
    inaccuracy(result.endToEnd),
    inaccuracy(result.queue),
    inaccuracy(result.utilization),
    whole(result.eventsRead),
    whole(result.eventsLost),
    result.closes ? 'yes' : 'NO',
  ]);
  const head = [
    'asked for, reports/s',
    'sent, reports/s',
    'events/s',
    'reports',
    'lost by the kernel',
    'refused',
    'end to end',
    'queue',
    'utilisation',
    'events read',
    'events lost',
    'accounts close',
  ];
  return markdownTable(head, rows);
}
