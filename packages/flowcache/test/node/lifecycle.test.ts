import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ShardError } from '@int/flowcache/node';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { SEED } from '../seed.js';
import {
  byFlow,
  code,
  dispatchAll,
  entriesOf,
  expectClosed,
  manyReports,
  openCache,
  packetsOf,
  popEntries,
  popEvents,
  ROOMY,
  rowsOf,
  withCache,
} from './harness.js';
import { Random } from './reports.js';
import { NODE_INDEX } from './worker-code.js';

/** Its second shard throws at its tenth slot. */
const FAILING_WORKER = new URL('../internals/node/failing-worker.ts', import.meta.url);

describe('stopping a sharded cache', () => {
  it('looks at all that was dispatched, closes the rings and can be asked for again', async () => {
    const reports = manyReports(new Random(SEED), 6);
    const cache = await openCache({
      ...ROOMY,
      slots: 2,
      slotReports: 4,
      thresholds: { metrics: { hopLatency: { level: 0 } } },
    });
    for (const batch of reports.slice(0, -1)) await cache.dispatch(batch);
    const batch = reports.at(-1)!;
    // Not waited for.
    void cache.dispatch(batch);
    const stopping = cache.stop();
    expect(cache.stop()).toBe(stopping);
    const totals = await stopping;
    expect(totals.dispatched).toBe(rowsOf(reports));
    expect(await cache.totals()).toEqual(totals);
    expect(popEvents(cache)).toBe(totals.events);
    for (const shard of cache.shards) {
      expect(shard.entries.drained).toBe(true);
      expect(shard.events.drained).toBe(true);
    }
    expect(() => cache.dispatch(batch)).toThrow('stopped');
    await expect(cache.drain()).rejects.toMatchObject({ code: 'ERR_SHARD_STOPPED' });
    const left = cache.shards.flatMap((shard) => [...shard.view().entries()]);
    expectClosed(totals, rowsOf(reports), packetsOf(left));
  });

  it('does not wait for a drain that nobody reads', async () => {
    const reports = manyReports(new Random(SEED), 1);
    await withCache({ ...ROOMY, entryRecords: 1 }, async (cache) => {
      await dispatchAll(cache, reports);
      const drained = cache.drain().catch((error: unknown) => error);
      const totals = await cache.stop();
      const error = await drained;
      expect(ShardError.is(error) && error.code).toBe('ERR_SHARD_STOPPED');
      expectClosed(totals, rowsOf(reports), packetsOf(cache.shards.flatMap((shard) => [...shard.view().entries()])));
    });
  });
});

describe('a worker that fails', () => {
  it('is reported, and all it had is counted as lost', async () => {
    const failing = await code.build(FAILING_WORKER, 'failing-worker.js');
    const failures: ShardError[] = [];
    const random = new Random(SEED);
    const options = { ...ROOMY, rows: 2, buckets: 2, slots: 3, slotReports: 8, worker: failing };
    await withCache({ ...options, onFailure: (error) => failures.push(error) }, async (cache) => {
      const reports = manyReports(random, 8, { odd: 0.05 });
      await dispatchAll(cache, reports);
      await until('a failure', () => failures.length > 0);
      const more = manyReports(random, 2);
      await dispatchAll(cache, more);
      expect(failures).toEqual(cache.failures);
      expect(failures[0]).toMatchObject({ name: 'ShardError', code: 'ERR_SHARD_FAILED', shard: 1 });
      expect((failures[0]!.cause as Error).message).toBe('the tenth slot');
      const totals = await cache.totals();
      const live = packetsOf([...cache.shards[0]!.view().entries()]);
      expect(totals.lostReports.failed).toBeGreaterThan(0);
      expectClosed(totals, rowsOf([...reports, ...more]), live);
      // What it had handed on is there, and no one waits for more.
      expect(packetsOf(popEntries(cache))).toBe(totals.evictedPackets);
      expect(cache.shards[1]!.entries.drained).toBe(true);
      await expect(entriesOf(cache)).rejects.toBe(failures[0]);
      expect(await cache.stop()).toEqual(totals);
    });
  });

  it('is what stop throws if nobody else was told', async () => {
    const failing = await code.build(FAILING_WORKER, 'failing-worker.js');
    const random = new Random(SEED);
    const name = code.path('before');
    await withCache(ROOMY, async (cache) => {
      await dispatchAll(cache, manyReports(random, 1));
      await cache.snapshot(name);
    });
    const cache = await openCache({ ...ROOMY, slotReports: 8, worker: failing, restore: name });
    const rows = await dispatchAll(cache, manyReports(random, 8));
    await expect(cache.stop()).rejects.toMatchObject({ code: 'ERR_SHARD_FAILED' });
    const totals = await cache.totals();
    expectClosed(totals, rows, packetsOf([...cache.shards[0]!.view().entries()]));
  });

  it('cannot start without its code', async () => {
    const missing = code.path('missing.mjs');
    await expect(openCache({ ...ROOMY, worker: missing })).rejects.toMatchObject({
      code: 'ERR_SHARD_START',
    });
  });
});

