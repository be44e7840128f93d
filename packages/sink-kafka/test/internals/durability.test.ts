/** Records that have to be on disk before the pipeline goes on. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { limit } from '../../../../.ci/test/requires.js';
import { smallDisk } from '../../../../.ci/test/small-disk.js';
import { decodeWatermark, KafkaSink, type KafkaSinkOptions, WATERMARK_TYPE } from '../../src/index.js';
import { Spool } from '../../src/spool/spool.js';
import { bundle } from '../bundle.js';
import { check, closedAccount } from '../check.js';
import { batchOf, START_MS } from '../load.js';
import { newName, readMessages, readTopic } from '../topic.js';
import { messagesOf } from './parcels.js';

/** INT_LONG=1: all tests, and more processes that are killed, one after the other. */
const IS_LONG = process.env.INT_LONG === '1';
const KILLS = IS_LONG ? 10 : 1;
const NOBODY = ['127.0.0.1:1'];
const MEMORY = { batchBytes: 262_144, memoryBytes: 4 * 262_144 } as const;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'int-durable-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function sinkOf(directory: string, options: Partial<KafkaSinkOptions> = {}): { sink: KafkaSink; problems: string[] } {
  const problems: string[] = [];
  const sink = new KafkaSink({
    bootstrap: NOBODY,
    format: 'json',
    durability: 'spool',
    retry: { firstMs: 20, maxMs: 200 },
    onProblem: ({ code }) => problems.push(code),
    ...MEMORY,
    ...options,
    spool: { directory, ...options.spool },
  });
  ends.push(() => sink.close(0));
  return { sink, problems };
}

/** A folder that is a small file system, to be filled. */
function smallFolder(size: string): string {
  const folder = newFolder();
  ends.push(smallDisk(folder, size));
  return folder;
}

/** Numbers of the records in a spool, in order. */
async function spooled(directory: string): Promise<number[]> {
  const spool = new Spool({
    directory,
    limitBytes: 2 ** 30,
    segmentBytes: 2 ** 24,
    sync: 'never',
    batch: { messages: 8192, bytes: 262_144 },
    keepsSegment: false,
    onLost: () => undefined,
    onProblem: () => undefined,
  });
  const numbers: number[] = [];
  try {
    for (let batch = await spool.head(spool.end); batch !== null; batch = await spool.head(spool.end)) {
      for (const { value } of messagesOf(batch.parcel)) {
        const { id } = JSON.parse(Buffer.from(value).toString()) as { id: string };
        numbers.push(Number(id.split('-')[1]));
      }
      await spool.consume(batch.end, batch.counts);
    }
  } finally {
    await spool.close();
  }
  return numbers;
}

const programs = mkdtempSync(join(tmpdir(), 'int-durable-'));
afterAll(() => rmSync(programs, { recursive: true, force: true }));
let program: Promise<string> | undefined;

/** The program that writes until it is killed, made once. */
function writing(): Promise<string> {
  program ??= bundle(new URL('../durable.program.ts', import.meta.url), programs);
  return program;
}

/** A process of it. */
class Writer {
  last = { safe: 0, delivered: 0 };
  readonly child: ChildProcess;

  constructor(program: string, ...args: string[]) {
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    ends.push(() => this.child.kill('SIGKILL'));
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.last = JSON.parse(line) as Writer['last'];
    });
  }

  async kill(): Promise<void> {
    // Also its last lines are read.
    const gone = once(this.child, 'close');
    this.child.kill('SIGKILL');
    await gone;
  }
}

