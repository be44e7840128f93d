import { Collector, DetectionStage, FlowStage, type Push, type Source } from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { OpenSearchSink } from '@int/sink-opensearch';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { type Behaviour, BulkDouble } from './bulk-double.js';
import { framesOf, NOON_NS, writeFlows, writeReports } from './load.js';
import { SEED } from './seed.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** What a server may do with a request; it is well after all of them. */
const behaviour: fc.Arbitrary<Behaviour> = fc.oneof(
  fc.constantFrom<Behaviour[]>(null, 'lose answer', 'reset', { status: 503 }, { status: 413 }, { status: 400 }),
  fc.constant<Behaviour>({ status: 200, text: '{' }),
  fc
    .array(fc.constantFrom(201, 201, 400, 429, 500, 503), { minLength: 1, maxLength: 7 })
    .map((statuses) => (ids: readonly string[]) => ids.map((_, index) => statuses[index % statuses.length]!)),
);

describe('the accounts of a sink', () => {
  it('close whatever the server does: what is delivered is stored once, the rest is counted', async () => {
    const server = await BulkDouble.listen();
    closers.push(() => server.close());
    await fc.assert(
      fc.asyncProperty(
        fc.array(behaviour, { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom('wait' as const, 'drop' as const),
        async (script, reports, batchRecords, whenFull) => {
          server.next = [...script];
          server.stored.clear();
          const sink = new OpenSearchSink({
            nodes: [server.url],
            records: ['reports', 'flows'],
            templates: false,
            lingerMs: 0,
            batchRecords,
            memoryBytes: 1024,
            whenFull,
            retry: { firstMs: 1, maxMs: 2 },
          });
          const waited = writeReports(sink, 0, reports);
          if (whenFull === 'drop') expect(waited).toBe(undefined);
          await waited;
          await writeFlows(sink, 1, 5);
          for (const { offered, delivered, pending, dropped } of Object.values(sink.totals())) {
            expect(offered).toBe(delivered + pending + dropped.overflow! + dropped.rejected!);
          }
          await sink.flush();
          await sink.close();
          const { reports: counts, flows } = sink.totals();
          expect([counts!.offered, counts!.pending, flows!.offered, flows!.pending]).toEqual([reports, 0, 5, 0]);
          const lost = [counts!, flows!].map(({ dropped }) => dropped.overflow! + dropped.rejected!);
          expect([counts!.delivered, flows!.delivered]).toEqual([reports - lost[0]!, 5 - lost[1]!]);
          if (whenFull === 'wait') expect(counts!.dropped.overflow).toBe(0);
          // A record that was stored, its answer lost, and then refused is there and counted as rejected.
          expect(server.stored.size).toBeGreaterThanOrEqual(counts!.delivered + flows!.delivered);
          if (!script.includes('lose answer')) {
            expect(server.stored.size).toBe(counts!.delivered + flows!.delivered);
          }
        },
      ),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  it('are those of the collector, to which stages give events and the cache its flows', async () => {
    const server = await BulkDouble.listen();
    closers.push(() => server.close());
    const sink = new OpenSearchSink({ nodes: [server.url], records: ['reports', 'events', 'flows'] });
    let push: Push = () => undefined;
    let finish = (): void => {};
    const source: Source = {
      name: 'test',
      finished: new Promise((resolve) => {
        finish = resolve;
      }),
      overrun: 0,
      kernelDropped: null,
      start: async (given) => {
        push = given;
      },
      stop: async () => finish(),
    };
    const rules = readRules(`
version: 1
units: { hopLatency: ns }
rules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 150, scope: hop } } }]
`);
    const stages = [new DetectionStage(rules), new FlowStage({ rows: 64 })];
    const collector = new Collector({ sources: [source], stages, sinks: [sink] });
    await collector.start();
    await push(framesOf(100, 100, NOON_NS));
    const { sinks, reports } = await collector.stop();
    expect([reports, collector.degraded()]).toEqual([100, []]);
    expect(sinks.opensearch).toMatchObject({
      reports: { offered: 100, delivered: 100, pending: 0 },
      // Of latencies from 100 to 199, those above 150; the node's own 100 is below.
      events: { offered: 49, delivered: 49, pending: 0 },
      flows: { offered: 1, delivered: 1, pending: 0 },
    });
    expect(server.stored.size).toBe(150);
    const flow = [...server.stored.values()].find(({ type }) => type === 'flow');
    expect(flow).toMatchObject({ packets: 100, flow: { source: '10.0.1.1', destinationPort: 80 } });
  });
});
