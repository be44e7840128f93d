import { type Flow, METRIC_NAMES, type MetricName } from '@int/codec';
import {
  EntryReader,
  EVENT_WORDS,
  FlowCache,
  type FlowCacheOptions,
  type FlowEntry,
  type FlowEvent,
  type RecordConsumer,
  readFlowEvent,
  SnapshotReader,
  writeSnapshot,
} from '@int/flowcache';
import { Random } from '@int/random';
import { expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { same } from '../same.js';
import { SEED } from '../seed.js';
import { ModelCache, type ModelLimits } from './model.js';
import { type Report, ReportBatch, randomFlows, randomReport, recordOf } from './reports.js';

/** Of the first geometry; the others differ from it in a few places each. */
const OPERATIONS = runs(100_000);
const OTHER_OPERATIONS = runs(15_000);
const MOST_HOPS = 9;
const IDLE_NS = 4_000_000n;

interface Setup extends FlowCacheOptions {
  readonly name: string;
  readonly flows: number;
  readonly ipv6: number;
}

const SETUPS: readonly Setup[] = [
  { name: '64 x 12, the default bucket', rows: 64, flows: 1200, ipv6: 0.5 },
  { name: '1 x 1', rows: 1, buckets: 1, flows: 3, ipv6: 0.5 },
  { name: '1 x 64, one row', rows: 1, buckets: 64, hops: 2, flows: 100, ipv6: 0.3 },
  {
    name: '37 x 5, crc32, two metrics',
    rows: 37,
    buckets: 5,
    hash: 'crc32',
    metrics: ['queueOccupancy', 'hopLatency'],
    flows: 300,
    ipv6: 0.5,
  },
  {
    name: '16 x 16, a seed, eight metrics, one hop',
    rows: 16,
    buckets: 16,
    hops: 1,
    seed: 0xdeadbeef,
    metrics: METRIC_NAMES.slice(0, 4).concat(
      'reserved8',
      'l2EgressInterface',
      'l2IngressInterface',
      'l1EgressInterface',
    ) as MetricName[],
    flows: 400,
    ipv6: 0.5,
  },
  { name: 'compact, 50 x 12', rows: 50, layout: 'compact', flows: 900, ipv6: 0.2 },
  {
    name: 'compact, 3 x 7, shared memory',
    rows: 3,
    buckets: 7,
    hops: 8,
    layout: 'compact',
    shared: true,
    flows: 40,
    ipv6: 0,
  },
];

/** Takes everything, as objects. */
class Objects<T> implements RecordConsumer {
  readonly list: T[] = [];
  readonly #words: number;
  readonly #read: (words: Int32Array, at: number) => T;

  constructor(words: number, read: (words: Int32Array, at: number) => T) {
    this.#words = words;
    this.#read = read;
  }

  push(words: Int32Array, at: number, records: number): number {
    for (let record = 0; record < records; record++) this.list.push(this.#read(words, at + record * this.#words));
    return records;
  }
}

function run(setup: Setup, operationsToDo: number, accelerator: boolean): void {
  const random = new Random(SEED);
  const flows = randomFlows(random, setup.flows, setup.ipv6);
  const probe = new FlowCache({ ...setup, accelerator: false });
  const { geometry } = probe;
  const { metrics } = geometry;
  const reader = new EntryReader(geometry);
  const entries = new Objects<FlowEntry>(geometry.bucketStride, (words, at) => reader.read(words, at));
  const events = new Objects<FlowEvent>(EVENT_WORDS, (words, at) => readFlowEvent(words, at, metrics));
  const sinks = { entries, events, accelerator };
  let cache = new FlowCache({ ...setup, ...sinks });
  const model = new ModelCache(geometry, (flow: Flow) => cache.hashOf(flow) % geometry.rows);
  const reports = new ReportBatch(300, MOST_HOPS, 3);
  const shape = { flows, hops: MOST_HOPS, metrics };
  let timeNs = 1_700_000_000_000_000_000n;
  let restored = { packets: 0, offered: 0 };

  const nextReport = (): Report => {
    timeNs += BigInt(random.integer(20_000));
    return randomReport(random, shape, timeNs);
  };
  const randomLimits = (): ModelLimits => ({
    level: random.integer(3) === 0 ? 0xffffffff : random.integer(6000),
    change: random.integer(3) === 0 ? 0xffffffff : random.integer(3000),
  });
  const operations: readonly (readonly [weight: number, () => number])[] = [
    [
      200,
      () => {
        const report = nextReport();
        cache.observe(recordOf(report), report.timeNs);
        model.update(report);
        return 1;
      },
    ],
    [
      40,
      () => {
        const batch = Array.from({ length: random.integer(300) + 1 }, nextReport);
        reports.fill(batch);
        const from = random.integer(batch.length);
        cache.update(reports.batch, from, batch.length);
        for (const report of batch.slice(from)) model.update(report);
        return batch.length - from;
      },
    ],
    [
      20,
      () => {
        const rows = random.integer(geometry.rows) + 1;
        const aged = cache.age(timeNs, IDLE_NS, rows);
        same(
          aged,
          model.sweep(rows, Number.POSITIVE_INFINITY, 'aged', (last) => timeNs - last > IDLE_NS),
        );
        return 1;
      },
    ],
    [
      20,
      () => {
        const flow = flows[random.integer(flows.length)]!;
        if (geometry.layout === 'compact' && flow.source.includes(':')) return 1;
        same(cache.get(flow), model.get(flow));
        same(cache.remove(flow), model.remove(flow));
        return 1;
      },
    ],
    [
      2,
      () => {
        const most = random.integer(20);
        expect(cache.drain(most)).toBe(model.sweep(geometry.rows, most, 'removed', () => true));
        return 1;
      },
    ],
    [
      10,
      () => {
        const metric = metrics[random.integer(metrics.length)]!;
        const limits = randomLimits();
        cache.thresholds.set(metric, limits);
        model.limits.metrics.set(metric, limits);
        model.limits.endToEnd = randomLimits();
        cache.thresholds.set('endToEnd', model.limits.endToEnd);
        model.limits.pathChange = random.integer(2) === 0;
        cache.thresholds.pathChange = model.limits.pathChange;
        return 1;
      },
    ],
    [
      1,
      () => {
        const snapshot = new SnapshotReader({ ...sinks, thresholds: cache.thresholds });
        // In pieces that fit nothing.
        for (const chunk of writeSnapshot(cache)) {
          const cut = random.integer(chunk.length);
          snapshot.push(chunk.subarray(0, cut));
          snapshot.push(chunk.subarray(cut));
        }
        restored = { packets: cache.livePackets(), offered: model.totals.offered };
        cache = snapshot.end();
        Object.assign(model.totals, {
          hits: 0,
          inserted: 0,
          notOk: 0,
          noFlow: 0,
          unsupportedIpv6: 0,
          hopsBeyond: 0,
          pathChanges: 0,
        });
        return 1;
      },
    ],
  ];
  const weights = operations.reduce((sum, [weight]) => sum + weight, 0);

  const checkAll = (): void => {
    same([...cache], model.entries());
    const totals = cache.totals();
    const { offered, ...others } = model.totals;
    expect(totals).toMatchObject({ ...others, offered: offered - restored.offered, live: model.size });
    const out = totals.evictedPackets + totals.agedPackets + totals.retiredPackets + totals.removedPackets;
    const refused = totals.notOk + totals.noFlow + totals.unsupportedIpv6 + totals.lostPackets;
    expect(totals.offered + totals.restoredPackets).toBe(cache.livePackets() + out + refused);
    expect(totals.restoredPackets).toBe(restored.packets);
  };

  let done = 0;
  let steps = 0;
  while (done < operationsToDo) {
    let choice = random.integer(weights);
    let index = 0;
    while (choice >= operations[index]![0]) choice -= operations[index++]![0];
    done += operations[index]![1]();
    same(entries.list, model.handedOn);
    same(events.list, model.events);
    entries.list.length = model.handedOn.length = events.list.length = model.events.length = 0;
    if (++steps % 200 === 0) checkAll();
  }
  checkAll();
}

/** Tests of all geometries with one engine. They take long: each engine has a file of its own, so that they run side by side. */
export function testAgainstModel(accelerator: boolean): void {
  for (const [index, setup] of SETUPS.entries()) {
    const operations = index === 0 ? OPERATIONS : OTHER_OPERATIONS;
    test(`a cache of ${setup.name} does what a model of Maps and arrays does, over ${operations} operations`, () => {
      run(setup, operations, accelerator);
    });
  }
}
