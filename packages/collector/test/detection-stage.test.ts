import { type AcceleratorMemory, encodeReport } from '@int/codec';
import { acceleratorAvailable } from '@int/codec/internals';
import {
  Collector,
  type CollectorProblem,
  DetectionStage,
  type DetectionStageOptions,
  detectionMemory,
  FrameSlab,
  type Push,
  QueuedSink,
  type Sink,
  type Source,
} from '@int/collector';
import { reportIndex } from '@int/collector/internals';
import { type Event, type Match, type Rule, type RuleSet, RulesError } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hop, report, telemetry } from './reports.js';
import { SEED } from './seed.js';

const START_MS = 1_700_000_000_000;
const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

function rule(name: string, priority: number, detector: Rule['detector'], match: Partial<Match> = {}): Rule {
  return { name, priority, match: { ...ANY, ...match }, detector, sample: null, adapt: null };
}

function ruleSet(...rules: Rule[]): RuleSet {
  return { rules, default: 'drop', adapt: null };
}

const step = (threshold: number): Rule['detector'] => ({ kind: 'perHop', metric: 'hopLatency', threshold });

/** Pushes slabs when the test says so. */
class HandSource implements Source {
  readonly name = 'hand';
  readonly overrun = 0;
  readonly kernelDropped = 0;
  readonly finished = new Promise<void>(() => {});
  push: Push = () => undefined;

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {}
}

function slab(datagrams: readonly Uint8Array[], timeMs: (index: number) => number = () => START_MS): FrameSlab {
  const bytes = datagrams.reduce((sum, datagram) => sum + datagram.length, 1);
  const result = new FrameSlab({ frames: datagrams.length + 1, bytes }, 'report');
  for (const [index, datagram] of datagrams.entries()) result.append(datagram, timeMs(index));
  return result;
}

interface Found extends Event {
  /** Datagrams so far. */
  readonly frame: number;
  readonly index: number;
}

/** A collector with a detection stage that notes all events. */
async function detecting(
  rules: RuleSet,
  options: DetectionStageOptions = {},
  memory: AcceleratorMemory | null = null,
  capacity = {},
): Promise<{
  source: HandSource;
  stage: DetectionStage;
  found: Found[];
  collector: Collector;
  problems: CollectorProblem[];
}> {
  const source = new HandSource();
  const found: Found[] = [];
  const problems: CollectorProblem[] = [];
  const stage = new DetectionStage(rules, {
    onEvents(events) {
      const { batch } = events;
      const number = collector.totals().received - batch.frames;
      for (let row = 0; row < events.count; row++) {
        const at = events.report[row]!;
        const event = events.event(row);
        found.push({ ...event, frame: number + batch.frame[at]!, index: reportIndex(batch, at) });
      }
    },
    ...options,
    ...(memory !== null && { memory }),
  });
  const collector = new Collector({
    sources: [source],
    stages: [stage],
    capacity,
    onProblem: (problem) => problems.push(problem),
    ...(memory !== null && { memory }),
  });
  await collector.start();
  return { source, stage, found, collector, problems };
}

/** Reports of 100 flows, TCP and UDP, with latencies and queues at random. */
function traffic(count: number, seed: number): Uint8Array[] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: count }, (_, at) => {
    const stack = [1, 2, 3].map((node) => hop(node, random(10) === 0 ? random(100_000) : 500, random(200)));
    const plain = telemetry(9, at, [stack]);
    const number = random(100);
    const records = plain.records.map((record) => ({
      ...record,
      int: record.int === null ? null : ({ ...record.int, encapsulation: number % 2 === 0 ? 'udp' : 'tcp' } as const),
      flow: { ...record.flow!, protocol: number % 2 === 0 ? 17 : 6, sourcePort: 30_000 + number },
    }));
    return encodeReport({ ...plain, records: records as typeof plain.records });
  });
}

