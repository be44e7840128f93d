import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { telemetry } from '@int/codec';
import { type CacheGeometry, EVENT_WORDS, FlowCache, geometryOf } from '@int/flowcache';
import { SpscRing } from '@int/rings';
import { carry, RedisSinkError, RedisWriter, type RedisWriterOptions, readStoredFlow } from '@int/sink-redis';
import { afterEach, describe, expect, it } from 'vitest';
import { freeTcpPort } from '../../../../.ci/test/ports.mjs';
import { requires } from '../../../../.ci/test/requires.js';
import { inTime, until } from '../../../../.ci/test/until.js';
import { toSinkError } from '../../src/errors.js';
import { DROP_REASONS } from '../../src/outlet/counters.js';
import { geometry, Load } from '../load.js';
import { RedisServer, stopServers } from '../redis-server.js';
import { hash, unaccounted } from '../stored.js';

afterEach(stopServers);

describe('a writer that nobody has opened', () => {
  it('takes what there is room for, and counts it as closed in the end', async () => {
    const sink = new RedisWriter({ geometry, maxPending: { events: 10, entries: 4, values: 1 } });
    const load = new Load();
    expect(load.pushEvents(sink, 25)).toBe(10);
    expect(load.pushEntries(sink, 3)).toBe(3);
    expect([sink.values('a', { x: 1 }), sink.values('b', { x: 1 })]).toEqual([true, false]);
    expect(sink.totals().events).toMatchObject({ offered: 10, pending: 10 });
    const waiting = sink.ready('events');
    const totals = await sink.close();
    await waiting;
    expect(totals.events).toMatchObject({ offered: 10, pending: 0, dropped: { closed: 10 } });
    expect(totals.entries).toMatchObject({ offered: 3, pending: 0, dropped: { closed: 3 } });
    expect(totals.values).toMatchObject({ offered: 1, pending: 0, dropped: { closed: 1 } });
    expect(Object.keys(totals.events.dropped).toSorted()).toEqual([...DROP_REASONS].toSorted());
  });

  it('can drop what it has no room for', async () => {
    const sink = new RedisWriter({ geometry, maxPending: { events: 10 }, whenFull: 'drop' });
    expect(new Load().pushEvents(sink, 25)).toBe(25);
    expect(sink.totals().events).toMatchObject({ offered: 25, pending: 10, dropped: { overflow: 15 } });
    const totals = await sink.close();
    expect(totals.events).toMatchObject({ offered: 25, dropped: { overflow: 15, closed: 10 } });
    expect(unaccounted(totals)).toEqual([0, 0, 0]);
  });

  it('takes and counts everything once it is closed, so that nobody waits for it', async () => {
    const sink = new RedisWriter({ geometry });
    await sink.close();
    expect(new Load().pushEvents(sink, 25)).toBe(25);
    await sink.ready('events');
    await sink.flush();
    await sink.open();
    expect(sink.isConnected).toBe(false);
    expect(sink.totals().events).toMatchObject({ offered: 25, pending: 0, dropped: { closed: 25 } });
    expect(await sink.close()).toEqual(sink.totals());
  });
});

describe('records', () => {
  const sink = new RedisWriter({ geometry });
  const words = new Int32Array(2 * EVENT_WORDS);

  it.each([
    [0, 3],
    [1, 2],
    [-1, 1],
    [0, -1],
    [0, Number.NaN],
    [0, 1.5],
    [0.5, 1],
    [2 * EVENT_WORDS + 1, 0],
  ])('must lie within their memory: at %d, %d of them', (at, records) => {
    expect(() => sink.writeEvents(words, at, records)).toThrow(RangeError);
    expect(sink.totals().events.offered).toBe(0);
  });

  it('say how long they are', () => {
    expect([sink.events.recordWords, sink.entries.recordWords]).toEqual([EVENT_WORDS, geometry.bucketStride]);
  });
});

