import { EntryReader, type FlowEntry, type FlowEvent, geometryOf } from '@int/flowcache';
import {
  flowText,
  RedisWriter,
  type RedisWriterOptions,
  readPackedEntries,
  readPackedEvents,
  readStoredEvent,
  readStoredFlow,
} from '@int/sink-redis';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { entryRecord, eventRecord } from '../../src/record/from-object.js';
import { entry, event } from '../arbitrary.js';
import { type Client, RedisServer, stopServers } from '../redis-server.js';
import { SEED } from '../seed.js';
import { hash, packedStream, stream, unaccounted } from '../stored.js';

afterEach(stopServers);

const geometry = geometryOf({ rows: 1 });
const compact = geometryOf({ rows: 1, layout: 'compact' });

async function opened(options: Partial<RedisWriterOptions> = {}): Promise<{ client: Client; sink: RedisWriter }> {
  const server = await RedisServer.start();
  const sink = new RedisWriter({ url: server.url, geometry, ...options });
  await sink.open();
  return { client: await server.client(), sink };
}

const events = (count: number): FlowEvent[] => fc.sample(event(geometry.metrics), { seed: SEED, numRuns: count });

/** The scope under which an event is counted and, with one stream per switch, kept. */
function scopeOf({ nodeId, scope }: FlowEvent): string {
  return scope === 'endToEnd' ? 'endToEnd' : nodeId === null ? 'unnamed' : String(nodeId);
}

