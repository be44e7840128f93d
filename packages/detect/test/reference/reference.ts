/**
 * The detectors a second time, in register mode, written to be read: one register array, one loop. Nothing is shared
 * with the sources but types, so that an error in one is not an error in both.
 *
 * Everything is an unsigned integer. Sums saturate at 2^32 - 1, the accumulator of the moving average has 48 bits.
 */

import type { MetricName } from '@int/codec';
import type { Cnf, Condition, DetectorConfig, DetectorKind, Match, Prefix, Rule, RuleSet, Sample } from '@int/detect';

/** A 5-tuple; 4 or 16 address bytes. */
export interface ReferenceFlow {
  readonly source: readonly number[];
  readonly destination: readonly number[];
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** What a hop carries. Absent, `null`, or an item that is all ones: not available. Both halves of an item, or none. */
export type ReferenceHop = { readonly [M in MetricName]?: number | null };

export interface ReferenceReport {
  /** `null`: unknown. */
  readonly flow: ReferenceFlow | null;
  /** MAC addresses of the monitored packet, 48 bits. */
  readonly sourceMac?: number | null;
  readonly destinationMac?: number | null;
  /** Of the IP header behind the MAC addresses. */
  readonly dscp?: number | null;
  /** INT source first; the reporting node's own values, if it has any, are the last. */
  readonly hops: readonly ReferenceHop[];
  /** The last of `hops` is the reporting node's own. */
  readonly hasOwnHop: boolean;
  /** The reporting node, if it names itself. */
  readonly nodeId: number | null;
  readonly timeNs: bigint;
}

/** What a clause of a complex expression was seen to hold for. */
export interface ReferenceEvidence {
  readonly aggregate: Condition['aggregate'];
  readonly metric: MetricName | null;
  readonly value: number;
  readonly nodeId: number | null;
  readonly hop: number | null;
}

export interface ReferenceEvent {
  /** How many reports came before this one. */
  readonly report: number;
  readonly rule: string | null;
  readonly detector: DetectorKind;
  readonly metric: MetricName | null;
  readonly scope: 'hop' | 'flow' | 'endToEnd';
  readonly hop: number | null;
  readonly nodeId: number | null;
  readonly value: number | null;
  readonly previous: number | null;
  readonly threshold: number | null;
  readonly evidence: readonly ReferenceEvidence[] | null;
}

export interface ReferenceSizes {
  readonly flowCells?: number;
  readonly switchCells?: number;
  readonly positions?: number;
  /** As exact state: the first value of perHop and perFlow has no previous one. */
  readonly marksFirst?: boolean;
}

const MAX32 = 0xffffffff;

/* ---- CRC-32 ---- */

/** Reflected, polynomial 0x04c11db7: the remainder of each byte, bit by bit. */
const CRC_OF_BYTE: number[] = [];
for (let byte = 0; byte < 256; byte++) {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) {
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  }
  CRC_OF_BYTE.push(remainder >>> 0);
}

/** 13 bytes (IPv4) or 37 (IPv6), big-endian. */
export function flowKey(flow: ReferenceFlow): number[] {
  return [
    ...flow.source,
    ...flow.destination,
    flow.protocol,
    flow.sourcePort >>> 8,
    flow.sourcePort & 0xff,
    flow.destinationPort >>> 8,
    flow.destinationPort & 0xff,
  ];
}

export function crc32(bytes: readonly number[]): number {
  let crc = MAX32;
  for (const byte of bytes) crc = ((crc >>> 8) ^ CRC_OF_BYTE[(crc ^ byte) & 0xff]!) >>> 0;
  return (crc ^ MAX32) >>> 0;
}

/* ---- Metrics ---- */

