/** Which switches have trouble, and how much. */
import type { StatisticsSnapshot, SwitchStatistics } from '@int/collector';
import type { MetricText } from '../output/metric-text.js';
import { counted, factor, percent } from '../output/numbers.js';
import { seenOften } from '../output/ranking.js';

/** What is wrong at a switch. */
export interface Trouble {
  /** Events at the switch in the last 10 s. */
  readonly events: number;
  /** Reports about dropped packets, per second. */
  readonly drops: number;
  /** How many times the usual the latency is; 0 if it is not high. */
  readonly latency: number;
  /** Utilisation of a link as a share, if it is high; else 0. */
  readonly utilisation: number;
  readonly isCongested: boolean;
  /** Whether the switch, unlike others, has only a few values: its id may be forged. */
  readonly isSeldom: boolean;
}

/** The 99th percentile is high from so many times the median of the switch's own last minute, or of all switches. */
const HIGH_TO_OWN = 3;
const HIGH_TO_OTHERS = 5;
/** Seconds of history, and switches, from which on there is a usual. */
const LEAST_HISTORY = 20;
const LEAST_SWITCHES = 4;
const HIGH_UTILISATION = 0.9;
const RECENT_MS = 10_000;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** A factor above the usual, if it is high. */
function high(value: number, usual: number, from: number): number {
  return usual > 0 && value >= usual * from ? value / usual : 0;
}

/** @param events events in the last 10 s by switch @returns the trouble of each switch that has some */
export function troubles(
  { switches, congested, timeMs }: StatisticsSnapshot,
  events: ReadonlyMap<number, number>,
  metrics: MetricText,
): Map<SwitchStatistics, Trouble> {
  const often = new Set(seenOften(switches));
  const comparable = (value: number, nodeId: number | null): number => metrics.comparable('hopLatency', value, nodeId);
  const latencies = [...often].flatMap(({ nodeId, hopLatency: { p99 } }) =>
    p99 === null ? [] : comparable(p99, nodeId),
  );
  const usual = latencies.length < LEAST_SWITCHES ? 0 : median(latencies);
  const since = (timeMs ?? 0) - RECENT_MS;
  const deep = new Set(congested.filter((one) => one.timeMs >= since).map(({ nodeId }) => nodeId));
  const found = new Map<SwitchStatistics, Trouble>();
  for (const one of switches) {
    const { nodeId, hopLatency, egressUtilization, history, dropReportsPerSecond: drops } = one;
    const past = history.flatMap((value) => value ?? []);
    const p99 = hopLatency.p99 ?? 0;
    const own = past.length < LEAST_HISTORY ? 0 : high(p99, median(past), HIGH_TO_OWN);
    const peak = egressUtilization.peak;
    const share = peak === null ? null : metrics.share('egressUtilization', peak, nodeId);
    const trouble: Trouble = {
      events: nodeId === null ? 0 : (events.get(nodeId) ?? 0),
      drops,
      latency: Math.max(own, high(comparable(p99, nodeId), usual, HIGH_TO_OTHERS)),
      isSeldom: !often.has(one),
      utilisation: share !== null && share >= HIGH_UTILISATION ? share : 0,
      isCongested: nodeId !== null && deep.has(nodeId),
    };
    if (isTrouble(trouble)) found.set(one, trouble);
  }
  return found;
}

function isTrouble({ events, drops, latency, utilisation, isCongested }: Trouble): boolean {
  return events > 0 || drops > 0 || latency > 0 || utilisation > 0 || isCongested;
}

/** The order of trouble, worst first: that of switches that are seen often, then events, then drops, then high latency or utilisation, then deep queues. */
export function byTrouble(a: Trouble | undefined, b: Trouble | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return (
    Number(a.isSeldom) - Number(b.isSeldom) ||
    b.events - a.events ||
    b.drops - a.drops ||
    Math.max(b.latency, b.utilisation) - Math.max(a.latency, a.utilisation) ||
    Number(b.isCongested) - Number(a.isCongested)
  );
}

/** `12 events, 0.3 drops/s, lat 8.2 times the usual, util 97 %, queue deep`. */
export function troubleText({ events, drops, latency, utilisation, isCongested }: Trouble): string {
  return [
    events > 0 && counted(events, 'event'),
    drops > 0 && `${factor(drops)} drops/s`,
    latency > 0 && `lat ${factor(latency)}x`,
    utilisation > 0 && `util ${percent(utilisation).replace(/\.\d+/, '')}`,
    isCongested && 'queue deep',
  ]
    .filter((part) => part !== false)
    .join(', ');
}
