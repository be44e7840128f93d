import { Arena, BatchDecoder, type DecodeOptions, encodeReport, TelemetryBatch } from '@int/codec';
import { Collector, FrameSlab, type Push, type Sink, type Source, type SourceFrames, type Stage } from '@int/collector';
import { fillFrameTimes, sourceTimeMs } from '@int/collector/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hop, report, telemetry } from './reports.js';
import { SEED } from './seed.js';

/** A source whose pushes the test makes. */
class HandSource implements Source {
  readonly name = 'hand';
  readonly overrun = 0;
  readonly kernelDropped = 0;
  readonly finished: Promise<void> = new Promise(() => {});
  push: Push = () => undefined;

  async start(push: Push): Promise<void> {
    this.push = push;
  }

  async stop(): Promise<void> {}
}

interface Seen {
  readonly batch: TelemetryBatch;
  readonly frames: number;
  readonly nodes: readonly number[];
}

/** Notes each batch that it is shown. */
class Witness implements Stage {
  readonly name = 'witness';
  readonly seen: Seen[] = [];

  process(batch: TelemetryBatch): void {
    const nodes = [...batch.nodeId.subarray(0, batch.reports)].filter((_, row) => batch.code[row] === 0);
    this.seen.push({ batch, frames: batch.frames, nodes });
  }

  get nodes(): number[] {
    return this.seen.flatMap(({ nodes }) => nodes);
  }
}

function slab(datagrams: readonly Uint8Array[]): FrameSlab {
  const bytes = datagrams.reduce((sum, datagram) => sum + datagram.length, 1);
  const result = new FrameSlab({ frames: datagrams.length + 1, bytes }, 'report');
  for (const datagram of datagrams) result.append(datagram, 1_700_000_000_000);
  return result;
}

/** The first of the frames as a batch, as many as the rows suffice for, and the others, as a source hands them on. */
function decoded(frames: FrameSlab, rows: number, options: DecodeOptions = {}): (TelemetryBatch | SourceFrames)[] {
  const capacity = { frames: rows, reports: rows, hops: 256 };
  const memory = new SharedArrayBuffer(TelemetryBatch.byteLength(capacity));
  const batch = new TelemetryBatch(capacity, new Arena(memory));
  const next = new BatchDecoder({ ...options, linkType: 'report' }).decode(batch, frames, 0, frames.count);
  if (next === frames.count) return [batch];
  const rest = (column: Uint32Array): Uint32Array => column.subarray(next, frames.count);
  const others: SourceFrames = {
    linkType: frames.linkType,
    bytes: frames.bytes,
    offsets: rest(frames.offsets),
    lengths: rest(frames.lengths),
    timestampsHigh: rest(frames.timestampsHigh),
    timestampsLow: rest(frames.timestampsLow),
    count: frames.count - next,
  };
  return [batch, others];
}

const good = (node: number): Uint8Array => report(node, node, [hop(1, 10, 0), hop(2, 20, 5)]);

describe('a batch that the source has decoded', () => {
  test('is counted and shown as it is, and not decoded again', async () => {
    const source = new HandSource();
    const witness = new Witness();
    const collector = new Collector({ sources: [source], stages: [witness] });
    await collector.start();
    const bad = new Uint8Array(40).fill(0xff);
    const frames = slab([good(7), bad, encoded(9), good(8)]);
    const [batch] = decoded(frames, 16);
    // What is not looked at may be anything.
    frames.bytes.fill(0);
    expect(source.push(batch!)).toBeUndefined();
    const totals = await collector.stop();
    expect(witness.seen).toEqual([{ batch, frames: 4, nodes: [7, 9, 9, 9, 8] }]);
    expect(totals).toMatchObject({ received: 4, decoded: 3, reports: 5 });
    expect(Object.values(totals.errors)).toEqual([1]);
  });

  test('gives the same totals and the same reports as one that the pipeline decodes, however much of it is decoded', async () => {
    const datagram = fc.oneof(
      fc.uint8Array({ maxLength: 120 }),
      fc.integer({ min: 1, max: 200 }).map((node) => good(node)),
      fc.integer({ min: 1, max: 200 }).map((node) => encoded(node)),
      fc.integer({ min: 0, max: 107 }).map((length) => good(4).subarray(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(datagram, { maxLength: 12 }), { maxLength: 4 }),
        fc.integer({ min: 3, max: 14 }),
        fc.constantFrom<DecodeOptions>({}, { intPorts: [7] }),
        async (batches, rows, decode) => {
          const ends = await Promise.all(
            [false, true].map(async (isDecoded) => {
              const source = new HandSource();
              const witness = new Witness();
              const collector = new Collector({ sources: [source], stages: [witness], decode });
              await collector.start();
              for (const batch of batches) {
                const pushed = isDecoded ? decoded(slab(batch), rows, decode) : [slab(batch)];
                for (const one of pushed) source.push(one);
              }
              return { totals: await collector.stop(), nodes: witness.nodes };
            }),
          );
          expect(ends[1]).toEqual(ends[0]);
          expect(ends[0]!.totals.received).toBe(batches.flat().length);
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('is left alone until a slow sink is done with it, and the frames behind it come after', async () => {
    const source = new HandSource();
    const log: string[] = [];
    const sink: Sink = {
      name: 'slow',
      async write(batch) {
        const nodes = [...batch.nodeId.subarray(0, batch.reports)];
        await new Promise((resolve) => setTimeout(resolve, 2));
        expect([...batch.nodeId.subarray(0, batch.reports)]).toEqual(nodes);
        expect(batch.frameLength[0]).toBe(good(1).length);
        log.push(nodes.join());
      },
    };
    const collector = new Collector({ sources: [source], sinks: [sink] });
    await collector.start();
    const [batch, others] = decoded(slab([good(1), good(2), good(3)]), 2);
    void source.push(batch!);
    const busy = source.push(others!);
    void source.push(slab([good(4)]));
    await busy;
    expect(log).toEqual(['1,2', '3']);
    expect(await collector.stop()).toMatchObject({ received: 4, decoded: 4, reports: 4 });
    expect(log).toEqual(['1,2', '3', '4']);
  });
});

/** Three reports in one datagram. */
function encoded(node: number): Uint8Array {
  return encodeReport(telemetry(node, 1, [[hop(1, 1, 1)], [hop(2, 2, 2)], [hop(3, 3, 3)]]));
}

test('fillFrameTimes gives rows the time that a slab would give them', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 4e12, noNaN: true }), fc.nat(5), fc.nat(5), (timeMs, from, count) => {
      const frames = slab(Array.from({ length: 12 }, () => new Uint8Array(1)));
      const other = new FrameSlab({ frames: 12, bytes: 12 }, 'report');
      for (let row = 0; row < 12; row++) {
        other.append(new Uint8Array(1), row >= from && row < from + count ? timeMs : 1_700_000_000_000);
      }
      fillFrameTimes(frames, from, from + count, timeMs);
      for (let row = 0; row < 12; row++) expect(sourceTimeMs(frames, row)).toBe(sourceTimeMs(other, row));
    }),
    { seed: SEED, numRuns: 200 },
  );
});
