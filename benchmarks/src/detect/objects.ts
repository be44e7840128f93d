/**
 * What a Node program does without the package: records as objects, state in Maps keyed by switch id or by a text made
 * of the 5-tuple, events as objects. The same semantics, written plainly.
 */
import type { Flow, Hop, TelemetryRecord } from '@int/codec';
import type { DetectorConfig, MetricName } from '@int/detect';
import type { Cnf, Condition } from './cases.js';

/** An event as such a program makes it. */
export interface ObjectEvent {
  readonly report: number;
  readonly detector: string;
  readonly metric: MetricName | null;
  readonly flow: Flow | null;
  readonly nodeId: number | null;
  readonly hop: number | null;
  readonly value: number | null;
  readonly previous: number | null;
}

export type ObjectDetector = (record: TelemetryRecord, report: number, events: ObjectEvent[]) => void;

const LARGEST = 0xffffffff;

function flowKey({ source, destination, protocol, sourcePort, destinationPort }: Flow): string {
  return `${source},${destination},${protocol},${sourcePort},${destinationPort}`;
}

/** The sum over the hops that carry the metric, or null. */
function sumOf(hops: readonly Hop[], metric: MetricName): number | null {
  let sum: number | null = null;
  for (const hop of hops) {
    const value = hop[metric];
    if (value !== undefined && value !== null) sum = (sum ?? 0) + value;
  }
  return sum === null ? null : Math.min(sum, LARGEST);
}

function noop(): ObjectDetector {
  return ({ flow }, report, events) => {
    events.push({ report, detector: 'noop', metric: null, flow, nodeId: null, hop: null, value: null, previous: null });
  };
}

function perHop(metric: MetricName, threshold: number): ObjectDetector {
  const last = new Map<number, number>();
  return ({ flow, hops }, report, events) => {
    hops.forEach((hop, index) => {
      const { nodeId } = hop;
      const value = hop[metric];
      if (nodeId === undefined || nodeId === null || value === undefined || value === null) return;
      const previous = last.get(nodeId) ?? 0;
      if (Math.abs(value - previous) <= threshold) return;
      last.set(nodeId, value);
      events.push({ report, detector: 'perHop', metric, flow, nodeId, hop: index, value, previous });
    });
  };
}

function perFlow(metric: MetricName, threshold: number): ObjectDetector {
  const last = new Map<string, number>();
  return ({ flow, hops }, report, events) => {
    if (flow === null) return;
    const value = sumOf(hops, metric);
    if (value === null) return;
    const key = flowKey(flow);
    const previous = last.get(key) ?? 0;
    if (Math.abs(value - previous) <= threshold) return;
    last.set(key, value);
    events.push({ report, detector: 'perFlow', metric, flow, nodeId: null, hop: null, value, previous });
  };
}

function movingAverage(metric: MetricName, threshold: number, weight: number): ObjectDetector {
  const averages = new Map<string, { accumulator: number; reported: number }>();
  const divisor = 2 ** weight;
  return ({ flow, hops }, report, events) => {
    if (flow === null) return;
    const sum = sumOf(hops, metric);
    if (sum === null) return;
    const key = flowKey(flow);
    let state = averages.get(key);
    if (state === undefined) {
      state = { accumulator: 0, reported: 0 };
      averages.set(key, state);
    }
    state.accumulator += sum - Math.floor(state.accumulator / divisor);
    const value = Math.min(Math.floor(state.accumulator / divisor), LARGEST);
    const previous = state.reported;
    if (Math.abs(value - previous) <= threshold) return;
    state.reported = value;
    events.push({ report, detector: 'movingAverage', metric, flow, nodeId: null, hop: null, value, previous });
  };
}

function threshold(metric: MetricName, limit: number): ObjectDetector {
  return ({ flow, hops }, report, events) => {
    hops.forEach((hop, index) => {
      const value = hop[metric];
      if (value === undefined || value === null || value <= limit) return;
      const nodeId = hop.nodeId ?? null;
      events.push({ report, detector: 'threshold', metric, flow, nodeId, hop: index, value, previous: null });
    });
  };
}

