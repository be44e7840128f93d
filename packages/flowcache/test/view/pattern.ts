/** Reports from which whole entries can be told from torn ones: every word of an entry follows from two others. */
import type { Flow } from '@int/codec';
import type { CacheGeometry, FlowEntry } from '@int/flowcache';
import type { Report } from '../cache/reports.js';

const LATENCY = 3;
const OCCUPANCY = 5;
export const PATTERN_METRICS = ['hopLatency', 'queueOccupancy'] as const;

/** Flows, told apart by their source port. */
export function patternFlows(count: number): Flow[] {
  return Array.from({ length: count }, (_, index) => ({
    source: `10.0.${index >> 8}.${index & 255}`,
    destination: '10.9.9.9',
    protocol: 17,
    sourcePort: index + 1,
    destinationPort: 7,
  }));
}

/** The same report of a flow each time, with a path as long as the cache follows. */
export function patternReport(flow: Flow, hops: number): Report {
  const port = flow.sourcePort;
  return {
    isOk: true,
    flow,
    nodeId: port + hops - 1,
    hops: Array.from({ length: hops }, (_, hop) => ({
      nodeId: port + hop,
      values: { hopLatency: LATENCY * port + hop, queueOccupancy: OCCUPANCY * port + hop },
    })),
    timeNs: 1n,
  };
}

/** What is wrong with an entry, if all reports were those of {@link patternReport}. */
export function problemOf(entry: FlowEntry, { hops, layout }: CacheGeometry): string | null {
  const { flow, packets, hops: seen, path, pathLength, pathChanges, reason, endToEnd } = entry;
  const port = flow.sourcePort;
  const fail = (what: string): string => `flow ${port}, ${packets} packets: ${what}`;
  if (reason !== 'live' || packets < 1 || pathLength !== hops || pathChanges !== 0)
    return fail('reason, packets or path');
  if (flow.source !== `10.0.${(port - 1) >> 8}.${(port - 1) & 255}`) return fail(`is not from ${flow.source}`);
  if (seen.length !== hops || path.length !== hops) return fail(`${seen.length} hops`);
  let latencies = 0;
  for (const [hop, { nodeId, metrics }] of seen.entries()) {
    if (nodeId !== port + hop || path[hop] !== nodeId) return fail(`hop ${hop} is ${nodeId}`);
    latencies += LATENCY * port + hop;
    for (const [factor, name] of [
      [LATENCY, 'hopLatency'],
      [OCCUPANCY, 'queueOccupancy'],
    ] as const) {
      const statistics = metrics[name];
      const value = factor * port + hop;
      if (statistics?.last !== value || statistics.mean !== value) return fail(`${name} of hop ${hop}`);
      if (statistics.count !== packets) return fail(`${statistics.count} reports at hop ${hop}`);
      const { sum } = statistics;
      if (layout === 'exact' && sum !== BigInt(packets) * BigInt(value)) return fail(`a sum of ${sum} at hop ${hop}`);
    }
  }
  if (layout === 'compact') return null;
  const { count, sum, last } = endToEnd ?? { count: 0, sum: 0n, last: 0 };
  const isWhole = count === packets && last === latencies && sum === BigInt(packets) * BigInt(latencies);
  return isWhole ? null : fail('end to end');
}
