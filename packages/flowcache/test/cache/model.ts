/** A flow cache of Maps and arrays, written from its description: what the real one is compared with. */
import type { Flow, MetricName } from '@int/codec';
import type { CacheGeometry, FlowEntry, FlowEvent, Reason } from '@int/flowcache';
import type { Report } from './reports.js';

interface ModelMetric {
  last: number | null;
  mean: number;
  count: number;
  /** Exact: of a million values below 2^32 at most. */
  sum: number;
}

interface ModelHop {
  nodeId: number | null;
  /** Reports that had it. */
  reports: number;
  metrics: Map<MetricName, ModelMetric>;
}

interface ModelEntry {
  readonly flow: Flow;
  readonly key: string;
  readonly bucket: number;
  packets: number;
  readonly firstNs: bigint;
  lastNs: bigint;
  pathChanges: number;
  pathLength: number;
  /** Ids beyond the hops, and a reporting node that is no hop. */
  tail: string;
  wasNamed: boolean;
  beyond: number;
  endToEnd: ModelMetric;
  hops: ModelHop[];
}

export interface ModelLimits {
  readonly level: number;
  readonly change: number;
}

const NO_LIMITS: ModelLimits = { level: 0xffffffff, change: 0xffffffff };

const keyOf = ({ source, destination, protocol, sourcePort, destinationPort }: Flow): string =>
  `${source}>${destination}/${protocol}/${sourcePort}/${destinationPort}`;

const emptyMetric = (): ModelMetric => ({ last: null, mean: 0, count: 0, sum: 0 });

export class ModelCache {
  /** Per row, the flow updated last first. */
  readonly rows: ModelEntry[][];
  readonly handedOn: FlowEntry[] = [];
  readonly events: FlowEvent[] = [];
  readonly totals = {
    offered: 0,
    hits: 0,
    inserted: 0,
    notOk: 0,
    noFlow: 0,
    unsupportedIpv6: 0,
    hopsBeyond: 0,
    pathChanges: 0,
  };
  limits: { metrics: Map<MetricName, ModelLimits>; endToEnd: ModelLimits; pathChange: boolean } = {
    metrics: new Map(),
    endToEnd: NO_LIMITS,
    pathChange: false,
  };
  sweepRow = 0;
  readonly #geometry: CacheGeometry;
  readonly #rowOf: (flow: Flow) => number;
  readonly #isExact: boolean;

  constructor(geometry: CacheGeometry, rowOf: (flow: Flow) => number) {
    this.#geometry = geometry;
    this.#rowOf = rowOf;
    this.#isExact = geometry.layout === 'exact';
    this.rows = Array.from({ length: geometry.rows }, () => []);
  }

  get size(): number {
    return this.rows.reduce((sum, row) => sum + row.length, 0);
  }

  update(report: Report): void {
    const { totals } = this;
    totals.offered++;
    if (!report.isOk) {
      totals.notOk++;
      return;
    }
    const { flow } = report;
    if (flow === null) {
      totals.noFlow++;
      return;
    }
    if (!this.#isExact && flow.source.includes(':')) {
      totals.unsupportedIpv6++;
      return;
    }
    const row = this.rows[this.#rowOf(flow)]!;
    const key = keyOf(flow);
    const place = row.findIndex((entry) => entry.key === key);
    const isKnown = place >= 0;
    const entry = isKnown ? row.splice(place, 1)[0]! : this.#insert(row, flow, key, report.timeNs);
    if (isKnown) totals.hits++;
    row.unshift(entry);
    this.#add(entry, report, flow, isKnown);
  }

  #insert(row: ModelEntry[], flow: Flow, key: string, timeNs: bigint): ModelEntry {
    this.totals.inserted++;
    let bucket = 0;
    if (row.length === this.#geometry.buckets) {
      const victim = row.pop()!;
      this.handedOn.push(this.entryOf(victim, 'evicted'));
      bucket = victim.bucket;
    } else while (row.some((entry) => entry.bucket === bucket)) bucket++;
    return {
      flow,
      key,
      bucket,
      packets: 0,
      firstNs: timeNs,
      lastNs: timeNs,
      pathChanges: 0,
      pathLength: 0,
      tail: '',
      wasNamed: false,
      beyond: 0,
      endToEnd: emptyMetric(),
      hops: [],
    };
  }

