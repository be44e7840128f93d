import { SpscRing } from '@int/rings';
import fc from 'fast-check';
import { RingBuffer } from 'ringbuf.js';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { seed, wordSequence } from './seed.js';

const OPERATIONS = runs(100_000);

/** Positive numbers of records are pushed, negative ones popped. */
const sequence = fc.record({
  // A power of two, because ringbuf.js does not round.
  capacity: fc.integer({ min: 0, max: 6 }).map((bits) => 2 ** bits),
  recordWords: fc.integer({ min: 1, max: 40 }),
  steps: fc.array(fc.integer({ min: -70, max: 70 }), { minLength: 240, maxLength: 360, size: 'max' }),
});

describe('a ring', () => {
  it(`takes and gives the same words as ringbuf.js, over ${OPERATIONS} random operations`, () => {
    const next = wordSequence();
    let operations = 0;
    let moved = 0;
    fc.assert(
      fc.property(sequence, ({ capacity, recordWords, steps }) => {
        const ours = new SpscRing({ recordWords, capacity });
        const theirs = new RingBuffer(
          RingBuffer.getStorageForCapacity(capacity * recordWords, Int32Array) as SharedArrayBuffer,
          Int32Array,
        );
        const at = 3;
        const words = new Int32Array(at + 70 * recordWords);
        const peer = new Int32Array(words.length);
        for (const step of steps) {
          const records = Math.abs(step);
          if (step > 0) {
            for (let index = 0; index < words.length; index++) words[index] = next();
            const taken = ours.push(words, at, records);
            if (theirs.push(words, records * recordWords, at) !== taken * recordWords)
              expect.fail('took a different number');
          } else {
            words.fill(0);
            peer.fill(0);
            const given = ours.pop(words, at, records);
            if (theirs.pop(peer, records * recordWords, at) !== given * recordWords)
              expect.fail('gave a different number');
            if (words.some((word, index) => word !== peer[index])) expect(words).toEqual(peer);
            moved += given;
          }
          if (ours.length * recordWords !== theirs.availableRead()) expect.fail('holds a different number');
        }
        operations += steps.length;
      }),
      { seed, numRuns: 400 },
    );
    expect(operations).toBeGreaterThan(OPERATIONS);
    expect(moved).toBeGreaterThan(OPERATIONS);
  });
});
