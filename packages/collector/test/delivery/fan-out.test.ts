import {
  Collector,
  type CollectorProblem,
  DetectionStage,
  FlowStage,
  type RecordCounts,
  type Sink,
} from '@int/collector';
import { readRules } from '@int/detect/yaml';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { hop, report } from '../reports.js';
import { SEED } from '../seed.js';
import { HandSource, slabOf } from './sources.js';

const RULES = readRules('version: 1\nrules: [{ name: all, priority: 1, match: any, detect: { noop: {} } }]\n');

const good = (node: number): Uint8Array => report(node, node, [hop(1, 10, 0), hop(2, 20, 5)]);
const bad = new Uint8Array(40).fill(0xff);

const closes = ({ offered, delivered, pending, dropped }: RecordCounts): boolean =>
  offered === delivered + pending + Object.values(dropped).reduce((sum, count) => sum + count, 0);

describe('Collector with sinks', () => {
  test('gives them reports, the events of detection, and flows that leave the cache, at the latest when it stops', async () => {
    const source = new HandSource();
    const log: string[] = [];
    const sink: Sink = {
      name: 'log',
      write(batch) {
        log.push(`${batch.reports} reports`);
        return undefined;
      },
      writeEvents(events) {
        for (let row = 0; row < events.count; row++) log.push(`event of ${events.event(row).rule}`);
        return undefined;
      },
      writeFlows(_words, _at, records, geometry) {
        expect(geometry.hops).toBe(5);
        log.push(`${records} flows`);
        return undefined;
      },
      async close() {
        log.push('closed');
      },
    };
    const flows = new FlowStage({ rows: 16 });
    const collector = new Collector({ sources: [source], stages: [new DetectionStage(RULES), flows], sinks: [sink] });
    await collector.start();
    expect(source.push(slabOf([good(1), bad, good(2)]))).toBeUndefined();
    expect(log).toEqual(['event of all', 'event of all', '2 reports']);
    const totals = await collector.stop();
    expect(log.slice(3)).toEqual(['1 flows', 'closed']);
    expect(flows.totals()).toMatchObject({ offered: 2, live: 0, removedEntries: 1 });
    const all = (records: number): RecordCounts => ({ offered: records, delivered: records, pending: 0, dropped: {} });
    expect(totals.sinks).toEqual({ log: { reports: all(2), events: all(2), flows: all(1) } });
    expect(totals.stages.detection).toMatchObject({ reports: 2, events: 2 });
    expect(totals.stages.flows).toMatchObject({ offered: 2, live: 0 });
  });

  test('gives a sink only what it takes, and leaves the cache alone if none takes flows', async () => {
    const source = new HandSource();
    const given: string[] = [];
    const note = (name: string): undefined => {
      given.push(name);
    };
    const sinks: Sink[] = [
      { name: 'events', records: ['events'], write: () => note('reports'), writeEvents: () => note('events') },
      { name: 'reports', write: () => note('reports') },
    ];
    const flows = new FlowStage({ rows: 16 });
    const collector = new Collector({ sources: [source], stages: [new DetectionStage(RULES), flows], sinks });
    await collector.start();
    source.push(slabOf([good(1)]));
    const { sinks: totals } = await collector.stop();
    expect(given).toEqual(['events', 'reports']);
    expect(Object.keys(totals.events!)).toEqual(['events']);
    expect(Object.keys(totals.reports!)).toEqual(['reports']);
    // Of the first sink nobody takes flows, but it is connected: the cache is emptied in any case.
    expect(flows.totals().offered).toBe(1);
  });

  test('waits after a batch for all who have no room, also for those that took only events', async () => {
    const source = new HandSource();
    let open = (): void => {};
    const sink: Sink = {
      name: 'slow',
      write: () => undefined,
      writeEvents: () =>
        new Promise((resolve) => {
          open = resolve;
        }),
    };
    const collector = new Collector({ sources: [source], stages: [new DetectionStage(RULES)], sinks: [sink] });
    await collector.start();
    const busy = source.push(slabOf([good(1)]));
    expect(busy).toBeInstanceOf(Promise);
    expect(collector.totals().sinks.slow!.events).toEqual({ offered: 1, delivered: 0, pending: 1, dropped: {} });
    open();
    await busy;
    expect((await collector.stop()).sinks.slow!.events).toMatchObject({ delivered: 1, pending: 0 });
  });

  test('counts what a sink that fails was given, and tells once as long as it fails in the same way', async () => {
    const source = new HandSource();
    const problems: CollectorProblem[] = [];
    const answers: (() => Promise<void> | undefined)[] = [
      () => undefined,
      () => Promise.reject(new Error('away')),
      () => {
        throw new Error('away');
      },
      () => undefined,
      () => Promise.reject(new Error('away')),
    ];
    const sinks: Sink[] = [
      { name: 'flaky', write: () => answers.shift()!() },
      { name: 'well', write: () => undefined },
    ];
    const collector = new Collector({ sources: [source], sinks, onProblem: (one) => problems.push(one) });
    await collector.start();
    const degraded: unknown[] = [];
    for (let push = 0; push < 5; push++) {
      await source.push(slabOf([good(1), good(2)]));
      degraded.push(collector.degraded().map(({ where, name, text }) => `${where} ${name}: ${text}`));
    }
    const away = 'flaky outage: away';
    expect(degraded).toEqual([
      [],
      [away, 'flaky shedding: 2 records dropped'],
      [away, 'flaky shedding: 4 records dropped'],
      ['flaky shedding: 4 records dropped'],
      [away, 'flaky shedding: 6 records dropped'],
    ]);
    expect(problems.map(({ where, error }) => `${where}: ${error.message}`)).toEqual(['flaky: away', 'flaky: away']);
    const { sinks: totals } = await collector.stop();
    expect(totals.flaky!.reports).toEqual({ offered: 10, delivered: 4, pending: 0, dropped: { failed: 6 } });
    expect(totals.well!.reports).toMatchObject({ offered: 10, delivered: 10 });
  });

  test('refuses two sinks of one name', () => {
    const sink: Sink = { name: 'twice', write: () => undefined };
    expect(() => new Collector({ sources: [new HandSource()], sinks: [sink, { ...sink }] })).toThrow(/'twice'/);
  });

  test('asks a sink that keeps counters for them, and for its health', async () => {
    const totals = { reports: { offered: 7, delivered: 3, pending: 0, dropped: { overflow: 4 } } };
    const sink: Sink = { name: 'own', write: () => undefined, totals: () => totals, health: () => 'brokers away' };
    const collector = new Collector({ sources: [new HandSource()], sinks: [sink] });
    expect(collector.totals().sinks).toEqual({ own: totals });
    expect(collector.degraded()).toMatchObject([{ where: 'own', name: 'outage', text: 'brokers away' }]);
    await collector.stop();
  });

  test('adds what stages and sinks behind a sink have counted to those of the same name', async () => {
    const source = new HandSource();
    const counts = { offered: 5, delivered: 3, pending: 1, dropped: { overflow: 1 } };
    const threads: Sink = {
      name: 'threads',
      records: [],
      write: () => undefined,
      totals: () => ({}),
      onward: () => ({ stages: { flows: { offered: 7, live: 2 } }, sinks: { kafka: { reports: counts } } }),
    };
    const kafka: Sink = { name: 'kafka', write: () => undefined };
    const stages = [new FlowStage({ rows: 16 })];
    const collector = new Collector({ sources: [source], stages, sinks: [threads, kafka] });
    await collector.start();
    source.push(slabOf([good(1)]));
    const totals = await collector.stop();
    expect(totals.stages.flows).toMatchObject({ offered: 8, live: 3 });
    const reports = { offered: 6, delivered: 4, pending: 1, dropped: { overflow: 1 } };
    expect(totals.sinks).toEqual({ kafka: { reports } });
  });

  test('ends in time although a sink never returns: what nobody looked at is overrun, the rest pending', async () => {
    const source = new HandSource();
    const problems: string[] = [];
    let closedWith: number | undefined;
    const sinks: Sink[] = [
      { name: 'hung', write: () => new Promise(() => {}), close: () => new Promise(() => {}) },
      {
        name: 'well',
        write: () => undefined,
        async close(timeoutMs) {
          closedWith = timeoutMs;
        },
      },
    ];
    const collector = new Collector({
      sources: [source],
      sinks,
      capacity: { frames: 2 },
      onProblem: ({ where }) => problems.push(where),
    });
    await collector.start();
    void source.push(slabOf([good(1), good(2), good(3)]));
    void source.push(slabOf([good(4)]));
    const totals = await collector.stop(500);
    expect(totals).toMatchObject({ received: 4, decoded: 2, dropped: { overrun: 2 } });
    expect(totals.sinks.hung!.reports).toEqual({ offered: 2, delivered: 0, pending: 2, dropped: {} });
    expect(problems).toEqual(['collector', 'hung']);
    expect(closedWith).toBeGreaterThan(0);
    expect(closedWith).toBeLessThanOrEqual(500);
    source.push(slabOf([good(5)]));
    expect(collector.totals()).toMatchObject({ received: 5, dropped: { overrun: 3 } });
    expect(() => collector.stop(-1)).toThrow(RangeError);
  });

  test('closes all accounts whatever the sinks do', async () => {
    const answer = fc.constantFrom('take', 'later', 'throw', 'reject');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(answer, { minLength: 6, maxLength: 6 }), { maxLength: 8 }), async (script) => {
        const source = new HandSource();
        let step = 0;
        const sinkOf = (name: string, column: number): Sink => {
          const act = (kind: number) => (): Promise<void> | undefined => {
            switch (script[step]?.[column * 3 + kind]) {
              case 'later':
                return new Promise((resolve) => setImmediate(resolve));
              case 'throw':
                throw new Error('thrown');
              case 'reject':
                return Promise.reject(new Error('rejected'));
              default:
                return undefined;
            }
          };
          return { name, write: act(0), writeEvents: act(1), writeFlows: act(2) };
        };
        const stages = [new DetectionStage(RULES), new FlowStage({ rows: 1, buckets: 1 })];
        const collector = new Collector({ sources: [source], stages, sinks: [sinkOf('a', 0), sinkOf('b', 1)] });
        await collector.start();
        for (; step < script.length; step++) await source.push(slabOf([good(step + 1), bad, good(step + 2)]));
        const { reports, sinks } = await collector.stop();
        for (const name of ['a', 'b']) {
          for (const counts of Object.values(sinks[name]!)) expect(closes(counts) && counts.pending === 0).toBe(true);
          expect(sinks[name]!.reports!.offered).toBe(reports);
          expect(sinks[name]!.events!.offered).toBe(reports);
          expect(sinks[name]!.flows!.offered).toBe(script.length > 0 ? 1 : 0);
        }
      }),
      { seed: SEED, numRuns: runs(40) },
    );
  });
});