/** Metrics that share an item with another: the item is missing only if both are all ones. */
const OTHER_HALF: { readonly [M in MetricName]?: readonly [ones: number, other: MetricName, otherOnes: number] } = {
  queueOccupancy: [0xffffff, 'queueId', 0xff],
  queueId: [0xff, 'queueOccupancy', 0xffffff],
  bufferOccupancy: [0xffffff, 'bufferId', 0xff],
  bufferId: [0xff, 'bufferOccupancy', 0xffffff],
  queueCongestion: [0xffffff, 'congestionQueueId', 0xff],
  congestionQueueId: [0xff, 'queueCongestion', 0xffffff],
  l1IngressInterface: [0xffff, 'l1EgressInterface', 0xffff],
  l1EgressInterface: [0xffff, 'l1IngressInterface', 0xffff],
  l2IngressInterface: [MAX32, 'l2EgressInterface', MAX32],
  l2EgressInterface: [MAX32, 'l2IngressInterface', MAX32],
};

/** The metric at a hop, or `null` if the hop lacks it. */
function metricAt(hop: ReferenceHop, metric: MetricName): number | null {
  const value = hop[metric] ?? null;
  if (value === null) return null;
  const half = OTHER_HALF[metric];
  if (half === undefined) return value === MAX32 ? null : value;
  const [ones, other, otherOnes] = half;
  return value === ones && hop[other] === otherOnes ? null : value;
}

/** The values of the hops that carry the metric, in path order. */
function metricsOf(report: ReferenceReport, metric: MetricName): number[] {
  const values: number[] = [];
  for (const hop of report.hops) {
    const value = metricAt(hop, metric);
    if (value !== null) values.push(value);
  }
  return values;
}

function saturatingSum(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) {
    sum = sum + value;
    if (sum > MAX32) sum = MAX32;
  }
  return sum;
}

function absdiff(a: number, b: number): number {
  return a > b ? a - b : b - a;
}

/* ---- Matching ---- */

function matchesPrefix(prefix: Prefix | null, address: readonly number[]): boolean {
  if (prefix === null) return true;
  if (address.length !== (prefix.version === 4 ? 4 : 16)) return false;
  for (let bit = 0; bit < prefix.length; bit++) {
    const ours = (prefix.words[bit >>> 5]! >>> (31 - (bit & 31))) & 1;
    const theirs = (address[bit >>> 3]! >>> (7 - (bit & 7))) & 1;
    if (ours !== theirs) return false;
  }
  return true;
}

function isIn(ranges: readonly { readonly from: number; readonly to: number }[], value: number | null): boolean {
  return value !== null && ranges.some(({ from, to }) => from <= value && value <= to);
}

/** Whether a rule looks at a hop. */
function fits(match: Match, hop: ReferenceHop): boolean {
  const { switches = null, queues = null, egressInterfaces = null } = match.hops ?? {};
  return (
    (switches === null || isIn(switches, metricAt(hop, 'nodeId'))) &&
    (queues === null || isIn(queues, metricAt(hop, 'queueId'))) &&
    (egressInterfaces === null || isIn(egressInterfaces, metricAt(hop, 'l1EgressInterface')))
  );
}

export function matches(match: Match, report: ReferenceReport): boolean {
  const { flow } = report;
  const { hops = null, dscp = null, group = null, sourceGroup = null, destinationGroup = null, ...plain } = match;
  if (hops !== null && !report.hops.some((hop) => fits(match, hop))) return false;
  if (dscp !== null && !isIn(dscp, report.dscp ?? null)) return false;
  const groups = [group, sourceGroup, destinationGroup];
  if (flow === null) return [...Object.values(plain), ...groups].every((field) => field === null);
  const inGroup = (prefixes: readonly Prefix[], address: readonly number[]): boolean =>
    prefixes.some((prefix) => matchesPrefix(prefix, address));
  if (sourceGroup !== null && !inGroup(sourceGroup, flow.source)) return false;
  if (destinationGroup !== null && !inGroup(destinationGroup, flow.destination)) return false;
  if (group !== null && !inGroup(group, flow.source) && !inGroup(group, flow.destination)) return false;
  const { protocol, source, destination, sourcePort, destinationPort, sourceMac, destinationMac } = match;
  if (protocol !== null && protocol !== flow.protocol) return false;
  if (sourcePort !== null && (flow.sourcePort < sourcePort.from || flow.sourcePort > sourcePort.to)) return false;
  if (destinationPort !== null) {
    if (flow.destinationPort < destinationPort.from || flow.destinationPort > destinationPort.to) return false;
  }
  if (sourceMac !== null && sourceMac !== report.sourceMac) return false;
  if (destinationMac !== null && destinationMac !== report.destinationMac) return false;
  return matchesPrefix(source, flow.source) && matchesPrefix(destination, flow.destination);
}

