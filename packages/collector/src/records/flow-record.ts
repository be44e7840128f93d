import type { Flow } from '@int/codec';
import type { FlowEntry, MetricStatistics, Reason } from '@int/flowcache';

/** The statistics of a metric. */
export interface FlowMetricJson {
  /** The last value; `null` if the current switch has reported none. */
  readonly last: number | null;
  readonly mean: number;
  /** Reports that carried it. */
  readonly count: number;
}

/** A position on the path: its switch, and the metrics that at least one report carried, by name. */
export interface FlowHopJson {
  readonly nodeId: number | null;
  readonly [metric: string]: FlowMetricJson | number | null;
}

/** The fields of a flow in the `int` command's JSON, in this order. */
export interface FlowFields {
  readonly flow: Flow;
  /** Reports about the flow. */
  readonly packets: number;
  /** Nanoseconds since the epoch, decimal. */
  readonly firstNs: string;
  readonly lastNs: string;
  readonly pathChanges: number;
  readonly hops: readonly FlowHopJson[];
  /** Hops of the last report that named its switches. */
  readonly pathLength: number;
  /** Hops, over all reports, beyond those that the cache follows; `null` if it does not count them. */
  readonly hopsBeyond: number | null;
  /** The hop latency summed over the path; `null` if no report carried it or the cache does not keep it. */
  readonly endToEnd: FlowMetricJson | null;
}

/** The state of a flow when it left the cache. */
export interface FlowRecord extends FlowFields {
  readonly type: 'flow';
  /** `<instance>-<n>`: a reader that has seen the id has seen the record. */
  readonly id: string;
  /** Why it left. */
  readonly reason: Reason;
}

function metricFields({ last, mean, count }: MetricStatistics): FlowMetricJson {
  return { last, mean, count };
}

/** The JSON fields of a flow cache entry. */
export function flowFields(entry: FlowEntry): FlowFields {
  const { flow, packets, firstNs, lastNs, pathChanges, hops, pathLength, hopsBeyond, endToEnd } = entry;
  return {
    flow,
    packets,
    firstNs: String(firstNs),
    lastNs: String(lastNs),
    pathChanges,
    hops: hops.map(({ nodeId, metrics }) => ({
      nodeId,
      ...Object.fromEntries(
        Object.entries(metrics)
          .filter(([, { count }]) => count > 0)
          .map(([name, metric]) => [name, metricFields(metric)]),
      ),
    })),
    pathLength,
    hopsBeyond,
    endToEnd: endToEnd === null ? null : metricFields(endToEnd),
  };
}

/** An entry that left a flow cache as an object. */
export function flowRecord(entry: FlowEntry, id: string): FlowRecord {
  return { type: 'flow', id, reason: entry.reason, ...flowFields(entry) };
}
