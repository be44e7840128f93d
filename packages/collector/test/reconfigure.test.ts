import type { TelemetryBatch } from '@int/codec';
import {
  Collector,
  type CollectorProblem,
  DetectionStage,
  detectionMemory,
  FlowStage,
  type Push,
  QueuedSink,
  type RecordCounts,
  type Sink,
  type Source,
  SourceError,
  type Stage,
} from '@int/collector';
import { readRules } from '@int/detect/yaml';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { slabOf } from './delivery/sources.js';
import { hop, report } from './reports.js';
import { SEED } from './seed.js';

const RULES = readRules('version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n');
const BAD = new Uint8Array(40).fill(0xff);
const good = (node: number): Uint8Array => report(node, node, [hop(1, 10, 0), hop(2, 20, 5)]);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const never = (): Promise<void> => new Promise(() => {});
const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const closes = ({ offered, delivered, pending, dropped }: RecordCounts): boolean =>
  offered === delivered + pending + sum(dropped) && pending >= 0;

/** A source that pushes when the test says so, and stops when the pipeline has what it pushed. */
class HandSource implements Source {
  overrun = 0;
  kernelDropped: number | null = 0;
  isOpen = false;
  #push: Push = () => undefined;
  #end: () => void = () => {};
  readonly finished = new Promise<void>((resolve) => {
    this.#end = resolve;
  });
  readonly #under = new Set<Promise<void>>();

  /** @param canOpen called on opening: whether that works */
  constructor(
    readonly name = 'hand',
    readonly canOpen: () => boolean = () => true,
  ) {}

  async start(push: Push): Promise<void> {
    if (!this.canOpen()) throw new SourceError('ERR_SOURCE_OPEN', this.name, 'taken');
    this.isOpen = true;
    this.#push = push;
  }

