import { encodeReport, telemetry } from '@int/codec';
import { Collector, FlowStage, FrameSlab, type Push, type Sink, type Source } from '@int/collector';
import { geometryOf } from '@int/flowcache';
import { RedisSink } from '@int/sink-redis';
import { afterEach, describe, expect, it } from 'vitest';
import { RedisServer, stopServers } from './redis-server.js';

afterEach(stopServers);

const CACHE = { rows: 1, buckets: 2, hops: 2, thresholds: { metrics: { hopLatency: { level: 900 } } } } as const;
const REPORTS = 600;

/** Reports of more flows than the cache has room for: they are evicted and come back all the time. */
function source(): Source {
  const frames = new FrameSlab({ frames: REPORTS, bytes: 256 * REPORTS }, 'report');
  for (let number = 0; number < REPORTS; number++) {
    const flow = {
      source: '10.0.0.1',
      destination: '10.0.0.2',
      sourcePort: (number * number) % 7,
      destinationPort: 443,
    };
    const hops = [{ nodeId: 7, hopLatency: (number * 37) % 1000 }];
    frames.append(encodeReport(telemetry({ flow, hops, report: { sequence: number } })), 1_700_000_000_000 + number);
  }
  let finished: Promise<void> | undefined;
  return {
    name: 'reports',
    overrun: 0,
    kernelDropped: 0,
    get finished() {
      return finished ?? Promise.resolve();
    },
    start: async (push: Push) => {
      finished = push(frames);
    },
    stop: async () => finished,
  };
}

async function collect(redis: RedisSink, timeoutMs?: number): Promise<{ flows: FlowStage; collector: Collector }> {
  const flows = new FlowStage({ ...CACHE, ...(redis.cacheEvents !== undefined && { events: redis.cacheEvents }) });
  const sink: Sink = redis;
  const collector = new Collector({ sources: [source()], stages: [flows], sinks: [sink] });
  await collector.start();
  await collector.stop(timeoutMs);
  return { flows, collector };
}

describe('RedisSink', () => {
  it('is a sink of a collector: entries and events of the flow cache arrive, also where it has to be waited for', async () => {
    const server = await RedisServer.start();
    const redis = new RedisSink({ url: server.url, geometry: geometryOf(CACHE), maxPending: { entries: 3 } });
    void redis.open();
    const { flows, collector } = await collect(redis);
    const { inserted, live, lostEvents, lostEntries } = flows.totals();
    expect([live, lostEvents, lostEntries]).toEqual([0, 0, 0]);
    expect(inserted).toBeGreaterThan(100);
    const { events, flows: written } = collector.totals().sinks.redis!;
    expect(written).toEqual({ offered: inserted, delivered: inserted, pending: 0, dropped: {} });
    expect(events).toMatchObject({ pending: 0, dropped: {} });
    expect(events!.delivered).toBeGreaterThan(0);
    const client = await server.client();
    expect(Number(await client.sendCommand(['XLEN', 'int:events']))).toBe(events!.delivered);
  });

  it('says that it is in trouble, and counts what it could not write', async () => {
    const problems: string[] = [];
    const redis = new RedisSink({
      url: 'unix:///nowhere/redis.sock',
      geometry: geometryOf(CACHE),
      name: 'away',
      records: ['flows'],
      whenFull: 'drop',
      maxPending: { entries: 3 },
      onProblem: ({ code }) => problems.push(code),
    });
    expect(redis.cacheEvents).toBeUndefined();
    void redis.open();
    const { flows, collector } = await collect(redis, 200);
    expect(problems).toContain('ERR_REDIS_CONNECTION');
    expect(redis.health()).toMatch(/redis\.sock/);
    const { offered, delivered, pending, dropped } = collector.totals().sinks.away!.flows!;
    expect([offered, delivered, pending]).toEqual([flows.totals().inserted, 0, 0]);
    expect(dropped).toEqual({ overflow: offered - 3, closed: 3 });
    expect(collector.totals().sinks.away!.events).toBeUndefined();
  });
});
