/** What distributions are, said plainly: lists of values by switch and metric. */
import {
  FLAG,
  HOP_COLUMNS,
  type HopColumn,
  METRICS,
  type MetricName,
  metricOf,
  NOT_AVAILABLE,
  STATE,
  TelemetryBatch,
} from '@int/codec';
import type { Bins, DistributionNode, Distributions, DistributionTotals } from '@int/flowcache';
import fc from 'fast-check';

const COLUMNS = [...new Set(METRICS.map(({ column }) => column))].filter((column) => column !== 'nodeId');

/** Words of a hop by column; a column left out is all ones. */
export type HopWords = Partial<Record<HopColumn, number>>;

export interface Report {
  readonly code: number;
  readonly flags: number;
  readonly hops: readonly HopWords[];
  /** Hop rows left out in front of it: they hold what no report has. */
  readonly gap: number;
}

/** 32 bits, edges and small numbers often. */
export const word: fc.Arbitrary<number> = fc.oneof(
  fc.nat(0xffffffff),
  fc.nat(40),
  fc.nat(0xffffff),
  fc.constantFrom(0, 1, 0xffff, 0x10000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff),
  fc.nat(31).map((bit) => 2 ** bit),
  fc.integer({ min: 1, max: 32 }).map((bit) => 2 ** bit - 1),
);

function hopWords(nodes: fc.Arbitrary<number>): fc.Arbitrary<HopWords> {
  const columns: Record<string, fc.Arbitrary<number>> = { nodeId: nodes };
  for (const column of COLUMNS) columns[column] = word;
  return fc.record(columns, { requiredKeys: [] });
}

/** Reports whose hops are of few switches, so that they meet again. */
export function reports(maxLength: number, switches = 12): fc.Arbitrary<Report[]> {
  const node = fc.oneof(
    { weight: 8, arbitrary: fc.nat(switches - 1).map((k) => Math.imul(k, 0x01000193) >>> 0) },
    { weight: 1, arbitrary: fc.constantFrom(NOT_AVAILABLE, 0, 0x80000000, 0xfffffffe) },
  );
  const report = fc.record({
    code: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }) }),
    flags: fc.constantFrom(0, FLAG.FLOW, FLAG.FLOW | FLAG.IPV6, FLAG.OWN),
    hops: fc.array(hopWords(node), { maxLength: 6 }),
    gap: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
  });
  return fc.array(report, { maxLength });
}

/** Reports that carry values of one switch, as a metric for which all ones is a value: l2IngressInterface. */
export function reportsOf(values: readonly number[]): Report[] {
  const all: Report[] = [];
  for (let at = 0; at < values.length; at += 200) {
    const some = values.slice(at, at + 200);
    const hops = some.map((l2IngressInterface) => ({ nodeId: 1, l2IngressInterface, l2EgressInterface: 0 }));
    all.push({ code: 0, flags: 0, gap: 0, hops });
  }
  return all;
}

/** Writes reports into a batch of their own. */
export function batchOf(all: readonly Report[]): TelemetryBatch {
  const rows = all.reduce((sum, { hops, gap }) => sum + hops.length + gap, 0);
  const batch = new TelemetryBatch({ frames: Math.max(1, all.length), hops: Math.max(256, rows) });
  let at = 0;
  all.forEach(({ code, flags, hops, gap }, row) => {
    for (let k = 0; k < gap; k++, at++) for (const column of HOP_COLUMNS) batch.hop[column][at] = 12345;
    batch.code[row] = code;
    batch.flags[row] = flags;
    batch.hopStart[row] = at;
    batch.hopCount[row] = hops.length;
    for (const hop of hops) {
      for (const column of HOP_COLUMNS) batch.hop[column][at] = hop[column] ?? NOT_AVAILABLE;
      at++;
    }
  });
  batch.state[STATE.FRAMES] = all.length;
  batch.state[STATE.REPORTS] = all.length;
  batch.state[STATE.HOPS] = at;
  return batch;
}

/** The value of a metric at a hop; `null` if it is missing. */
function metricValue(hop: HopWords, name: MetricName): number | null {
  const { column, pairIndex } = metricOf(name);
  const own = hop[column] ?? NOT_AVAILABLE;
  const other = pairIndex < 0 ? own : (hop[HOP_COLUMNS[pairIndex]!] ?? NOT_AVAILABLE);
  return own === NOT_AVAILABLE && other === NOT_AVAILABLE ? null : own;
}

/** Reference of {@link Distributions}: every value is kept. */
export class Model {
  readonly values = new Map<DistributionNode, Map<MetricName, number[]>>();
  readonly endToEnd: number[] = [];
  readonly nodes: number[] = [];
  reports = 0;
  notOk = 0;
  unnamedHops = 0;
  lostHops = 0;
  readonly #metrics: readonly MetricName[];
  readonly #switches: number;

  constructor(metrics: readonly MetricName[], switches: number) {
    this.#metrics = metrics;
    this.#switches = switches;
    this.#open('unnamed');
    this.#open('others');
  }