describe('without a broker', () => {
  test.each(IS_LONG ? (['wait', 'drop'] as const) : (['wait'] as const))(
    'a process that is killed loses nothing that was safe, in order (%s)',
    async (whenFull) => {
      const program = await writing();
      for (let round = 0; round < KILLS; round++) {
        const directory = newFolder();
        const writer = new Writer(program, directory, whenFull);
        await expect.poll(() => writer.last.safe, { timeout: 30_000 }).toBeGreaterThan(500);
        await sleep(37 * round);
        await writer.kill();
        const numbers = await spooled(directory);
        expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, number) => number));
        expect(numbers.length).toBeGreaterThanOrEqual(writer.last.safe);
      }
    },
  );

  test('memory is no limit: what is on disk need not stay there, and comes again at the next start', async () => {
    const directory = newFolder();
    const { sink } = sinkOf(directory);
    const batch = batchOf(500);
    // More than memory holds.
    for (let round = 0; round < 20; round++) await sink.write(batch);
    expect(closedAccount(sink)).toMatchObject({ offered: 10_000, pending: 10_000 });
    expect(sink.state().spooledRecords).toBe(10_000);
    await sink.close();
    expect(closedAccount(sink)).toMatchObject({ offered: 10_000, pending: 10_000 });
    expect(await spooled(directory)).toEqual(Array.from({ length: 10_000 }, (_, number) => number));
  });

  test('events, which cannot wait, are on disk before the pipeline goes on', async () => {
    const directory = newFolder();
    const { sink } = sinkOf(directory);
    const batch = batchOf(3);
    const first = sink.write(batch);
    expect(first).toBeInstanceOf(Promise);
    expect(sink.state().spooledRecords).toBe(0);
    await first;
    expect(sink.state().spooledRecords).toBe(3);
  });

  test('a disk that is full has the pipeline wait until it has room, and health says so', async () => {
    const disk = smallFolder('3m');
    const { problems, sink } = sinkOf(join(disk, 'spool'));
    const batch = batchOf(500);
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 << 20));
    let isWaiting = false;
    let rounds = 0;
    while (!isWaiting && rounds < 200) {
      const written = sink.write(batch)!;
      rounds += 1;
      isWaiting = await Promise.race([written.then(() => false), sleep(1500, true)]);
    }
    expect(isWaiting).toBe(true);
    expect(problems).toContain('ERR_KAFKA_DISK');
    expect(sink.health()).not.toBeNull();
    const { spooledRecords } = sink.state();
    expect(spooledRecords).toBeGreaterThan(0);
    expect(spooledRecords).toBeLessThan(500 * rounds);
    rmSync(join(disk, 'ballast'));
    await expect.poll(() => sink.state().spooledRecords, { timeout: 20_000 }).toBe(500 * rounds);
    expect(Object.values(closedAccount(sink).dropped).reduce((a, b) => a + b)).toBe(0);
    await sink.close();
    expect(await spooled(join(disk, 'spool'))).toHaveLength(500 * rounds);
  });

  test('a sink that drops takes nothing that is not on disk, and takes it again when there is room', async () => {
    const disk = smallFolder('3m');
    const { problems, sink } = sinkOf(join(disk, 'spool'), { whenFull: 'drop' });
    const batch = batchOf(500);
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 << 20));
    for (let round = 0; round < 200 && closedAccount(sink).dropped.disk! < 2000; round++) {
      await sink.write(batch);
      const { pending } = closedAccount(sink);
      expect(sink.state().spooledRecords).toBe(pending);
    }
    const full = closedAccount(sink);
    expect(full.dropped.disk).toBeGreaterThanOrEqual(2000);
    // Not for each batch: only once more if less has found room in between.
    const told = problems.filter((code) => code === 'ERR_KAFKA_DISK').length;
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThan(4);
    expect(sink.health()).toMatch(/spool cannot be written|ECONNREFUSED/);
    rmSync(join(disk, 'ballast'));
    await expect
      .poll(
        async () => {
          await sink.write(batch);
          return closedAccount(sink).pending;
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(full.pending);
    await sink.close();
    const { pending } = closedAccount(sink);
    expect(await spooled(join(disk, 'spool'))).toHaveLength(pending);
  });

  test('a spool that has reached its limit sheds what a sink that drops is offered', async () => {
    const directory = newFolder();
    const { problems, sink } = sinkOf(directory, {
      whenFull: 'drop',
      spool: { directory, limitBytes: 4 * MEMORY.batchBytes },
    });
    const batch = batchOf(500);
    for (let round = 0; round < 50 && closedAccount(sink).dropped['spool-full'] === 0; round++) {
      await sink.write(batch);
    }
    const { dropped, pending } = closedAccount(sink);
    expect(dropped['spool-full']).toBeGreaterThan(0);
    expect(problems).toContain('ERR_KAFKA_SPOOL_FULL');
    expect(sink.state()).toMatchObject({ spooledRecords: pending });
  });

  test('a folder that cannot be written is said at the start', () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'spool'));
    try {
      execFileSync('mount', ['--bind', folder, folder], { stdio: 'ignore' });
      ends.push(() => execFileSync('umount', [folder]));
      execFileSync('mount', ['-o', 'remount,ro,bind', folder], { stdio: 'ignore' });
    } catch {
      limit('a folder cannot be mounted here for reading only');
    }
    expect(() => sinkOf(join(folder, 'spool'))).toThrow(
      expect.objectContaining({ code: 'ERR_KAFKA_DISK', message: expect.stringContaining('EROFS') as string }),
    );
  });

  test('damage is counted as damage, and set aside', async () => {
    const directory = newFolder();
    const { sink } = sinkOf(directory);
    const batch = batchOf(100);
    for (let round = 0; round < 5; round++) await sink.write(batch);
    await sink.close(0);
    const [name] = readdirSync(directory).filter((each) => each.endsWith('.chunks'));
    const bytes = readFileSync(join(directory, name!));
    // A header, and a message of another chunk.
    bytes[10]! ^= 0xff;
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(join(directory, name!), bytes);
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const next = sinkOf(directory, { bootstrap, topics: { reports } });
    expect(next.sink.state().foundRecords).toBe(500);
    await next.sink.flush();
    const { delivered, dropped, pending } = closedAccount(next.sink);
    expect([delivered + dropped.damaged!, pending]).toEqual([500, 0]);
    expect(dropped.damaged).toBeGreaterThanOrEqual(101);
    expect(next.sink.state().damagedRecords).toBe(dropped.damaged);
    expect(next.problems).toContain('ERR_KAFKA_SPOOL_DAMAGED');
    expect(check(await readTopic(bootstrap, reports))).toEqual({ records: delivered, repeats: 0 });
    expect(readdirSync(directory).filter((each) => each.endsWith('.damaged'))).toHaveLength(1);
  });

  test('a wrong option is named', () => {
    expect(() => new KafkaSink({ bootstrap: NOBODY, durability: 'spool' })).toThrow(/needs a spool/);
    expect(() => sinkOf(newFolder(), { durability: 'disk' as 'spool' })).toThrow(/durability/);
    expect(() => sinkOf(newFolder(), { spool: { directory: newFolder(), commitMs: -1 } })).toThrow(/spool.commitMs/);
  });
});