function countsOf(all: readonly FlowEvent[], nameOf: (one: FlowEvent) => string = scopeOf): Record<string, string> {
  const counts = new Map<string, number>();
  for (const one of all) {
    const metric = one.scope === 'endToEnd' ? '' : `${one.metric}.`;
    for (const kind of one.kinds) {
      const field = kind === 'pathChange' ? kind : `${nameOf(one)}.${metric}${kind}`;
      counts.set(field, (counts.get(field) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].map(([field, count]) => [field, String(count)]));
}

describe('events', () => {
  it('are the entries of a stream, in order, with every field, and are counted', async () => {
    const { client, sink } = await opened({ batch: { events: 37 } });
    const all = events(500);
    for (const one of all) expect(sink.event(one)).toBe(true);
    await sink.flush();
    expect((await stream(client, 'int:events')).map(readStoredEvent)).toEqual(all);
    expect(await hash(client, 'int:counts')).toEqual(countsOf(all));
    const { events: totals } = await sink.close();
    expect(totals).toMatchObject({ offered: 500, delivered: 500, pending: 0 });
  });

  it('are taken from the middle of memory', async () => {
    const { client, sink } = await opened();
    const all = events(20);
    const words = new Uint32Array(5 + 16 * all.length + 3);
    all.forEach((one, k) => {
      words.set(eventRecord(one, geometry.metrics), 5 + 16 * k);
    });
    expect(sink.writeEvents(words, 5 + 16, all.length - 1)).toBe(all.length - 1);
    await sink.close();
    expect((await stream(client, 'int:events')).map(readStoredEvent)).toEqual(all.slice(1));
  });

  it('look like this to any other tool', async () => {
    const { client, sink } = await opened();
    const flow = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 5000, destinationPort: 80 };
    sink.event({
      kinds: ['threshold', 'change'],
      scope: 'hop',
      metric: 'queueOccupancy',
      hop: 2,
      nodeId: 17,
      value: 900,
      previous: 12,
      threshold: 500,
      timeNs: 1_700_000_000_123_456_789n,
      flow,
    });
    sink.event({
      kinds: ['pathChange'],
      scope: 'endToEnd',
      metric: null,
      hop: null,
      nodeId: null,
      value: 3,
      previous: 4,
      threshold: null,
      timeNs: 5n,
      flow,
    });
    await sink.close();
    expect(await stream(client, 'int:events')).toEqual([
      {
        time: '1700000000123456789',
        kinds: 'threshold,change',
        metric: 'queueOccupancy',
        hop: '2',
        node: '17',
        value: '900',
        previous: '12',
        threshold: '500',
        flow: '10.0.1.1:5000-10.0.2.2:80/17',
      },
      {
        time: '5',
        kinds: 'pathChange',
        metric: 'path',
        hop: '',
        node: '',
        value: '3',
        previous: '4',
        threshold: '',
        flow: '10.0.1.1:5000-10.0.2.2:80/17',
      },
    ]);
    expect(await hash(client, 'int:counts')).toEqual({
      '17.queueOccupancy.threshold': '1',
      '17.queueOccupancy.change': '1',
      pathChange: '1',
    });
  });

  it('have a stream per switch if wanted', async () => {
    const { client, sink } = await opened({ prefix: 'lab', events: { streams: 'perSwitch' } });
    const all = events(300);
    for (const one of all) sink.event(one);
    await sink.close();
    const scopes = new Set(all.map(scopeOf));
    for (const scope of scopes) {
      const expected = all.filter((one) => scopeOf(one) === scope);
      expect((await stream(client, `lab:events:${scope}`)).map(readStoredEvent)).toEqual(expected);
    }
    const keys = (await client.sendCommand(['KEYS', 'lab:events:*'])) as unknown as string[];
    expect(keys.length).toBe(scopes.size);
  });

  it('of more switches than are to be named go together', async () => {
    const { client, sink } = await opened({ events: { streams: 'perSwitch', maxSwitches: 2 } });
    const named = events(200).filter(({ nodeId }) => nodeId !== null);
    for (const one of named) sink.event(one);
    await sink.close();
    const known = [...new Set(named.map(scopeOf))].slice(0, 2);
    const nameOf = (one: FlowEvent): string => (known.includes(scopeOf(one)) ? scopeOf(one) : 'other');
    expect(await hash(client, 'int:counts')).toEqual(countsOf(named, nameOf));
    const keys = (await client.sendCommand(['KEYS', 'int:events:*'])) as unknown as string[];
    expect(keys.toSorted()).toEqual([...known, 'other'].map((name) => `int:events:${name}`).toSorted());
  });

  it('can be packed, and are counted all the same', async () => {
    const { client, sink } = await opened({ events: { form: 'packed' }, batch: { events: 64 } });
    const all = events(200);
    for (const one of all) sink.event(one);
    await sink.flush();
    const packed = await packedStream(client, 'int:events');
    expect(packed.map(({ count }) => String(count))).toEqual(['64', '64', '64', '8']);
    expect(packed.flatMap(readPackedEvents)).toEqual(all);
    expect(await hash(client, 'int:counts')).toEqual(countsOf(all));
    await sink.close();
  });

  it('need not be counted', async () => {
    const { client, sink } = await opened({ events: { counts: false } });
    for (const one of events(10)) sink.event(one);
    await sink.close();
    expect(await client.sendCommand(['EXISTS', 'int:counts'])).toBe(0);
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(10);
  });
});

/** A mean, to 6 decimals or 12 digits. */
function closeTo(mean: number): number {
  return expect.toSatisfy((stored: number) => Math.abs(stored - mean) <= 5.1e-7 + 1e-11 * mean) as number;
}

/** What one entry becomes when it is the only one of its flow. */
function storedOf(one: FlowEntry): ReturnType<typeof readStoredFlow> {
  const statisticsOf = (metric: FlowEntry['endToEnd']) =>
    metric === null || metric.count === 0
      ? null
      : {
          last: metric.last,
          mean: closeTo(metric.mean),
          count: BigInt(metric.count),
          sum: metric.sum,
        };
  return {
    flow: one.flow,
    reason: one.reason,
    entries: 1n,
    packets: BigInt(one.packets),
    firstNs: one.firstNs,
    lastNs: one.lastNs,
    pathChanges: BigInt(one.pathChanges),
    pathLength: one.pathLength,
    path: one.path,
    hopsBeyond: one.hopsBeyond === null ? null : BigInt(one.hopsBeyond),
    endToEnd: statisticsOf(one.endToEnd),
    hops: one.hops.map(({ metrics, nodeId }) => ({
      nodeId,
      metrics: Object.fromEntries(
        Object.entries(metrics)
          .map(([name, metric]) => [name, statisticsOf(metric)] as const)
          .filter(([, metric]) => metric !== null),
      ),
    })),
  };
}

describe.each([
  ['exact', geometry],
  ['compact', compact],
] as const)('entries of an %s cache', (_name, shape) => {
  const entries = fc.sample(entry(shape), { seed: SEED, numRuns: 150 });

  it('are hashes of flows, with every field, and an index', async () => {
    const { client, sink } = await opened({ geometry: shape, batch: { entries: 16 } });
    const words = new Int32Array(7 + shape.bucketStride * entries.length);
    entries.forEach((one, k) => {
      words.set(entryRecord(one, shape), 7 + shape.bucketStride * k);
    });
    expect(sink.writeEntries(words, 7, entries.length)).toBe(entries.length);
    await sink.flush();
    for (const one of entries) {
      const key = sink.keys.flow(one.flow);
      expect(readStoredFlow(key, await hash(client, key))).toEqual(storedOf(one));
      const score = await client.sendCommand(['ZSCORE', 'int:flows', flowText(one.flow)]);
      expect(Number(score)).toBe(Number(one.lastNs / 1_000_000n));
    }
    expect(await client.sendCommand(['ZCARD', 'int:flows'])).toBe(entries.length);
    expect(unaccounted(await sink.close())).toEqual([0, 0, 0]);
  });

  it('can be packed', async () => {
    const { client, sink } = await opened({ geometry: shape, entries: { form: 'packed' } });
    for (const one of entries) expect(sink.entry(one)).toBe(true);
    await sink.close();
    const packed = await packedStream(client, 'int:entries');
    expect(packed.flatMap(readPackedEntries)).toEqual(entries);
    const words = packed.map(({ records }) => (records as Uint8Array).length / 4 / shape.bucketStride);
    expect(words).toEqual([64, 64, 22]);
    const [first] = packed;
    const bytes = Uint8Array.from(first?.records as Uint8Array);
    const reader = new EntryReader(shape);
    expect(reader.read(new Int32Array(bytes.buffer), shape.bucketStride)).toEqual(entries[1]);
  });
});

describe('values', () => {
  it('are hashes, and replace those before', async () => {
    const { client, sink } = await opened();
    sink.values('collector', { received: 12, decoded: 11n, state: 'läuft', ratio: 0.5 });
    sink.values('a:b', { x: '' });
    await sink.flush();
    expect(await hash(client, 'int:values:collector')).toEqual({
      received: '12',
      decoded: '11',
      state: 'läuft',
      ratio: '0.5',
    });
    sink.values('collector', { received: 13 });
    await sink.close();
    expect(await hash(client, 'int:values:collector')).toEqual({ received: '13' });
    expect(await hash(client, 'int:values:a:b')).toEqual({ x: '' });
  });

  it('may be many and long', async () => {
    const { client, sink } = await opened();
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, k) => [`bin ${k}`, '7'.repeat(200)]));
    sink.values('histogram', fields);
    await sink.close();
    expect(await hash(client, 'int:values:histogram')).toEqual(fields);
  });

  it.each([
    [{}, RangeError],
    [Object.fromEntries(Array.from({ length: 1001 }, (_, k) => [k, 1])), RangeError],
    [{ x: Number.NaN }, TypeError],
    [{ x: 'y'.repeat(1 << 18) }, RangeError],
  ])('are refused if they are none or too many', (fields, type) => {
    const sink = new RedisWriter({ geometry });
    expect(() => sink.values('x', fields)).toThrow(type);
    expect(sink.totals().values.offered).toBe(0);
  });
});

