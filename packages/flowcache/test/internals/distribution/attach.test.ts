import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { inTime } from '../../../../../.ci/test/until.js';
import { Distributions } from '../../../src/distribution/distributions.js';
import { DISTRIBUTION_ERROR_CODES, DistributionError } from '../../../src/distribution/errors.js';
import { anyBins, batchOf, contentsOf, metricNames, reports, reportsOf } from '../../distribution/model.js';
import { SEED } from '../../seed.js';

const GUARD = 0xaa;

/** Distributions with some switches, at an offset of a buffer that is larger than they are. */
function sample(byteOffset = 16): Distributions {
  const options = {
    metrics: ['hopLatency', 'queueOccupancy', 'queueId'],
    bins: {
      hopLatency: { kind: 'explicit', edges: [0, 10, 100] },
      queueOccupancy: { kind: 'linear', from: 5, width: 3, count: 9 },
      endToEnd: { kind: 'logarithmic', perOctave: 1 },
    },
    switches: 6,
    seed: 99,
  } as const;
  const buffer = new ArrayBuffer(
    byteOffset + Distributions.byteLength({ ...options, metrics: [...options.metrics] }) + 32,
  );
  new Uint8Array(buffer).fill(GUARD);
  const distributions = new Distributions({ ...options, metrics: [...options.metrics], buffer, byteOffset });
  const hops = [1, 2, 3, 17].map((nodeId) => ({ nodeId, hopLatency: 5 * nodeId, queue: nodeId }));
  distributions.record(batchOf([{ code: 0, flags: 0, gap: 0, hops }]));
  return distributions;
}

function failure(buffer: ArrayBufferLike, byteOffset: number): DistributionError {
  try {
    Distributions.attach(buffer, byteOffset);
  } catch (error) {
    if (DistributionError.is(error)) return error;
    throw error;
  }
  throw new Error('attached');
}

