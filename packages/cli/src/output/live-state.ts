/** What a run that goes on knows of itself, and its texts outside of a view. */
import type { CollectorTotals, DegradedPart, StatisticsSnapshot } from '@int/collector';
import type { Topology } from '@int/network';
import type { DetectionState, Notice } from './detection-state.js';
import { survivorsText } from './detection-summary.js';
import { degradedNames } from './health-watch.js';
import type { MetricText } from './metric-text.js';
import { counted, grouped } from './numbers.js';
import { worstSwitch } from './ranking.js';
import { sinksText } from './sink-text.js';

export interface LiveState {
  /** A short description of the source. */
  readonly source: string;
  readonly elapsedMs: number;
  readonly totals: CollectorTotals;
  /** Reports dropped by a pre-filter, if there is one. */
  readonly filtered?: number | null;
  readonly receivedPerSecond: number;
  readonly reportsPerSecond: number;
  readonly statistics: StatisticsSnapshot;
  /** State of detection; `null` without rules. */
  readonly detection: DetectionState | null;
  /** Events of the last 10 s by switch. */
  readonly recentEvents: ReadonlyMap<number, number>;
  readonly degraded: readonly DegradedPart[];
  /** Writes figures and names of switches. */
  readonly metrics: MetricText;
  /** Names of switches, for JSON. Default: none. */
  readonly topology?: Topology;
  /** Result of reading the configuration again; `null` if that has not happened. */
  readonly notice?: Notice | null;
  /** What frames that are not read look like. */
  readonly hint?: string | null;
}

export function clock(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`;
}

export function sumDropped(totals: CollectorTotals): number {
  return Object.values(totals.dropped).reduce((sum, count) => sum + count, 0);
}

/** Drops by status and decoder code: `malformed 3, overrun 1 (BAD_STACK 2, BAD_TLV_LENGTH 1)`. */
export function dropText(totals: CollectorTotals): string {
  const present = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name} ${grouped(count)}`)
      .join(', ');
  const codes = present(totals.errors);
  const statuses = present(totals.dropped);
  return statuses === '' ? 'none' : codes === '' ? statuses : `${statuses} (${codes})`;
}

/** The last message of `int collect`. */
export function totalText(totals: CollectorTotals): string {
  return `${totals.received} received, ${totals.decoded} decoded, ${sumDropped(totals)} dropped`;
}

/** A line for a log, once a second. */
export function logLine(state: LiveState): string {
  const { totals, statistics, metrics } = state;
  const parts = [
    clock(state.elapsedMs),
    `${grouped(state.reportsPerSecond)} reports/s`,
    `${grouped(totals.received)} received`,
    `${grouped(totals.decoded)} decoded`,
    `${grouped(sumDropped(totals))} dropped`,
    `${totals.kernelDropped === null ? 'unknown' : grouped(totals.kernelDropped)} kernel drops`,
    ...(state.filtered == null ? [] : [`${grouped(state.filtered)} filtered`]),
    ...(totals.outages === undefined ? [] : [counted(totals.outages, 'outage')]),
    counted(statistics.switches.length, 'switch', 'switches'),
  ];
  const worst = worstSwitch(statistics.switches, metrics);
  if (worst !== null) {
    const id = worst.nodeId;
    const latency = metrics.cell('hopLatency', worst.hopLatency.p99, id);
    parts.push(`latency p99 ${latency} at switch ${id === null ? '?' : metrics.switchName(id)}`);
    parts.push(`queue peak there ${metrics.cell('queueOccupancy', worst.queueOccupancy.peak, id)}`);
  }
  const sinks = sinksText(totals.sinks);
  if (sinks !== '') parts.push(sinks);
  const names = degradedNames(state.degraded);
  if (names !== '') parts.push(names);
  if (state.detection !== null) {
    parts.push(counted(state.detection.totals.events, 'event'), survivorsText(state.detection));
  }
  return parts.join('  ');
}
