import { afterAll, describe, expect, it, vi } from 'vitest';
import { startCluster } from '../../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../../.ci/kafka/for-tests.js';
import { countingGroup, countingTopics, makeCountingTopics, PARTITIONS } from './counting-group.js';
import { committedIn, linkTo, newName, textOf, until, Writer } from './log.js';

// The first test may have to start Kafka; groups share out their partitions by time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const KEYS = 40;
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

/** They take a minute, and three Java machines. */
describe.runIf(process.env.INT_LONG === '1')('a group', () => {
  it('loses and repeats nothing when each of three brokers is killed in turn', async () => {
    requireKafka();
    const cluster = await startCluster({ brokers: 3 });
    closers.push(() => cluster.close());
    const link = linkTo(cluster.bootstrap);
    const writer = new Writer(cluster.bootstrap);
    const topics = countingTopics(newName('brokers'));
    await makeCountingTopics(link, topics);
    const problems: string[] = [];
    const groups = [0, 1].map((n) =>
      countingGroup(link, topics, (what, detail) => {
        if (process.env.INT_SHOW === '1') console.log(Math.round(performance.now()), n, what, detail);
        if (what === 'problem') problems.push(detail);
      }),
    );
    for (const group of groups) group.start();
    let written = 0;
    const write = async (count: number): Promise<void> => {
      const from = written;
      written += count;
      const messages = Array.from({ length: count }, (_, n) => ({
        key: Buffer.from(`key${(from + n) % KEYS}`),
        value: Buffer.from('x'),
      }));
      await writer.write(topics.input, messages);
    };
    const counted = (records: readonly (readonly { readonly key: Uint8Array | null }[])[]): string[] => {
      const counts = new Map<string, number>();
      return records.flat().map(({ key }) => {
        const count = (counts.get(textOf(key)) ?? 0) + 1;
        counts.set(textOf(key), count);
        return `${textOf(key)}=${count}`;
      });
    };
    const settled = async (): Promise<void> => {
      const input = counted(await committedIn(link, topics.input, PARTITIONS));
      expect(input.length).toBeGreaterThanOrEqual(written);
      let output: string[] = [];
      await until(async () => {
        output = (await committedIn(link, topics.output, PARTITIONS)).flat().map(({ value }) => textOf(value));
        return output.length >= input.length;
      }, 200);
      expect(output.sort()).toEqual(input.sort());
    };
    await write(200);
    await settled();
    for (const broker of cluster.brokers) {
      await broker.kill();
      await write(200);
      await settled();
      broker.start();
      await cluster.ready();
      await write(200);
      await settled();
    }
    await Promise.all(groups.map((group) => group.stop()));
    expect(problems.length).toBeGreaterThan(0);
    await writer.close();
    link.close();
  });

  it('ends if it is stopped while the brokers are away', async () => {
    requireKafka();
    const cluster = await startCluster();
    closers.push(() => cluster.close());
    const link = linkTo(cluster.bootstrap);
    const writer = new Writer(cluster.bootstrap);
    const topics = countingTopics(newName('away'));
    await makeCountingTopics(link, topics);
    const problems: string[] = [];
    const group = countingGroup(link, topics, (what, detail) => {
      if (what === 'problem') problems.push(detail);
    });
    group.start();
    await writer.write(topics.input, [{ key: Buffer.from('key'), value: Buffer.from('x') }]);
    await until(() => group.counts(topics.input).taken === 1);
    await cluster.brokers[0]!.kill();
    await until(() => problems.length > 0);
    await group.stop();
    expect(group.counts(topics.input)).toMatchObject({ taken: 1, partitions: [] });
    await writer.close();
    link.close();
  });
});
