import type { TelemetryBatch } from '@int/codec';
import { encodeReport } from '@int/codec';
import {
  Collector,
  type CollectorProblem,
  FrameSlab,
  type Push,
  type Sink,
  type Source,
  SourceError,
  type Stage,
} from '@int/collector';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hop, report, telemetry } from './reports.js';
import { SEED } from './seed.js';

/** A source that pushes slabs when the test says so. */
class HandSource implements Source {
  readonly name = 'hand';
  overrun = 0;
  kernelDropped: number | null = 0;
  push: Push = () => undefined;
  stopped = 0;
  #end: () => void = () => {};
  #fail: (error: Error) => void = () => {};
  readonly finished = new Promise<void>((resolve, reject) => {
    this.#end = resolve;
    this.#fail = reject;
  });

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {
    this.stopped++;
    this.#end();
  }

  end(): void {
    this.#end();
  }

  fail(error: Error): void {
    this.#fail(error);
  }
}

function slab(datagrams: readonly Uint8Array[], linkType: FrameSlab['linkType'] = 'report'): FrameSlab {
  const bytes = datagrams.reduce((sum, datagram) => sum + datagram.length, 1);
  const result = new FrameSlab({ frames: datagrams.length + 1, bytes }, linkType);
  for (const datagram of datagrams) result.append(datagram, 1_700_000_000_000);
  return result;
}

/** Notes the node ids of the reports it sees. */
class NodeStage implements Stage {
  readonly name = 'nodes';
  readonly nodes: number[] = [];

  process(batch: TelemetryBatch): void {
    for (let row = 0; row < batch.reports; row++) if (batch.code[row] === 0) this.nodes.push(batch.nodeId[row]!);
  }
}

const good = (node: number): Uint8Array => report(node, node, [hop(1, 10, 0), hop(2, 20, 5)]);

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