/* ---- Complex expressions ---- */

function compare(a: number, operator: Condition['operator'], b: number): boolean {
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '>=':
      return a >= b;
    case '>':
      return a > b;
  }
}

/** What a condition compares: of `any` and `all` several numbers, else one. */
function operandsOf(condition: Condition, values: readonly number[], delta: number, count: number): readonly number[] {
  switch (condition.aggregate) {
    case 'any':
    case 'all':
      return values;
    case 'sum':
      return [saturatingSum(values)];
    case 'max':
      return [Math.max(...values)];
    case 'min':
      return [Math.min(...values)];
    case 'last':
      return [values[values.length - 1]!];
    case 'delta':
      return [delta];
    case 'count':
      return [count];
  }
}

/** Position of the hop that a condition on hops was decided at. */
function witness({ aggregate, metric, operator, constant }: Condition, report: ReferenceReport): number {
  const hops = report.hops.flatMap((hop, index) => {
    const value = metricAt(hop, metric!);
    return value === null ? [] : [{ index, value }];
  });
  const values = hops.map(({ value }) => value);
  const at = (wanted: number): number => hops.find(({ value }) => value === wanted)!.index;
  switch (aggregate) {
    case 'max':
      return at(Math.max(...values));
    case 'min':
      return at(Math.min(...values));
    case 'last':
      return hops[hops.length - 1]!.index;
    case 'all': {
      const nearest = Math.min(...values.map((value) => absdiff(value, constant)));
      return hops.find(({ value }) => absdiff(value, constant) === nearest)!.index;
    }
    default:
      return hops.find(({ value }) => compare(value, operator, constant))!.index;
  }
}

/* ---- The detectors ---- */

/** Runs a rule set over reports, one by one. */
export class ReferenceDetector {
  /** Registers by name; cells are 0 until written. */
  readonly registers = new Map<string, number[]>();
  readonly totals = { reports: 0, survivors: 0, events: 0, unsampled: 0, withoutFlow: 0, beyondPositions: 0 };
  readonly byRule = new Map<string | null, { reports: number; events: number }>();
  readonly #flowCells: number;
  readonly #switchCells: number;
  readonly #positions: number;
  readonly #marksFirst: boolean;
  /** Highest priority first. */
  #rules: readonly Rule[] = [];
  #default: RuleSet['default'] = 'report';
  /** Paths and times do not fit into a cell of 32 bits: maps of what is not zero. */
  readonly #paths = new Map<number, string>();
  readonly #sampledAt = new Map<number, bigint>();

  constructor(rules: RuleSet, sizes: ReferenceSizes = {}) {
    this.#flowCells = sizes.flowCells ?? 65536;
    this.#switchCells = sizes.switchCells ?? 4096;
    this.#positions = sizes.positions ?? 8;
    this.#marksFirst = sizes.marksFirst ?? false;
    this.setRules(rules);
  }

  /** Other rules from now on; state stays. */
  setRules(rules: RuleSet): void {
    this.#rules = [...rules.rules].sort((a, b) => b.priority - a.priority);
    this.#default = rules.default;
  }

  /** Times of the last report looked at, by flow cell, in nanoseconds. */
  get sampledAt(): ReadonlyMap<number, bigint> {
    return this.#sampledAt;
  }

