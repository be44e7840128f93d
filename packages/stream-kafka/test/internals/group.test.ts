import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import type { KafkaLink } from '../../src/kafka/link.js';
import { Child } from '../child.js';
import {
  type CountingTopics,
  countingGroup,
  countingTopics,
  makeCountingTopics,
  PARTITIONS,
} from './counting-group.js';
import { committedIn, linkTo, newName, textOf, until, Writer } from './log.js';

// The first test may have to start Kafka; groups share out their partitions by time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const KEYS = 40;
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers) await close();
});

let bootstrap: readonly string[] = [];
let link: KafkaLink;
let writer: Writer;
let topics: CountingTopics;
let written = 0;

beforeEach(async () => {
  if (bootstrap.length === 0) {
    bootstrap = (await kafkaForTests()).bootstrap;
    link = linkTo(bootstrap);
    writer = new Writer(bootstrap);
    closers.push(
      () => writer.close(),
      async () => link.close(),
    );
  }
  topics = countingTopics(newName('counting'));
  written = 0;
  await makeCountingTopics(link, topics);
});

async function write(count: number): Promise<void> {
  const messages = Array.from({ length: count }, () => ({
    key: Buffer.from(`key${written++ % KEYS}`),
    value: Buffer.from('x'),
  }));
  await writer.write(topics.input, messages);
}

async function outputs(): Promise<string[]> {
  return (await committedIn(link, topics.output, PARTITIONS)).flat().map(({ value }) => textOf(value));
}

/** Each message of the input once, counted without a gap: the state never lost or repeated anything. */
async function expectExactlyOnce(): Promise<void> {
  const byKey = new Map<string, number[]>();
  for (const text of await outputs()) {
    const [key, count] = text.split('=');
    const counts = byKey.get(key!) ?? [];
    counts.push(Number(count));
    byKey.set(key!, counts);
  }
  const expected = new Map<string, number[]>();
  for (let index = 0; index < written; index++) {
    const key = `key${index % KEYS}`;
    const counts = expected.get(key) ?? [];
    counts.push(counts.length + 1);
    expected.set(key, counts);
  }
  expect(byKey).toEqual(expected);
}

function problems(): { tell: (what: string, detail: string) => void; heard: string[]; assigned: number[] } {
  const heard: string[] = [];
  const assigned: number[] = [];
  const tell = (what: string, detail: string): void => {
    if (what === 'problem') heard.push(detail);
    if (what === 'assigned') assigned.push(Number(detail));
  };
  return { tell, heard, assigned };
}

describe('a group', () => {
  it('splits partitions with a member that joins, and takes over those of one that leaves', async () => {
    const first = problems();
    const second = problems();
    const a = countingGroup(link, topics, first.tell);
    a.start();
    await write(400);
    await until(() => a.counts(topics.input).taken === 400);
    const b = countingGroup(link, topics, second.tell);
    b.start();
    await until(() => second.assigned.length > 0);
    for (let turn = 0; turn < 5; turn++) await write(200);
    await until(() => a.counts(topics.input).taken + b.counts(topics.input).taken >= 1400);
    expect(b.counts(topics.input).partitions).toHaveLength(2);
    await a.stop();
    await write(400);
    await until(() => a.counts(topics.input).taken + b.counts(topics.input).taken >= 1800);
    expect(b.counts(topics.input).partitions).toHaveLength(PARTITIONS);
    await b.stop();
    await expectExactlyOnce();
    expect([first.heard, second.heard]).toEqual([[], []]);
  });

  it('takes over from a member that was killed, from its last commit on', async () => {
    const child = await Child.start(new URL('counting.program.ts', import.meta.url), [bootstrap.join(), topics.name]);
    const { tell, heard, assigned } = problems();
    const a = countingGroup(link, topics, tell);
    try {
      await child.line((line) => line.startsWith('assigned'));
      a.start();
      await until(() => assigned.length > 0);
      let running = true;
      onTestFinished(() => {
        running = false;
      });
      const load = (async () => {
        while (running) {
          await write(100);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      })();
      const commits = child.lines.length;
      await until(() => child.lines.length > commits + 6);
      await child.end('SIGKILL');
      await until(() => a.counts(topics.input).partitions.length === PARTITIONS);
      running = false;
      await load;
      await until(async () => (await outputs()).length >= written, 200);
    } finally {
      await child.end('SIGKILL');
      await a.stop();
    }
    await expectExactlyOnce();
    expect(heard).toEqual([]);
  });

  it('keeps out a member that has lost its partitions without knowing it', async () => {
    const child = await Child.start(new URL('counting.program.ts', import.meta.url), [bootstrap.join(), topics.name]);
    const { tell } = problems();
    const a = countingGroup(link, topics, tell);
    try {
      await write(400);
      await child.line((line) => line.startsWith('committed'));
      // It neither works nor sends a heartbeat any more, but it is there, with what it has not committed.
      process.kill(child.pid, 'SIGSTOP');
      a.start();
      await until(() => a.counts(topics.input).partitions.length === PARTITIONS);
      await write(400);
      await until(async () => (await outputs()).length >= written, 200);
      process.kill(child.pid, 'SIGCONT');
      await write(400);
      await until(async () => (await outputs()).length >= written, 200);
      // The group has both members again.
      await until(() => a.counts(topics.input).partitions.length < PARTITIONS);
      await write(400);
      await until(async () => (await outputs()).length >= written, 200);
    } finally {
      await child.end('SIGKILL');
      await a.stop();
    }
    await expectExactlyOnce();
  });
});
