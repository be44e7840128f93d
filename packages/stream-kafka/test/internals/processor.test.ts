import {
  type FlowWindow,
  IMMEDIATE_KINDS,
  type ImmediateEvent,
  type NetworkWindow,
  StreamProcessor,
} from '@int/stream';
import { Admin } from '@platformatic/kafka';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { topicsOf } from '../../src/findings.js';
import type { KafkaLink } from '../../src/kafka/link.js';
import { Processor } from '../../src/processor.js';
import { Child } from '../child.js';
import { optionsFor, PARTITIONS } from '../processor-options.js';
import { committedIn, linkTo, newName, textOf, until, Writer } from './log.js';
import { batchOf, ReportWriter, START_MS, TAIL_MS, troubledReports } from './reports.js';

// The first test may have to start Kafka; groups share out their partitions by time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

type AnyWindow = FlowWindow | NetworkWindow;

/** What was found before the tail: all of it is over then. */
interface Found {
  readonly windows: Map<string, AnyWindow>;
  /** Ids, and no times: when an event is noticed depends on who else is in the partition. */
  readonly events: string[];
}

let cached: Found | null = null;

/** What one stream processor finds in the same reports. */
function expected(): Found {
  if (cached !== null) return cached;
  const windows = new Map<string, AnyWindow>();
  const events: string[] = [];
  const take = (window: AnyWindow): void => {
    if (isBeforeTail(window.endNs)) windows.set(window.id, window);
  };
  const processor = new StreamProcessor(
    {},
    {
      event: (event) => {
        if (isBeforeTail(event.sinceNs)) events.push(event.id);
      },
      flowWindow: take,
      networkWindow: take,
    },
  );
  const batch = batchOf(troubledReports());
  processor.observe(batch);
  cached = { windows, events: events.sort() };
  return cached;
}

function isBeforeTail(timeNs: string): boolean {
  return BigInt(timeNs) <= BigInt(TAIL_MS - 10_000) * 1_000_000n;
}

let bootstrap: readonly string[] = [];
let link: KafkaLink;
let writer: Writer;
let isReady = false;

async function ready(): Promise<void> {
  if (isReady) return;
  bootstrap = (await kafkaForTests()).bootstrap;
  link = linkTo(bootstrap);
  writer = new Writer(bootstrap);
  isReady = true;
}

beforeAll(() => {
  const kinds = new Set(expected().events.map((id) => IMMEDIATE_KINDS.find((kind) => id.startsWith(kind))));
  expect(kinds).toEqual(new Set(IMMEDIATE_KINDS));
  expect(expected().windows.size).toBeGreaterThan(100);
});

afterAll(async () => {
  if (!isReady) return;
  await writer.close();
  link.close();
});

/** Every window and event in the topics, as often as it is there. */
async function found(prefix: string): Promise<{ windows: AnyWindow[]; events: ImmediateEvent[] }> {
  const topics = topicsOf(prefix, prefix);
  const windows = (await committedIn(link, topics.windows, PARTITIONS)).flat();
  const events = (await committedIn(link, topics.immediate, PARTITIONS)).flat();
  return {
    windows: windows.map(({ value }) => JSON.parse(textOf(value)) as AnyWindow),
    events: events.map(({ value }) => JSON.parse(textOf(value)) as ImmediateEvent),
  };
}

async function expectAll(prefix: string, more?: () => unknown): Promise<void> {
  const { windows, events } = expected();
  let last: { windows: AnyWindow[]; events: ImmediateEvent[] } = { windows: [], events: [] };
  const missing = (): unknown => ({
    windows: [...windows.keys()].filter((id) => !last.windows.some((one) => one.id === id)),
    events: events.filter((id) => !last.events.some((one) => one.id === id)),
    more: more?.(),
  });
  const before = async (): Promise<{ windows: AnyWindow[]; events: ImmediateEvent[] }> => {
    const all = await found(prefix);
    return {
      windows: all.windows.filter(({ endNs }) => isBeforeTail(endNs)),
      events: all.events.filter(({ sinceNs }) => isBeforeTail(sinceNs)),
    };
  };
  await until(
    async () => {
      last = await before();
      return last.windows.length >= windows.size && last.events.length >= events.length;
    },
    300,
    120_000,
    missing,
  );
  const now = await before();
  expect(now.events.map(({ id }) => id).sort()).toEqual(events);
  expect(now.windows.map(({ id }) => id).sort()).toEqual([...windows.keys()].sort());
  for (const window of now.windows) {
    // One stream processor has one side.
    const one = 'side' in window ? { ...window, side: 0 } : window;
    expect(one).toEqual(JSON.parse(JSON.stringify(windows.get(window.id))));
  }
}

