/** What of the statistics is shown where there is no room for all: what has traffic, so that forged ids, which come once, hide nothing. */
import type { CongestedPath, SwitchStatistics } from '@int/collector';
import type { KnownNetwork } from '../network/known-network.js';
import { comparable } from '../network/measured-text.js';

/** Values that a 99th percentile needs to say something: fewer are rather forged than slow. */
const FEW_VALUES = 10;

/** The switches with the most reports, in their original order, if there is no room for all. */
export function busiest(switches: readonly SwitchStatistics[], count: number): readonly SwitchStatistics[] {
  if (switches.length <= count) return switches;
  const chosen = new Set([...switches].sort((a, b) => b.reportsPerSecond - a.reportsPerSecond).slice(0, count));
  return switches.filter((one) => chosen.has(one));
}

/** The switch with the largest 99th percentile, of those that have more than a few values; if none has, of all. */
export function worstSwitch(switches: readonly SwitchStatistics[], { device }: KnownNetwork): SwitchStatistics | null {
  const enough = switches.filter(({ hopLatency }) => hopLatency.count >= FEW_VALUES);
  let worst: SwitchStatistics | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const one of enough.length > 0 ? enough : switches) {
    const { p99 } = one.hopLatency;
    const latency = p99 === null ? most : comparable(device, 'hopLatency', p99, one.nodeId);
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
