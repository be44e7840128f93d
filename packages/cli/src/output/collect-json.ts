import type { CollectorTotals, SwitchStatistics } from '@int/collector';
import { given } from '../given.js';
import { withNames } from '../network/names.js';
import type { DetectionState } from './detection-state.js';
import { detectionJson } from './detection-summary.js';
import type { LiveState } from './live-state.js';

/**
 * The last line of `int collect --json`. `received` is `decoded` plus the sum of `dropped`. Some members are there only
 * if there is something to tell.
 * @param filtered reports dropped by a pre-filter, not part of `received`; `null` without a pre-filter
 */
export function totalJson(totals: CollectorTotals, filtered: number | null = null) {
  const { received, decoded, reports, dropped, kernelDropped, stages, sinks, clockStepsBack, outages } = totals;
  const hasSinks = Object.keys(sinks).length > 0;
  const counts = { received, decoded, reports, dropped, kernelDropped };
  const occurred = given({ filtered: filtered ?? undefined, clockStepsBack, outages });
  return { type: 'total', ...counts, ...occurred, ...(hasSinks && { stages, sinks }) };
}

/** The line before the last, if there are rules. */
export function summaryJson(detection: DetectionState) {
  return { type: 'summary', ...detectionJson(detection), notShown: detection.notShown };
}

function nanoseconds(timeMs: number): string {
  return String(BigInt(Math.round(timeMs * 1000)) * 1000n);
}

function switchJson(one: SwitchStatistics): Record<string, unknown> {
  const { history: _, reportsPerSecond, dropReportsPerSecond, ...rest } = one;
  const rounded = (rate: number): number => Math.round(rate * 100) / 100;
  const rates = {
    reportsPerSecond: rounded(reportsPerSecond),
    dropReportsPerSecond: rounded(dropReportsPerSecond),
  };
  return { ...rest, ...rates };
}

/** The line written each second. */
export function statsJson(state: LiveState): Record<string, unknown> {
  const { type: _, ...counters } = totalJson(state.totals, state.filtered);
  const { statistics, detection } = state;
  const found = detection === null ? null : summaryJson(detection);
  const json = {
    type: 'stats',
    timeNs: statistics.timeMs === null ? null : nanoseconds(statistics.timeMs),
    elapsedMs: Math.round(state.elapsedMs),
    ...counters,
    errors: state.totals.errors,
    degraded: state.degraded,
    receivedPerSecond: Math.round(state.receivedPerSecond),
    reportsPerSecond: Math.round(state.reportsPerSecond),
    ...(found !== null && {
      detection: { reports: found.reports, events: found.events, survivors: found.survivors, notShown: found.notShown },
    }),
    switches: statistics.switches.map(switchJson),
    other: statistics.other === null ? null : switchJson(statistics.other),
    congested: statistics.congested.map(({ timeMs, ...rest }) => ({ timeNs: nanoseconds(timeMs), ...rest })),
  };
  return state.topology === undefined ? json : withNames(json, state.topology);
}
