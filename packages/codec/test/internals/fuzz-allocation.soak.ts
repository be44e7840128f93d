/** The batch path allocates nothing: the heap does not grow with the number of frames. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { frame } from '@int/arbitraries';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { TelemetryBatch } from '../../src/batch.js';
import { BatchDecoder } from '../../src/batch-decoder.js';
import { FastReport2 } from '../../src/fast/report2.js';
import type { DecodeOptions } from '../../src/options.js';
import { frame as fastReport } from '../fast-arbitraries.js';
import { corpus, mutate, Random } from '../fuzz-inputs.js';
import { marks } from './fast-oracle.js';

const SEED = Number(process.env.INT_SEED ?? 20_250_222);
setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const FRAMES = runs(240_000);
/** Pieces small enough that a collection rarely falls into one; it would hide what was allocated. */
const PIECE = 2000;

/**
 * Bytes by which the heap grew in all pieces of a run, collections left out. The measurement's own objects are in it.
 */
function growth(work: (from: number, to: number) => void): number {
  gc();
  let total = 0;
  for (let from = 0; from < FRAMES; from += PIECE) {
    const before = getHeapStatistics().used_heap_size;
    work(from, from + PIECE);
    total += Math.max(0, getHeapStatistics().used_heap_size - before);
  }
  return total;
}

/** Bytes a frame that are none: an object has 16 and more. */
const LEAST = 1;
/** Runs at most until nothing is allocated: on a busy machine V8's compilers, which work beside, take their time. */
const MOST_RUNS = 25;

/** Bytes a frame, without the measurement's own: the least of several runs, and of more while it is not `enough`. */
function perFrame(work: (from: number, to: number) => void, enough = Number.POSITIVE_INFINITY): number {
  for (let warm = 0; warm < 3; warm++) growth(work);
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 || (least >= enough && run < MOST_RUNS); run++) {
    least = Math.min(least, (growth(work) - growth(() => {})) / FRAMES);
  }
  return least;
}

/** Decodes the same inputs over and over. */
function decoding(
  inputs: readonly Uint8Array[],
  options: DecodeOptions & { fastPath?: boolean },
): (from: number, to: number) => void {
  const bytes = Uint8Array.from(inputs.flatMap((one) => [...one]));
  const lengths = Uint32Array.from(inputs, ({ length }) => length);
  const offsets = new Uint32Array(inputs.length);
  for (let k = 1; k < inputs.length; k++) offsets[k] = offsets[k - 1]! + lengths[k - 1]!;
  const decoder = new BatchDecoder(options);
  const batch = new TelemetryBatch({ frames: PIECE, reports: 4 * PIECE, hops: 64 * PIECE });
  return (from, to) => {
    for (let at = from; at < to; ) {
      let next = 0;
      const some = Math.min(inputs.length, to - at);
      while (next < some) {
        batch.clear();
        next = decoder.decode(batch, { bytes, offsets, lengths }, next, some);
      }
      at += some;
    }
  };
}

test('the measurement sees a small object a frame', () => {
  const kept: unknown[] = [null];
  const seen = perFrame((from, to) => {
    for (let k = from; k < to; k++) kept[0] = { k };
  });
  expect(seen).toBeGreaterThan(8);
});

test('the fast path allocates nothing for a frame', () => {
  const all = fc.sample(fastReport, { numRuns: 4000, seed: SEED });
  const fast = new FastReport2(marks({ linkType: 'report' }));
  const one = new TelemetryBatch({ frames: 1, hops: 512 });
  const inputs = all.filter((bytes) => {
    one.clear();
    return fast.run(one, bytes, Uint32Array.of(0), Uint32Array.of(bytes.length), 0, 1) === 1;
  });
  expect(inputs.length).toBeGreaterThan(500);
  expect(perFrame(decoding(inputs, { linkType: 'report' }), LEAST)).toBeLessThan(LEAST);
});

test('the general path allocates nothing for a frame, sound or broken', () => {
  const random = new Random(SEED);
  const options: DecodeOptions = { reportPorts: [32766] };
  const sound = fc.sample(frame({ maxStackWords: 60, options }), { numRuns: 600, seed: SEED });
  const broken = corpus(SEED, 300);
  const inputs = [
    ...sound.map(({ bytes }) => bytes).filter(({ length }) => length < 1600),
    ...Array.from({ length: 400 }, () => mutate(random, broken)),
  ];
  expect(perFrame(decoding(inputs, { ...options, fastPath: false }), LEAST)).toBeLessThan(LEAST);
});
