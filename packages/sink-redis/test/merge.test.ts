import { formatIpv4 } from '@int/codec';
import { type CacheGeometry, type FlowEntry, geometryOf, type MetricStatistics } from '@int/flowcache';
import { RedisWriter, readStoredFlow, type StoredFlow, type StoredStatistics } from '@int/sink-redis';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { entry } from './arbitrary.js';
import { RedisServer, stopServers } from './redis-server.js';
import { SEED } from './seed.js';
import { hash } from './stored.js';

const exact = geometryOf({ rows: 1 });
const compact = geometryOf({ rows: 1, layout: 'compact' });
const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1024, destinationPort: 443 };

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

function addStatistics(old: StoredStatistics | null, metric: MetricStatistics | null): StoredStatistics | null {
  if (metric === null || metric.count === 0) return old;
  const count = (old?.count ?? 0n) + BigInt(metric.count);
  const sum = metric.sum === null || (old !== null && old.sum === null) ? null : (old?.sum ?? 0n) + metric.sum;
  const weighted = (old?.mean ?? 0) * Number(old?.count ?? 0n) + metric.mean * metric.count;
  return { last: metric.last, count, sum, mean: sum === null ? weighted / Number(count) : Number(sum) / Number(count) };
}

/** The definition of merging, in exact integers. */
function add(old: StoredFlow | null, one: FlowEntry, geometry: CacheGeometry): StoredFlow {
  const hops = Array.from({ length: Math.max(old?.hops.length ?? 0, one.hops.length) }, (_, k) => {
    const before = old?.hops[k];
    const now = one.hops[k];
    const metrics = geometry.metrics
      .map((name) => [name, addStatistics(before?.metrics[name] ?? null, now?.metrics[name] ?? null)] as const)
      .filter(([, metric]) => metric !== null);
    return { nodeId: (now ?? before)?.nodeId ?? null, metrics: Object.fromEntries(metrics) };
  });
  return {
    flow: one.flow,
    reason: one.reason,
    entries: (old?.entries ?? 0n) + 1n,
    packets: (old?.packets ?? 0n) + BigInt(one.packets),
    firstNs: old === null ? one.firstNs : least(old.firstNs, one.firstNs),
    lastNs: old === null ? one.lastNs : most(old.lastNs, one.lastNs),
    pathChanges: (old?.pathChanges ?? 0n) + BigInt(one.pathChanges),
    pathLength: one.pathLength,
    path: one.path,
    hopsBeyond: one.hopsBeyond === null ? null : (old?.hopsBeyond ?? 0n) + BigInt(one.hopsBeyond),
    endToEnd: addStatistics(old?.endToEnd ?? null, one.endToEnd),
    hops,
  };
}

/** The same flow without means, and the means by their place. */
function split(stored: StoredFlow): { readonly rest: unknown; readonly means: ReadonlyMap<string, number> } {
  const means = new Map<string, number>();
  const visit = (value: unknown, place: string): unknown => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(([name, part]) => [name, visit(part, `${place}.${name}`)] as const);
    const mean = parts.find(([name]) => name === 'mean')?.[1];
    if (typeof mean === 'number') means.set(place, mean);
    return Object.fromEntries(parts.filter(([name]) => name !== 'mean'));
  };
  return { rest: visit(stored, ''), means };
}

function expectSame(stored: StoredFlow, model: StoredFlow): void {
  const [found, wanted] = [split(stored), split(model)];
  expect(found.rest).toEqual(wanted.rest);
  for (const [place, mean] of wanted.means) {
    expect(Math.abs(found.means.get(place)! - mean), place).toBeLessThanOrEqual(5.1e-7 + 1e-8 * mean);
  }
}

