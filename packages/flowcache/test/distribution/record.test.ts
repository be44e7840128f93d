import { frame, malformed } from '@int/arbitraries';
import {
  BatchDecoder,
  type DecodeOptions,
  decodeFrame,
  FLAG,
  METRICS,
  NOT_AVAILABLE,
  TelemetryBatch,
} from '@int/codec';
import { type Bins, type DistributionNode, type DistributionOptions, Distributions } from '@int/flowcache';
import { ReportStream } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import {
  anyBins,
  batchOf,
  contentsOf,
  countsOf,
  Model,
  metricNames,
  type Report,
  reports,
  sumOf,
  totalsOf,
} from './model.js';

const ALL_METRICS = METRICS.map(({ name }) => name);
const COARSE: Bins = { kind: 'logarithmic', perOctave: 1 };
/** Bins that leave values out. */
const NARROW: Bins[] = [
  { kind: 'linear', from: 10, width: 1000, count: 50 },
  { kind: 'explicit', edges: [1, 2, 256, 65535, 65536, 2 ** 31] },
];

/** All metrics, with the same bins. */
function everything(bins: Bins, switches: number): DistributionOptions {
  return {
    metrics: ALL_METRICS,
    bins: Object.fromEntries([...ALL_METRICS, 'endToEnd'].map((name) => [name, bins])),
    switches,
  };
}

function hops(...nodes: (number | null)[]): Report {
  return {
    code: 0,
    flags: FLAG.FLOW,
    gap: 0,
    hops: nodes.map((node) => ({ nodeId: node ?? NOT_AVAILABLE, hopLatency: 10, egressUtilization: 20 })),
  };
}