describe('with a broker', () => {
  test('what is on disk arrives once and in order, and leaves the disk', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const directory = newFolder();
    const { problems, sink } = sinkOf(directory, { bootstrap, topics: { reports }, createTopics: { partitions: 3 } });
    const batch = batchOf(200);
    for (let round = 0; round < 40; round++) await sink.write(batch);
    await sink.flush();
    expect(closedAccount(sink)).toMatchObject({ offered: 8000, delivered: 8000, pending: 0 });
    expect(sink.state()).toMatchObject({ spooledBytes: 0, spooledRecords: 0 });
    expect([problems, sink.health()]).toEqual([[], null]);
    expect(check(await readTopic(bootstrap, reports))).toEqual({ records: 8000, repeats: 0 });
    await sink.close();
    expect(readdirSync(directory).filter((name) => name.endsWith('.chunks'))).toEqual([]);
  });

  test('a watermark passes no record that is still on disk, whoever has put it there', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const directory = newFolder();
    let nowMs = START_MS;
    const write = async (sink: KafkaSink): Promise<void> => {
      const batch = batchOf(50, 0, 3, nowMs);
      const written = sink.write(batch);
      nowMs += 50;
      await written;
      sink.advance(nowMs);
    };
    const away = sinkOf(directory, { createTopics: { partitions: 2 } });
    for (let round = 0; round < 20; round++) await write(away.sink);
    await away.sink.close(0);
    // Many small batches, with room for watermarks between them.
    const { sink } = sinkOf(directory, {
      bootstrap,
      topics: { reports },
      createTopics: { partitions: 2 },
      batchMessages: 50,
      watermarkMs: 1,
    });
    sink.advance(nowMs);
    for (let round = 0; round < 20; round++) await write(sink);
    await sink.flush();
    await sink.close();
    const told = new Map<number, number>();
    const times = new Set<number>();
    const wrong: string[] = [];
    let ended = 0;
    for (const { headers, partition, value } of await readMessages(bootstrap, reports)) {
      if (headers.type === WATERMARK_TYPE) {
        const watermark = decodeWatermark(value, 'json')!;
        told.set(partition, watermark.timeMs);
        times.add(watermark.timeMs);
        if (watermark.ended) ended += 1;
        continue;
      }
      const { timeNs } = JSON.parse(value.toString()) as { timeNs: string };
      const timeMs = Number(BigInt(timeNs)) / 1e6;
      if (timeMs < (told.get(partition) ?? 0)) wrong.push(`${timeMs} behind ${told.get(partition)}`);
    }
    expect(wrong).toEqual([]);
    // Held back by what was on disk, and then up to the end.
    expect(Math.min(...times)).toBeLessThan(START_MS + 1000);
    expect(times.size).toBeGreaterThan(5);
    expect([ended, ...told.values()]).toEqual([2, nowMs - 0.001, nowMs - 0.001]);
  });

  test.runIf(IS_LONG)('what a full disk has no room for waits until the brokers have it', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const disk = smallFolder('200k');
    const { problems, sink } = sinkOf(join(disk, 'spool'), { bootstrap, topics: { reports } });
    const batch = batchOf(500);
    for (let round = 0; round < 20; round++) await sink.write(batch);
    expect(closedAccount(sink)).toMatchObject({ offered: 10_000, pending: 0, delivered: 10_000 });
    expect(problems).toContain('ERR_KAFKA_DISK');
    expect(check(await readTopic(bootstrap, reports))).toEqual({ records: 10_000, repeats: 0 });
  });

  test('after a process was killed the next one sends what was safe, with the same ids', async () => {
    const { bootstrap } = await kafkaForTests();
    const reports = newName('reports');
    const directory = newFolder();
    const program = await writing();
    const writer = new Writer(program, directory, 'wait', bootstrap.join(), reports);
    await expect.poll(() => writer.last.delivered, { timeout: 30_000 }).toBeGreaterThan(300);
    await writer.kill();
    const { sink } = sinkOf(directory, { bootstrap, topics: { reports } });
    await sink.flush();
    const { records } = check(await readTopic(bootstrap, reports));
    // Repeats have their ids; what was not said to be safe may be there as well.
    expect(records).toBeGreaterThanOrEqual(writer.last.safe);
    expect(sink.state()).toMatchObject({ spooledRecords: 0, damagedRecords: 0 });
  });
});
