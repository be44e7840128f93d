import {
  type FlowWindow,
  IMMEDIATE_KINDS,
  type ImmediateEvent,
  type NetworkWindow,
  StreamProcessor,
} from '@int/stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { topicsOf } from '../src/findings.js';
import type { KafkaLink } from '../src/kafka/link.js';
import { Processor } from '../src/processor.js';
import { Child } from './child.js';
import { committedIn, linkTo, newName, textOf, until, Writer } from './log.js';
import { optionsFor, PARTITIONS } from './processor-options.js';
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
  const { batch, input } = batchOf(troubledReports());
  processor.observe(batch, input);
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
  const topics = topicsOf(prefix);
  const windows = (await committedIn(link, topics.windows, PARTITIONS)).flat();
  const events = (await committedIn(link, topics.immediate, PARTITIONS)).flat();
  return {
    windows: windows.map(({ value }) => JSON.parse(textOf(value)) as AnyWindow),
    events: events.map(({ value }) => JSON.parse(textOf(value)) as ImmediateEvent),
  };
}

async function expectAll(prefix: string): Promise<void> {
  const { windows, events } = expected();
  const before = async (): Promise<{ windows: AnyWindow[]; events: ImmediateEvent[] }> => {
    const all = await found(prefix);
    return {
      windows: all.windows.filter(({ endNs }) => isBeforeTail(endNs)),
      events: all.events.filter(({ sinceNs }) => isBeforeTail(sinceNs)),
    };
  };
  await until(async () => {
    const now = await before();
    return now.windows.length >= windows.size && now.events.length >= events.length;
  }, 300);
  const now = await before();
  expect(now.events.map(({ id }) => id).sort()).toEqual(events);
  expect(now.windows.map(({ id }) => id).sort()).toEqual([...windows.keys()].sort());
  for (const window of now.windows) expect(window).toEqual(JSON.parse(JSON.stringify(windows.get(window.id))));
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
      await writer.write(topicsOf(prefix).reports, messages);
      written += messages.length;
      // A batch whose acknowledgement was lost is written once more.
      if (at === 1000) await writer.write(topicsOf(prefix).reports, messages);
    }
    await writer.write(topicsOf(prefix).reports, [{ key: Buffer.from('x'), value: Buffer.from('no report') }]);
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
    const child = await Child.start(new URL('processor.program.ts', import.meta.url), [bootstrap.join(), prefix]);
    const processor = new Processor({ ...optionsFor(bootstrap, prefix), onProblem: (reason) => heard.push(reason) });
    try {
      await child.line((line) => line.startsWith('assigned'));
      await processor.start();
      await until(() => processor.totals().partitions.length > 0);
      const reports = troubledReports();
      const encode = new ReportWriter();
      for (let at = 0; at < reports.length; at += 100) {
        await writer.write(topicsOf(prefix).reports, encode.messages(reports.slice(at, at + 100)));
        // In the middle of its work, with results of some seconds written and others not yet.
        if (at === 2000) {
          await child.line((line) => line === 'window');
          await child.end('SIGKILL');
        }
      }
      await expectAll(prefix);
      expect(processor.totals().partitions).toEqual([0, 1, 2, 3]);
    } finally {
      await child.end('SIGKILL');
      await processor.stop();
    }
    expect(heard).toEqual([]);
  });

  it('lets time go on where no more reports come, and has an event for the silence', async () => {
    await ready();
    const prefix = `${newName('quiet')}.`;
    const events: ImmediateEvent[] = [];
    const windows: AnyWindow[] = [];
    const processor = new Processor({
      ...optionsFor(bootstrap, prefix),
      quietMs: 300,
      onEvent: (event) => events.push(event),
      onWindow: (window) => windows.push(window),
    });
    await processor.start();
    // Only two of four partitions have reports, and these are old.
    const encode = new ReportWriter();
    const reports = troubledReports().filter(({ flow, timeMs }) => flow < 2 && timeMs < START_MS + 2500);
    await writer.write(topicsOf(prefix).reports, encode.messages(reports));
    const lastMs = START_MS + 2480;
    await until(() => windows.some(({ type, endNs }) => type === 'flowWindow' && Number(endNs) / 1e6 > lastMs));
    await until(() => windows.some(({ type, endNs }) => type === 'switchWindow' && Number(endNs) / 1e6 > lastMs));
    await processor.stop();
    expect(events.every(({ timeNs }) => Number(timeNs) / 1e6 < lastMs + 60_000)).toBe(true);
  });

  it('leaves out state that was written with other options, and says so', async () => {
    await ready();
    const prefix = `${newName('other')}.`;
    const options = optionsFor(bootstrap, prefix);
    const encode = new ReportWriter();
    const reports = troubledReports().slice(0, 600);
    const first = new Processor(options);
    await first.start();
    await writer.write(topicsOf(prefix).reports, encode.messages(reports.slice(0, 200)));
    await until(() => first.totals().reports === 200);
    await first.stop();
    const heard: string[] = [];
    const second = new Processor({ ...options, flowSide: { hops: 5 }, onProblem: (reason) => heard.push(reason) });
    await second.start();
    await writer.write(topicsOf(prefix).reports, encode.messages(reports.slice(200, 400)));
    await until(() => second.totals().reports === 200);
    await second.stop();
    expect(heard.filter((reason) => reason.includes('is not of these options and left out')).length).toBeGreaterThan(0);
    // What could not be used is deleted: the next one with these options goes on without a word.
    const again: string[] = [];
    const third = new Processor({ ...options, flowSide: { hops: 5 }, onProblem: (reason) => again.push(reason) });
    await third.start();
    await writer.write(topicsOf(prefix).reports, encode.messages(reports.slice(400)));
    await until(() => third.totals().reports === 200);
    await third.stop();
    expect(again).toEqual([]);
  });

  it('says so if there is no broker', async () => {
    const processor = new Processor({ bootstrap: ['127.0.0.1:1'] });
    await expect(processor.start()).rejects.toMatchObject({ name: 'ProcessError', code: 'unreachable' });
    await processor.stop();
  });

  it('refuses options out of range', () => {
    const bad = [{ commitMs: 1 }, { sessionMs: 0 }, { partitions: 0 }, { quietMs: -1 }, { group: '' }, { windowMs: 7 }];
    for (const options of bad) {
      expect(() => new Processor({ bootstrap: ['127.0.0.1:9092'], ...options })).toThrow(RangeError);
    }
    expect(() => new Processor({ bootstrap: [] })).toThrow(RangeError);
  });
});
