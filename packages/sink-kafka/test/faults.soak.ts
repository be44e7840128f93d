import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { KafkaSink, type KafkaSinkOptions } from '@int/sink-kafka';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { type KafkaCluster, startCluster } from '../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../.ci/kafka/for-tests.js';
import { smallDisk } from '../../../.ci/test/small-disk.js';
import { inTime } from '../../../.ci/test/until.js';
import { bundle } from './bundle.js';
import { check, checkWatermarks, closedAccount } from './check.js';
import { batchOf } from './load.js';
import { newName, readMessages, readTopic } from './topic.js';

// It starts Kafka, kills a broker and starts it again.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** INT_LONG=1: a minute without brokers, three of them, more load, and more of it before and after each fault. */
const IS_LONG = process.env.INT_LONG === '1';
const AWAY_MS = IS_LONG ? 60_000 : 500;
/** Records that are in Kafka, or in the spool, before something happens. */
const SOME = IS_LONG ? 1000 : 200;

/** More than 262,144 bytes hold. */
const MESSAGES_OF_A_PARCEL = 1000;

let shared: Promise<KafkaCluster> | undefined;

/** All brokers there; started by the first test that asks. */
async function brokers(): Promise<KafkaCluster> {
  requireKafka();
  shared ??= startCluster({ brokers: COUNT });
  const cluster = await shared;
  for (const broker of cluster.brokers) broker.start();
  await cluster.ready();
  return cluster;
}

/** Brokers of the cluster. */
const COUNT = IS_LONG ? 3 : 2;

afterAll(async () => {
  await (await shared)?.close();
});

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'int-faults-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Loaded {
  readonly sink: KafkaSink;
  readonly problems: string[];
  /** Ends the load, and waits for the sink to have sent everything. */
  finish(): Promise<void>;
}

/** A sink that is offered reports all the time: so few that a busy machine writes its spool in time. */
function underLoad(options: KafkaSinkOptions): Loaded {
  const problems: string[] = [];
  const sink = new KafkaSink({
    format: 'json',
    whenFull: 'drop',
    retry: { firstMs: 50, maxMs: 500 },
    requestTimeoutMs: IS_LONG ? 5000 : 2000,
    createTopics: { partitions: 4 },
    onProblem: ({ code }) => problems.push(code),
    ...options,
  });
  ends.push(() => sink.close(0));
  const batch = batchOf(IS_LONG ? 100 : 20);
  const timer = setInterval(() => {
    void sink.write(batch);
    // Time goes on: reports that are older than what was said to be whole would be late.
    for (let frame = 0; frame < batch.frames; frame++) {
      const low = batch.frameTimeLow[frame]! + 1e6 * batch.frames;
      batch.frameTimeLow[frame] = low;
      if (low > 0xffff_ffff) batch.frameTimeHigh[frame]!++;
    }
    closedAccount(sink);
  }, 20);
  ends.push(() => clearInterval(timer));
  return {
    sink,
    problems,
    finish: async () => {
      clearInterval(timer);
      await sink.flush();
    },
  };
}

/** Brokers that answer nothing any more, as behind a network that is cut. @returns has them go on */
function freeze({ brokers: all }: KafkaCluster): () => void {
  const send = (signal: NodeJS.Signals): void => {
    for (const { pid } of all) process.kill(pid!, signal);
  };
  send('SIGSTOP');
  return () => send('SIGCONT');
}

/** Brokers that are gone, as after a power cut. @returns starts them again */
async function kill({ brokers: all }: KafkaCluster): Promise<() => void> {
  await Promise.all(all.map((broker) => broker.kill()));
  return () => {
    for (const broker of all) broker.start();
  };
}

/** What is delivered is in Kafka, in order, and the account closes. */
async function expectAll(cluster: KafkaCluster, topic: string, sink: KafkaSink): Promise<void> {
  const { delivered, dropped, offered, pending } = closedAccount(sink);
  const checked = check(await readTopic(cluster.bootstrap, topic));
  expect(checkWatermarks(await readMessages(cluster.bootstrap, topic)).length).toBeGreaterThan(0);
  expect(checked.records).toBe(delivered);
  // The brokers drop what they have already, unless they have forgotten who sends.
  if (sink.state().newProducers === 0) expect(checked.repeats).toBe(0);
  expect(pending).toBe(0);
  expect(delivered + Object.values(dropped).reduce((a, b) => a + b, 0)).toBe(offered);
}