describe('DetectionStage', () => {
  test('hands on the events of every batch, with their reports and frames', async () => {
    const { source, stage, found, collector } = await detecting(ruleSet(rule('step', 1, step(50))));
    source.push(slab([report(9, 1, [hop(1, 100, 0), hop(2, 10, 0)], { hopLatency: 10 })]));
    const coalesced = encodeReport(telemetry(9, 2, [[hop(1, 120, 0)], [hop(1, 300, 0)], [hop(2, 90, 0)]], {}));
    source.push(slab([new Uint8Array(30).fill(0xff), coalesced]));
    await collector.stop();
    expect(found.map(({ frame, index, nodeId, hop: at, previous, value }) => [frame, index, nodeId, at, previous, value]))
      // biome-ignore format: one event a line
      .toEqual([
      [0, 0, 1, 0, 0, 100],
      [2, 1, 1, 0, 100, 300],
      [2, 2, 2, 0, 0, 90],
    ]);
    expect(stage.totals()).toMatchObject({ reports: 4, survivors: 3, events: 3, notOk: 0 });
    expect(stage.totals().byRule.get('step')).toEqual({ reports: 4, events: 3, survivors: 3 });
  });

  test('looks at all reports however few events fit at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 1000 }),
        async (datagrams, stacks, seed) => {
          const all = ruleSet(
            rule('level', 1, { kind: 'threshold', metric: 'hopLatency', threshold: 0, scope: 'hop' }),
          );
          const reports = Array.from({ length: datagrams }, (_, at) =>
            encodeReport(
              telemetry(
                9,
                at,
                Array.from({ length: 1 + ((at + seed) % stacks) }, (_, index) => [hop(1, 5, 0), hop(2, index, 0)]),
              ),
            ),
          );
          const many = await detecting(all);
          const few = await detecting(all, { eventRows: 256 });
          for (const run of [many, few]) {
            run.source.push(slab(reports));
            await run.collector.stop();
          }
          expect(few.found).toEqual(many.found);
          expect(few.stage.totals()).toEqual(many.stage.totals());
          expect(few.stage.totals().reports).toBe(few.collector.totals().reports);
        },
      ),
      { seed: SEED, numRuns: process.env.INT_LONG === '1' ? 15 : 6 },
    );
  });

  test.skipIf(!acceleratorAvailable())('finds the same with batch and state in accelerator memory', async () => {
    const rules = ruleSet(
      rule('tcp', 9, { kind: 'movingAverage', metric: 'queueOccupancy', threshold: 20, weight: 3 }, { protocol: 6 }),
      rule('rest', 1, step(2000)),
    );
    const options = { eventRows: 512, flowCells: 100 };
    const memory = detectionMemory(rules, options, { frames: 300 })!;
    const plain = await detecting(rules, options, null, { frames: 300 });
    const inKernel = await detecting(rules, options, memory, { frames: 300 });
    const reports = traffic(3000, 5);
    for (const run of [plain, inKernel]) {
      run.source.push(slab(reports));
      await run.collector.stop();
    }
    expect(plain.found.length).toBeGreaterThan(100);
    expect(inKernel.found).toEqual(plain.found);
    expect(inKernel.stage.totals()).toEqual(plain.stage.totals());
  });

  test('makes no accelerator memory beyond 2 GiB', () => {
    const rules = ruleSet(rule('rest', 1, step(2000)));
    expect(detectionMemory(rules, { flowCells: 1 << 24 })).toBeNull();
    expect(() => detectionMemory(rules, { flowCells: 0 })).toThrow(RangeError);
  });

  test('counts survivors by rule: reports, not events', async () => {
    const udp = rule(
      'udp',
      5,
      { kind: 'threshold', metric: 'hopLatency', threshold: 10, scope: 'hop' },
      { protocol: 17 },
    );
    const { source, stage, collector } = await detecting({ ...ruleSet(udp), default: 'report' });
    const three = report(9, 1, [hop(1, 100, 0), hop(2, 200, 0)], { hopLatency: 300 });
    source.push(slab([three, three, report(9, 2, [hop(1, 1, 0)], { hopLatency: 2 })]));
    source.push(slab([three]));
    await collector.stop();
    const { byRule, byDefault, survivors } = stage.totals();
    expect(byRule.get('udp')).toEqual({ reports: 4, events: 9, survivors: 3 });
    expect(byDefault).toEqual({ reports: 0, events: 0, survivors: 0 });
    expect(survivors).toBe(3);
    const unmatched = await detecting({ ...ruleSet(), default: 'report' });
    unmatched.source.push(slab([three, three]));
    expect(unmatched.stage.totals().byDefault).toEqual({ reports: 2, events: 2, survivors: 2 });
  });

  test('puts other rules in force between batches, and keeps state and counters', async () => {
    const { source, stage, found, collector } = await detecting(ruleSet(rule('step', 1, step(50))));
    const at = (latency: number): FrameSlab => slab([report(9, 1, [hop(1, latency, 0)], {})]);
    source.push(at(100));
    source.push(at(120));
    stage.setRules(ruleSet(rule('finer', 1, step(10))));
    // What was known of the switch stays: 100, not 0.
    source.push(at(105));
    source.push(at(120));
    const overlap = ruleSet(rule('a', 1, step(1)), rule('b', 1, step(1)));
    expect(() => stage.setRules(overlap)).toThrow(RulesError);
    source.push(at(300));
    stage.setRules(ruleSet(rule('step', 1, step(50)), rule('finer', 0, step(10))));
    source.push(at(1000));
    await collector.stop();
    expect(found.map(({ rule: by, previous, value }) => [by, previous, value])).toEqual([
      ['step', 0, 100],
      ['finer', 100, 120],
      ['finer', 120, 300],
      ['step', 300, 1000],
    ]);
    const { reports, byRule, removed } = stage.totals();
    expect(reports).toBe(6);
    expect(Object.fromEntries(byRule)).toEqual({
      step: { reports: 1, events: 1, survivors: 1 },
      finer: { reports: 3, events: 2, survivors: 2 },
    });
    expect(removed).toEqual({ reports: 2, events: 1, survivors: 1 });
  });

  test('moves thresholds that adapt within a batch, by the time of its frames', async () => {
    const adapt = { target: 1000, minimum: 0, maximum: 1_000_000 };
    const adaptive = {
      ...rule('level', 1, { kind: 'threshold', metric: 'hopLatency', threshold: 0, scope: 'hop' }),
      adapt,
    };
    const { source, stage, found, collector } = await detecting(ruleSet(adaptive as Rule));
    // 10 000 reports a second, latencies 1 to 10 000 evenly: the threshold for 1000 events a second is 9000.
    const latency = (index: number): number => 1 + ((index * 7919) % 10_000);
    for (let from = 0; from < 30_000; from += 1000) {
      const datagrams = Array.from({ length: 1000 }, (_, at) => report(9, at, [hop(1, latency(from + at), 0)], {}));
      source.push(slab(datagrams, (index) => START_MS + (from + index) / 10));
    }
    await collector.stop();
    const [state] = stage.adaptation();
    expect(state).toMatchObject({ rule: 'level', target: 1000, status: 'holding' });
    expect(stage.detector.threshold('level')).toBe(state!.threshold);
    // The last second.
    const late = found.filter(({ frame }) => frame >= 20_000).length;
    expect(late).toBeGreaterThan(900);
    expect(late).toBeLessThan(1100);
    // The rule without adapt starts with its own threshold, and stays there.
    stage.setRules(ruleSet({ ...adaptive, adapt: null } as Rule));
    expect(stage.adaptation()).toEqual([]);
    expect(stage.detector.threshold('level')).toBe(0);
    stage.setRules({ ...ruleSet(adaptive as Rule), adapt: { target: 50 } });
    expect(stage.adaptation()).toMatchObject([{ rule: null, target: 50 }]);
  });

  test('looks at the rest of a batch, too, when a listener fails', async () => {
    let calls = 0;
    const { source, stage, collector, problems } = await detecting(ruleSet(rule('all', 1, { kind: 'noop' })), {
      eventRows: 256,
      onEvents() {
        calls++;
        throw new Error(`call ${calls}`);
      },
    });
    source.push(slab(new Array<Uint8Array>(600).fill(report(9, 1, [hop(1, 1, 0)]))));
    await collector.stop();
    expect(stage.totals()).toMatchObject({ reports: 600, events: 600 });
    expect(calls).toBeGreaterThan(1);
    expect(problems.map(({ where, error }) => `${where}: ${error.message}`)).toEqual(['detection: call 1']);
  });

  test('in exact state lets go of flows that are idle', async () => {
    const { source, stage, collector } = await detecting(
      ruleSet(rule('flow', 1, { kind: 'perFlow', metric: 'hopLatency', threshold: 50 })),
      { state: 'exact', flowCells: 256, idleMs: 1000 },
    );
    const reports = traffic(500, 1);
    source.push(slab(reports));
    expect(stage.totals().aged).toBe(0);
    // A single flow, later: the others are swept out.
    source.push(slab([report(9, 1, [hop(1, 1, 0)])], () => START_MS + 5000));
    await collector.stop();
    expect(stage.totals().aged).toBeGreaterThan(10);
  });

  test('gives rules what they need to match MAC addresses and to sample by time', async () => {
    const rules = (mac: number): RuleSet =>
      ruleSet(rule('mac', 2, { kind: 'noop' }, { sourceMac: mac }), {
        ...rule('time', 1, { kind: 'noop' }),
        sample: { everyNs: 10_000_000 },
      });
    const { source, stage, collector } = await detecting(rules(0x02fffffffffe));
    const push = (): void => {
      const steady = report(9, 1, [hop(1, 100, 0)], {});
      source.push(slab(new Array<Uint8Array>(30).fill(steady), (index) => START_MS + index));
    };
    push();
    expect(stage.totals()).toMatchObject({ reports: 30, events: 3, unsampled: 27 });
    // The address that the encoder gives a packet whose own is not known.
    stage.setRules(rules(0x020000000001));
    push();
    await collector.stop();
    expect(stage.totals().byRule.get('mac')).toMatchObject({ reports: 30, events: 30 });
  });
});

