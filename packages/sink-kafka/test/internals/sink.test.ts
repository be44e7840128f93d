import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileRules, Detector, EventBatch, NO_METRIC, NO_RULE } from '@int/detect';
import { geometryOf } from '@int/flowcache';
import { Admin, murmur2 } from '@platformatic/kafka';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { inTime, until } from '../../../../.ci/test/until.js';
import { COMPRESSIONS } from '../../src/client/record-batch.js';
import { KafkaSink, type KafkaSinkOptions } from '../../src/index.js';
import { check, closedAccount } from '../check.js';
import { batchOf, FLOWS } from '../load.js';
import { newName, readTopic, type Stored } from '../topic.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Nobody listens there. */
const NOBODY = ['127.0.0.1:1'];
const MEMORY = { batchBytes: 262_144, memoryBytes: 4 * 262_144, batchMessages: 250 } as const;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function sinkOf(options: KafkaSinkOptions): { readonly sink: KafkaSink; readonly problems: string[] } {
  const problems: string[] = [];
  const sink = new KafkaSink({
    format: 'json',
    retry: { firstMs: 20, maxMs: 200 },
    onProblem: ({ code }) => problems.push(code),
    ...options,
  });
  ends.push(() => sink.close(0));
  return { sink, problems };
}

function numberOf({ value }: Stored): number {
  return Number((JSON.parse(value.toString()) as { readonly id: string }).id.split('-')[1]);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'int-sink-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('with a broker', () => {
  test('reports arrive however they are compressed, a flow in one partition and in order', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const batch = batchOf(500, 20);
    const available = COMPRESSIONS.filter((each) => each !== 'zstd');
    for (const compression of available) {
      const { problems, sink } = sinkOf({
        bootstrap,
        topics: { reports },
        compression,
        createTopics: { partitions: 3 },
      });
      for (let round = 0; round < 4; round++) await sink.write(batch);
      await sink.flush();
      expect(closedAccount(sink)).toMatchObject({ offered: 2000, delivered: 2000, pending: 0 });
      expect(problems).toEqual([]);
      expect(sink.health()).toBeNull();
      await sink.close();
    }
    const stored = await readTopic(bootstrap, reports);
    expect(check(stored)).toEqual({ records: 2000 * available.length, repeats: 0 });
    expect(new Set(stored.map(({ key }) => key.toString('hex'))).size).toBe(FLOWS);
    const others = stored.filter(({ headers, key, partition }) => {
      const isSaid = headers.type === 'report' && headers.format === 'json' && key.length === 13;
      // As Kafka's own clients choose it.
      return !isSaid || partition !== (murmur2(key) & 0x7fffffff) % 3;
    });
    expect(others).toEqual([]);
  });

  test('events and flows have topics of their own, and take memory on top if they must', async () => {
    const { bootstrap } = await kafkaForTests();
    const prefix = newName('kinds.');
    const { sink } = sinkOf({ bootstrap, topics: { prefix }, ...MEMORY });
    const batch = batchOf(3);
    const detector = new Detector(compileRules({ version: 1, default: 'report', rules: [] }));
    const events = new EventBatch(4096);
    events.attach(batch, detector);
    events.report.fill(1);
    events.rule.fill(NO_RULE);
    events.kind.fill(NO_METRIC << 8);
    events.count = 1500;
    const geometry = geometryOf({ rows: 1, hops: 1 });
    const words = new Int32Array(10 * geometry.bucketStride);
    const wait = sink.writeEvents(events);
    // 1000 have room.
    expect(wait).toBeInstanceOf(Promise);
    sink.writeFlows(words, 0, 10, geometry);
    await wait;
    await sink.write(batch);
    await sink.flush();
    const kinds = Object.entries(sink.totals()).map(([kind, { delivered, offered }]) => [kind, offered, delivered]);
    expect(kinds).toEqual([
      ['reports', 3, 3],
      ['events', 1500, 1500],
      ['flows', 10, 10],
    ]);
    for (const [kind, type, count] of [
      ['reports', 'report', 3],
      ['events', 'event', 1500],
      ['flows', 'flow', 10],
    ] as const) {
      const stored = await readTopic(bootstrap, `${prefix}${kind}`);
      expect(check(stored)).toEqual({ records: count, repeats: 0 });
      expect(
        stored.filter(({ headers, value }) => headers.type !== type || JSON.parse(String(value)).type !== type),
      ).toEqual([]);
    }
  });

  test('what is in the spool comes before what is newer, also from the process before', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const directory = newFolder();
    const batch = batchOf(500);
    const spool = { directory };
    const away = sinkOf({
      bootstrap: NOBODY,
      topics: { reports },
      instance: '00000000000000aa',
      spool,
      ...MEMORY,
    }).sink;
    for (let round = 0; round < 20; round++) await away.write(batch);
    expect(closedAccount(away)).toMatchObject({ offered: 10_000, delivered: 0, pending: 10_000 });
    await away.close();
    expect(closedAccount(away)).toMatchObject({ offered: 10_000, delivered: 0, pending: 10_000 });
    expect(away.state().spooledRecords).toBe(10_000);

    const { sink } = sinkOf({ bootstrap, topics: { reports }, instance: '00000000000000bb', spool, ...MEMORY });
    expect(sink.state().foundRecords).toBe(10_000);
    for (let round = 0; round < 4; round++) await sink.write(batch);
    await sink.flush();
    expect(closedAccount(sink)).toMatchObject({ offered: 12_000, delivered: 12_000, pending: 0 });
    expect(sink.state()).toMatchObject({ spooledBytes: 0, spooledRecords: 0 });
    await sink.close();
    const stored = await readTopic(bootstrap, reports);
    expect(check(stored)).toEqual({ records: 12_000, repeats: 0 });
    const later = new Map<number, boolean>();
    const overtaken = stored.filter(({ partition, value }) => {
      const isNewer = value.includes('"00000000000000bb-');
      const isLate = later.get(partition) === true && !isNewer;
      later.set(partition, isNewer);
      return isLate;
    });
    expect(overtaken).toEqual([]);
  });

  test('batches that are too large are made smaller, and a message that is too large is dropped', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap] });
    const configs = [{ name: 'max.message.bytes', value: '4000' }];
    await admin.createTopics({ topics: [reports], partitions: 1, replicas: 1, configs });
    await admin.close();
    const { problems, sink } = sinkOf({ bootstrap, topics: { reports }, compression: 'none' });
    const small = batchOf(100, 0, 2);
    const large = batchOf(3, 0, 120);
    await sink.write(small);
    await sink.write(large);
    await sink.write(small);
    await sink.flush();
    const { delivered, dropped } = closedAccount(sink);
    expect(delivered).toBe(200);
    expect(dropped['too-large']).toBe(3);
    expect(new Set(problems)).toEqual(new Set(['ERR_KAFKA_REFUSED']));
    expect(check(await readTopic(bootstrap, reports))).toEqual({ records: 200, repeats: 0 });
  });

  test('a topic that is not there and may not be made is an outage, which ends when somebody makes it', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const { problems, sink } = sinkOf({ bootstrap, topics: { reports }, createTopics: false });
    const batch = batchOf(10);
    await sink.write(batch);
    await expect.poll(() => sink.health(), { timeout: 20_000 }).toContain('UNKNOWN_TOPIC');
    expect(problems).toEqual(['ERR_KAFKA_TOPIC']);
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap] });
    await admin.createTopics({ topics: [reports], partitions: 1, replicas: 1 });
    await admin.close();
    await sink.flush();
    expect(sink.health()).toBeNull();
    expect(closedAccount(sink)).toMatchObject({ offered: 10, delivered: 10 });
  });

  test.each([2, 6])(
    'what was on its way to a topic that is deleted and made again with %i partitions arrives there',
    async (partitions) => {
      const { bootstrap } = await kafkaForTests();
      const reports = newName('reports');
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
      ends.push(() => admin.close());
      await admin.createTopics({ topics: [reports], partitions: 4, replicas: 1 });
      const { problems, sink } = sinkOf({ bootstrap, topics: { reports }, createTopics: false });
      const batch = batchOf(500);
      await sink.write(batch);
      await sink.flush();
      await admin.deleteTopics({ topics: [reports] });
      await sink.write(batch);
      // Batches for four partitions are made, and refused.
      await until('an outage', () => problems.includes('ERR_KAFKA_TOPIC'));
      await until('the new topic', () =>
        admin.createTopics({ topics: [reports], partitions, replicas: 1 }).then(
          () => true,
          () => false,
        ),
      );
      await sink.write(batch);
      await inTime('the end of what was on its way', sink.flush());
      expect(closedAccount(sink)).toMatchObject({ offered: 1500, delivered: 1500, pending: 0 });
      const stored = await readTopic(bootstrap, reports);
      expect(stored).toHaveLength(1000);
      // Each where its key has it now, in the order of the numbers.
      expect(stored.filter(({ key, partition }) => partition !== (murmur2(key) & 0x7fffffff) % partitions)).toEqual([]);
      for (let partition = 0; partition < partitions; partition++) {
        const numbers = stored.filter((one) => one.partition === partition).map(numberOf);
        expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      }
    },
  );
});