describe('Collector', () => {
  test('decodes, counts and shows every batch to the stages', async () => {
    const source = new HandSource();
    const stage = new NodeStage();
    const collector = new Collector({ sources: [source], stages: [stage] });
    await collector.start();
    expect(source.push(slab([good(7), good(8)]))).toBeUndefined();
    const coalesced = encodeReport(telemetry(9, 1, [[hop(1, 1, 1)], [hop(2, 2, 2)], [hop(3, 3, 3)]]));
    source.push(slab([coalesced, good(9).subarray(0, 30), new Uint8Array(40).fill(0xff)]));
    const totals = await collector.stop();
    expect(stage.nodes).toEqual([7, 8, 9, 9, 9]);
    expect(totals).toMatchObject({ received: 5, decoded: 3, reports: 5, kernelDropped: 0 });
    expect(totals.received).toBe(totals.decoded + sum(totals.dropped));
    expect(sum(totals.errors)).toBe(2);
    expect(source.stopped).toBe(1);
  });

  test('accounts for every frame, whatever the bytes are', async () => {
    const datagram = fc.oneof(
      fc.uint8Array({ maxLength: 120 }),
      fc.integer({ min: 1, max: 200 }).map((node) => good(node)),
      fc.tuple(fc.integer({ min: 0, max: 107 }), fc.integer({ min: 0, max: 255 })).map(([at, value]) => {
        const bytes = good(3);
        bytes[at % bytes.length] = value;
        return bytes;
      }),
      fc.integer({ min: 0, max: 107 }).map((length) => good(4).subarray(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(datagram, { maxLength: 12 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 5 }),
        async (batches, frames) => {
          const source = new HandSource();
          const collector = new Collector({ sources: [source], capacity: { frames, hops: 256 } });
          await collector.start();
          for (const batch of batches) source.push(slab(batch));
          const totals = await collector.stop();
          expect(totals.received).toBe(batches.flat().length);
          expect(totals.received).toBe(totals.decoded + sum(totals.dropped));
          expect(sum(totals.errors) + totals.dropped.overrun).toBe(sum(totals.dropped));
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('goes through a batch larger than its own, in order', async () => {
    const source = new HandSource();
    const stage = new NodeStage();
    const collector = new Collector({ sources: [source], stages: [stage], capacity: { frames: 3 } });
    await collector.start();
    const nodes = Array.from({ length: 20 }, (_, index) => index + 1);
    source.push(slab(nodes.map(good)));
    await collector.stop();
    expect(stage.nodes).toEqual(nodes);
  });

  test('waits for a slow sink, keeps the order, and closes it at the end', async () => {
    const source = new HandSource();
    const log: string[] = [];
    const sink: Sink = {
      name: 'slow',
      async write(batch) {
        const node = batch.nodeId[0]!;
        await new Promise((resolve) => setTimeout(resolve, 2));
        // The batch is the sink's own until it is done.
        expect(batch.nodeId[0]).toBe(node);
        expect(batch.frameLength[0]).toBe(good(node).length);
        for (let row = 0; row < batch.reports; row++) log.push(`node ${batch.nodeId[row]!}`);
      },
      async close() {
        log.push('closed');
      },
    };
    const collector = new Collector({ sources: [source], sinks: [sink], capacity: { frames: 2 } });
    await collector.start();
    const first = source.push(slab([good(1), good(2), good(3)]));
    const second = source.push(slab([good(4)]));
    expect(first).toBeInstanceOf(Promise);
    expect(second).toBeInstanceOf(Promise);
    await second;
    expect(log).toEqual(['node 1', 'node 2', 'node 3', 'node 4']);
    void source.push(slab([good(5)]));
    await collector.stop();
    expect(log).toEqual(['node 1', 'node 2', 'node 3', 'node 4', 'node 5', 'closed']);
    expect(await collector.stop()).toMatchObject({ received: 5, decoded: 5 });
    expect(log).toHaveLength(6);
  });

  test('survives stages and sinks that fail, and tells', async () => {
    const source = new HandSource();
    const problems: CollectorProblem[] = [];
    const stage: Stage = {
      name: 'bad stage',
      process() {
        throw new Error('stage');
      },
    };
    const sinks: Sink[] = [
      {
        name: 'throwing sink',
        write() {
          throw new Error('sync');
        },
      },
      { name: 'rejecting sink', write: () => Promise.reject(new Error('async')) },
      { name: 'unclosable sink', write: () => undefined, close: () => Promise.reject(new Error('close')) },
    ];
    const collector = new Collector({
      sources: [source],
      stages: [stage],
      sinks,
      onProblem: (one) => problems.push(one),
    });
    await collector.start();
    await source.push(slab([good(1)]));
    source.fail(new SourceError('ERR_SOURCE_DATA', 'hand', 'damaged'));
    await collector.finished;
    const totals = await collector.stop();
    expect(totals).toMatchObject({ received: 1, decoded: 1 });
    expect(problems.map((one) => `${one.where}: ${one.error.message}`).sort()).toEqual([
      'bad stage: stage',
      'hand: hand: damaged',
      'rejecting sink: async',
      'throwing sink: sync',
      'unclosable sink: close',
    ]);
  });

  test('counts frames of a link type that it cannot read', async () => {
    const source = new HandSource();
    const collector = new Collector({ sources: [source] });
    await collector.start();
    source.push(slab([good(1), good(2)], null));
    const totals = await collector.stop();
    expect(totals.dropped.unsupported).toBe(2);
    expect(totals.errors).toEqual({ UNSUPPORTED_LINK_TYPE: 2 });
  });

  test('adds up what its sources refused and what the kernel dropped', async () => {
    const [a, b, c] = [new HandSource(), new HandSource(), new HandSource()];
    a!.overrun = 3;
    a!.kernelDropped = 5;
    b!.overrun = 4;
    b!.kernelDropped = 6;
    c!.kernelDropped = null;
    const collector = new Collector({ sources: [a!, b!, c!] });
    await collector.start();
    a!.push(slab([good(1)]));
    b!.end();
    const totals = await collector.stop();
    expect(totals).toMatchObject({ received: 8, decoded: 1, dropped: { overrun: 7 }, kernelDropped: 11 });
    expect(new Collector({ sources: [c!] }).totals().kernelDropped).toBeNull();
  });

  test('closes what it has opened when a later source cannot be opened', async () => {
    const first = new HandSource();
    const second = new HandSource();
    second.start = () => Promise.reject(new SourceError('ERR_SOURCE_OPEN', 'hand', 'closed'));
    const collector = new Collector({ sources: [first, second] });
    await expect(collector.start()).rejects.toThrow('hand: closed');
    expect(first.stopped).toBe(1);
  });

  test('wants a source, and starts once', async () => {
    expect(() => new Collector({ sources: [] })).toThrow(RangeError);
    expect(() => new Collector({ sources: [new HandSource()], decode: { intPorts: [65_536] } })).toThrow(RangeError);
    expect(() => new Collector({ sources: [new HandSource()], capacity: { frames: 0 } })).toThrow(RangeError);
    const collector = new Collector({ sources: [new HandSource()] });
    await collector.start();
    await expect(collector.start()).rejects.toThrow('once');
    await collector.stop();
    expect(await new Collector({ sources: [new HandSource()] }).stop()).toMatchObject({ received: 0 });
  });
});