  #add(entry: ModelEntry, report: Report, flow: Flow, isKnown: boolean): void {
    entry.packets++;
    entry.lastNs = report.timeNs;
    const kept = report.hops.slice(0, this.#geometry.hops);
    entry.beyond += report.hops.length - kept.length;
    this.totals.hopsBeyond += report.hops.length - kept.length;
    const raise = (event: Omit<FlowEvent, 'timeNs' | 'flow'>): void => {
      this.events.push({ ...event, timeNs: report.timeNs, flow });
    };
    let isMoved = false;
    kept.forEach(({ nodeId, values }, index) => {
      let hop = entry.hops[index];
      if (hop === undefined) {
        hop = {
          nodeId: null,
          reports: 0,
          metrics: new Map(this.#geometry.metrics.map((name) => [name, emptyMetric()])),
        };
        entry.hops[index] = hop;
      }
      if (nodeId !== null && nodeId !== hop.nodeId) {
        if (hop.nodeId !== null) {
          for (const metric of hop.metrics.values()) metric.last = null;
          if (index < entry.pathLength) isMoved = true;
        }
        hop.nodeId = nodeId;
      }
      hop.reports++;
      for (const [name, metric] of hop.metrics) {
        const value = values[name];
        if (value === undefined) continue;
        const limits = this.limits.metrics.get(name) ?? NO_LIMITS;
        const event = compare(value, metric.last, limits);
        this.#addValue(metric, value, hop.reports);
        if (event !== null) raise({ ...event, scope: 'hop', metric: name, hop: index, nodeId: hop.nodeId });
      }
    });
    const latencies = report.hops.flatMap(({ values }) => values.hopLatency ?? []);
    if (latencies.length > 0) {
      const sum = Math.min(
        latencies.reduce((a, b) => a + b, 0),
        0xffffffff,
      );
      const { endToEnd } = entry;
      const event = compare(sum, this.#isExact ? endToEnd.last : null, this.limits.endToEnd);
      this.#addValue(endToEnd, sum, 1);
      if (event !== null) raise({ ...event, scope: 'endToEnd', metric: 'hopLatency', hop: null, nodeId: null });
    }
    this.#addPath(entry, report, isKnown, isMoved, raise);
  }

  #addPath(
    entry: ModelEntry,
    { hops, nodeId }: Report,
    isKnown: boolean,
    isMoved: boolean,
    raise: (event: Omit<FlowEvent, 'timeNs' | 'flow'>) => void,
  ): void {
    const named = hops.map((hop) => hop.nodeId).filter((id) => id !== null);
    if (named.length === 0 && nodeId === null) return;
    const hidden = hops
      .slice(this.#geometry.hops)
      .map((hop) => hop.nodeId)
      .filter((id) => id !== null);
    if (nodeId !== null && nodeId !== named.at(-1)) hidden.push(nodeId);
    const tail = this.#isExact ? hidden.join() : '';
    const wasNamed = this.#isExact
      ? entry.wasNamed && (entry.pathLength > 0 || entry.tail !== '')
      : entry.pathLength > 0;
    const { length } = hops;
    if (isKnown && wasNamed && (length !== entry.pathLength || isMoved || tail !== entry.tail)) {
      entry.pathChanges++;
      this.totals.pathChanges++;
      if (this.limits.pathChange) {
        const previous = entry.pathLength;
        raise({
          kinds: ['pathChange'],
          scope: 'endToEnd',
          metric: null,
          hop: null,
          nodeId: null,
          value: length,
          previous,
          threshold: null,
        });
      }
    }
    entry.pathLength = length;
    entry.tail = tail;
    entry.wasNamed = true;
  }

  #addValue(metric: ModelMetric, value: number, reports: number): void {
    metric.last = value;
    metric.count++;
    metric.sum += value;
    if (this.#isExact) {
      metric.mean = metric.sum / metric.count;
      return;
    }
    const step = Math.fround(Math.fround(Math.fround(value) - metric.mean) / Math.fround(reports));
    metric.mean = Math.fround(metric.mean + step);
  }

  remove(flow: Flow): FlowEntry | undefined {
    const row = this.rows[this.#rowOf(flow)]!;
    const place = row.findIndex((entry) => entry.key === keyOf(flow));
    return place < 0 ? undefined : this.entryOf(row.splice(place, 1)[0]!, 'removed');
  }

  get(flow: Flow): FlowEntry | undefined {
    const entry = this.rows[this.#rowOf(flow)]!.find(({ key }) => key === keyOf(flow));
    return entry === undefined ? undefined : this.entryOf(entry, 'live');
  }

  /** Hands on entries from `sweepRow` on, in the order of buckets. */
  sweep(maxRows: number, maxEntries: number, reason: Reason, leaves: (lastNs: bigint) => boolean): number {
    let handedOn = 0;
    for (let left = Math.min(maxRows, this.rows.length); left > 0; left--) {
      const row = this.rows[this.sweepRow]!;
      for (const entry of [...row].sort((a, b) => a.bucket - b.bucket)) {
        if (!leaves(entry.lastNs)) continue;
        if (handedOn >= maxEntries) return handedOn;
        row.splice(row.indexOf(entry), 1);
        this.handedOn.push(this.entryOf(entry, reason));
        handedOn++;
      }
      this.sweepRow = (this.sweepRow + 1) % this.rows.length;
    }
    return handedOn;
  }

  /** All entries, in the order of rows and buckets. */
  entries(): FlowEntry[] {
    return this.rows.flatMap((row) =>
      [...row].sort((a, b) => a.bucket - b.bucket).map((entry) => this.entryOf(entry, 'live')),
    );
  }

  entryOf(entry: ModelEntry, reason: Reason): FlowEntry {
    const isExact = this.#isExact;
    const { pathLength, endToEnd } = entry;
    return {
      flow: entry.flow,
      reason,
      packets: entry.packets,
      firstNs: entry.firstNs,
      lastNs: entry.lastNs,
      pathChanges: entry.pathChanges,
      pathLength,
      path: entry.hops.slice(0, pathLength).map(({ nodeId }) => nodeId),
      hopsBeyond: isExact ? entry.beyond : null,
      endToEnd: isExact && endToEnd.count > 0 ? { ...endToEnd, sum: BigInt(endToEnd.sum) } : null,
      hops: entry.hops.map(({ nodeId, reports, metrics }) => ({
        nodeId,
        metrics: Object.fromEntries(
          [...metrics].map(([name, metric]) => [
            name,
            isExact ? { ...metric, sum: BigInt(metric.sum) } : { ...metric, count: reports, sum: null },
          ]),
        ),
      })),
    };
  }
}

function compare(
  value: number,
  previous: number | null,
  { level, change }: ModelLimits,
): Pick<FlowEvent, 'kinds' | 'value' | 'previous' | 'threshold'> | null {
  const isLevel = value > level;
  const isChange = previous !== null && Math.abs(value - previous) > change;
  if (!isLevel && !isChange) return null;
  const kinds = [...(isLevel ? (['threshold'] as const) : []), ...(isChange ? (['change'] as const) : [])];
  // A record has no other way to say 'nothing' than a saturated sum.
  const isUnknown = previous === 0xffffffff && !isChange;
  return { kinds, value, previous: isUnknown ? null : previous, threshold: isLevel ? level : change };
}
