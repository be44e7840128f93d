/** What of the statistics is shown where there is no room for all: what has traffic, so that forged ids, which come once, hide nothing. */
import type { CongestedPath, SwitchStatistics } from '@int/collector';
import type { MetricText } from './metric-text.js';

/** Values that a 99th percentile needs to say something: fewer are rather forged than slow. */
const FEW_VALUES = 10;

/** The switches with the most reports, in their original order, if there is no room for all. */
export function busiest(switches: readonly SwitchStatistics[], count: number): readonly SwitchStatistics[] {
  if (switches.length <= count) return switches;
  const chosen = new Set([...switches].sort((a, b) => b.reportsPerSecond - a.reportsPerSecond).slice(0, count));
  return switches.filter((one) => chosen.has(one));
}

/** The switches that have more than a few values; if none has, all. */
export function seenOften(switches: readonly SwitchStatistics[]): readonly SwitchStatistics[] {
  const often = switches.filter(({ hopLatency }) => hopLatency.count >= FEW_VALUES);
  return often.length > 0 ? often : switches;
}

/** The switch with the largest 99th percentile, of those that have more than a few values; if none has, of all. */
export function worstSwitch(switches: readonly SwitchStatistics[], metrics: MetricText): SwitchStatistics | null {
  let worst: SwitchStatistics | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const one of seenOften(switches)) {
    const { p99 } = one.hopLatency;
    const latency = p99 === null ? most : metrics.comparable('hopLatency', p99, one.nodeId);
    if (latency <= most) continue;
    worst = one;
    most = latency;
  }
  return worst;
}

/** Congested paths in their order, those that came once behind the others. */
export function repeatedFirst(paths: readonly CongestedPath[]): CongestedPath[] {
  return [...paths.filter(({ reports }) => reports > 1), ...paths.filter(({ reports }) => reports <= 1)];
}