  push(datagrams: readonly Uint8Array[]): void {
    const busy = this.#push(slabOf(datagrams));
    if (busy === undefined) return;
    this.#under.add(busy);
    void busy.then(() => this.#under.delete(busy));
  }

  async stop(): Promise<void> {
    this.isOpen = false;
    await Promise.all(this.#under);
    this.#end();
  }
}

const nodesOf = (batch: TelemetryBatch): number[] =>
  Array.from({ length: batch.reports }, (_, row) => row)
    .filter((row) => batch.code[row] === 0)
    .map((row) => batch.nodeId[row]!);

/** Notes the nodes of the reports it is given. */
function listSink(name: string, into: number[], more: Partial<Sink> = {}): Sink {
  return {
    name,
    write(batch) {
      into.push(...nodesOf(batch));
      return undefined;
    },
    ...more,
  };
}

describe('Collector.reconfigure', () => {
  test('hands over between two batches: old stages and sinks are done, and new ones wait', async () => {
    const source = new HandSource();
    const order: string[] = [];
    const sink = (name: string): Sink => ({
      name,
      write: (batch) => void order.push(`${name} ${nodesOf(batch).join()}`),
      writeFlows: () => void order.push(`${name} flows`),
      close: async () => void order.push(`${name} closed`),
    });
    const [flows, old, next] = [new FlowStage({ rows: 16 }), sink('old'), sink('next')];
    const problems: string[] = [];
    const collector = new Collector({
      sources: [source],
      stages: [flows],
      sinks: [old],
      onProblem: ({ error }) => void problems.push(error.message),
    });
    await collector.start();
    source.push([good(7)]);
    let isHandedOver = (): void => {};
    const handOver = async (): Promise<void> => {
      order.push('handing over');
      await old.close!();
      await new Promise<void>((resolve) => {
        isHandedOver = resolve;
      });
      order.push('handed over');
      throw new Error('a problem like others');
    };
    const changed = collector.reconfigure({ stages: [], sinks: [next], handOver });
    await sleep(20);
    source.push([good(8)]);
    source.push([good(9)]);
    await sleep(20);
    expect(order).toEqual(['old 7', 'old flows', 'handing over', 'old closed']);
    isHandedOver();
    await changed;
    await source.stop();
    expect(order.slice(4)).toEqual(['handed over', 'next 8', 'next 9', 'old closed']);
    expect(problems).toEqual(['a problem like others']);
    expect((await collector.stop()).received).toBe(3);
  });

  test('adds, replaces and removes sinks between two batches; the others go on', async () => {
    const source = new HandSource();
    const [steady, first, second]: number[][] = [[], [], []];
    const log: string[] = [];
    const stays = listSink('stays', steady!);
    const collector = new Collector({
      sources: [source],
      sinks: [
        stays,
        listSink('changes', first!, { close: async () => void log.push(`closed after ${first!.length}`) }),
      ],
    });
    await collector.start();
    source.push([good(1), BAD]);
    const change = collector.reconfigure({ sinks: [stays, listSink('changes', second!)] });
    // It comes between two batches, never within one.
    source.push([good(2)]);
    await change;
    source.push([good(3)]);
    expect([first, second, steady]).toEqual([[1, 2], [3], [1, 2, 3]]);
    expect(log).toEqual(['closed after 2']);
    await collector.reconfigure({ sinks: [stays] });
    source.push([good(4)]);
    const { sinks, received, decoded } = await collector.stop();
    expect([received, decoded, steady]).toEqual([5, 4, [1, 2, 3, 4]]);
    // What a removed sink has counted stays in the totals.
    expect(sinks).toEqual({
      stays: { reports: { offered: 4, delivered: 4, pending: 0, dropped: {} } },
      changes: { reports: { offered: 3, delivered: 3, pending: 0, dropped: {} } },
    });
  });

  test('opens a new source before the old one stops, and keeps what the old one has counted', async () => {
    const log: string[] = [];
    class Noting extends HandSource {
      override async start(push: Push): Promise<void> {
        log.push(`open ${this.name}`);
        await super.start(push);
      }
      override async stop(): Promise<void> {
        log.push(`stop ${this.name}`);
        await super.stop();
      }
    }
    const [old, fresh] = [new Noting('old'), new Noting('new')];
    const collector = new Collector({ sources: [old] });
    await collector.start();
    let isFinished = false;
    void collector.finished.then(() => {
      isFinished = true;
    });
    old.push([good(1)]);
    old.overrun = 3;
    old.kernelDropped = 5;
    await collector.reconfigure({ sources: [fresh] });
    expect(log).toEqual(['open old', 'open new', 'stop old']);
    expect(isFinished).toBe(false);
    fresh.push([good(2)]);
    expect(collector.totals()).toMatchObject({ received: 5, decoded: 2, kernelDropped: 5, dropped: { overrun: 3 } });
    expect(await collector.stop()).toMatchObject({ received: 5 });
    expect(log.slice(3)).toEqual(['stop new']);
    await collector.finished;
  });

  test('exchanges a source whose address the old one has, and goes back to it if that is in vain', async () => {
    const holders = new Set<Source>();
    class Bound extends HandSource {
      override async start(push: Push): Promise<void> {
        if (holders.size > 0) throw new SourceError('ERR_SOURCE_OPEN', this.name, 'taken');
        await super.start(push);
        holders.add(this);
      }
      override async stop(): Promise<void> {
        await super.stop();
        holders.delete(this);
      }
    }
    const sources = [new Bound('a'), new Bound('b'), new Bound('back')] as const;
    const [a, b, back] = sources;
    const problems: CollectorProblem[] = [];
    const collector = new Collector({ sources: [a], onProblem: (one) => problems.push(one) });
    await collector.start();
    await expect(collector.reconfigure({ sources: [b] })).rejects.toThrow('cannot open b');
    expect([a.isOpen, b.isOpen]).toEqual([true, false]);
    await collector.reconfigure({ sources: [b], exchanges: [{ old: a, by: b, back }] });
    expect(sources.map(({ isOpen }) => isOpen)).toEqual([false, true, false]);
    const broken = new HandSource('broken', () => false);
    const backs: boolean[] = [];
    const onBack = (isOpen: boolean): void => void backs.push(isOpen);
    const change = { sources: [broken], exchanges: [{ old: b, by: broken, back, onBack }] };
    await expect(collector.reconfigure(change)).rejects.toThrow('cannot open broken');
    expect(sources.map(({ isOpen }) => isOpen)).toEqual([false, false, true]);
    expect(backs).toEqual([true]);
    back.push([good(1)]);
    expect(await collector.stop()).toMatchObject({ received: 1 });
    expect(problems).toEqual([]);
  });

  test('opens all new sources or none', async () => {
    const [old, fine, broken] = [new HandSource('old'), new HandSource('fine'), new HandSource('broken', () => false)];
    const sinks = [listSink('new', [])];
    const collector = new Collector({ sources: [old] });
    await collector.start();
    await expect(collector.reconfigure({ sources: [fine, broken], sinks })).rejects.toThrow('cannot open broken');
    expect([old.isOpen, fine.isOpen]).toEqual([true, false]);
    old.push([good(1)]);
    expect(await collector.stop()).toMatchObject({ received: 1, sinks: {} });
  });

  test('gives what an old stage still holds to the old sinks, before these close', async () => {
    const source = new HandSource();
    const log: string[] = [];
    const sink = (name: string): Sink => ({
      name,
      records: ['flows'],
      write: () => undefined,
      writeFlows: (_words, _at, records) => void log.push(`${name}: ${records}`),
      close: async () => void log.push(`${name} closed`),
    });
    const other: Stage = { name: 'other', process: () => log.push('seen') };
    const collector = new Collector({
      sources: [source],
      stages: [new FlowStage({ rows: 16 }), other],
      sinks: [sink('a')],
    });
    await collector.start();
    source.push([good(1), good(2)]);
    const smaller = new FlowStage({ rows: 4, hops: 2 });
    await collector.reconfigure({ stages: [other, smaller], sinks: [sink('b')] });
    expect(log).toEqual(['seen', 'a: 1', 'a closed']);
    source.push([good(3)]);
    const { sinks, stages } = await collector.stop();
    expect(log.slice(3)).toEqual(['seen', 'b: 1', 'b closed']);
    expect(sinks.a!.flows).toEqual({ offered: 1, delivered: 1, pending: 0, dropped: {} });
    expect(stages.flows).toMatchObject({ offered: 1 });
  });

  test('connects the stages when the first sink comes that takes their records', async () => {
    const source = new HandSource();
    const seen: string[] = [];
    const sink: Sink = {
      name: 'events',
      records: ['events'],
      write: () => undefined,
      writeEvents: (events) => void seen.push(`${events.count} events`),
    };
    const collector = new Collector({ sources: [source], stages: [new DetectionStage(RULES)] });
    await collector.start();
    source.push([good(1)]);
    await collector.reconfigure({ sinks: [sink] });
    source.push([good(2)]);
    await collector.reconfigure({ sinks: [] });
    source.push([good(3)]);
    expect((await collector.stop()).stages.detection).toMatchObject({ reports: 3, events: 3 });
    expect(seen).toEqual(['1 events']);
  });

  test('reads by other options from the change on, and moves its batch for a new detector', async () => {
    const source = new HandSource();
    const collector = new Collector({
      sources: [source],
      stages: [new DetectionStage(RULES)],
      decode: { profile: 'spec' },
    });
    await collector.start();
    source.push([good(1)]);
    const memory = detectionMemory(RULES) ?? undefined;
    const found: number[] = [];
    const stage = new DetectionStage(RULES, {
      ...(memory !== undefined && { memory }),
      onEvents: (events) => void found.push(events.batch.nodeId[0]!),
    });
    await collector.reconfigure({ stages: [stage], ...(memory !== undefined && { memory }) });
    source.push([good(2)]);
    await collector.reconfigure({ decode: { intPorts: [5000] } });
    source.push([good(3)]);
    expect(await collector.stop()).toMatchObject({ decoded: 3, stages: { detection: { reports: 2 } } });
    expect(found).toEqual([2, 3]);
    await expect(collector.reconfigure({ decode: { intPorts: [70_000] } })).rejects.toThrow();
  });

  test('waits no longer than its time for an old sink that never returns; what it holds is dropped', async () => {
    const source = new HandSource();
    const [steady, fresh]: number[][] = [[], []];
    const stays = listSink('stays', steady!);
    const stuck: Sink = { name: 'stuck', write: never };
    const problems: CollectorProblem[] = [];
    const collector = new Collector({
      sources: [source],
      sinks: [stays, stuck],
      onProblem: (one) => problems.push(one),
    });
    await collector.start();
    source.push([good(1)]);
    source.push([good(2)]);
    expect(collector.totals()).toMatchObject({ received: 1 });
    await collector.reconfigure({ sinks: [stays, listSink('fresh', fresh!)] }, 200);
    source.push([good(3)]);
    expect([steady, fresh]).toEqual([[1, 2, 3], [3]]);
    const { sinks } = await collector.stop();
    expect(sinks.stuck!.reports).toEqual({ offered: 2, delivered: 0, pending: 0, dropped: { failed: 2 } });
    expect(problems).toEqual([]);
  });

  test('changes nothing if a sink that stays holds up the pipeline for longer', async () => {
    const source = new HandSource();
    let open = (): void => {};
    const slow: Sink = { name: 'slow', write: () => new Promise((resolve) => (open = resolve)) };
    const gone: number[] = [];
    const collector = new Collector({ sources: [source], sinks: [slow, listSink('goes', gone)] });
    await collector.start();
    source.push([good(1)]);
    await expect(collector.reconfigure({ sinks: [slow] }, 60)).rejects.toThrow('nothing is changed');
    open();
    source.push([good(2)]);
    await sleep(1);
    open();
    await collector.stop();
    expect(gone).toEqual([1, 2]);
  });

  test('can be stopped meanwhile, within its time', async () => {
    const source = new HandSource();
    const collector = new Collector({
      sources: [source],
      sinks: [{ name: 'old', write: () => undefined, close: never }],
    });
    await collector.start();
    source.push([good(1)]);
    const opening = new HandSource('slow');
    opening.start = () => sleep(30);
    const change = collector.reconfigure({ sources: [source, opening], sinks: [] });
    const settled = expect(change).rejects.toThrow('stopped');
    await sleep(5);
    expect(await collector.stop(100)).toMatchObject({ received: 1 });
    await settled;
    await expect(collector.reconfigure({ sinks: [] })).rejects.toThrow('does not run');
  });

  test('wants a source, names that differ, a time, and a collector that runs', async () => {
    const source = new HandSource();
    const collector = new Collector({ sources: [source] });
    await expect(collector.reconfigure({ sinks: [] })).rejects.toThrow('does not run');
    await collector.start();
    await expect(collector.reconfigure({ sources: [] })).rejects.toThrow(RangeError);
    await expect(collector.reconfigure({ sinks: [listSink('a', []), listSink('a', [])] })).rejects.toThrow(RangeError);
    await expect(collector.reconfigure({}, -1)).rejects.toThrow(RangeError);
    await expect(collector.reconfigure({ decode: { intPorts: [70_000] } })).rejects.toThrow(RangeError);
    await collector.reconfigure({});
    await collector.stop();
  });
});

type Kind = 'sync' | 'async' | 'throws' | 'rejects' | 'queued' | 'stuck' | 'unclosable' | 'counting';

/** A sink of a kind. */
function sinkOf(name: string, kind: Kind): Sink {
  switch (kind) {
    case 'sync':
      return { name, write: () => undefined };
    case 'async':
      return { name, write: () => sleep(1) };
    case 'throws':
      return {
        name,
        write() {
          throw new Error('full');
        },
      };
    case 'rejects':
      return { name, write: () => sleep(1).then(() => Promise.reject(new Error('away'))) };
    case 'queued':
      return new QueuedSink({ name, write: () => sleep(2) }, { batches: 2, whenFull: 'drop' });
    case 'stuck':
      return { name, write: never };
    case 'unclosable':
      return { name, write: () => undefined, close: never };
    case 'counting': {
      let offered = 0;
      return {
        name,
        write: (batch) => {
          offered += nodesOf(batch).length;
          return sleep(1);
        },
        totals: () => ({ reports: { offered, delivered: offered, pending: 0, dropped: {} } }),
      };
    }
  }
}

type Step =
  | { readonly does: 'push'; readonly source: number; readonly good: number; readonly bad: number }
  | { readonly does: 'pause' }
  | {
      readonly does: 'change';
      readonly sinks: readonly Kind[] | null;
      readonly sources: number | null;
      readonly chain: boolean;
      readonly stage: boolean;
      readonly opens: boolean;
      readonly waits: boolean;
    };

const kind = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<Kind>('sync', 'async', 'throws', 'rejects', 'queued', 'counting') },
  { weight: 2, arbitrary: fc.constant<Kind>('stuck') },
  { weight: 1, arbitrary: fc.constant<Kind>('unclosable') },
);
const push: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('push' as const),
  source: fc.nat(3),
  good: fc.nat(6),
  bad: fc.nat(2),
});
const change: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('change' as const),
  sinks: fc.option<readonly Kind[], null>(fc.array(kind, { maxLength: 3 }), { nil: null }),
  sources: fc.option<number, null>(fc.integer({ min: 1, max: 3 }), { nil: null }),
  chain: fc.boolean(),
  stage: fc.boolean(),
  opens: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  waits: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: push },
  { weight: 1, arbitrary: fc.constant<Step>({ does: 'pause' }) },
  { weight: 2, arbitrary: change },
);