describe('rules that look at time', () => {
  const gone: Rule['detector'] = { kind: 'absent', key: 'switch', forMs: 1000 };

  test('are told the time while no report comes, and their findings reach listeners and sinks, behind a queue as well', async () => {
    const source = new HandSource();
    const told: (Event & { isApart: boolean; timeMs: number })[] = [];
    const written: string[] = [];
    const reports: number[] = [];
    const stage = new DetectionStage(ruleSet(rule('gone', 1, gone)), {
      onEvents: (events) => {
        for (let row = 0; row < events.count; row++) {
          const timeMs = Math.round(Number(events.timeNs(row)) / 1e6);
          told.push({ ...events.event(row), isApart: events.isApart, timeMs });
        }
      },
    });
    const sink = (name: string): Sink => ({
      name,
      write: (batch) => {
        reports.push(batch.reports);
        return undefined;
      },
      writeEvents: (events) => {
        for (const { rule: from, nodeId, state } of events) written.push(`${name} ${from} ${nodeId} ${state}`);
        return undefined;
      },
    });
    const sinks = [sink('at once'), new QueuedSink(sink('queued'))];
    const collector = new Collector({ sources: [source], stages: [stage], sinks });
    await collector.start();
    const seen = (nodeId: number): Uint8Array => report(nodeId, 0, []);
    source.push(slab([seen(1), seen(2)]));
    stage.advance(START_MS + 500);
    expect(told).toEqual([]);
    stage.advance(START_MS + 1500);
    expect(told.map(({ nodeId, state, isApart, timeMs }) => [nodeId, state, isApart, timeMs - START_MS])).toEqual([
      [1, 'open', true, 1000],
      [2, 'open', true, 1000],
    ]);
    source.push(slab([seen(2)], () => START_MS + 2000));
    expect(told.slice(2).map(({ nodeId, state, timeMs }) => [nodeId, state, timeMs - START_MS])).toEqual([
      [2, 'close', 2000],
    ]);
    await collector.stop();
    const expected = (name: string): string[] => ['1 open', '2 open', '2 close'].map((what) => `${name} gone ${what}`);
    expect(written.filter((line) => line.startsWith('at once'))).toEqual(expected('at once'));
    expect(written.filter((line) => line.startsWith('queued'))).toEqual(expected('queued'));
    // Batches of findings are not written as reports.
    expect(reports.toSorted()).toEqual([1, 1, 2, 2]);
  });
});