describe('the entries of a flow', () => {
  afterEach(stopServers);

  it.each([
    ['exact', exact],
    ['compact', compact],
  ] as const)('add up in the %s layout as in exact integers, whatever comes when', async (_name, geometry) => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry, batch: { entries: 5 } });
    await sink.open();
    let rounds = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(entry(geometry), { minLength: 1, maxLength: 12 }), async (entries) => {
        const own = { ...flow, source: formatIpv4(rounds++) };
        let model: StoredFlow | null = null;
        for (const one of entries) {
          expect(sink.entry({ ...one, flow: own })).toBe(true);
          model = add(model, { ...one, flow: own }, geometry);
        }
        const key = sink.keys.flow(own);
        await sink.flush();
        expectSame(readStoredFlow(key, await hash(client, key)), model!);
      }),
      { seed: SEED, numRuns: 100 },
    );
    await sink.close();
  });
});

describe('a flow', () => {
  afterEach(stopServers);

  const base: FlowEntry = {
    flow,
    reason: 'evicted',
    packets: 10,
    firstNs: 1_700_000_000_000_000_000n,
    lastNs: 1_700_000_001_000_000_000n,
    pathChanges: 0,
    pathLength: 1,
    path: [7],
    hopsBeyond: 0,
    endToEnd: null,
    hops: [{ nodeId: 7, metrics: { hopLatency: { last: 5, mean: 4, count: 10, sum: 40n } } }],
  };

  it('keeps sums exact that no 64 bits hold', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry: exact });
    void sink.open();
    const sum = (1n << 64n) - 1n;
    const hops = [{ nodeId: 7, metrics: { hopLatency: { last: 5, mean: 1, count: 2 ** 32 - 1, sum } } }];
    for (let k = 0; k < 100; k++) sink.entry({ ...base, packets: 2 ** 32 - 1, hops });
    await sink.close();
    const fields = await hash(client, sink.keys.flow(flow));
    expect(fields.packets).toBe(String(100 * (2 ** 32 - 1)));
    expect(fields['hop.0.hopLatency']).toBe(`5 4294967297 429496729500 ${100n * sum}`);
  });

  it('has a live hash beside its own, until its entry leaves the cache', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry: exact });
    void sink.open();
    const own = sink.keys.flow(flow);
    const live = sink.keys.live(flow);
    sink.entry(base);
    sink.entry({ ...base, reason: 'live', packets: 3 });
    sink.entry({ ...base, reason: 'live', packets: 4, hops: [], path: [], pathLength: 0 });
    await sink.flush();
    expect(readStoredFlow(own, await hash(client, own))).toMatchObject({ packets: 10n, entries: 1n });
    // A snapshot replaces the one before, also what that had more.
    expect(readStoredFlow(live, await hash(client, live))).toMatchObject({ packets: 4n, reason: 'live', hops: [] });
    sink.entry({ ...base, reason: 'aged', packets: 6 });
    await sink.close();
    expect(readStoredFlow(own, await hash(client, own))).toMatchObject({ packets: 16n, entries: 2n, reason: 'aged' });
    expect(await client.sendCommand(['EXISTS', live])).toBe(0);
  });

  it('of caches with both layouts has means, but no sums', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    for (const geometry of [exact, compact, exact]) {
      const sink = new RedisWriter({ url: server.url, geometry });
      void sink.open();
      sink.entry(base);
      await sink.close();
    }
    const key = 'int:flow:10.0.0.1:1024-10.0.0.2:443/6';
    expect((await hash(client, key))['hop.0.hopLatency']).toBe('5 4 30 -');
  });

  it('that somebody has tampered with is refused and left as it is', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const problems: string[] = [];
    const sink = new RedisWriter({
      url: server.url,
      geometry: exact,
      onProblem: ({ message }) => problems.push(message),
    });
    void sink.open();
    sink.entry(base);
    await sink.flush();
    const key = sink.keys.flow(flow);
    await client.sendCommand(['HSET', key, 'hop.0.hopLatency', 'nonsense']);
    const before = await hash(client, key);
    const other = { ...flow, sourcePort: 1 };
    sink.entry(base);
    sink.entry({ ...base, flow: other });
    await sink.flush();
    expect(await hash(client, key)).toEqual(before);
    expect((await hash(client, sink.keys.flow(other))).packets).toBe('10');
    expect(problems).toEqual(['ERR not the statistics of a metric: nonsense']);
    expect((await sink.close()).entries).toMatchObject({ offered: 3, delivered: 2, dropped: { refused: 1 } });
  });
});