describe('a processor', () => {
  it('finds what one stream processor finds, whichever format reports have, and drops repeats', async () => {
    await ready();
    const prefix = `${newName('one')}.`;
    const heard: string[] = [];
    const processor = new Processor({ ...optionsFor(bootstrap, prefix), onProblem: (reason) => heard.push(reason) });
    await processor.start();
    const reports = troubledReports();
    const encode = new ReportWriter();
    let written = 0;
    for (let at = 0; at < reports.length; at += 500) {
      const messages = encode.messages(reports.slice(at, at + 500));
      await writer.write(topicsOf(prefix, prefix).reports, messages);
      written += messages.length;
      // A batch whose acknowledgement was lost is written once more.
      if (at === 1000) await writer.write(topicsOf(prefix, prefix).reports, messages);
    }
    await writer.write(topicsOf(prefix, prefix).reports, [{ key: Buffer.from('x'), value: Buffer.from('no report') }]);
    await expectAll(prefix);
    await until(() => processor.totals().bad === 1);
    await processor.stop();
    const { reports: taken, repeated, bad, lag, restarts } = processor.totals();
    expect({ taken, repeated, bad, lag, restarts }).toEqual({
      taken: written,
      repeated: 500,
      bad: 1,
      lag: 0,
      restarts: 0,
    });
    expect(heard).toEqual([]);
  });

  it('goes on where another one that was killed has ended, and no result is lost or there twice', async () => {
    await ready();
    const prefix = `${newName('two')}.`;
    const heard: string[] = [];
    const child = await Child.start(new URL('../processor.program.ts', import.meta.url), [bootstrap.join(), prefix]);
    const processor = new Processor({ ...optionsFor(bootstrap, prefix), onProblem: (reason) => heard.push(reason) });
    try {
      await child.line((line) => line.startsWith('assigned'));
      await processor.start();
      await until(() => processor.totals().partitions.length > 0);
      const reports = troubledReports();
      const encode = new ReportWriter();
      for (let at = 0; at < reports.length; at += 100) {
        await writer.write(topicsOf(prefix, prefix).reports, encode.messages(reports.slice(at, at + 100)));
        // In the middle of its work, with results of some seconds written and others not yet.
        if (at === 2000) {
          await child.line((line) => line === 'window');
          await child.end('SIGKILL');
        }
      }
      await expectAll(prefix, () => ({ totals: processor.totals(), heard }));
      expect(processor.totals().partitions).toEqual([0, 1, 2, 3]);
    } finally {
      await child.end('SIGKILL');
      await processor.stop();
    }
    expect(heard).toEqual([]);
  });

  it('lets time go on where no more reports come, as far as sinks say that all have come', async () => {
    await ready();
    const prefix = `${newName('quiet')}.`;
    const events: ImmediateEvent[] = [];
    const windows: AnyWindow[] = [];
    const processor = new Processor({
      ...optionsFor(bootstrap, prefix),
      onEvent: (event) => events.push(event),
      onWindow: (window) => windows.push(window),
    });
    await processor.start();
    // Only two of four partitions have reports, and these are old.
    const encode = new ReportWriter();
    const reports = troubledReports().filter(({ flow, timeMs }) => flow < 2 && timeMs < START_MS + 2500);
    const { reports: topic } = topicsOf(prefix, prefix);
    await writer.write(topic, encode.watermarks(START_MS, PARTITIONS));
    await writer.write(topic, encode.messages(reports));
    await until(() => processor.totals().reports === reports.length);
    // One partition still lacks the word of a second sink.
    const other = new ReportWriter();
    await writer.write(topic, other.watermarks(START_MS + 1500, 1));
    await writer.write(topic, encode.watermarks(START_MS + 8000, PARTITIONS));
    await until(() => windows.some(({ type, endNs }) => type === 'switchWindow' && Number(endNs) / 1e6 > START_MS));
    expect(processor.health()).toMatch(/^partition 0 waits for sink [0-9a-f]{16}, (\d+ s behind|silent for \d+ s)$/);
    expect(processor.totals().behindMs).toBe(6500);
    expect(
      windows
        .filter(({ type }) => type === 'switchWindow')
        .every(({ endNs }) => Number(endNs) / 1e6 <= START_MS + 1000),
    ).toBe(true);
    await writer.write(topic, other.watermarks(START_MS + 8000, 1));
    await until(() =>
      windows.some(({ type, endNs }) => type === 'switchWindow' && Number(endNs) / 1e6 > START_MS + 2480),
    );
    await processor.stop();
    expect(windows.every(({ complete }) => complete)).toBe(true);
    expect(events.every(({ timeNs }) => Number(timeNs) / 1e6 < START_MS + 9000)).toBe(true);
    const { late, incomplete, corrected } = processor.totals();
    expect({ late, incomplete, corrected }).toEqual({ late: 0, incomplete: 0, corrected: 0 });
  });

  it('of another group finds the same in the same reports, and nothing of the first group', async () => {
    await ready();
    const prefix = `${newName('groups')}.`;
    const { reports: topic } = topicsOf(prefix);
    const encode = new ReportWriter();
    const reports = troubledReports().slice(0, 1000);
    const found: AnyWindow[][] = [];
    for (const group of ['first', 'second']) {
      const windows: AnyWindow[] = [];
      const processor = new Processor({
        ...optionsFor(bootstrap, prefix),
        group,
        onWindow: (window) => windows.push(window),
      });
      await processor.start();
      // The first group is there when only a part has come, and says what it has found of that.
      if (group === 'first') {
        await writer.write(topic, encode.messages(reports));
        await writer.write(topic, encode.watermarks(START_MS + 8000, PARTITIONS));
      }
      await until(() => processor.totals().reports === reports.length);
      await until(() =>
        windows.some(({ type, endNs }) => type === 'switchWindow' && Number(endNs) / 1e6 >= START_MS + 2000),
      );
      await processor.stop();
      expect(processor.totals()).toMatchObject({ networkLate: 0, late: 0, repeated: 0, incomplete: 0 });
      found.push(windows.filter(({ endNs }) => Number(endNs) / 1e6 <= START_MS + 2000));
    }
    const [first, second] = found.map((windows) => windows.map((one) => JSON.stringify(one)).sort());
    expect(second).toEqual(first);
    expect(first!.length).toBeGreaterThan(30);
  });

  it('with other options than its group is not let in while the others are there, and says so', async () => {
    await ready();
    const prefix = `${newName('agreement')}.`;
    const options = optionsFor(bootstrap, prefix);
    const heard: string[] = [];
    const first = new Processor(options);
    const second = new Processor({ ...options, windowMs: 2000, onProblem: (reason) => heard.push(reason) });
    await first.start();
    await until(() => first.totals().partitions.length === PARTITIONS);
    await second.start();
    await until(() => heard.length > 0);
    expect(heard[0]).toContain('its members have other options than this one');
    expect(first.totals().partitions).toHaveLength(PARTITIONS);
    await first.stop();
    await until(() => second.totals().partitions.length === PARTITIONS);
    await second.stop();
  });

  it('reads partitions that are added, and a topic that was made again with others, from its beginning', async () => {
    await ready();
    const prefix = `${newName('grown')}.`;
    const { reports: topic } = topicsOf(prefix, prefix);
    const heard: string[] = [];
    const options = {
      ...optionsFor(bootstrap, prefix),
      partitions: 2,
      onProblem: (reason: string) => heard.push(reason),
    };
    const processor = new Processor(options);
    const reports = troubledReports();
    /** With a client that has not seen the topic before. */
    const write = async (from: number, to: number): Promise<void> => {
      const fresh = new Writer(bootstrap);
      await fresh.write(topic, new ReportWriter().messages(reports.slice(from, to)));
      await fresh.close();
    };
    await processor.start();
    await write(0, 200);
    await until(() => processor.totals().reports === 200);
    await link.topic({ topic, partitions: 4, make: 4, replicas: -1 });
    await until(() => processor.totals().partitions.length === 4);
    await write(200, 400);
    await until(() => processor.totals().reports === 400);
    expect(heard).toEqual([]);
    // Of a partition that there will not be any more.
    const last = (await committedIn(link, topic, 4))[3]!.length;
    expect(last).toBeGreaterThan(0);
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
    await admin.deleteTopics({ topics: [topic] });
    await until(async () => (await link.layout(topic)) === null, 100);
    await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 });
    await admin.close();
    await write(400, 900);
    await until(() => processor.totals().reports === 900);
    await until(() => processor.totals().partitions.length === 3);
    const given = async (): Promise<number> => {
      const windows = (await committedIn(link, topicsOf(prefix, prefix).windows, 2)).flat();
      const found = windows.map(({ value }) => JSON.parse(textOf(value)) as FlowWindow | NetworkWindow);
      return found.reduce((sum, one) => sum + ('side' in one && one.side === 3 ? one.reports + one.late : 0), 0);
    };
    await until(async () => (await given()) >= last, 200);
    expect(await given()).toBe(last);
    await processor.stop();
    expect(heard.join('\n')).toContain('were deleted before they were read');
    expect(heard.filter((reason) => reason.includes(`partition 3 of ${topic} is gone`))).toHaveLength(1);
  });

  it('leaves out state that was written with other options, and says so', async () => {
    await ready();
    const prefix = `${newName('other')}.`;
    const options = optionsFor(bootstrap, prefix);
    const encode = new ReportWriter();
    const reports = troubledReports().slice(0, 600);
    const first = new Processor(options);
    await first.start();
    await writer.write(topicsOf(prefix, prefix).reports, encode.messages(reports.slice(0, 200)));
    await until(() => first.totals().reports === 200);
    await first.stop();
    const heard: string[] = [];
    const second = new Processor({ ...options, flowSide: { hops: 5 }, onProblem: (reason) => heard.push(reason) });
    await second.start();
    await writer.write(topicsOf(prefix, prefix).reports, encode.messages(reports.slice(200, 400)));
    await until(() => second.totals().reports === 200);
    await second.stop();
    expect(heard.filter((reason) => reason.includes('is not of these options and left out')).length).toBeGreaterThan(0);
    // What could not be used is deleted: the next one with these options goes on without a word.
    const again: string[] = [];
    const third = new Processor({ ...options, flowSide: { hops: 5 }, onProblem: (reason) => again.push(reason) });
    await third.start();
    await writer.write(topicsOf(prefix, prefix).reports, encode.messages(reports.slice(400)));
    await until(() => third.totals().reports === 200);
    await third.stop();
    expect(again).toEqual([]);
  });

  it('says so if there is no broker', async () => {
    const processor = new Processor({ bootstrap: ['127.0.0.1:1'] });
    await expect(processor.start()).rejects.toMatchObject({ name: 'ProcessError', code: 'ERR_PROCESS_UNREACHABLE' });
    await processor.stop();
  });

  it('refuses options out of range', () => {
    const bad = [{ commitMs: 1 }, { sessionMs: 0 }, { partitions: 0 }, { waitMs: 1 }, { group: '' }, { windowMs: 7 }];
    for (const options of bad) {
      expect(() => new Processor({ bootstrap: ['127.0.0.1:9092'], ...options })).toThrow(RangeError);
    }
    expect(() => new Processor({ bootstrap: [] })).toThrow(RangeError);
  });
});