describe('options', () => {
  const none = undefined as unknown as CacheGeometry;
  const wrong: [string, Partial<RedisWriterOptions>, string][] = [
    ['no geometry', { geometry: none }, 'geometry'],
    ['another scheme', { url: 'http://localhost' }, 'url'],
    ['an empty prefix', { prefix: '' }, 'prefix'],
    ['an empty writer', { writer: '' }, 'writer'],
    ['a form of events', { events: { form: 'loose' as 'packed' } }, 'events.form'],
    ['packed events per switch', { events: { form: 'packed', streams: 'perSwitch' } }, 'one stream'],
    ['no room', { maxPending: { events: 0 } }, 'maxPending.events'],
    ['a batch of a half', { batch: { entries: 0.5 } }, 'batch.entries'],
    ['no window', { inFlight: 0 }, 'inFlight'],
    ['a negative time', { lingerMs: -1 }, 'lingerMs'],
    ['a longest wait below the first', { retry: { firstMs: 10, maxMs: 5 } }, 'retry.maxMs'],
    ['a negative database', { database: -1 }, 'database'],
    ['no such policy', { whenFull: 'explode' as 'drop' }, 'whenFull'],
  ];
  it.each(wrong)('that are wrong are named: %s', (_what, options, name) => {
    expect(() => new RedisWriter({ geometry, ...options })).toThrow(name);
  });

  it('of closing are checked', () => {
    const sink = new RedisWriter({ geometry });
    expect(() => sink.close(-1)).toThrow(RangeError);
    expect(() => sink.close(Number.NaN)).toThrow(RangeError);
    expect(() => sink.ready('rumours' as 'events')).toThrow(TypeError);
  });
});

describe('errors', () => {
  it('are recognized by a brand', () => {
    const error = toSinkError(new Error('socket hang up'));
    expect(RedisSinkError.is(error)).toBe(true);
    expect(RedisSinkError.is(new Error('socket hang up'))).toBe(false);
    expect(error).toMatchObject({ code: 'ERR_REDIS_CONNECTION', message: 'socket hang up' });
    expect(toSinkError(error)).toBe(error);
  });

  it('of several addresses say what the first one met', () => {
    const all = new AggregateError([new Error('connect ECONNREFUSED ::1:6379'), new Error('other')]);
    expect(toSinkError(all).message).toContain('ECONNREFUSED ::1:6379');
  });

  it('that a callback throws leave the sink as it is', async () => {
    const server = new RedisServer();
    const thrown: unknown[] = [];
    const catcher = (error: unknown): number => thrown.push(error);
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', catcher);
    const sink = new RedisWriter({
      url: server.url,
      geometry,
      retry: { firstMs: 1, maxMs: 2 },
      onProblem: () => {
        throw new Error('from the callback');
      },
    });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 5);
    await until('what was thrown', () => thrown.length > 0);
    process.removeListener('uncaughtException', catcher);
    for (const listener of before) process.on('uncaughtException', listener);
    await server.start();
    await sink.flush();
    await load.expectStored(await server.client(), sink);
    await sink.close();
    expect(thrown).toEqual([new Error('from the callback')]);
  });
});