function change(metric: MetricName, limit: number): ObjectDetector {
  const last = new Map<string, ({ nodeId: number | null; value: number } | undefined)[]>();
  return ({ flow, hops }, report, events) => {
    if (flow === null) return;
    const key = flowKey(flow);
    let positions = last.get(key);
    if (positions === undefined) {
      positions = [];
      last.set(key, positions);
    }
    for (let hop = 0; hop < hops.length; hop++) {
      const value = hops[hop]![metric];
      if (value === undefined || value === null) continue;
      const nodeId = hops[hop]!.nodeId ?? null;
      const before = positions[hop];
      if (before !== undefined && before.nodeId === nodeId && Math.abs(value - before.value) > limit) {
        events.push({ report, detector: 'change', metric, flow, nodeId, hop, value, previous: before.value });
      }
      positions[hop] = { nodeId, value };
    }
  };
}

function pathChange(): ObjectDetector {
  const paths = new Map<string, string>();
  return ({ flow, path }, report, events) => {
    if (flow === null) return;
    const key = flowKey(flow);
    const now = path.join('-');
    const before = paths.get(key);
    if (before === now) return;
    paths.set(key, now);
    if (before === undefined) return;
    const none = { metric: null, nodeId: null, hop: null, value: null, previous: null };
    events.push({ report, detector: 'pathChange', flow, ...none });
  };
}

function compare(value: number, { operator, constant }: Condition): boolean {
  switch (operator) {
    case '<':
      return value < constant;
    case '<=':
      return value <= constant;
    case '==':
      return value === constant;
    case '!=':
      return value !== constant;
    case '>=':
      return value >= constant;
    case '>':
      return value > constant;
  }
}

interface History {
  count: number;
  readonly sums: Map<MetricName, number>;
}

function complex(expression: Cnf): ObjectDetector {
  const conditions = expression.flat();
  const needsHistory = conditions.some(({ aggregate }) => aggregate === 'count' || aggregate === 'delta');
  const metrics = [...new Set(conditions.flatMap(({ metric }) => (metric === null ? [] : [metric])))];
  const histories = new Map<string, History>();

  const holds = (
    each: Condition,
    hops: readonly Hop[],
    sums: Map<MetricName, number>,
    history: History | null,
  ): boolean => {
    const { aggregate, metric } = each;
    if (aggregate === 'count') return compare(history!.count, each);
    const values: number[] = [];
    for (const hop of hops) {
      const value = hop[metric!];
      if (value !== undefined && value !== null) values.push(value);
    }
    if (values.length === 0) return false;
    switch (aggregate) {
      case 'any':
        return values.some((value) => compare(value, each));
      case 'all':
        return values.every((value) => compare(value, each));
      case 'sum':
        return compare(sums.get(metric!)!, each);
      case 'max':
        return compare(Math.max(...values), each);
      case 'min':
        return compare(Math.min(...values), each);
      case 'last':
        return compare(values.at(-1)!, each);
      case 'delta': {
        const sum = sums.get(metric!)!;
        return compare(Math.abs(sum - (history!.sums.get(metric!) ?? sum)), each);
      }
    }
  };

  return ({ flow, hops }, report, events) => {
    if (needsHistory && flow === null) return;
    const sums = new Map<MetricName, number>();
    for (const metric of metrics) {
      const sum = sumOf(hops, metric);
      if (sum !== null) sums.set(metric, sum);
    }
    if (metrics.length > 0 && sums.size === 0) return;
    let history: History | null = null;
    if (needsHistory) {
      const key = flowKey(flow!);
      history = histories.get(key) ?? { count: 0, sums: new Map() };
      history.count++;
      histories.set(key, history);
    }
    if (expression.every((clause) => clause.some((each) => holds(each, hops, sums, history)))) {
      const none = { metric: null, nodeId: null, hop: null, value: null, previous: null };
      events.push({ report, detector: 'complex', flow, ...none });
    }
    if (history !== null) for (const [metric, sum] of sums) history.sums.set(metric, sum);
  };
}

/** Makes a detector with state of its own. */
export function objectDetector(config: DetectorConfig): ObjectDetector {
  switch (config.kind) {
    case 'noop':
      return noop();
    case 'perHop':
      return perHop(config.metric, config.threshold);
    case 'perFlow':
      return perFlow(config.metric, config.threshold);
    case 'movingAverage':
      if (!('weight' in config)) throw new Error('only the integer form is measured');
      return movingAverage(config.metric, config.threshold, config.weight);
    case 'threshold':
      return threshold(config.metric, config.threshold);
    case 'change':
      return change(config.metric, config.threshold);
    case 'pathChange':
      return pathChange();
    case 'complex':
      return complex(config.expression);
    default:
      throw new Error(`${config.kind} looks at time, and is measured by itself`);
  }
}