  detect(report: ReferenceReport): ReferenceEvent[] {
    const rule = this.#rules.find((each) => matches(each.match, report)) ?? null;
    const name = rule?.name ?? null;
    const counts = this.byRule.get(name) ?? { reports: 0, events: 0 };
    this.byRule.set(name, counts);
    const events =
      rule === null ? (this.#default === 'report' ? [this.#event(null, 'noop')] : []) : this.#look(rule, report);
    this.totals.reports++;
    this.totals.events += events.length;
    if (events.length > 0) this.totals.survivors++;
    counts.reports++;
    counts.events += events.length;
    return events;
  }

  /** A rule that names hops sees those hops, and no others. */
  #look(rule: Rule, report: ReferenceReport): ReferenceEvent[] {
    if ((rule.match.hops ?? null) === null) return this.#run(rule, report);
    const positions = report.hops.flatMap((hop, position) => (fits(rule.match, hop) ? [position] : []));
    const hops = positions.map((position) => report.hops[position]!);
    const there = (hop: number | null): number | null => (hop === null ? null : positions[hop]!);
    return this.#run(rule, { ...report, hops, hasOwnHop: false, nodeId: null }).map((event) => ({
      ...event,
      hop: there(event.hop),
      evidence: event.evidence?.map((each) => ({ ...each, hop: there(each.hop) })) ?? null,
    }));
  }

  #run(rule: Rule, report: ReferenceReport): ReferenceEvent[] {
    const { detector, sample } = rule;
    let flow = -1;
    if (report.flow !== null) flow = crc32(flowKey(report.flow)) % this.#flowCells;
    if (flow < 0 && (sample !== null || hasFlowState(detector))) {
      this.totals.withoutFlow++;
      return [];
    }
    if (sample !== null && !this.#looksAt(sample, flow, report.timeNs)) {
      this.totals.unsampled++;
      return [];
    }
    switch (detector.kind) {
      case 'noop':
        return [this.#event(rule, 'noop')];
      case 'perHop':
        return this.#perHop(rule, detector, report);
      case 'perFlow':
        return this.#perFlow(rule, detector, report, flow);
      case 'movingAverage':
        return 'alpha' in detector
          ? this.#floatAverage(rule, detector, report, flow)
          : this.#average(rule, detector, report, flow);
      case 'threshold':
        return this.#threshold(rule, detector, report);
      case 'change':
        return detector.scope === 'hop'
          ? this.#changeHop(rule, detector, report, flow)
          : this.#changeEndToEnd(rule, detector, report, flow);
      case 'pathChange':
        return this.#pathChange(rule, report, flow);
      case 'complex':
        return this.#complex(rule, detector.expression, report, flow);
      default:
        throw new Error(`${detector.kind} looks at time: it has a reference of its own`);
    }
  }

  /** Register by name: `size` cells of zero at first. */
  #register(name: string, size: number = this.#flowCells): number[] {
    let cells = this.registers.get(name);
    if (cells === undefined) {
      cells = new Array<number>(size).fill(0);
      this.registers.set(name, cells);
    }
    return cells;
  }

  #event(rule: Rule | null, detector: DetectorKind, fields: Partial<ReferenceEvent> = {}): ReferenceEvent {
    return {
      report: this.totals.reports,
      rule: rule?.name ?? null,
      detector,
      metric: null,
      scope: 'flow',
      hop: null,
      nodeId: null,
      value: null,
      previous: null,
      threshold: null,
      evidence: null,
      ...fields,
    };
  }

  /** Sampling: the first report of a flow, then every n-th, or the first one an interval after the last looked at. */
  #looksAt(sample: Sample, flow: number, timeNs: bigint): boolean {
    if ('oneIn' in sample) {
      // Reports since the last one looked at, that one included.
      const passed = this.#register('sample_count');
      const due = passed[flow] === 0 || passed[flow]! >= sample.oneIn;
      passed[flow] = due ? 1 : passed[flow]! + 1;
      return due;
    }
    const last = this.#sampledAt.get(flow) ?? 0n;
    const distance = timeNs > last ? timeNs - last : last - timeNs;
    // A clock that jumps back by an interval or more does not silence the flow.
    if (last !== 0n && distance < BigInt(sample.everyNs)) return false;
    this.#sampledAt.set(flow, timeNs);
    return true;
  }

  /** Whether a cell has had no value yet; from now on it has. */
  #isFirst(name: string, cell: number, size: number): boolean {
    if (!this.#marksFirst) return false;
    const seen = this.#register(name, size);
    const isFirst = seen[cell] === 0;
    seen[cell] = 1;
    return isFirst;
  }

  #perHop(rule: Rule, detector: Of<'perHop'>, report: ReferenceReport): ReferenceEvent[] {
    const { metric } = detector;
    const previous = this.#register(`per_hop_previous ${metric}`, this.#switchCells);
    const events: ReferenceEvent[] = [];
    report.hops.forEach((hop, index) => {
      const x = metricAt(hop, metric);
      const nodeId = metricAt(hop, 'nodeId');
      if (x === null || nodeId === null) return;
      const cell = nodeId % this.#switchCells;
      const isFirst = this.#isFirst(`per_hop_seen ${metric}`, cell, this.#switchCells);
      const before = isFirst ? null : previous[cell]!;
      const threshold = detector.switchThresholds?.get(nodeId) ?? detector.threshold;
      if (isFirst) previous[cell] = x;
      if (absdiff(x, before ?? 0) > threshold) {
        previous[cell] = x;
        const found = { metric, scope: 'hop', hop: index, nodeId, value: x, previous: before, threshold } as const;
        events.push(this.#event(rule, 'perHop', found));
      }
    });
    return events;
  }

  #perFlow(rule: Rule, detector: Of<'perFlow'>, report: ReferenceReport, flow: number): ReferenceEvent[] {
    const { metric, threshold } = detector;
    const values = metricsOf(report, metric);
    if (values.length === 0) return [];
    const sum = saturatingSum(values);
    const previous = this.#register(`per_flow_previous ${metric}`);
    const before = this.#isFirst(`per_flow_seen ${metric}`, flow, this.#flowCells) ? null : previous[flow]!;
    if (before === null) previous[flow] = sum;
    if (absdiff(sum, before ?? 0) <= threshold) return [];
    previous[flow] = sum;
    return [this.#event(rule, 'perFlow', { metric, value: sum, previous: before, threshold })];
  }

  #average(rule: Rule, detector: Average, report: ReferenceReport, flow: number): ReferenceEvent[] {
    const { metric, threshold, weight } = detector;
    const values = metricsOf(report, metric);
    if (values.length === 0) return [];
    const accumulator = this.#register(`average_accumulator ${metric}`);
    const reported = this.#register(`average_reported ${metric}`);
    // 48 bits: shifts of numbers are of 32 bits, so divide.
    const scale = 2 ** weight;
    const acc = accumulator[flow]!;
    const next = acc + saturatingSum(values) - Math.floor(acc / scale);
    if (next >= 2 ** 48) throw new Error('the accumulator does not fit into 48 bits');
    accumulator[flow] = next;
    const ema = Math.min(Math.floor(next / scale), MAX32);
    const before = reported[flow]!;
    if (absdiff(ema, before) <= threshold) return [];
    reported[flow] = ema;
    return [this.#event(rule, 'movingAverage', { metric, value: ema, previous: before, threshold })];
  }

  #floatAverage(rule: Rule, detector: FloatAverage, report: ReferenceReport, flow: number): ReferenceEvent[] {
    const { metric, threshold, alpha } = detector;
    const values = metricsOf(report, metric);
    if (values.length === 0) return [];
    const average = this.#register(`float_average ${metric}`);
    const reported = this.#register(`float_reported ${metric}`);
    const ema = average[flow]! + alpha * (saturatingSum(values) - average[flow]!);
    average[flow] = ema;
    const before = reported[flow]!;
    if (absdiff(ema, before) <= threshold) return [];
    reported[flow] = ema;
    const found = { metric, value: Math.floor(ema), previous: Math.floor(before), threshold };
    return [this.#event(rule, 'movingAverage', found)];
  }

  #threshold(rule: Rule, detector: Of<'threshold' | 'change'>, report: ReferenceReport): ReferenceEvent[] {
    const { metric, scope } = detector;
    if (scope === 'endToEnd') {
      const { threshold } = detector;
      const values = metricsOf(report, metric);
      const sum = saturatingSum(values);
      if (values.length === 0 || sum <= threshold) return [];
      return [this.#event(rule, 'threshold', { metric, scope, value: sum, threshold })];
    }
    const events: ReferenceEvent[] = [];
    report.hops.forEach((hop, index) => {
      const x = metricAt(hop, metric);
      if (x === null) return;
      const nodeId = metricAt(hop, 'nodeId');
      const threshold = (nodeId === null ? undefined : detector.switchThresholds?.get(nodeId)) ?? detector.threshold;
      if (x > threshold)
        events.push(this.#event(rule, 'threshold', { metric, scope, hop: index, nodeId, value: x, threshold }));
    });
    return events;
  }

  #changeHop(
    rule: Rule,
    detector: Of<'threshold' | 'change'>,
    report: ReferenceReport,
    flow: number,
  ): ReferenceEvent[] {
    const { metric, scope } = detector;
    const events: ReferenceEvent[] = [];
    report.hops.forEach((hop, index) => {
      if (index >= this.#positions) {
        this.totals.beyondPositions++;
        return;
      }
      const x = metricAt(hop, metric);
      if (x === null) return;
      const nodeId = metricAt(hop, 'nodeId');
      const id = nodeId ?? MAX32;
      const seen = this.#register(`change_seen ${metric} ${index}`);
      const switches = this.#register(`change_switch ${metric} ${index}`);
      const previous = this.#register(`change_previous ${metric} ${index}`);
      const before = previous[flow]!;
      const isKnown = seen[flow] === 1 && switches[flow] === id;
      seen[flow] = 1;
      switches[flow] = id;
      previous[flow] = x;
      const threshold = (nodeId === null ? undefined : detector.switchThresholds?.get(nodeId)) ?? detector.threshold;
      if (isKnown && absdiff(x, before) > threshold) {
        const found = { metric, scope, hop: index, nodeId, value: x, previous: before, threshold };
        events.push(this.#event(rule, 'change', found));
      }
    });
    return events;
  }

  #changeEndToEnd(
    rule: Rule,
    detector: Of<'threshold' | 'change'>,
    report: ReferenceReport,
    flow: number,
  ): ReferenceEvent[] {
    const { metric, threshold, scope } = detector;
    const values = metricsOf(report, metric);
    if (values.length === 0) return [];
    const sum = saturatingSum(values);
    const seen = this.#register(`change_seen ${metric}`);
    const previous = this.#register(`change_previous ${metric}`);
    const before = previous[flow]!;
    const isKnown = seen[flow] === 1;
    seen[flow] = 1;
    previous[flow] = sum;
    if (!isKnown || absdiff(sum, before) <= threshold) return [];
    return [this.#event(rule, 'change', { metric, scope, value: sum, previous: before, threshold })];
  }

  #pathChange(rule: Rule, report: ReferenceReport, flow: number): ReferenceEvent[] {
    const ids: number[] = [];
    // The reporting node is looked at by itself, so that it counts once.
    for (const hop of report.hasOwnHop ? report.hops.slice(0, -1) : report.hops) {
      const id = metricAt(hop, 'nodeId');
      if (id !== null) ids.push(id);
    }
    if (report.nodeId !== null && ids[ids.length - 1] !== report.nodeId) ids.push(report.nodeId);
    if (ids.length === 0) return [];
    const path = ids.join(' ');
    const before = this.#paths.get(flow);
    this.#paths.set(flow, path);
    return before === undefined || before === path ? [] : [this.#event(rule, 'pathChange')];
  }

  #complex(rule: Rule, expression: Cnf, report: ReferenceReport, flow: number): ReferenceEvent[] {
    const conditions = expression.flat();
    const values = new Map<MetricName, number[]>();
    for (const { metric } of conditions) if (metric !== null) values.set(metric, metricsOf(report, metric));
    // A report that carries none of the metrics is not looked at.
    if (values.size > 0 && [...values.values()].every((each) => each.length === 0)) return [];

    let count = 0;
    const deltas = new Map<MetricName, number>();
    if (usesHistory(expression)) {
      const counts = this.#register('complex_count');
      if (counts[flow]! < MAX32) counts[flow]!++;
      count = counts[flow]!;
      for (const { aggregate, metric } of conditions) {
        if (aggregate !== 'delta' || metric === null || deltas.has(metric)) continue;
        const carried = values.get(metric)!;
        if (carried.length === 0) continue;
        const seen = this.#register(`complex_seen ${metric}`);
        const previous = this.#register(`complex_previous ${metric}`);
        const sum = saturatingSum(carried);
        deltas.set(metric, seen[flow] === 1 ? absdiff(sum, previous[flow]!) : 0);
        seen[flow] = 1;
        previous[flow] = sum;
      }
    }

    const holds = (condition: Condition): boolean => {
      const { aggregate, operator, constant, metric } = condition;
      const carried = metric === null ? [] : values.get(metric)!;
      // Unknown: neither it nor its negation is true.
      if (aggregate !== 'count' && carried.length === 0) return false;
      const delta = metric === null ? 0 : (deltas.get(metric) ?? 0);
      const operands = operandsOf(condition, carried, delta, count);
      const test = (operand: number): boolean => compare(operand, operator, constant);
      return aggregate === 'all' ? operands.every(test) : operands.some(test);
    };
    const isTrue = expression.every((clause) => clause.some(holds));
    if (!isTrue) return [];
    const evidence = expression.map((clause) => {
      const condition = clause.find(holds)!;
      const { aggregate, metric } = condition;
      const delta = metric === null ? 0 : (deltas.get(metric) ?? 0);
      const carried = metric === null ? [] : values.get(metric)!;
      if (aggregate === 'sum' || aggregate === 'delta' || aggregate === 'count') {
        const [value] = operandsOf(condition, carried, delta, count);
        return { aggregate, metric, value: value!, nodeId: null, hop: null };
      }
      const hop = witness(condition, report);
      const nodeId = metricAt(report.hops[hop]!, 'nodeId');
      return { aggregate, metric, value: metricAt(report.hops[hop]!, metric!)!, nodeId, hop };
    });
    return [this.#event(rule, 'complex', { evidence })];
  }
}

type Of<K extends DetectorKind> = Extract<DetectorConfig, { readonly kind: K }>;
type Average = Extract<DetectorConfig, { readonly weight: number }>;
type FloatAverage = Extract<DetectorConfig, { readonly alpha: number }>;

function usesHistory(expression: Cnf): boolean {
  return expression.flat().some(({ aggregate }) => aggregate === 'count' || aggregate === 'delta');
}

function hasFlowState(detector: DetectorConfig): boolean {
  switch (detector.kind) {
    case 'noop':
    case 'perHop':
    case 'threshold':
      return false;
    case 'perFlow':
    case 'movingAverage':
    case 'change':
    case 'pathChange':
      return true;
    case 'complex':
      return usesHistory(detector.expression);
    default:
      return false;
  }
}