describe('what is not in the stated form', () => {
  const fields = { time: '1', kinds: 'change', metric: 'hopLatency', hop: '0', node: '1', value: '1', previous: '0' };
  const good = { ...fields, threshold: '1', flow: '1.2.3.4:1-1.2.3.4:2/6' };

  it.each([
    ['time', undefined],
    ['time', 'x'],
    ['kinds', 'sudden'],
    ['metric', 'mood'],
    ['value', ''],
    ['flow', '1.2.3.4'],
  ])('is no event: %s %j', (name, value) => {
    expect(readStoredEvent(good).value).toBe(1);
    expect(() => readStoredEvent({ ...good, [name]: value })).toThrow(SyntaxError);
  });

  it.each([
    ['reason', 'bored'],
    ['packets', '-1'],
    ['endToEnd', '1 2 3'],
    ['hop.0.hopLatency', '1 x 3 4'],
  ])('is no flow: %s %j', (name, value) => {
    const flow = { reason: 'aged', packets: '1', entries: '1', pathChanges: '0', first: '0', last: '0' };
    const whole = { ...flow, pathLength: '1', path: '', 'hop.0.node': '' };
    expect(readStoredFlow('1.2.3.4:1-1.2.3.4:2/6', whole).path).toEqual([null]);
    expect(() => readStoredFlow('1.2.3.4:1-1.2.3.4:2/6', { ...whole, [name]: value })).toThrow(SyntaxError);
  });

  it.each([
    [{ records: 'text' }, 'must be bytes'],
    [{ layout: 'loose' }, 'unknown layout'],
    [{ count: '2' }, '64 bytes are not 2 records'],
    [{ hops: undefined }, "no field 'hops'"],
  ])('is no packed record: %j', (change, message) => {
    const packed = { layout: 'exact', hops: '5', metrics: 'hopLatency', count: '1', records: new Uint8Array(64) };
    expect(readPackedEvents(packed)).toHaveLength(1);
    expect(() => readPackedEvents({ ...packed, ...change })).toThrow(message);
  });
});
