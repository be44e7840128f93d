import { HOP_COLUMNS, type HopColumn } from './columns.js';

/**
 * An INT metadata item that can be watched: an unsigned integer of at most 32 bits that a hop carries.
 *
 * A hop lacks the metric if its instruction bitmap does not select the item or all 4 (8) bytes of the item are ones.
 */
export interface Metric {
  readonly name: MetricName;
  /** Number of the metric: its place in {@link METRICS}. Part of the data plane's tables; append, never reorder. */
  readonly id: number;
  /** The hop column of a telemetry batch that holds the item. */
  readonly column: HopColumn;
  /** Index of that column. */
  readonly columnIndex: number;
  /** Bits to the right of the metric within the item's word. */
  readonly shift: number;
  /** Bits of the metric. */
  readonly width: number;
  /** `(word >>> shift) & mask` is the value, as a signed 32-bit number. */
  readonly mask: number;
  /** For an item of two words: index of the other word's column; the item is missing only if both are all ones. Else -1. */
  readonly pairIndex: number;
}

const DEFINITIONS = [
  ['hopLatency', 'hopLatency', 0, 32],
  ['queueOccupancy', 'queue', 0, 24],
  ['egressUtilization', 'egressUtilization', 0, 32],
  ['bufferOccupancy', 'buffer', 0, 24],
  ['queueCongestion', 'congestion', 0, 24],
  ['nodeId', 'nodeId', 0, 32],
  ['l1IngressInterface', 'l1Interfaces', 16, 16],
  ['l1EgressInterface', 'l1Interfaces', 0, 16],
  ['l2IngressInterface', 'l2IngressInterface', 0, 32],
  ['l2EgressInterface', 'l2EgressInterface', 0, 32],
  ['queueId', 'queue', 24, 8],
  ['bufferId', 'buffer', 24, 8],
  ['congestionQueueId', 'congestion', 24, 8],
  ['reserved8', 'reserved8', 0, 32],
  ['reserved9', 'reserved9', 0, 32],
  ['reserved10', 'reserved10', 0, 32],
  ['reserved11', 'reserved11', 0, 32],
  ['reserved12', 'reserved12', 0, 32],
  ['reserved13', 'reserved13', 0, 32],
  ['reserved14', 'reserved14', 0, 32],
] as const satisfies readonly (readonly [string, HopColumn, number, number])[];

/** Name of a metric: that of the field in a decoded hop. */
export type MetricName = (typeof DEFINITIONS)[number][0];

const PAIRS: Readonly<Partial<Record<MetricName, HopColumn>>> = {
  l2IngressInterface: 'l2EgressInterface',
  l2EgressInterface: 'l2IngressInterface',
};

/** All metrics, by number. 64-bit timestamps are none: their differences are, and those are `hopLatency`. */
export const METRICS: readonly Metric[] = /* @__PURE__ */ DEFINITIONS.map(([name, column, shift, width], id) => ({
  name,
  id,
  column,
  columnIndex: HOP_COLUMNS.indexOf(column),
  shift,
  width,
  mask: width === 32 ? -1 : (1 << width) - 1,
  pairIndex: PAIRS[name] === undefined ? -1 : HOP_COLUMNS.indexOf(PAIRS[name]),
}));

/** Names of all metrics, by number. */
export const METRIC_NAMES: readonly MetricName[] = /* @__PURE__ */ METRICS.map(({ name }) => name);

/** Whether a text is the name of a metric. */
export function isMetricName(text: string): text is MetricName {
  return (METRIC_NAMES as readonly string[]).includes(text);
}

/** @throws RangeError if there is no metric of that name */
export function metricOf(name: string): Metric {
  const metric = METRICS.find((each) => each.name === name);
  if (metric === undefined) throw new RangeError(`unknown metric '${name}': one of ${METRIC_NAMES.join(', ')}`);
  return metric;
}