test('one broker of several is killed under load: nothing is lost, the order of each flow stays', async () => {
  const cluster = await brokers();
  const reports = newName('reports');
  const options = { bootstrap: cluster.bootstrap, topics: { reports }, memoryBytes: 64 << 20 };
  const { finish, sink } = underLoad(options);
  await expect.poll(() => closedAccount(sink).delivered, { timeout: 60_000 }).toBeGreaterThan(SOME);
  await cluster.brokers[1]!.kill();
  const atKill = closedAccount(sink).delivered;
  await expect.poll(() => closedAccount(sink).delivered, { timeout: 60_000 }).toBeGreaterThan(atKill + 3 * SOME);
  cluster.brokers[1]!.start();
  await cluster.ready();
  await finish();
  expect(closedAccount(sink)).toMatchObject({ pending: 0, dropped: { overflow: 0, refused: 0 } });
  await expectAll(cluster, reports, sink);
});

test('all brokers are away for a time: the spool keeps what comes, and it arrives in order', async () => {
  const cluster = await brokers();
  const reports = newName('reports');
  const { finish, problems, sink } = underLoad({
    bootstrap: cluster.bootstrap,
    topics: { reports },
    batchBytes: 262_144,
    memoryBytes: 4 * 262_144,
    spool: { directory: newFolder() },
  });
  await expect.poll(() => closedAccount(sink).delivered, { timeout: 60_000 }).toBeGreaterThan(SOME);
  const comeBack = IS_LONG ? await kill(cluster) : freeze(cluster);
  ends.push(comeBack);
  await sleep(AWAY_MS);
  await expect.poll(() => sink.state().spooledRecords, { timeout: 60_000 }).toBeGreaterThan(SOME);
  await expect.poll(() => sink.health(), { timeout: 60_000 }).not.toBeNull();
  comeBack();
  await cluster.ready();
  await finish();
  expect(sink.health()).toBeNull();
  expect(sink.state()).toMatchObject({ outages: expect.any(Number), spooledBytes: 0, spooledRecords: 0 });
  expect(new Set(problems)).toContain(IS_LONG ? 'ERR_KAFKA_CONNECTION' : 'ERR_KAFKA_TIMEOUT');
  const { dropped } = closedAccount(sink);
  expect(Object.values(dropped).reduce((a, b) => a + b)).toBe(0);
  await expectAll(cluster, reports, sink);
});

test('the disk of the spool is full: what has no room is counted, the rest arrives in order', async () => {
  const cluster = await brokers();
  const directory = newFolder();
  ends.push(smallDisk(directory, '1m'));
  const reports = newName('reports');
  const { finish, problems, sink } = underLoad({
    bootstrap: cluster.bootstrap,
    topics: { reports },
    batchBytes: 262_144,
    memoryBytes: 4 * 262_144,
    spool: { directory },
  });
  await expect.poll(() => closedAccount(sink).delivered, { timeout: 60_000 }).toBeGreaterThan(SOME);
  const goOn = freeze(cluster);
  ends.push(goOn);
  await expect.poll(() => closedAccount(sink).dropped.disk, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(problems).toContain('ERR_KAFKA_DISK');
  goOn();
  await finish();
  expect(sink.health()).toBeNull();
  await expectAll(cluster, reports, sink);
  await sink.close();
});

test('the process is killed while the brokers do not answer: the next one sends what is in the spool', async () => {
  const cluster = await brokers();
  const reports = newName('reports');
  const folder = newFolder();
  const directory = join(folder, 'spool');
  const program = await bundle(new URL('writer.program.ts', import.meta.url), folder);
  const writer = spawn(process.execPath, [program, cluster.bootstrap.join(), reports, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => writer.kill('SIGKILL'));
  let last = { offered: 0, delivered: 0, pending: 0, spooledRecords: 0 };
  createInterface({ input: writer.stdout! }).on('line', (line) => {
    last = JSON.parse(line) as typeof last;
  });
  await expect.poll(() => last.delivered, { timeout: 60_000 }).toBeGreaterThan(SOME);
  const goOn = freeze(cluster);
  ends.push(goOn);
  // More than there was: the answers that came before the end of the brokers have been noted.
  const atKill = last.spooledRecords;
  await expect.poll(() => last.spooledRecords, { timeout: 60_000 }).toBeGreaterThan(atKill + 2 * SOME);
  const gone = once(writer, 'exit');
  writer.kill('SIGKILL');
  await inTime('the end of the writer', gone);
  goOn();
  const sink = new KafkaSink({
    bootstrap: cluster.bootstrap,
    topics: { reports },
    format: 'json',
    spool: { directory },
    retry: { firstMs: 50, maxMs: 500 },
  });
  ends.push(() => sink.close(0));
  const found = sink.state().foundRecords;
  expect(found).toBeGreaterThanOrEqual(last.spooledRecords);
  await sink.flush();
  expect(closedAccount(sink)).toMatchObject({ offered: found, delivered: found, pending: 0 });
  const { records, repeats } = check(await readTopic(cluster.bootstrap, reports));
  // What was on its way, of which a part may have been stored when the rest was in the spool.
  expect(repeats).toBeLessThanOrEqual(MESSAGES_OF_A_PARCEL);
  expect(records + repeats).toBeGreaterThanOrEqual(last.delivered + last.spooledRecords);
});