describe('Any sequence of changes under load', () => {
  test(
    'loses no frame: all accounts close, sinks that stay get each report once and in order, and so does a chain of sinks that follow each other',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const [pushed, steady, chained, staged]: number[][] = [[], [], [], []];
          let frames = 0;
          let sources = [new HandSource('0')];
          let kinds: readonly Kind[] = [];
          let others: Sink[] = [];
          const stays = listSink('stays', steady!);
          const follows = (): Sink => listSink('chain', chained!, { close: () => sleep(1) });
          const stageOf = (): Stage => ({ name: 'chain', process: (batch) => void staged!.push(...nodesOf(batch)) });
          let [chain, stage] = [follows(), stageOf()];
          const collector = new Collector({ sources, stages: [stage], sinks: [stays, chain], capacity: { frames: 4 } });
          await collector.start();
          const changes: Promise<unknown>[] = [];
          let [made, isHard] = [0, false];
          for (const each of steps) {
            if (each.does === 'pause') await sleep(2);
            else if (each.does === 'push') {
              const open = sources.filter(({ isOpen }) => isOpen);
              if (open.length === 0) continue;
              const nodes = Array.from({ length: each.good }, (_, index) => frames + index + 1);
              open[each.source % open.length]!.push([...nodes.map(good), ...Array<Uint8Array>(each.bad).fill(BAD)]);
              pushed!.push(...nodes);
              frames += each.good + each.bad;
            } else {
              // All of this is in force only if the change succeeds.
              const wanted = {
                sources:
                  each.sources === null
                    ? sources
                    : Array.from({ length: each.sources }, (_, index) =>
                        index === 0 ? sources[0]! : new HandSource(String(++made), () => each.opens),
                      ),
                others: each.sinks === null ? others : each.sinks.map((one, index) => sinkOf(`sink ${index}`, one)),
                kinds: each.sinks ?? kinds,
                chain: each.chain ? follows() : chain,
                stage: each.stage ? stageOf() : stage,
              };
              if (wanted.kinds.includes('stuck') || wanted.kinds.includes('unclosable')) isHard = true;
              const changing = collector
                .reconfigure(
                  {
                    sources: wanted.sources,
                    stages: [wanted.stage],
                    sinks: [stays, wanted.chain, ...wanted.others],
                  },
                  60,
                )
                .then(
                  () => ({ sources, others, kinds, chain, stage } = wanted),
                  () => undefined,
                );
              changes.push(changing);
              if (each.waits) await changing;
            }
          }
          const totals = await collector.stop(isHard ? 100 : 20_000);
          await Promise.all(changes);
          expect(totals.received).toBe(frames);
          expect(totals.received).toBe(totals.decoded + sum(totals.dropped));
          for (const sinks of Object.values(totals.sinks)) {
            for (const counts of Object.values(sinks)) expect(counts).toSatisfy(closes);
          }
          expect(totals.reports).toBe(steady!.length);
          expect(chained).toEqual(steady);
          expect(staged).toEqual(steady);
          expect(totals.sinks.chain?.reports?.offered ?? 0).toBe(steady!.length);
          // Only when the time is over are there frames that nobody has looked at.
          if (isHard) expect(pushed!.filter((node) => steady!.includes(node))).toEqual(steady);
          else expect(steady).toEqual(pushed);
        }),
        { seed: SEED, numRuns: runs(80) },
      );
    },
    // A sink that is given up costs a second.
    runs(80) * 4000,
  );
});