describe('recording a batch', () => {
  it('puts every value where the model puts it, whatever the bins, the metrics and the room', () => {
    let values = 0;
    fc.assert(
      fc.property(
        reports(60),
        metricNames,
        fc.array(anyBins, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 16 }),
        fc.nat(0xffffffff),
        fc.boolean(),
        (all, metrics, bins, switches, seed, isShared) => {
          const chosen = Object.fromEntries(metrics.map((name, index) => [name, bins[index]!]));
          const dimensions = { metrics, bins: { ...chosen, endToEnd: bins[5]! }, switches, seed };
          const byteOffset = 24;
          const bytes = byteOffset + Distributions.byteLength(dimensions) + 8;
          const buffer = isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
          new Uint8Array(buffer).fill(0xaa);
          const distributions = new Distributions({ ...dimensions, buffer, byteOffset });
          const model = new Model(metrics, switches);
          const batch = batchOf(all);
          const half = all.length >> 1;
          distributions.record(batch, 0, half);
          distributions.record(batch, half);
          model.record(all);

          expect(distributions.switches()).toEqual(model.nodes);
          for (const [node, byMetric] of model.values) {
            for (const [name, list] of byMetric) {
              const found = distributions.histogram(node, name)!;
              expect([found.underflow, ...found.counts, found.overflow]).toEqual(countsOf(list, found.edges));
              expect([found.total, found.sum]).toEqual([list.length, sumOf(list)]);
              values += list.length;
            }
          }
          for (const name of metrics) {
            const everywhere = [...model.values.values()].flatMap((byMetric) => byMetric.get(name)!);
            const found = distributions.overall(name);
            expect([found.underflow, ...found.counts, found.overflow]).toEqual(countsOf(everywhere, found.edges));
            expect(found.sum).toBe(sumOf(everywhere));
          }
          const whole = distributions.endToEnd();
          expect([whole.underflow, ...whole.counts, whole.overflow]).toEqual(countsOf(model.endToEnd, whole.edges));
          expect(whole.sum).toBe(sumOf(model.endToEnd));
          expect(distributions.totals()).toEqual(totalsOf(model, distributions));
          const all8 = new Uint8Array(buffer);
          expect([...all8.subarray(0, byteOffset), ...all8.subarray(-8)].every((byte) => byte === 0xaa)).toBe(true);
        },
      ),
      { seed: SEED, numRuns: runs(200) },
    );
    expect(values).toBeGreaterThan(4000 * LENGTH);
  });

  it('counts the same in one go, row by row, and with rows in blocks of any length', () => {
    fc.assert(
      fc.property(reports(40, 6), fc.array(fc.nat(40), { maxLength: 6 }), (all, cuts) => {
        const batch = batchOf(all);
        const whole = new Distributions(everything(COARSE, 8));
        const cut = new Distributions(everything(COARSE, 8));
        whole.record(batch);
        const ends = [...cuts.filter((end) => end <= all.length), 0, all.length].sort((a, b) => a - b);
        for (let k = 1; k < ends.length; k++) cut.record(batch, ends[k - 1], ends[k]);
        expect(contentsOf(cut)).toEqual(contentsOf(whole));
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('counts batches of more rows than it takes at once, with the longest stacks, as the model does', () => {
    fc.assert(
      fc.property(reports(30, 20), fc.integer({ min: 1, max: 255 }), (some, length) => {
        fc.pre(some.length > 0);
        const long: Report = { ...hops(), hops: Array.from({ length }, (_, k) => ({ nodeId: k % 7, hopLatency: k })) };
        const all = Array.from({ length: 700 }, (_, k) => (k % 50 === 0 ? long : some[k % some.length]!));
        const distributions = new Distributions({
          ...everything(COARSE, 64),
          metrics: ['hopLatency', 'queueOccupancy'],
          bins: {},
        });
        const model = new Model(distributions.metrics, 64);
        distributions.record(batchOf(all));
        model.record(all);
        expect(distributions.totals()).toEqual(totalsOf(model, distributions));
        for (const node of model.nodes) {
          const list = model.values.get(node)!.get('hopLatency')!;
          const found = distributions.histogram(node, 'hopLatency')!;
          expect([found.underflow, ...found.counts, found.overflow]).toEqual(countsOf(list, found.edges));
        }
      }),
      { seed: SEED, numRuns: runs(15) },
    );
  });

  it('finds thousands of switches again, whatever their ids have in common and whatever the seed', () => {
    for (const [seed, step] of [
      [0, 1],
      [12345, 0x10000],
      [0xffffffff, 0x9e3779b1],
      [77, 0x144cbc89],
      [1, 2 ** 20],
    ] as const) {
      const nodes = Array.from({ length: 4000 }, (_, k) => Math.imul(k, step) >>> 0).filter(
        (id) => id !== NOT_AVAILABLE,
      );
      const distinct = [...new Set(nodes)];
      const bins: Bins = { kind: 'explicit', edges: [0, 2 ** 32] };
      const distributions = new Distributions({
        metrics: ['hopLatency'],
        bins: { hopLatency: bins },
        switches: 4000,
        seed,
      });
      const all = nodes.map((node) => hops(node, node));
      distributions.record(batchOf(all));
      expect(distributions.switches()).toEqual(distinct);
      const expected = new Map<number, number>();
      for (const node of nodes) expected.set(node, (expected.get(node) ?? 0) + 2);
      for (const [node, count] of expected) expect(distributions.histogram(node, 'hopLatency')!.total).toBe(count);
    }
  });

  it('gives a switch beyond the capacity no row, and keeps its values apart', () => {
    const distributions = new Distributions({ switches: 2 });
    distributions.record(batchOf([hops(7, 8, 9, null), hops(9, 8, 10)]));
    expect(distributions.switches()).toEqual([7, 8]);
    expect(distributions.histogram(9, 'hopLatency')).toBeNull();
    expect(distributions.histogram('others', 'hopLatency')!.total).toBe(3);
    expect(distributions.histogram('unnamed', 'egressUtilization')!.total).toBe(1);
    expect(distributions.totals()).toMatchObject({
      reports: 2,
      switches: 2,
      values: 6,
      unnamed: { hops: 1, values: 2 },
      lost: { tooManySwitches: { hops: 3, values: 6 } },
    });
  });

  it('gives no row to a switch whose hops carry none of the metrics', () => {
    const distributions = new Distributions({ metrics: ['queueOccupancy'], switches: 1 });
    distributions.record(batchOf([hops(1, 2, null)]));
    expect(distributions.switches()).toEqual([]);
    expect(distributions.totals()).toMatchObject({ reports: 1, values: 0, unnamed: { hops: 0, values: 0 } });
    expect(distributions.endToEnd().sum).toBe(30n);
  });

  it('saturates the end-to-end latency at 2^32 - 1 and counts that as a value', () => {
    const distributions = new Distributions();
    const latency = (...values: number[]): Report => ({
      ...hops(),
      hops: values.map((hopLatency) => ({ hopLatency })),
    });
    distributions.record(
      batchOf([latency(0xfffffffe, 1), latency(0xfffffffe, 0xfffffffe, 7), latency(0, 0), latency()]),
    );
    const found = distributions.endToEnd();
    expect(found.sum).toBe(2n * 0xffffffffn);
    expect(found.toJSON().counts.map(([, , count]) => count)).toEqual([1, 2]);
  });

  it('leaves a metric alone only where its word, or both words of a pair, are all ones', () => {
    const distributions = new Distributions({ metrics: ['l2IngressInterface', 'l2EgressInterface', 'queueId'] });
    const hop = (l2IngressInterface: number, l2EgressInterface: number, queueId: number): Report['hops'][number] => ({
      nodeId: 1,
      l2IngressInterface,
      l2EgressInterface,
      queueId,
    });
    const missing = NOT_AVAILABLE;
    distributions.record(
      batchOf([{ ...hops(), hops: [hop(missing, 5, missing), hop(6, missing, 0xff), hop(missing, missing, missing)] }]),
    );
    expect(distributions.histogram(1, 'l2IngressInterface')!.sum).toBe(0xffffffffn + 6n);
    expect(distributions.histogram(1, 'l2EgressInterface')!.sum).toBe(5n + 0xffffffffn);
    expect(distributions.histogram(1, 'queueId')!.toJSON()).toMatchObject({ total: 1, sum: '255' });
  });

  it('refuses rows that the batch does not hold', () => {
    const distributions = new Distributions();
    const batch = batchOf([hops(1)]);
    for (const [from, to] of [
      [0, 2],
      [-1, 1],
      [1, 0],
      [0.5, 1],
      [0, Number.NaN],
    ] as const) {
      expect(() => distributions.record(batch, from, to)).toThrow(RangeError);
    }
    expect(distributions.totals().reports).toBe(0);
  });

  it('counts what traffic carries: every report with the latency of each hop and of all hops', () => {
    const stream = new ReportStream({ topology: 'leaf-spine:4x2', seed: SEED });
    const bytes = new Uint8Array(1 << 20);
    const offsets = new Uint32Array(2000);
    const lengths = new Uint32Array(2000);
    const count = stream.fill(bytes, offsets, lengths);
    const batch = new TelemetryBatch({ frames: count });
    new BatchDecoder({ linkType: 'report' }).decode(batch, { bytes, offsets, lengths }, 0, count);
    const distributions = new Distributions();
    distributions.record(batch);
    const { reports: seen, values } = distributions.totals();
    const { hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    const words = [hopLatency, queueOccupancy, egressUtilization].flatMap((column) => [
      ...column.subarray(0, batch.hops),
    ]);
    expect([seen, values]).toEqual([count, words.filter((word) => word !== NOT_AVAILABLE).length]);
    expect(distributions.endToEnd().sum).toBe(distributions.overall('hopLatency').sum);
    expect(distributions.switches().length).toBe(6);
  });
});

/** The contents of a Distributions that sees the frames' columns, and of one that sees their records. */
function bothWays(frames: readonly Uint8Array[], options: DecodeOptions, bins: Bins): [unknown, unknown] {
  const columns = new Distributions(everything(bins, 20));
  const objects = new Distributions(everything(bins, 20));
  const decoder = new BatchDecoder(options);
  const batch = new TelemetryBatch({ frames: 1, reports: 2048, hops: 8192 });
  for (const bytes of frames) {
    batch.clear();
    decoder.decode(batch, { bytes, offsets: Uint32Array.of(0), lengths: Uint32Array.of(bytes.length) });
    columns.record(batch);
    for (const record of decodeFrame(bytes, options)) {
      // A packet that is neither a report nor carries INT has no row.
      if (record.report !== null || record.int !== null) objects.observe(record);
    }
  }
  return [contentsOf(columns), contentsOf(objects)];
}

/** Leaves out `notOk`: of a broken frame a row may tell that there was INT where an object cannot say which. */
function withoutNotOk(contents: unknown): unknown {
  const { totals, ...rest } = contents as { totals: { notOk: number } };
  const { notOk: _, ...others } = totals;
  return { ...rest, totals: others };
}

describe('observing records', () => {
  it('counts, record by record, what the batch counts', () => {
    fc.assert(
      fc.property(frame(), fc.constantFrom(COARSE, ...NARROW), ({ bytes, options }, bins) => {
        const [columns, objects] = bothWays([bytes, bytes], options, bins);
        expect(objects).toEqual(columns);
      }),
      { seed: SEED, numRuns: runs(150) },
    );
  });

  it('does so for frames of all kinds in one state, broken ones among them', () => {
    const options = { reportPorts: [32766] };
    fc.assert(
      fc.property(fc.array(malformed(frame({ options })), { minLength: 1, maxLength: 12 }), (frames) => {
        const [columns, objects] = bothWays(frames, options, { kind: 'logarithmic', perOctave: 2 });
        expect(withoutNotOk(objects)).toEqual(withoutNotOk(columns));
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('leaves alone a record that is not ok', () => {
    const distributions = new Distributions();
    const hop = { nodeId: 1 as const, hopLatency: 5 };
    const record = { index: 0, error: null, report: null, int: null, flow: null, path: [1], hops: [hop] };
    distributions.observe({ ...record, status: 'truncated' });
    distributions.observe({ ...record, status: 'ok' });
    expect(distributions.totals()).toMatchObject({ reports: 1, notOk: 1, values: 1 });
  });
});

describe('clearing', () => {
  it('forgets values and switches, and counts anew as if nothing had been', () => {
    fc.assert(
      fc.property(reports(30), reports(30), (before, after) => {
        const used = new Distributions(everything(COARSE, 5));
        used.record(batchOf(before));
        used.clear();
        expect(contentsOf(used)).toEqual(contentsOf(new Distributions(everything(COARSE, 5))));
        used.record(batchOf(after));
        const fresh = new Distributions(everything(COARSE, 5));
        fresh.record(batchOf(after));
        expect(contentsOf(used)).toEqual(contentsOf(fresh));
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });
});

describe('asking', () => {
  it('knows no switch that it has not seen, and no metric that it does not follow', () => {
    const distributions = new Distributions({ metrics: ['hopLatency'] });
    for (const node of [0, 1, 0xffffffff, -1, 1.5, Number.NaN] as DistributionNode[]) {
      expect(distributions.histogram(node, 'hopLatency')).toBeNull();
    }
    expect(() => distributions.histogram(1, 'queueOccupancy')).toThrow(RangeError);
    expect(() => distributions.overall('queueOccupancy')).toThrow(RangeError);
  });

  it('gives copies that later values do not change', () => {
    const distributions = new Distributions();
    distributions.record(batchOf([hops(1)]));
    const before = distributions.histogram(1, 'hopLatency')!;
    distributions.record(batchOf([hops(1)]));
    expect([before.total, before.sum]).toEqual([1, 10n]);
    expect(distributions.histogram(1, 'hopLatency')!.total).toBe(2);
  });
});