describe('attaching', () => {
  it('finds everything again, and goes on as if it had never been away', () => {
    fc.assert(
      fc.property(reports(30), reports(30), metricNames, anyBins, fc.nat(5), (before, after, metrics, bins, lines) => {
        const dimensions = { metrics, bins: { [metrics[0]!]: bins, endToEnd: bins }, switches: 7, seed: lines };
        const byteOffset = lines * 8;
        const buffer = new SharedArrayBuffer(byteOffset + Distributions.byteLength(dimensions));
        const one = new Distributions({ ...dimensions, buffer, byteOffset });
        one.record(batchOf(before));
        const other = Distributions.attach(buffer, byteOffset);
        expect(contentsOf(other)).toEqual(contentsOf(one));
        expect([other.metrics, other.capacity, other.byteLength]).toEqual([one.metrics, one.capacity, one.byteLength]);
        const copy = Distributions.attach(buffer.slice(byteOffset));
        copy.record(batchOf(after));
        one.record(batchOf(after));
        expect(contentsOf(other)).toEqual(contentsOf(one));
        expect(contentsOf(copy)).toEqual(contentsOf(one));
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  it('to a buffer cut off anywhere fails with a code', () => {
    const { buffer, byteOffset, byteLength } = sample(0);
    const bytes = buffer as ArrayBuffer;
    expect(byteOffset).toBe(0);
    for (let length = 0; length < byteLength; length += 4) {
      expect(failure(bytes.slice(0, length), 0).code).toBe('ERR_DISTRIBUTION_TRUNCATED');
    }
    expect(failure(bytes, bytes.byteLength + 8).code).toBe('ERR_DISTRIBUTION_BUFFER');
    for (const offset of [4, -8, 0.5, Number.NaN]) expect(failure(bytes, offset).code).toBe('ERR_DISTRIBUTION_BUFFER');
  });

  it('to random bytes fails with a code', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, hasMagic) => {
        const copy = new Uint8Array(Math.max(bytes.length, hasMagic ? 8 : 0));
        copy.set(bytes);
        if (hasMagic) copy.set([0x49, 0x4e, 0x44, 0x49, 1, 0, 0, 0]);
        expect(DISTRIBUTION_ERROR_CODES).toContain(failure(copy.buffer, 0).code);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  it('to spoilt words fails with a code and a place, or gives something that can be read and written', () => {
    const { byteLength } = sample();
    // Numbers that are likely to be taken for something: sizes, offsets, NaN.
    const values = fc.oneof(
      fc.nat(0xffffffff),
      fc.nat(64),
      fc.nat(byteLength),
      fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7ff80000, 0xfff00000, 0x3fe00000, 0x43500000),
    );
    const places = fc.oneof(fc.nat(60), fc.nat(140), fc.nat(byteLength / 4 - 1));
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(fc.tuple(places, values), { minLength: 1, maxLength: 3 }), (changes) => {
        const { buffer, byteOffset } = sample();
        const words = new Uint32Array(buffer, byteOffset, byteLength / 4);
        for (const [at, value] of changes) words[at] = value;
        let attached: Distributions;
        try {
          attached = Distributions.attach(buffer, byteOffset);
        } catch (error) {
          if (!DistributionError.is(error)) throw error;
          seen.add(error.code);
          expect(error.offset).toBeGreaterThanOrEqual(byteOffset);
          expect(error.offset).toBeLessThan(byteOffset + byteLength);
          return;
        }
        seen.add('attached');
        const hops = [1, 5, 17, 18, 19].map((nodeId) => ({ nodeId, hopLatency: 50, queueId: 0, queueOccupancy: 9 }));
        const before = attached.totals();
        attached.record(batchOf([{ code: 0, flags: 0, gap: 0, hops }]));
        const after = attached.totals();
        const all = ({ values, lost }: typeof after): number => values + lost.tooManySwitches.values;
        const isSame = attached.metrics.join() === 'hopLatency,queueOccupancy,queueId';
        if (isSame && all(after) < 2 ** 50) expect(all(after)).toBe(all(before) + 15);
        for (const node of attached.switches()) attached.histogram(node, attached.metrics[0]!)!.percentile(50);
        const bytes = new Uint8Array(buffer);
        const outside = [...bytes.subarray(0, byteOffset), ...bytes.subarray(byteOffset + byteLength)];
        expect(outside.every((byte) => byte === GUARD)).toBe(true);
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
    expect([...seen].sort()).toEqual(
      [
        'ERR_DISTRIBUTION_COUNT',
        'ERR_DISTRIBUTION_LAYOUT',
        'ERR_DISTRIBUTION_MAGIC',
        'ERR_DISTRIBUTION_TABLE',
        'ERR_DISTRIBUTION_VERSION',
        'ERR_DISTRIBUTION_TRUNCATED',
        'attached',
      ].sort(),
    );
  });

  it('tells where the trouble is', () => {
    const at = (change: (words: Uint32Array, cells: Float64Array) => void): [string, number | null] => {
      const { buffer, byteOffset, byteLength } = sample();
      change(new Uint32Array(buffer, byteOffset, byteLength / 4), new Float64Array(buffer, byteOffset, byteLength / 8));
      const { code, offset } = failure(buffer, byteOffset);
      return [code, offset === null ? null : offset - byteOffset];
    };
    expect(at((words) => words.fill(0, 0, 1))).toEqual(['ERR_DISTRIBUTION_MAGIC', 0]);
    expect(at((words) => words.fill(2, 1, 2))).toEqual(['ERR_DISTRIBUTION_VERSION', 4]);
    expect(at((words) => words.fill(words[2]! + 1000, 2, 3))).toEqual(['ERR_DISTRIBUTION_TRUNCATED', 8]);
    expect(at((words) => words.fill(0, 3, 4))).toEqual(['ERR_DISTRIBUTION_LAYOUT', 12]);
    // More rows than bytes: the bytes are what is compared first.
    expect(at((words) => words.fill(7, 4, 5))).toEqual(['ERR_DISTRIBUTION_LAYOUT', 8]);
    expect(at((words) => words.fill(words[12]! + 64, 12, 13))).toEqual(['ERR_DISTRIBUTION_LAYOUT', 48]);
    expect(at((words) => words.fill(7, 13, 14))).toEqual(['ERR_DISTRIBUTION_TABLE', 52]);
    expect(at((words) => words.fill(77, words[9]! / 4, words[9]! / 4 + 1))[0]).toBe('ERR_DISTRIBUTION_TABLE');
    expect(at((words) => words.fill(1, words[9]! / 4 - 1, words[9]! / 4))).toEqual([
      'ERR_DISTRIBUTION_TABLE',
      sampleWord(9) - 4,
    ]);
    expect(
      at((words) => {
        const table = words.subarray(words[8]! / 4, words[9]! / 4);
        const [one, empty] = [table.indexOf(17), table.findIndex((_, k) => k % 2 === 1 && table[k] === 0)];
        table.set(table.subarray(one, one + 2), empty - 1);
      })[0],
    ).toBe('ERR_DISTRIBUTION_TABLE');
    expect(at((_, cells) => cells.fill(0.5, 8, 9))).toEqual(['ERR_DISTRIBUTION_COUNT', 64]);
    expect(at((words, cells) => cells.fill(-1, words[11]! / 8, words[11]! / 8 + 1))).toEqual([
      'ERR_DISTRIBUTION_COUNT',
      sampleWord(11),
    ]);
    expect(at((words, cells) => cells.fill(Number.NaN, words[10]! / 8, words[10]! / 8 + 1))[0]).toBe(
      'ERR_DISTRIBUTION_COUNT',
    );
  });

  it('to what a writer left behind that died while adding a switch goes on without counting it twice', () => {
    const { buffer, byteOffset, byteLength } = sample();
    const words = new Int32Array(buffer, byteOffset, byteLength / 4);
    const slot = words.findIndex((id, at) => id === 17 && at >= words[8]! / 4 && at < words[9]! / 4);
    words.fill(0, slot, slot + 2);
    const attached = Distributions.attach(buffer, byteOffset);
    attached.record(
      batchOf([
        {
          code: 0,
          flags: 0,
          gap: 0,
          hops: [
            { nodeId: 17, hopLatency: 1 },
            { nodeId: 18, queueId: 0, queueOccupancy: 1 },
          ],
        },
      ]),
    );
    expect(attached.switches()).toEqual([1, 2, 3, 17, 18]);
    expect(attached.histogram(17, 'hopLatency')!.sum).toBe(86n);
  });

  it('to what a writer left behind that died while splitting up a sum can be read, and written again', () => {
    const { buffer, byteOffset, byteLength } = sample();
    const words = new Int32Array(buffer, byteOffset, byteLength / 4);
    words[14] = 7;
    const attached = Distributions.attach(buffer, byteOffset);
    expect(attached.histogram(3, 'hopLatency')!.sum).toBe(15n);
    attached.merge(Distributions.attach((buffer as ArrayBuffer).slice(byteOffset)));
    expect(words[14]! % 2).toBe(0);
    expect(attached.histogram(3, 'hopLatency')!.sum).toBe(30n);
  });
});

/** A word of the header of {@link sample}. */
function sampleWord(at: number): number {
  const { buffer, byteOffset } = sample();
  return new Uint32Array(buffer, byteOffset)[at]!;
}

/**
 * Reads a histogram by nothing but the documented layout, from another thread, as often as it can: the one of the first
 * metric at the first switch.
 */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
const { buffer, byteOffset, bins } = workerData;
const words = new Int32Array(buffer, byteOffset);
const cells = new Float64Array(buffer, byteOffset);
const row = words[11] / 8 + 2 * (words[12] / 8);
const last = { total: 0, sum: 0n, reads: 0, splits: 0, problems: [] };
parentPort.postMessage('ready');
const stop = new Int32Array(workerData.stop);
for (let isLast = false; !isLast; ) {
  isLast = Atomics.load(stop, 0) === 1;
  const before = Atomics.load(words, 14);
  if (before % 2 !== 0 || Atomics.load(words, 13) === 0) continue;
  let total = 0;
  const sum = BigInt(cells[row]) + (BigInt(cells[row + 1]) << 52n);
  for (let bin = 0; bin < bins + 2; bin++) total += cells[row + 2 + bin];
  if (Atomics.load(words, 14) !== before) {
    isLast = false;
    continue;
  }
  if (total < last.total || sum < last.sum) last.problems.push([total, last.total, String(sum), String(last.sum)]);
  last.splits = before / 2;
  last.total = total;
  last.sum = sum;
  last.reads++;
}
parentPort.postMessage(last);
`;

describe('another thread', () => {
  it('reads counts and sums that never go back while they are written, and in the end what was written', async () => {
    const dimensions = { metrics: ['l2IngressInterface' as const], switches: 3 };
    const byteOffset = 64;
    const buffer = new SharedArrayBuffer(byteOffset + Distributions.byteLength(dimensions));
    const distributions = new Distributions({ ...dimensions, buffer, byteOffset });
    const bins = distributions.overall('l2IngressInterface').counts.length;
    const stop = new SharedArrayBuffer(4);
    const worker = new Worker(READER, { eval: true, workerData: { buffer, byteOffset, bins, stop } });
    const next = (): Promise<{ total: number; sum: bigint; reads: number; splits: number; problems: unknown[] }> =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    await inTime('the reading thread', next());
    // Sums of such values are split up all the time.
    const batch = batchOf(
      Array.from({ length: 100 }, () => reportsOf(new Array<number>(200).fill(0xffff_ffff))).flat(),
    );
    const done = next();
    const rounds = 1200;
    for (let k = 0; k < rounds; k++) distributions.record(batch);
    Atomics.store(new Int32Array(stop), 0, 1);
    const found = await inTime('what the thread has read', done);
    await worker.terminate();
    expect(found.problems).toEqual([]);
    expect(found.total).toBe(rounds * 20_000);
    expect(found.sum).toBe(BigInt(rounds) * 20_000n * 0xffff_ffffn);
    expect(found.reads).toBeGreaterThan(0);
    expect(found.splits).toBeGreaterThan(10);
    expect(Distributions.attach(buffer, byteOffset).histogram(1, 'l2IngressInterface')!.sum).toBe(found.sum);
  });
});
