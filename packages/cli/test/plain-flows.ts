/**
 * A flow cache written down plainly, over the lines of `int decode --json`, to hold `int flows` against. It has one
 * row, or room for all flows.
 */

type PlainHop = Readonly<Record<string, unknown>>;

/** What of a line of `int decode --json` matters here. */
export interface FlowLine {
  readonly timeNs: string;
  readonly status: string;
  readonly report: { readonly nodeId: number | null; readonly metadata: PlainHop } | null;
  readonly int: { readonly mode: string; readonly switches?: readonly PlainHop[] } | null;
  readonly flow: Readonly<Record<string, unknown>> | null;
  readonly hops: readonly PlainHop[];
}

interface Metric {
  last: number | null;
  sum: bigint;
  count: number;
}

interface Position {
  nodeId: number | null;
  readonly metrics: Map<string, Metric>;
}

interface PlainFlow {
  readonly flow: FlowLine['flow'];
  packets: number;
  readonly firstNs: string;
  lastNs: string;
  pathChanges: number;
  readonly positions: Position[];
  /** Hops of the last report that named a switch, and its switches that no position shows. */
  length: number;
  tail: number[];
  hopsBeyond: number;
  readonly endToEnd: Metric;
}

export interface PlainOptions {
  readonly hops?: number;
  readonly metrics?: readonly string[];
  /** Flows that have room. */
  readonly most?: number;
}

export interface PlainTotals {
  packets: number;
  flows: number;
  evicted: { entries: number; packets: number };
  aged: { entries: number; packets: number };
  lost: { noFlow?: number };
  pathChanges: number;
  hopsBeyond: number;
}

const METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization'];
const MOST_SUM = 2 ** 32 - 1;

/** The stack, then the reporting node's own values; a probe's switches. */
function hopsOf({ hops, report, int }: FlowLine): PlainHop[] {
  if (int?.mode === 'gpint') {
    return int.switches!.map(({ switchId, queueDepth }) => ({ nodeId: switchId, queueOccupancy: queueDepth }));
  }
  const own = report === null ? {} : report.metadata;
  return Object.keys(own).length === 0 ? [...hops] : [...hops, { ...own, nodeId: report!.nodeId }];
}

/** The id of a switch. All ones, which only the header of a report can carry as a number, are none. */
function idOf(from: { readonly nodeId?: unknown } | null): number | null {
  return typeof from?.nodeId === 'number' && from.nodeId !== 0xffffffff ? from.nodeId : null;
}

function add(metric: Metric, value: number): void {
  metric.last = value;
  metric.sum += BigInt(value);
  metric.count++;
}

function update(entry: PlainFlow, line: FlowLine, followed: number, metrics: readonly string[]): boolean {
  const isNew = entry.packets === 0;
  const hops = hopsOf(line);
  entry.packets++;
  entry.lastNs = line.timeNs;
  entry.hopsBeyond += Math.max(0, hops.length - followed);
  let isMoved = false;
  hops.slice(0, followed).forEach((hop, at) => {
    entry.positions[at] ??= { nodeId: null, metrics: new Map() };
    const position = entry.positions[at];
    const id = idOf(hop);
    if (id !== null && id !== position.nodeId) {
      if (position.nodeId !== null) {
        for (const metric of position.metrics.values()) metric.last = null;
        if (at < entry.length) isMoved = true;
      }
      position.nodeId = id;
    }
    for (const name of metrics) {
      const value = hop[name];
      if (typeof value !== 'number') continue;
      if (!position.metrics.has(name)) position.metrics.set(name, { last: null, sum: 0n, count: 0 });
      add(position.metrics.get(name)!, value);
    }
  });
  const latencies = hops.map((hop) => hop.hopLatency).filter((value) => typeof value === 'number');
  if (latencies.length > 0) {
    const sum = latencies.reduce((total, value) => total + value, 0);
    add(entry.endToEnd, Math.min(MOST_SUM, sum));
  }
  const named = hops.map(idOf).filter((id) => id !== null);
  const own = idOf(line.report);
  if (named.length === 0 && own === null) return false;
  const tail = hops
    .slice(followed)
    .map(idOf)
    .filter((id) => id !== null);
  if (own !== null && own !== named.at(-1)) tail.push(own);
  const wasNamed = entry.length > 0 || entry.tail.length > 0;
  const isChanged = hops.length !== entry.length || isMoved || tail.join() !== entry.tail.join();
  entry.length = hops.length;
  entry.tail = tail;
  if (isNew || !wasNamed || !isChanged) return false;
  entry.pathChanges++;
  return true;
}

function json({ last, sum, count }: Metric): Record<string, unknown> {
  return { last, mean: Number(sum) / count, count };
}

function flowJson(entry: PlainFlow, metrics: readonly string[]): Record<string, unknown> {
  const { flow, packets, firstNs, lastNs, pathChanges, length, hopsBeyond, endToEnd } = entry;
  return {
    type: 'flow',
    flow,
    packets,
    firstNs,
    lastNs,
    pathChanges,
    hops: entry.positions.map((position) => ({
      nodeId: position.nodeId,
      ...Object.fromEntries(
        metrics.filter((name) => position.metrics.has(name)).map((name) => [name, json(position.metrics.get(name)!)]),
      ),
    })),
    pathLength: length,
    hopsBeyond,
    endToEnd: endToEnd.count === 0 ? null : json(endToEnd),
  };
}

/** What `int flows --json` is to print: the flows, most packets first, among equals the older one, and the totals. */
export function plainFlows(
  lines: readonly FlowLine[],
  { hops = 5, metrics = METRICS, most = Number.POSITIVE_INFINITY }: PlainOptions = {},
): { flows: Record<string, unknown>[]; totals: PlainTotals } {
  // The one that was updated least recently comes first.
  const entries = new Map<string, PlainFlow>();
  const totals: PlainTotals = {
    packets: 0,
    flows: 0,
    evicted: { entries: 0, packets: 0 },
    aged: { entries: 0, packets: 0 },
    lost: {},
    pathChanges: 0,
    hopsBeyond: 0,
  };
  for (const line of lines) {
    if (line.status !== 'ok') continue;
    totals.packets++;
    if (line.flow === null) {
      totals.lost.noFlow = (totals.lost.noFlow ?? 0) + 1;
      continue;
    }
    const key = JSON.stringify(line.flow);
    let entry = entries.get(key);
    entries.delete(key);
    if (entry === undefined) {
      if (entries.size === most) {
        const [oldest] = entries;
        entries.delete(oldest![0]);
        totals.evicted.entries++;
        totals.evicted.packets += oldest![1].packets;
      }
      entry = {
        flow: line.flow,
        packets: 0,
        firstNs: line.timeNs,
        lastNs: line.timeNs,
        pathChanges: 0,
        positions: [],
        length: 0,
        tail: [],
        hopsBeyond: 0,
        endToEnd: { last: null, sum: 0n, count: 0 },
      };
    }
    entries.set(key, entry);
    if (update(entry, line, hops, metrics)) totals.pathChanges++;
    totals.hopsBeyond += Math.max(0, hopsOf(line).length - hops);
  }
  totals.flows = entries.size;
  const sorted = [...entries.values()].sort(
    (a, b) => b.packets - a.packets || (BigInt(a.firstNs) < BigInt(b.firstNs) ? -1 : 1),
  );
  return { flows: sorted.map((entry) => flowJson(entry, metrics)), totals };
}
