import { encodeReport, type TelemetryRecord } from '@int/codec';
import { Collector, type CollectorProblem, FlowWorkers, FrameSlab, type Push, type Source } from '@int/collector';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { until } from '../../../../.ci/test/until.js';
import { hop, telemetry } from '../reports.js';
import { SEED } from '../seed.js';
import { bundle } from './bundle.js';
import type { Behaviour, Line } from './threads.program.js';

let program: string;
beforeAll(async () => {
  program = await bundle(new URL('threads.program.ts', import.meta.url));
});

/** Slabs of frames, each awaited. */
class Frames implements Source {
  readonly name = 'frames';
  readonly overrun = 0;
  readonly kernelDropped = null;
  finished: Promise<void> = Promise.resolve();
  readonly #slabs: readonly FrameSlab[];

  constructor(slabs: readonly FrameSlab[]) {
    this.#slabs = slabs;
  }

  async start(push: Push): Promise<void> {
    this.finished = (async (): Promise<void> => {
      for (const slab of this.#slabs) await push(slab);
    })();
  }

  async stop(): Promise<void> {
    await this.finished;
  }
}

/** A datagram whose individual reports are of the flows given by their source ports; 0: of no flow. */
function datagram(ports: readonly number[], sequence: number): Uint8Array {
  const base = telemetry(
    (sequence % 5) + 1,
    sequence,
    ports.map((port, index) => [hop(port & 0xff, 100 + index, 3), hop(7, 50, 1)]),
  );
  const records = base.records.map((record, index): TelemetryRecord => {
    const port = ports[index]!;
    return { ...record, flow: { ...record.flow!, sourcePort: port, source: `10.0.${port & 3}.1` } };
  });
  return encodeReport({ ...base, records });
}

function slabOf(datagrams: readonly Uint8Array[], startMs: number): FrameSlab {
  const slab = new FrameSlab({ frames: Math.max(1, datagrams.length), bytes: 1 << 20 }, 'report');
  datagrams.forEach((bytes, index) => {
    slab.append(bytes, startMs + index);
  });
  return slab;
}

interface Run {
  readonly lines: readonly (readonly Line[])[];
  readonly posted: readonly unknown[];
  readonly workers: FlowWorkers;
  readonly problems: readonly CollectorProblem[];
  readonly reports: number;
}

async function run(
  slabs: readonly FrameSlab[],
  options: {
    count: number;
    data?: Behaviour;
    whenFull?: 'wait' | 'drop';
    slabs?: number;
    slabFrames?: number;
    slabBytes?: number;
  },
): Promise<Run> {
  const lines: Line[][] = Array.from({ length: options.count }, () => []);
  const posted: unknown[] = [];
  const problems: CollectorProblem[] = [];
  const workers = await FlowWorkers.start({
    count: options.count,
    module: program,
    data: options.data ?? {},
    slab: { frames: options.slabFrames ?? 64, bytes: options.slabBytes ?? 1 << 18 },
    ...(options.slabs !== undefined && { slabs: options.slabs }),
    ...(options.whenFull !== undefined && { whenFull: options.whenFull }),
    onData: (data, index) => {
      posted.push(data);
      const { lines: seen } = data as { lines?: Line[] };
      if (seen !== undefined) lines[index]!.push(...seen);
    },
    onProblem: (problem) => problems.push(problem),
  });
  const collector = new Collector({ sources: [new Frames(slabs)], sinks: [workers] });
  await collector.start();
  await collector.finished;
  const { reports } = await collector.stop();
  return { lines, posted, workers, problems, reports };
}

describe('threads by flow', () => {
  it('see each report once, with its hops and time, in the order of its flow, and all of a flow in one thread', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }), { maxLength: 40 }),
          {
            minLength: 1,
            maxLength: 6,
          },
        ),
        fc.integer({ min: 1, max: 3 }),
        async (batches, count) => {
          let sequence = 0;
          const slabs = batches.map((datagrams, index) =>
            slabOf(
              datagrams.map((ports) => datagram(ports, ++sequence)),
              1_700_000_000_000 + index * 1000,
            ),
          );
          const alone = await run(slabs, { count: 1 });
          const spread = await run(slabs, { count, slabFrames: 7 });
          expect(spread.problems).toEqual([]);
          const total = batches.flat(2).length;
          expect(alone.lines[0]).toHaveLength(total);
          expect(spread.workers.totals().reports).toEqual({
            offered: total,
            delivered: total,
            pending: 0,
            dropped: { overflow: 0, oversized: 0, failed: 0 },
          });
          const byFlow = (lines: readonly Line[]): Map<string, Line[]> => {
            const map = new Map<string, Line[]>();
            for (const line of lines) map.set(line[0], [...(map.get(line[0]) ?? []), line]);
            return map;
          };
          const merged = new Map<string, Line[]>();
          for (const lines of spread.lines) {
            for (const [flow, own] of byFlow(lines)) {
              expect(merged.has(flow), `flow ${flow} in two threads`).toBe(false);
              merged.set(flow, own);
            }
          }
          expect([...merged].sort()).toEqual([...byFlow(alone.lines[0]!)].sort());
          // Each thread's own collector has counted the same reports.
          const counted = spread.workers.workers().map((totals) => totals!.reports);
          expect(counted.reduce((sum, reports) => sum + reports, 0)).toBe(total);
        },
      ),
      { seed: SEED, numRuns: runs(40) },
    );
  });

  it('share the work', async () => {
    const slabs = [
      slabOf(
        Array.from({ length: 400 }, (_, index) => datagram([index + 1], index)),
        0,
      ),
    ];
    const { lines } = await run(slabs, { count: 2 });
    expect(lines.map(({ length }) => length).sort((a, b) => a - b)[0]).toBeGreaterThan(120);
  });

  it('hold the pipeline up when they have no room, and lose nothing', async () => {
    const slabs = Array.from({ length: 8 }, (_, index) =>
      slabOf(
        Array.from({ length: 40 }, (_, row) => datagram([row + 1, row + 2], index * 40 + row)),
        index,
      ),
    );
    const { workers, lines } = await run(slabs, { count: 2, slabs: 1, slabFrames: 8, data: { slowMs: 2 } });
    expect(workers.totals().reports).toMatchObject({ offered: 640, delivered: 640, pending: 0 });
    expect(lines.flat()).toHaveLength(640);
  });

  it('count what they have no room for, where they must not hold it up', async () => {
    const slabs = Array.from({ length: 8 }, (_, index) =>
      slabOf(
        Array.from({ length: 40 }, (_, row) => datagram([row + 1, row + 2], index * 40 + row)),
        index,
      ),
    );
    const { workers, lines } = await run(slabs, {
      count: 2,
      slabs: 1,
      slabFrames: 8,
      data: { slowMs: 20 },
      whenFull: 'drop',
    });
    const { offered, delivered, pending, dropped } = workers.totals().reports!;
    expect(offered).toBe(640);
    expect(dropped.overflow).toBeGreaterThan(0);
    expect(pending).toBe(0);
    expect(delivered + dropped.overflow! + dropped.failed!).toBe(640);
    expect(lines.flat()).toHaveLength(delivered);
  });

  it('count reports of frames that are larger than a slab, and take the others', async () => {
    const large = datagram(
      Array.from({ length: 40 }, (_, row) => row + 1),
      1,
    );
    const slabs = [slabOf([datagram([1], 1), large, datagram([2], 2)], 0)];
    const { workers, lines } = await run(slabs, { count: 2, slabBytes: 1000 });
    expect(large.length).toBeGreaterThan(1000);
    expect(workers.totals().reports).toEqual({
      offered: 42,
      delivered: 2,
      pending: 0,
      dropped: { overflow: 0, oversized: 40, failed: 0 },
    });
    expect(lines.flat()).toHaveLength(2);
  });

  it('are counted as failed when they die, while the others go on', async () => {
    const slabs = Array.from({ length: 20 }, (_, index) =>
      slabOf(
        Array.from({ length: 30 }, (_, row) => datagram([row + 1], index * 30 + row)),
        index,
      ),
    );
    const { workers, problems, lines } = await run(slabs, { count: 2, slabFrames: 8, data: { diesAt: 200 } });
    const { offered, delivered, pending, dropped } = workers.totals().reports!;
    expect(offered).toBe(600);
    expect(pending).toBe(0);
    expect(dropped.failed).toBeGreaterThan(0);
    expect(delivered + dropped.failed!).toBe(600);
    expect(problems.map(({ error }) => error.message)).toEqual(['the thread has ended with code 7']);
    expect(workers.degraded()).toMatchObject([
      { name: 'failed', text: expect.stringMatching(/^worker [01]: the thread has ended with code 7$/) },
    ]);
    expect(lines.filter(({ length }) => length > 0)).toHaveLength(1);
  });

  it('end together when one of them cannot start', async () => {
    const starting = FlowWorkers.start({ count: 2, module: program, data: { failsToStart: true } });
    await expect(starting).rejects.toThrow('no such thing');
  });

  it('get what is posted between two batches, and post themselves', async () => {
    const posted: unknown[] = [];
    const workers = await FlowWorkers.start({
      count: 2,
      module: program,
      data: {},
      onData: (data) => posted.push(data),
    });
    workers.post('rules');
    await until('an answer of each worker', () => posted.length >= 2);
    expect(posted).toEqual([
      { echo: 'rules', seen: 0 },
      { echo: 'rules', seen: 0 },
    ]);
    await workers.close();
    expect(posted).toContainEqual({ closed: 0 });
    expect(posted).toContainEqual({ closed: 1 });
  });

  it('refuse numbers that make no sense', async () => {
    await expect(FlowWorkers.start({ count: 0, module: program })).rejects.toThrow(RangeError);
    await expect(FlowWorkers.start({ count: 2, module: program, slabs: 0.5 })).rejects.toThrow(RangeError);
    await expect(FlowWorkers.start({ count: 2, module: program, slab: { frames: 0, bytes: 1 } })).rejects.toThrow(
      RangeError,
    );
  });
});
