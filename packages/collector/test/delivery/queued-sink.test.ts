import { reportPayload } from '@int/arbitraries';
import { BatchDecoder, HOP_COLUMNS, TelemetryBatch } from '@int/codec';
import {
  DetectionStage,
  FlowStage,
  type FrameSlab,
  QueuedSink,
  type RecordCounts,
  type Sink,
  type SinkTotals,
} from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { EntryReader } from '@int/flowcache';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { hop, report } from '../reports.js';
import { SEED } from '../seed.js';
import { slabOf } from './sources.js';

const RULES = readRules(
  `version: 1
rules:
  - { name: steps, priority: 2, match: any, detect: { perHop: { metric: hopLatency, threshold: 10 } } }
`,
);

const NODES = 12;
const good = (node: number): Uint8Array =>
  report(node, node, [hop(1, node * 100, 0), hop(2, 20, 5)], { hopLatency: node });

/** All that a sink can see of a batch, as text. */
function seen(batch: TelemetryBatch): string[] {
  const lines: string[] = [];
  for (let row = 0; row < batch.reports; row++) {
    if (batch.code[row] !== 0) continue;
    const frame = batch.frame[row]!;
    const start = batch.frameOffset[frame]!;
    const bytes = Buffer.from(batch.bytes.subarray(start, start + batch.frameLength[frame]!)).toString('hex');
    const time = String(batch.timeNs(row));
    const ethernet = batch.ethernet[row]! === 0xffffffff ? null : batch.ethernet[row]! - start;
    const domains: (number | null)[] = [];
    for (let hopRow = 0; hopRow < batch.hopCount[row]!; hopRow++) {
      const cell = batch.hop.domainOffset[batch.hopStart[row]! + hopRow]!;
      domains.push(cell === 0xffffffff ? null : cell - start);
    }
    const words = [batch.flags, batch.nodeId, batch.sequence, batch.instructions, batch.ports, batch.drop];
    const addresses = [batch.source0, batch.destination0, batch.protocol, batch.hopCount];
    lines.push(JSON.stringify([bytes, time, ethernet, domains, [...words, ...addresses].map((column) => column[row])]));
    const hops: number[] = [];
    for (let column = 0; column < HOP_COLUMNS.length; column++) {
      for (let hopRow = 0; hopRow < batch.hopCount[row]!; hopRow++) {
        hops.push(batch.hopWords[column * batch.hopStride + batch.hopStart[row]! + hopRow]!);
      }
    }
    lines.push(hops.join(' '));
  }
  return lines;
}

/** Notes what it is given; `answer` says what becomes of it. */
class Witness implements Sink {
  readonly name = 'witness';
  readonly reports: string[] = [];
  readonly events: string[] = [];
  readonly flows: string[] = [];
  answer: () => Promise<void> | undefined = () => undefined;

  write(batch: TelemetryBatch): Promise<void> | undefined {
    this.reports.push(...seen(batch));
    return this.answer();
  }

  readonly writeEvents: NonNullable<Sink['writeEvents']> = (events) => {
    for (let row = 0; row < events.count; row++) {
      this.events.push(JSON.stringify([String(events.timeNs(row)), events.event(row)]));
    }
    return this.answer();
  };

  readonly writeFlows: NonNullable<Sink['writeFlows']> = (words, at, records, geometry) => {
    const reader = new EntryReader(geometry);
    for (let record = 0; record < records; record++) {
      const { packets, flow } = reader.read(words, at + record * geometry.bucketStride);
      this.flows.push(`${packets} ${flow.sourcePort}`);
    }
    return this.answer();
  };
}

function decode(frames: FrameSlab): TelemetryBatch {
  const batch = new TelemetryBatch({ frames: frames.count, reports: 1024, hops: 4096 });
  new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
  return batch;
}

