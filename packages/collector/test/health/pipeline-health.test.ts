import {
  Collector,
  type CollectorProblem,
  healthOf,
  type Push,
  type Sink,
  type Source,
  type Stage,
} from '@int/collector';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { slabOf } from '../delivery/sources.js';
import { hop, report } from '../reports.js';

/** A source whose counters and health the test sets, and that fails when the test says so. */
class LossySource implements Source {
  readonly name = 'lossy';
  overrun = 0;
  kernelDropped: number | null = null;
  reason: string | null = null;
  push: Push = () => undefined;
  fail: (error: Error) => void = () => {};
  readonly finished = new Promise<void>((_, reject) => {
    this.fail = reject;
  });

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  health(): string | null {
    return this.reason;
  }

  async stop(): Promise<void> {}
}

const GOOD = report(7, 1, [hop(1, 10, 0)]);

/** A collector that runs, and what it is degraded by, in a line each. */
async function collecting(stages: readonly Stage[] = [], sinks: readonly Sink[] = []) {
  const source = new LossySource();
  const problems: CollectorProblem[] = [];
  const collector = new Collector({ sources: [source], stages, sinks, onProblem: (one) => problems.push(one) });
  await collector.start();
  const degraded = (): string[] => collector.degraded().map(({ where, name, text }) => `${where} ${name}: ${text}`);
  return { source, collector, problems, degraded };
}

/** Lets time pass for clocks, not for timers. */
function passing(): (ms: number) => void {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return (ms) => {
    now += ms;
  };
}
afterEach(() => vi.restoreAllMocks());

describe('Collector.degraded', () => {
  test('names what sources lose and what cannot be read, until it is over', async () => {
    const pass = passing();
    const { source, degraded } = await collecting();
    source.push(slabOf([GOOD]));
    expect(degraded()).toEqual([]);
    source.kernelDropped = 3;
    source.overrun = 4;
    source.push(slabOf([GOOD.subarray(0, 30), new Uint8Array(40).fill(0xff), GOOD]));
    expect(degraded()).toEqual([
      'collector damaged: 2 frames that cannot be read',
      'lossy shedding: 7 frames lost, because they come faster than they can be taken',
    ]);
    pass(9999);
    expect(degraded()).toHaveLength(2);
    pass(1);
    expect(degraded()).toEqual([]);
  });

  test('names the outage of what a source receives from, until it is over', async () => {
    const { source, collector, degraded } = await collecting();
    expect(degraded()).toEqual([]);
    source.reason = 'eth0 is down';
    expect(degraded()).toEqual(['lossy outage: eth0 is down']);
    expect(healthOf(collector.degraded())).toMatchObject({ status: 'failing', healthy: false });
    source.reason = null;
    expect(degraded()).toEqual([]);
  });

  test('names a source that has failed, for good', async () => {
    const { source, collector, degraded, problems } = await collecting();
    source.fail(new Error('the socket is gone'));
    await collector.finished;
    expect(degraded()).toEqual(['lossy failed: the socket is gone']);
    expect(problems).toHaveLength(1);
  });

  test('names a stage that throws at every batch, whose error is told once', async () => {
    const faulty: Stage = {
      name: 'faulty one',
      process: () => {
        throw new Error('no such row');
      },
    };
    const { source, degraded, problems } = await collecting([faulty]);
    for (let push = 0; push < 1000; push++) source.push(slabOf([GOOD]));
    expect(degraded()).toEqual(['faulty one faulty: 1000 batches that it has thrown at, the last one: no such row']);
    expect(problems.map(({ where, error }) => `${where}: ${error.message}`)).toEqual(['faulty one: no such row']);
  });

  test('asks stages and sinks what they suffer from, and those behind a sink', async () => {
    const spooling = { name: 'spooling', since: 1, text: '1 MiB waits' };
    const late = { name: 'late', since: 2, text: '3 windows' };
    const stage: Stage = { name: 'windows', process: () => undefined, degraded: () => [late] };
    let reason: string | null = 'brokers away';
    const sink: Sink = {
      name: 'kafka',
      write: () => undefined,
      totals: () => ({}),
      health: () => reason,
      degraded: () => [spooling],
      onward: () => ({ stages: {}, sinks: {}, degraded: [{ where: 'worker 1: kafka', ...spooling }] }),
    };
    const { collector } = await collecting([stage], [sink]);
    const since = collector.degraded()[1]!.since;
    expect(collector.degraded()).toEqual([
      { where: 'windows', ...late },
      { where: 'kafka', name: 'outage', since, text: 'brokers away' },
      { where: 'kafka', ...spooling },
      { where: 'worker 1: kafka', ...spooling },
    ]);
    reason = null;
    expect(collector.degraded().map(({ name }) => name)).toEqual(['late', 'spooling', 'spooling']);
  });
});
