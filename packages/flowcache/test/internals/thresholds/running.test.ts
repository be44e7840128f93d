import { once } from 'node:events';
import type { Flow } from '@int/codec';
import { describe, expect, test } from 'vitest';
import { inTime } from '../../../../../.ci/test/until.js';
import { COMPARISON } from '../../../src/cache/engine.js';
import {
  type Comparison,
  EVENT_WORD,
  EVENT_WORDS,
  FlowCache,
  type FlowCacheOptions,
  type RecordConsumer,
} from '../../../src/index.js';
import { ReportBatch, recordOf } from '../../cache/reports.js';
import type { SetterData } from '../../thresholds/setter.js';
import { startWorker } from '../../view/bundle.js';

const FLOW: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1, destinationPort: 2 };
/** What a look at the thresholds is good for at most. */
const BLOCK = 256;

/** The values of events, and what is to happen when some come. */
class Events implements RecordConsumer {
  readonly values: number[] = [];
  afterwards: () => void = () => {};

  push(words: Int32Array, at: number, records: number): number {
    for (let record = 0; record < records; record++) {
      this.values.push(words[at + record * EVENT_WORDS + EVENT_WORD.VALUE]! >>> 0);
    }
    this.afterwards();
    return records;
  }
}

/** Report number i has a latency of i. */
function countingUp(count: number): ReportBatch['batch'] {
  const reports = new ReportBatch(count, 1);
  reports.fill(
    Array.from({ length: count }, (_, hopLatency) => ({
      isOk: true,
      flow: FLOW,
      nodeId: 1,
      hops: [{ nodeId: 1, values: { hopLatency } }],
      timeNs: 0n,
    })),
  );
  return reports.batch;
}

function makeCache(options: FlowCacheOptions): { cache: FlowCache; events: Events } {
  const events = new Events();
  return { cache: new FlowCache({ rows: 1, buckets: 1, hops: 1, events, ...options }), events };
}

describe.each([false, true])('a threshold changed while a cache runs, accelerator %s', (accelerator) => {
  test('counts from the next block of reports on, in the same update', () => {
    const { cache, events } = makeCache({ accelerator, thresholds: { metrics: { hopLatency: { level: 0 } } } });
    const { thresholds } = cache;
    const batch = countingUp(4 * BLOCK);
    events.afterwards = () => {
      thresholds.set('hopLatency', { level: 2 * events.values.at(-1)! });
    };
    cache.update(batch);
    // The first block ends at 255, and from there on values above 510 count; from 511 on those above 1022.
    expect(events.values).toEqual([...Array.from({ length: 255 }, (_, index) => index + 1), 511, 1023]);
  });

  test('is followed when another thread sets it in the middle of an update', async () => {
    const { cache, events } = makeCache({ accelerator, thresholds: { metrics: { hopLatency: { level: 0 } } } });
    const levels = [600, null];
    const turn = new Int32Array(new SharedArrayBuffer(4));
    const data: SetterData = { buffer: cache.thresholds.words.buffer, turn, levels };
    const worker = await startWorker(new URL('../../thresholds/setter.ts', import.meta.url), data);
    const exit = once(worker, 'exit');
    events.afterwards = () => {
      Atomics.store(turn, 0, 1);
      Atomics.notify(turn, 0);
      if (Atomics.wait(turn, 0, 1, 30_000) === 'timed-out') throw new Error('the other thread does nothing');
      if (cache.thresholds.get('hopLatency').level === null) events.afterwards = () => {};
    };
    cache.update(countingUp(4 * BLOCK));
    const [code] = (await inTime('the end of the other thread', exit)) as [number];
    expect(code).toBe(0);
    // The level of 0 holds for one block, that of 600 from the second block on, and none after the third.
    expect(events.values).toEqual([
      ...Array.from({ length: 255 }, (_, index) => index + 1),
      ...Array.from({ length: 167 }, (_, index) => index + 601),
    ]);
    expect(cache.thresholds.get('hopLatency')).toEqual({ level: null, change: null });
  });

  test('of null raises nothing, whatever the values', () => {
    const { cache, events } = makeCache({
      accelerator,
      thresholds: { metrics: { hopLatency: { level: null, change: null } } },
    });
    for (const hopLatency of [0xfffffffe, 0, 0xfffffffe]) {
      const hops = [{ nodeId: 1, values: { hopLatency } }];
      cache.observe(recordOf({ isOk: true, flow: FLOW, nodeId: 1, hops, timeNs: 0n }));
    }
    expect(events.values).toEqual([]);
    cache.thresholds.set('hopLatency', { change: 0xfffffffd });
    const hops = [{ nodeId: 1, values: { hopLatency: 0 } }];
    cache.observe(recordOf({ isOk: true, flow: FLOW, nodeId: 1, hops, timeNs: 0n }));
    expect(events.values).toEqual([0]);
  });
});

describe('another comparison', () => {
  const even = { exceeds: (value: number) => value % 2 === 0, differs: () => false };

  test('decides instead of the default, and runs in TypeScript', () => {
    const { cache, events } = makeCache({ accelerator: true, comparison: even });
    expect(cache.usesAccelerator).toBe(false);
    cache.update(countingUp(10));
    expect(events.values.filter((_, index) => index % 2 === 0)).toEqual([0, 2, 4, 6, 8]);
    // Each value at its hop and over the path.
    expect(events.values.length).toBe(10);
  });

  test('is asked with the value, the previous value and the limits', () => {
    const asked = { exceeds: [] as number[][], differs: [] as number[][] };
    const comparison: Comparison = {
      exceeds: (...values) => {
        asked.exceeds.push(values);
        return COMPARISON.exceeds(...values);
      },
      differs: (...values) => {
        asked.differs.push(values);
        return COMPARISON.differs(...values);
      },
    };
    const { cache } = makeCache({
      metrics: ['hopLatency'],
      comparison,
      thresholds: { metrics: { hopLatency: { level: 0xf0000000, change: 5 } }, endToEnd: { change: 0xfffffff0 } },
    });
    for (const hopLatency of [0xfffffff0, 3]) {
      const hops = [{ nodeId: 1, values: { hopLatency } }];
      cache.observe(recordOf({ isOk: true, flow: FLOW, nodeId: 1, hops, timeNs: 0n }));
    }
    expect(asked.exceeds).toEqual([
      [0xfffffff0, 0xf0000000],
      // Never is 2^32 - 1.
      [0xfffffff0, 0xffffffff],
      [3, 0xf0000000],
      [3, 0xffffffff],
    ]);
    expect(asked.differs).toEqual([
      [3, 0xfffffff0, 5],
      [3, 0xfffffff0, 0xfffffff0],
    ]);
  });

  test('that is the default does what the accelerator does', () => {
    const thresholds = { metrics: { hopLatency: { level: 100, change: 0 } }, endToEnd: { level: 50 } } as const;
    const caches = [{ comparison: COMPARISON }, { accelerator: true }].map((each) =>
      makeCache({ ...each, thresholds }),
    );
    for (const { cache } of caches) cache.update(countingUp(300));
    expect(caches[0]!.events.values).toEqual(caches[1]!.events.values);
    expect(caches[0]!.events.values.length).toBeGreaterThan(300);
    expect(caches.map(({ cache }) => cache.usesAccelerator)).toEqual([false, true]);
  });
});