/** Lets everything happen that waits for nothing else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
const closes = ({ offered, delivered, pending, dropped }: RecordCounts): boolean =>
  offered === delivered + pending + sum(dropped) && pending >= 0;

describe('QueuedSink', () => {
  test('gives the sink the same reports, bytes and times later, when the originals are used for something else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(reportPayload(), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 16, 300),
        async (batches, gap) => {
          const direct = new Witness();
          const later = new Witness();
          const queue = new QueuedSink(later, { batches: 4 });
          for (const reports of batches) {
            const frames = slabOf(
              reports.map(({ bytes }) => bytes),
              gap,
            );
            const batch = decode(frames);
            direct.write(batch);
            expect(queue.write(batch)).toBeUndefined();
            frames.bytes.fill(0xee);
            frames.offsets.fill(0);
            frames.timestampsLow.fill(1);
            batch.reportWords.fill(7);
            batch.hopWords.fill(7);
            batch.code.fill(0);
          }
          await queue.close();
          expect(later.reports).toEqual(direct.reports);
        },
      ),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  test('hands on in order, sheds what has no room, and closes the accounts: the same as a model', async () => {
    const step = fc.record({
      nodes: fc.array(fc.integer({ min: 1, max: NODES }), { minLength: 1, maxLength: 5 }),
      answer: fc.constantFrom('take', 'later', 'reject', 'throw'),
      rest: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.integer({ min: 2, max: 4 }),
        fc.boolean(),
        async (steps, batches, isWaiting) => {
          const direct = new Witness();
          const inner = new Witness();
          const answers = [...steps.map(({ answer }) => answer)];
          inner.answer = () => {
            switch (answers.shift()) {
              case 'later':
                return settled();
              case 'reject':
                return Promise.reject(new Error('rejected'));
              case 'throw':
                throw new Error('thrown');
              default:
                return undefined;
            }
          };
          const queue = new QueuedSink(inner, { batches, flows: 2, whenFull: isWaiting ? 'wait' : 'drop' });
          const detection = new DetectionStage(RULES);
          const flows = new FlowStage({ rows: 1, buckets: 1 });
          const waiting: (Promise<void> | undefined)[] = [];
          const outlets = {
            events: (...given: Parameters<NonNullable<Sink['writeEvents']>>) => {
              direct.writeEvents(...given);
              waiting.push(queue.writeEvents!(...given));
            },
            flows: (...given: Parameters<NonNullable<Sink['writeFlows']>>) => {
              direct.writeFlows(...given);
              waiting.push(queue.writeFlows!(...given));
            },
            room: () => undefined,
          };
          detection.connect(outlets);
          flows.connect(outlets);
          for (const { nodes, rest } of steps) {
            const frames = slabOf(nodes.map(good));
            const batch = decode(frames);
            detection.process(batch);
            flows.process(batch);
            direct.write(batch);
            waiting.push(queue.write(batch));
            if (!isWaiting) expect(waiting.every((one) => one === undefined)).toBe(true);
            else await Promise.all(waiting);
            frames.bytes.fill(0);
            if (rest) await settled();
            for (const counts of Object.values(queue.totals())) expect(closes(counts)).toBe(true);
          }
          await queue.close();
          const totals = queue.totals();
          for (const counts of Object.values(totals)) expect(closes(counts) && counts.pending === 0).toBe(true);
          const reports = steps.reduce((count, { nodes }) => count + nodes.length, 0);
          expect(totals.reports!.offered).toBe(reports);
          for (const kind of ['reports', 'events', 'flows'] as const) {
            // A subsequence, without holes where the pipeline waits.
            let from = 0;
            for (const line of inner[kind]) from = direct[kind].indexOf(line, from) + 1 || Number.NaN;
            expect(from).not.toBeNaN();
            const lines = kind === 'reports' ? 2 : 1;
            const { delivered, dropped } = totals[kind]!;
            expect(inner[kind].length).toBe(lines * (delivered + (dropped.failed ?? 0)));
            if (isWaiting) expect(inner[kind]).toEqual(direct[kind]);
          }
        },
      ),
      { seed: SEED, numRuns: runs(50) },
    );
  });

  test('never makes the pipeline wait for a sink that hangs, and gives it up when the time for closing is over', async () => {
    const inner = new Witness();
    inner.answer = () => new Promise(() => {});
    const queue = new QueuedSink(inner, { batches: 2 });
    const write = (): unknown => {
      const frames = slabOf([good(1), good(2)]);
      return queue.write(decode(frames));
    };
    for (let batch = 0; batch < 5; batch++) expect(write()).toBeUndefined();
    await settled();
    expect(queue.totals().reports).toEqual({ offered: 10, delivered: 0, pending: 4, dropped: { overflow: 6 } });
    await queue.close(5);
    write();
    expect(queue.totals().reports).toEqual({
      offered: 12,
      delivered: 0,
      pending: 0,
      dropped: { overflow: 6, closed: 6 },
    });
  });

  test('has the pipeline wait until there is room, if asked to', async () => {
    const inner = new Witness();
    let open = (): void => {};
    inner.answer = () =>
      new Promise((resolve) => {
        open = resolve;
      });
    const queue = new QueuedSink(inner, { batches: 2, whenFull: 'wait' });
    const frames = slabOf([good(1)]);
    expect(queue.write(decode(frames))).toBeUndefined();
    const busy = queue.write(decode(frames));
    let isOver = false;
    void busy!.then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    open();
    await busy;
    await settled();
    open();
    await queue.close();
    expect(queue.totals().reports).toEqual({ offered: 2, delivered: 2, pending: 0, dropped: {} });
  });

  test('adds its counters to those of the sink behind it, and passes on how that is', async () => {
    let offered = 0;
    let isAway = false;
    const inner: Sink = {
      name: 'counting',
      records: ['reports'],
      write(batch) {
        if (isAway) throw new Error('away');
        offered += batch.reports;
        return undefined;
      },
      totals: (): SinkTotals => ({
        reports: { offered, delivered: Math.floor(offered / 2), pending: 1, dropped: { overflow: 1 } },
      }),
      health: () => 'far behind',
    };
    const problems: string[] = [];
    const queue = new QueuedSink(inner, { batches: 2, onProblem: ({ message }) => problems.push(message) });
    expect(queue.writeEvents).toBeUndefined();
    const frames = slabOf([good(1), good(2)]);
    for (let batch = 0; batch < 3; batch++) queue.write(decode(frames));
    await settled();
    expect(queue.health()).toBe('far behind');
    isAway = true;
    queue.write(decode(frames));
    queue.write(decode(frames));
    await settled();
    expect(queue.health()).toBe('away');
    expect(problems).toEqual(['away']);
    expect(queue.totals()).toEqual({
      // 4 reached it, of which it says that it let go 1; 2 had no room; at 4 it threw.
      reports: { offered: 10, delivered: 2, pending: 1, dropped: { overflow: 3, failed: 4 } },
    });
    await queue.close();
  });

  test('refuses sizes that make no sense', () => {
    for (const options of [{ batches: 1 }, { batches: 2.5 }, { flows: 0 }]) {
      expect(() => new QueuedSink(new Witness(), options)).toThrow(RangeError);
    }
  });
});