describe('without a broker', () => {
  const batch = batchOf(500, 20);

  test('a sink that drops never has the pipeline wait, and counts what has no room', async () => {
    const { problems, sink } = sinkOf({ bootstrap: NOBODY, whenFull: 'drop', ...MEMORY });
    for (let round = 0; round < 20; round++) {
      expect(sink.write(batch)).toBeUndefined();
      closedAccount(sink);
    }
    const { dropped, offered, pending } = closedAccount(sink);
    expect({ offered, pending, dropped: dropped.overflow }).toEqual({ offered: 10_000, pending: 1000, dropped: 9000 });
    await expect.poll(() => sink.health(), { timeout: 20_000 }).toContain('ECONNREFUSED');
    expect(problems).toEqual(['ERR_KAFKA_CONNECTION']);
    await sink.close(100);
    expect(closedAccount(sink)).toMatchObject({ pending: 0, dropped: { overflow: 9000, closed: 1000 } });
    expect(sink.write(batch)).toBeUndefined();
    expect(closedAccount(sink).dropped.closed).toBe(1500);
  });

  test('a sink that waits has the pipeline wait, until there is room or it is closed', async () => {
    const { sink } = sinkOf({ bootstrap: NOBODY, whenFull: 'wait', ...MEMORY });
    let waits: Promise<void> | undefined;
    let rounds = 0;
    for (; waits === undefined && rounds < 20; rounds++) waits = sink.write(batch);
    expect(rounds).toBe(3);
    expect(closedAccount(sink)).toMatchObject({ offered: 1000, pending: 1000 });
    await sink.close(50);
    await waits;
    expect(closedAccount(sink)).toMatchObject({ offered: 1500, pending: 0, dropped: { closed: 1500, overflow: 0 } });
  });

  test('when the spool has reached its limit, new records are counted as dropped', async () => {
    const spool = { directory: newFolder(), limitBytes: 4 * MEMORY.batchBytes };
    const { problems, sink } = sinkOf({ bootstrap: NOBODY, whenFull: 'drop', spool, ...MEMORY });
    const writeMore = (): boolean => {
      expect(sink.write(batch)).toBeUndefined();
      return closedAccount(sink).dropped['spool-full']! > 0;
    };
    await until('a spool at its limit', writeMore, { everyMs: 5, found: () => sink.state() });
    expect(problems).toContain('ERR_KAFKA_SPOOL_FULL');
    expect(sink.health()).not.toBeNull();
    expect(sink.state().spooledBytes).toBeLessThanOrEqual(spool.limitBytes);
    await sink.close();
    const { pending } = closedAccount(sink);
    expect(sink.state().spooledRecords).toBe(pending);
    expect(pending).toBeGreaterThan(0);
  });

  test('a wrong option is named', () => {
    const wrong: readonly [KafkaSinkOptions, RegExp][] = [
      [{ bootstrap: [] }, /bootstrap/],
      [{ bootstrap: ['localhost'] }, /host:port/],
      [{ bootstrap: NOBODY, batchBytes: 1 }, /batchBytes/],
      [{ bootstrap: NOBODY, memoryBytes: 1 }, /memoryBytes/],
      [{ bootstrap: NOBODY, topics: { prefix: 'a b' } }, /topics.reports/],
      [{ bootstrap: NOBODY, topics: { events: 'int.flows' } }, /topics must differ/],
      [{ bootstrap: NOBODY, records: [] }, /records/],
      [{ bootstrap: NOBODY, instance: 'x' }, /hexadecimal/],
      [{ bootstrap: NOBODY, retry: { firstMs: 10, maxMs: 5 } }, /retry.maxMs/],
      [{ bootstrap: NOBODY, spool: { directory: '' } }, /spool.directory/],
    ];
    for (const [options, message] of wrong) expect(() => new KafkaSink(options)).toThrow(message);
  });
});