describe('what a server keeps', () => {
  it('of a stream of events is limited', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry, events: { keep: 500 }, batch: { events: 100 } });
    void sink.open();
    new Load().pushEvents(sink, 3000);
    await sink.flush();
    const length = Number(await client.sendCommand(['XLEN', 'int:events']));
    // Trimming leaves whole nodes of a stream: up to 100 entries more.
    expect(length).toBeGreaterThanOrEqual(500);
    expect(length).toBeLessThanOrEqual(600);
    const [last] = (await client.sendCommand(['XREVRANGE', 'int:events', '+', '-', 'COUNT', '1'])) as unknown as [
      string,
      string[],
    ][];
    expect(last?.[1].slice(10, 12)).toEqual(['value', '2999']);
    expect((await sink.close()).events).toMatchObject({ delivered: 3000 });
  });

  it('of packed events is limited in full batches', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const events = { form: 'packed', keep: 1000 } as const;
    // Entries of this size are nodes of their own.
    const sink = new RedisWriter({ url: server.url, geometry, events, batch: { events: 100 } });
    void sink.open();
    new Load().pushEvents(sink, 4000);
    await sink.close();
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(10);
  });

  it('of flows is limited to those seen last', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry, entries: { maxFlows: 10 }, batch: { entries: 8 } });
    void sink.open();
    const flowOf = (k: number) => ({
      source: '10.0.0.1',
      destination: '10.0.0.2',
      protocol: 6,
      sourcePort: k,
      destinationPort: 1,
    });
    const entryOf = (k: number) => ({
      flow: flowOf(k),
      reason: 'aged' as const,
      packets: 1,
      firstNs: 0n,
      lastNs: BigInt(k) * 1_000_000n,
      pathChanges: 0,
      pathLength: 0,
      path: [],
      hopsBeyond: 0,
      endToEnd: null,
      hops: [],
    });
    for (let k = 0; k < 50; k++) sink.entry(entryOf(k));
    await sink.close();
    const flows = (await client.sendCommand(['ZRANGE', 'int:flows', '0', '-1'])) as unknown as string[];
    expect(flows).toEqual(Array.from({ length: 10 }, (_, k) => `10.0.0.1:${40 + k}-10.0.0.2:1/6`));
    const keys = (await client.sendCommand(['KEYS', 'int:flow:*'])) as unknown as string[];
    expect(keys.toSorted()).toEqual(flows.map((flow) => `int:flow:${flow}`).toSorted());
    const forgotten = await client.sendCommand(['HGET', sink.keys.writer(sink.writer), 'flows.forgotten']);
    expect(forgotten).toBe('40');
  });

  it('of flows expires, and leaves the index', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const sink = new RedisWriter({ url: server.url, geometry, entries: { keepMs: 40 } });
    void sink.open();
    const load = new Load();
    load.pushEntries(sink, 7);
    await sink.flush();
    expect(await client.sendCommand(['ZCARD', 'int:flows'])).toBe(7);
    await until(
      'the end of the first flows',
      async () => Number(await client.sendCommand(['EXISTS', 'int:flow:0.0.0.6:0-0.0.0.0:0/6'])) === 0,
    );
    load.pushEntries(sink, 2);
    await sink.close();
    const flows = (await client.sendCommand(['ZRANGE', 'int:flows', '0', '-1'])) as unknown as string[];
    expect(flows).toEqual(['0.0.0.0:0-0.0.0.0:0/6', '0.0.0.1:0-0.0.0.0:0/6']);
  });
});

describe('a writer behind TCP', () => {
  it('writes as over a Unix socket', async () => {
    const port = await freeTcpPort();
    const server = await RedisServer.start('--port', String(port), '--bind', '127.0.0.1');
    const sink = new RedisWriter({ url: `redis://127.0.0.1:${port}`, geometry });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 3000);
    load.pushEntries(sink, 300);
    await sink.flush();
    await load.expectStored(await server.client(), sink);
    await sink.close();
  });

  it('gives up connecting when it is closed', async () => {
    // A server that accepts connections and says nothing.
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await inTime('a TCP port', once(silent, 'listening'));
    const { port } = silent.address() as AddressInfo;
    const sink = new RedisWriter({ url: `redis://user:secret@127.0.0.1:${port}`, geometry });
    const opened = sink.open();
    await until('a connection', () => sockets.length === 1);
    const over = once(sockets[0]!, 'close');
    sockets[0]!.resume();
    await sink.close(1);
    await inTime('the end of the connection', Promise.all([opened, over]));
    silent.close();
  });

  it('can be encrypted, and does not trust just any server', async () => {
    const openssl = requires('openssl', 'apt-get install openssl');
    const server = new RedisServer();
    const [key, cert] = [join(server.folder, 'key.pem'), join(server.folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    execFileSync(openssl, ['req', '-x509', '-nodes', ...elliptic, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
      timeout: 30_000,
    });
    const port = await freeTcpPort();
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    await server.start(true, '--tls-port', String(port), '--tls-auth-clients', 'no', ...files);
    const url = `rediss://127.0.0.1:${port}`;
    const problems: string[] = [];
    const distrustful = new RedisWriter({ url, geometry, onProblem: ({ message }) => problems.push(message) });
    void distrustful.open();
    await until('a problem', () => problems.length > 0);
    expect(problems[0]).toContain('self-signed');
    await distrustful.close(0);
    const sink = new RedisWriter({ url, geometry, tls: { ca: readFileSync(cert) } });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 1000);
    await sink.flush();
    await load.expectStored(await server.client(), sink);
    await sink.close();
  });
});