describe('the code of the workers', () => {
  const program = `ShardedFlowCache.open({ shards: 2, rows: 64 })
    .then((cache) => cache.stop())
    .then(({ shards }) => console.log(shards.length))`;

  it.each(['esm', 'cjs'] as const)('is found beside the module that starts them: %s', async (format) => {
    const file = await code.build(NODE_INDEX, format === 'esm' ? 'node.js' : 'node.cjs', format);
    const [type, load] =
      format === 'esm'
        ? ['module', `import { ShardedFlowCache } from ${JSON.stringify(pathToFileURL(file))};`]
        : ['commonjs', `const { ShardedFlowCache } = require(${JSON.stringify(file)});`];
    // As a program on the command line, whose own options workers cannot take over.
    const args = [`--input-type=${type}`, '--eval', `${load}\n${program}`];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 50_000 });
    expect(stdout, stderr).toBe('2\n');
  });
});

describe('snapshots of a sharded cache', () => {
  it('are written by each worker and restored to the same entries', async () => {
    const name = code.path('flows');
    const reports = manyReports(new Random(SEED), 4);
    const held = await withCache(ROOMY, async (cache) => {
      await dispatchAll(cache, reports);
      expect(await cache.snapshot(name)).toEqual([`${name}.0-of-2`, `${name}.1-of-2`]);
      return byFlow(await entriesOf(cache));
    });
    expect(statSync(`${name}.1-of-2`).size).toBeGreaterThan(0);
    expect(existsSync(`${name}.1-of-2.part`)).toBe(false);
    const more = manyReports(new Random(SEED + 1), 1);
    await withCache({ ...ROOMY, restore: name }, async (cache) => {
      expect(byFlow(await entriesOf(cache))).toEqual(held);
      await dispatchAll(cache, more);
      const totals = await cache.totals();
      expect(totals.restoredPackets).toBe(packetsOf([...held.values()]));
      expectClosed(totals, rowsOf(more), packetsOf(await entriesOf(cache)));
    });
  });

  it('are refused by a cache that is not the same', async () => {
    const name = code.path('others');
    await withCache(ROOMY, (cache) => cache.snapshot(name));
    for (const other of [{ hops: 4 }, { seed: 1 }, { rows: 1024 }, { restore: code.path('none') }, { shards: 3 }]) {
      await expect(openCache({ ...ROOMY, restore: name, ...other })).rejects.toMatchObject({ code: 'ERR_SHARD_START' });
    }
  });

  it('that cannot be written are an error, and the workers go on', async () => {
    await withCache(ROOMY, async (cache) => {
      await expect(cache.snapshot(code.path('no/such/folder'))).rejects.toMatchObject({ code: 'ERR_SHARD_REQUEST' });
      const taken = code.path('taken');
      mkdirSync(`${taken}.0-of-2`);
      await expect(cache.snapshot(taken)).rejects.toMatchObject({ code: 'ERR_SHARD_REQUEST', shard: 0 });
      expect(existsSync(`${taken}.0-of-2.part`)).toBe(false);
      const reports = manyReports(new Random(SEED), 1);
      await dispatchAll(cache, reports);
      expect((await cache.totals()).offered).toBe(rowsOf(reports));
    });
  });
});
