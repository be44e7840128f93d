/** A stripper allocates nothing for INT between a transport header and its payload, in one array. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodeFrame, type Flow, type SourceConfig, STRIP, Stripper, source, transit } from '@int/codec';
import { expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const FRAMES = runs(192_000);
/** Pieces small enough that a collection rarely falls into one; it would hide what was allocated. */
const PIECE = 2000;
const SLOT = 512;

/** Bytes a frame that are none: an object has 16 and more. */
const LEAST = 0.5;
/** Runs at most until nothing is allocated: on a busy machine V8's compilers, which work beside, take their time. */
const MOST_RUNS = 25;

function packet(protocol: 6 | 17, version: 4 | 6, config: SourceConfig | null): Uint8Array {
  const [from, to] = version === 4 ? ['10.0.0.1', '10.0.0.2'] : ['2001:db8::1', '2001:db8::2'];
  const flow: Flow = { source: from, destination: to, protocol, sourcePort: 1024, destinationPort: 80 };
  const bare = { index: 0, status: 'not-int', error: null, report: null, int: null, path: [], hops: [] } as const;
  const plain = encodeFrame({ ...bare, path: [], hops: [], flow });
  if (config === null) return plain;
  return transit(source(plain, config, { nodeId: 1 }).packet, config, { nodeId: 2 }).packet;
}

/** Bytes by which the heap grew in all pieces of a run, collections left out. The measurement's own objects are in it. */
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

test('takes INT out of frames without a byte for each', () => {
  const config: SourceConfig = { instructions: 0xb000 };
  const dscp: SourceConfig = { ...config, encapsulation: 'dscp' };
  const inputs = [
    packet(17, 4, config),
    packet(17, 4, null),
    packet(6, 4, dscp),
    packet(17, 6, config),
    packet(6, 6, dscp),
    packet(6, 6, null),
  ];
  const bytes = new Uint8Array(2 * inputs.length * SLOT);
  for (const [index, input] of inputs.entries()) bytes.set(input, index * SLOT);
  const stripper = new Stripper();
  let stripped = 0;
  const strip = (from: number, to: number): void => {
    for (let frame = from; frame < to; frame++) {
      const index = frame % inputs.length;
      stripper.strip(bytes, index * SLOT, inputs[index]!.length, bytes, (inputs.length + index) * SLOT);
      if (stripper.verdict === STRIP.STRIPPED) stripped++;
    }
  };
  growth(strip);
  stripped = 0;
  let least = Number.POSITIVE_INFINITY;
  let run = 0;
  for (; run < 3 || (least >= LEAST && run < MOST_RUNS); run++) {
    least = Math.min(least, (growth(strip) - growth(() => {})) / FRAMES);
  }
  // Four of the six have INT.
  expect(stripped).toBe((run * 2 * FRAMES) / 3);
  expect(least).toBeLessThan(LEAST);
});