describe('a ring', () => {
  it('is carried into the sink without a loss, however small both are', async () => {
    const server = await RedisServer.start();
    const ring = new SpscRing({ recordWords: EVENT_WORDS, capacity: 1024 });
    const sink = new RedisWriter({ url: server.url, geometry, maxPending: { events: 700 }, batch: { events: 64 } });
    void sink.open();
    const total = 20_000;
    const carried = carry(ring, sink.events);
    const words = new Int32Array(EVENT_WORDS);
    for (let k = 0; k < total; ) {
      words.set([1 | (6 << 24), 1, k]);
      if (ring.push(words, 0, 1) === 1) k += 1;
      else await ring.waitForRoomAsync(100);
    }
    ring.close();
    expect(await carried).toBe(total);
    await sink.flush();
    const load = new Load();
    load.events = total;
    await load.expectStored(await server.client(), sink);
    expect((await sink.close()).events).toMatchObject({ offered: total, delivered: total });
  });

  it('stays full while the sink has no room, until it is told to stop', async () => {
    const ring = new SpscRing({ recordWords: EVENT_WORDS, capacity: 64 });
    const sink = new RedisWriter({ geometry, maxPending: { events: 10 } });
    ring.push(new Int32Array(64 * EVENT_WORDS), 0, 64);
    const stop = new AbortController();
    const carried = carry(ring, sink.events, stop.signal);
    await until('records taken from the ring', () => ring.length === 54);
    expect(ring.push(new Int32Array(20 * EVENT_WORDS), 0, 20)).toBe(10);
    stop.abort();
    await sink.close();
    await carried;
    expect(sink.totals().events).toMatchObject({ offered: 10, dropped: { closed: 10 } });
    expect(ring.length).toBe(64);
  });

  it('must have records of the right length', async () => {
    const ring = new SpscRing({ recordWords: 8, capacity: 64 });
    await expect(carry(ring, new RedisWriter({ geometry }).events)).rejects.toThrow('have 8 words, the sink');
  });
});

describe('a flow cache', () => {
  it('hands its entries and events to a sink, and in the end every packet is there', async () => {
    const server = await RedisServer.start();
    const dimensions = { rows: 1, buckets: 2, hops: 2 };
    const sink = new RedisWriter({ url: server.url, geometry: geometryOf(dimensions) });
    void sink.open();
    const thresholds = { metrics: { hopLatency: { level: 900 } } };
    const cache = new FlowCache({ ...dimensions, thresholds, entries: sink.entries, events: sink.events });
    const latencies = new Map<number, number[]>();
    // More flows than there is room for: they are evicted and come back all the time.
    for (let k = 0; k < 500; k++) {
      const sourcePort = (k * k) % 5;
      const hopLatency = (k * 37) % 1000;
      const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort, destinationPort: 443 };
      cache.observe(telemetry({ flow, hops: [{ nodeId: 7, hopLatency }] }), BigInt(k + 1) * 1_000_000n);
      latencies.set(sourcePort, [...(latencies.get(sourcePort) ?? []), hopLatency]);
    }
    cache.drain();
    expect(cache.totals()).toMatchObject({ lostEntries: 0, lostEvents: 0, live: 0 });
    const totals = await sink.close();
    expect(totals.entries.delivered).toBe(cache.totals().inserted);
    const client = await server.client();
    for (const [port, all] of latencies) {
      const key = `int:flow:10.0.0.1:${port}-10.0.0.2:443/6`;
      const stored = readStoredFlow(key, await hash(client, key));
      expect(stored.packets).toBe(BigInt(all.length));
      const sum = BigInt(all.reduce((total, one) => total + one, 0));
      expect(stored.hops[0]).toMatchObject({ nodeId: 7, metrics: { hopLatency: { last: all.at(-1), sum } } });
    }
    const above = [...latencies.values()].flat().filter((latency) => latency > 900).length;
    expect(await hash(client, 'int:counts')).toEqual({ '7.hopLatency.threshold': String(above) });
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(above);
  });
});
