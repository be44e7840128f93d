import { FIELDS, type HopColumn, type MetricName } from './fields.js';

export type { MetricName } from './fields.js';

/**
 * An INT metadata item that can be watched: an unsigned integer of at most 32 bits that a hop carries.
 *
 * A hop lacks the metric if its instruction bitmap does not select the item, or if all 4 (8) bytes of the item are
 * 0xff.
 */
export interface Metric {
  readonly name: MetricName;
  /** Number of the metric: its place in {@link METRICS}. Part of the data plane's tables; append, never reorder. */
  readonly id: number;
  /** The hop column of a telemetry batch that holds it. */
  readonly column: HopColumn;
  /** Index of that column. */
  readonly columnIndex: number;
  /** Bits of the largest value: the bits on the wire, or 31 if IntMon has the metric. */
  readonly width: number;
  /** Index of the other column of an item of two words, which is missing only if both are all ones. Else -1. */
  readonly pairIndex: number;
}

/** All metrics, by number. 64-bit timestamps are not metrics; their difference is one, `hopLatency`. */
export const METRICS: readonly Metric[] = /* @__PURE__ */ FIELDS.filter(({ metric }) => metric !== undefined)
  .sort((a, b) => a.metric! - b.metric!)
  .map(({ name, most, column, partner }, id) => ({
    name: name as MetricName,
    id,
    column: name as MetricName,
    columnIndex: column,
    width: 32 - Math.clz32(most),
    pairIndex: partner === column ? -1 : partner,
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
