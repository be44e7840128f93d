import { Admin } from '@platformatic/kafka';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { topicsOf } from '../../src/findings.js';
import type { KafkaLink } from '../../src/kafka/link.js';
import { PartitionReader } from '../../src/kafka/reader.js';
import { Processor } from '../../src/processor.js';
import { readPlace, stateKey } from '../../src/state-log.js';
import { optionsFor } from '../processor-options.js';
import { committedIn, linkTo, newName, textOf, until, Writer } from './log.js';
import { ReportWriter, troubledReports } from './reports.js';

// The first test may have to start Kafka; groups share out their partitions by time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** So large that a fetch gives one of them. */
const LARGE = 4096;
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Ground {
  readonly bootstrap: readonly string[];
  readonly link: KafkaLink;
  /** Deletes the topic, if it is there, and makes it. */
  readonly make: (topic: string, partitions: number) => Promise<void>;
  /** Writes messages into a partition, a batch for each. */
  readonly write: (topic: string, partition: number, texts: readonly string[]) => Promise<void>;
}

async function ground(): Promise<Ground> {
  const { bootstrap } = await kafkaForTests();
  const link = linkTo(bootstrap);
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
  ends.push(
    () => link.close(),
    () => admin.close(),
  );
  return {
    bootstrap,
    link,
    make: async (topic, partitions) => {
      if ((await link.layout(topic)) !== null) await admin.deleteTopics({ topics: [topic] });
      await until(async () => (await link.layout(topic)) === null, 50);
      await admin.createTopics({ topics: [topic], partitions, replicas: 1 });
      // A write of two partitions of which one is not there yet is tried again, and is then in the other one twice.
      for (let partition = 0; partition < partitions; partition++) {
        const isThere = (): Promise<boolean> =>
          link.offset(topic, partition, 'latest').then(
            () => true,
            () => false,
          );
        await until(isThere, 50);
      }
    },
    write: async (topic, partition, texts) => {
      // With a client that has not seen the topic before.
      const writer = new Writer(bootstrap);
      for (const text of texts) {
        await writer.write(topic, [{ key: Buffer.from('key'), value: Buffer.from(text.padEnd(LARGE)), partition }]);
      }
      await writer.close();
    },
  };
}

/** Texts that a reader gives, until there are so many, or until something holds. */
async function take(reader: PartitionReader, isEnough: (texts: readonly string[]) => boolean): Promise<string[]> {
  const texts: string[] = [];
  await until(
    async () => {
      // Brokers answer with an error while they take a topic away.
      const records = await reader.read(200, LARGE).catch(() => []);
      texts.push(...records.map(({ value }) => textOf(value).trimEnd()));
      return isEnough(texts);
    },
    0,
    60_000,
    () => texts,
  );
  return texts;
}

describe('a reader of a partition', () => {
  it('says that its topic was made again before it goes on there, and counts what it has not read of the one before', async () => {
    const { link, make, write } = await ground();
    const topic = newName('again');
    await make(topic, 1);
    await write(topic, 0, ['a', 'b', 'c', 'd', 'e']);
    const reader = new PartitionReader(link, topic, 0, 0);
    ends.push(() => reader.close());
    expect(await take(reader, (texts) => texts.length === 2)).toEqual(['a', 'b']);
    const before = reader.topicId;
    expect(reader).toMatchObject({ position: 2, highWatermark: 5, lost: 0, gaps: 0, isMoving: false, isGone: false });
    await make(topic, 1);
    await write(topic, 0, ['x', 'y', 'z']);
    expect(await take(reader, () => reader.isMoving)).toEqual([]);
    // What was taken of the one before can be committed now, by its name.
    expect(reader).toMatchObject({ position: 2, topicId: before, lost: 0, gaps: 0 });
    expect(await take(reader, (texts) => texts.length === 3)).toEqual(['x', 'y', 'z']);
    expect(reader).toMatchObject({ position: 3, lost: 3, gaps: 1, isMoving: false });
    expect(reader.topicId).not.toBe(before);
  });

  it('notices that its partition is gone with the topic, and that it is there again', async () => {
    const { link, make, write } = await ground();
    const topic = newName('gone');
    await make(topic, 2);
    await write(topic, 1, ['a', 'b', 'c']);
    const reader = new PartitionReader(link, topic, 1, 0);
    ends.push(() => reader.close());
    expect(await take(reader, (texts) => texts.length === 2)).toEqual(['a', 'b']);
    const before = reader.topicId;
    await make(topic, 1);
    expect(await take(reader, () => reader.isGone)).toEqual([]);
    expect(reader).toMatchObject({ position: 2, topicId: before, lost: 1, isMoving: false });
    expect(await reader.read(10, LARGE)).toEqual([]);
    await make(topic, 3);
    await write(topic, 1, ['x', 'y']);
    expect(await take(reader, () => reader.isMoving)).toEqual([]);
    expect(reader).toMatchObject({ position: 2, topicId: before });
    expect(await take(reader, (texts) => texts.length === 2)).toEqual(['x', 'y']);
    expect(reader).toMatchObject({ position: 2, lost: 1, isGone: false, isMoving: false });
  });
});

/** How many records of one topic were read, and of others of its name, as the state of a group says. */
async function readUpTo(link: KafkaLink, state: string, id: string): Promise<{ one: number; others: number }> {
  const key = Buffer.from(stateKey('offset'));
  const ends = { one: 0, others: 0 };
  const partitions = (await link.layout(state))!.leaders.length;
  // The first one is the network side's, which reads another topic.
  for (const records of (await committedIn(link, state, partitions)).slice(1)) {
    const last = { one: 0, others: 0 };
    for (const { key: name, value } of records) {
      if (name === null || value === null || !key.equals(name)) continue;
      const { offset, topicId } = readPlace(value);
      last[topicId === id ? 'one' : 'others'] = offset;
    }
    ends.one += last.one;
    ends.others += last.others;
  }
  return ends;
}

describe('a processor', () => {
  it('commits what it has read of a topic that is deleted, before it begins the next one of its name', async () => {
    const { bootstrap, link, make } = await ground();
    const prefix = `${newName('deleted')}.`;
    const { reports: topic, state } = topicsOf(prefix, prefix);
    // Long enough that what is written just before the end is not committed by its time.
    const processor = new Processor({ ...optionsFor(bootstrap, prefix), partitions: 2, commitMs: 2000 });
    ends.push(() => processor.stop());
    const reports = troubledReports();
    const encode = new ReportWriter();
    const write = async (from: number, to: number): Promise<void> => {
      const writer = new Writer(bootstrap);
      await writer.write(topic, encode.messages(reports.slice(from, to)));
      await writer.close();
    };
    await processor.start();
    await write(0, 100);
    await until(() => processor.totals().reports === 100);
    const { id } = (await link.layout(topic))!;
    await write(100, 300);
    await make(topic, 2);
    await write(300, 400);
    let read = await readUpTo(link, state, id);
    const isRead = async (): Promise<boolean> => {
      read = await readUpTo(link, state, id);
      return read.others >= 100;
    };
    await until(isRead, 200, 120_000, () => read);
    expect(read.others).toBe(100);
    const { one } = read;
    expect(one).toBeGreaterThanOrEqual(100);
    await until(() => processor.totals().reports >= one + 100);
    expect(processor.totals().reports).toBe(one + 100);
  });
});