  record(all: readonly Report[]): void {
    for (const { code, hops } of all) {
      if (code !== 0) {
        this.notOk++;
        continue;
      }
      this.reports++;
      for (const hop of hops) this.#hop(hop);
      const latencies = hops.map((hop) => metricValue(hop, 'hopLatency')).filter((value) => value !== null);
      if (latencies.length > 0)
        this.endToEnd.push(
          Math.min(
            0xffffffff,
            latencies.reduce((a, b) => a + b),
          ),
        );
    }
  }

  #open(node: DistributionNode): void {
    this.values.set(node, new Map(this.#metrics.map((name) => [name, []])));
  }

  #hop(hop: HopWords): void {
    const carried = this.#metrics.map((name) => [name, metricValue(hop, name)] as const);
    if (carried.every(([, value]) => value === null)) return;
    const id = hop.nodeId ?? NOT_AVAILABLE;
    let node: DistributionNode = id;
    if (id === NOT_AVAILABLE) {
      node = 'unnamed';
      this.unnamedHops++;
    } else if (!this.values.has(id)) {
      if (this.nodes.length < this.#switches) {
        this.#open(id);
        this.nodes.push(id);
      } else {
        node = 'others';
        this.lostHops++;
      }
    }
    for (const [name, value] of carried) if (value !== null) this.values.get(node)!.get(name)!.push(value);
  }
}

const edges: fc.Arbitrary<number[]> = fc
  .tuple(fc.uniqueArray(word, { minLength: 2, maxLength: 12 }), fc.boolean())
  .map(([some, isOpen]) => {
    const sorted = some.sort((a, b) => a - b);
    return isOpen ? [...sorted.slice(0, -1), 2 ** 32] : sorted;
  });

/** Bins of every kind that {@link Bins} allows. */
export const anyBins: fc.Arbitrary<Bins> = fc.oneof(
  fc.tuple(word, fc.integer({ min: 1, max: 300 }), word).map(([from, count, width]) => ({
    kind: 'linear' as const,
    from,
    count: Math.max(1, Math.min(count, 2 ** 32 - from)),
    width: Math.max(1, Math.min(width, Math.floor((2 ** 32 - from) / count))),
  })),
  fc
    .tuple(word, word, fc.integer({ min: 0, max: 7 }))
    .filter(([a, b]) => a !== b)
    .map(([a, b, bits]) => ({
      kind: 'logarithmic' as const,
      from: Math.min(a, b),
      to: Math.max(a, b),
      perOctave: 2 ** bits,
    })),
  fc.integer({ min: 0, max: 7 }).map((bits) => ({ kind: 'logarithmic' as const, perOctave: 2 ** bits })),
  edges.map((some) => ({ kind: 'explicit' as const, edges: some })),
  edges.map((some) => ({ kind: 'explicit' as const, edges: [0, ...some.filter((edge) => edge > 0)] })),
);

export const metricNames: fc.Arbitrary<MetricName[]> = fc.uniqueArray(
  fc.constantFrom(...METRICS.map(({ name }) => name)),
  { minLength: 1, maxLength: 5 },
);

/** Counts by edges: below, in each bin, above. */
export function countsOf(values: readonly number[], bounds: readonly number[]): number[] {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) counts[bounds.filter((edge) => edge <= value).length]!++;
  return counts;
}

export function sumOf(values: readonly number[]): bigint {
  return values.reduce((sum, value) => sum + BigInt(value), 0n);
}

/** All that can be read of distributions, in a form to be compared; switches in order of their ids. */
export function contentsOf(distributions: Distributions): unknown {
  const nodes = distributions.switches().sort((a, b) => a - b);
  return {
    totals: distributions.totals(),
    endToEnd: distributions.endToEnd().toJSON(),
    histograms: (['unnamed', 'others', ...nodes] as DistributionNode[]).map((node) => [
      node,
      distributions.metrics.map((name) => distributions.histogram(node, name)!.toJSON()),
    ]),
  };
}

/** What {@link Distributions.totals} is to give. */
export function totalsOf(model: Model, distributions: Distributions): DistributionTotals {
  const counts = (node: DistributionNode): number =>
    [...model.values.get(node)!.values()].reduce((sum, { length }) => sum + length, 0);
  let underflow = 0;
  let overflow = 0;
  for (const byMetric of model.values.values()) {
    for (const [name, values] of byMetric) {
      const bounds = distributions.overall(name).edges;
      underflow += values.filter((value) => value < bounds[0]!).length;
      overflow += values.filter((value) => value >= bounds.at(-1)!).length;
    }
  }
  const bounds = distributions.endToEnd().edges;
  return {
    reports: model.reports,
    notOk: model.notOk,
    switches: model.nodes.length,
    values: model.nodes.reduce((sum, node) => sum + counts(node), 0),
    unnamed: { hops: model.unnamedHops, values: counts('unnamed') },
    lost: { tooManySwitches: { hops: model.lostHops, values: counts('others') } },
    underflow,
    overflow,
    endToEnd: {
      values: model.endToEnd.length,
      underflow: model.endToEnd.filter((value) => value < bounds[0]!).length,
      overflow: model.endToEnd.filter((value) => value >= bounds.at(-1)!).length,
    },
  };
}
