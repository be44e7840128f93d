import { RING_HEADER, SpscRing } from '@int/rings';
import { describe, expect, it } from 'vitest';
import { presetCount, setCounter } from './preset.js';

/** A ring through which so many records seem to have gone. */
function ringAt(count: number, capacity = 8): SpscRing {
  const { buffer } = new SpscRing({ recordWords: 2, capacity });
  presetCount(buffer, 0, count);
  return SpscRing.attach(buffer);
}

describe('the counters of a ring', () => {
  const edges = [2 ** 31, 2 ** 32, 2 ** 32 + 2 ** 31, 2 ** 33, 2 ** 52];

  it.each(edges)('go on and the records stay in order when they pass %d', (edge) => {
    for (let less = 0; less <= 20; less++) {
      const ring = ringAt(edge - less);
      const into = new Int32Array(16);
      let next = 0;
      let expected = 0;
      for (let step = 0; step < 40; step++) {
        const records = 1 + (step % 8);
        const source = Int32Array.from({ length: 16 }, (_, index) => next + (index >> 1));
        next += ring.push(source, 0, records);
        expect(ring.pushed).toBe(edge - less + next);
        const popped = ring.pop(into, 0, 1 + (step % 5));
        for (let record = 0; record < popped; record++) {
          expect(into[2 * record]).toBe(expected);
          expected++;
        }
        expect(ring.popped).toBe(edge - less + expected);
        expect(ring.length).toBe(next - expected);
      }
      expect(expected).toBeGreaterThan(20);
    }
  });

  it('are exact up to 2^53 - 1', () => {
    const ring = ringAt(2 ** 53 - 9);
    expect(ring.push(new Int32Array(16), 0, 8)).toBe(8);
    expect(ring.pushed).toBe(2 ** 53 - 1);
    expect(ring.pop(new Int32Array(16), 0, 8)).toBe(8);
    expect(ring.popped).toBe(2 ** 53 - 1);
  });

  it('count losses by kind, beyond 2^32', () => {
    const ring = new SpscRing({ recordWords: 1, capacity: 1 });
    for (let turn = 1; turn <= 9; turn++) {
      ring.lose(3, 2 ** 31 - 1);
      ring.lose(7, 1);
      ring.lose(0, 0);
      expect(ring.lost(3)).toBe(turn * (2 ** 31 - 1));
      expect(ring.lostTotal).toBe(turn * 2 ** 31);
    }
    expect([0, 1, 2, 4, 5, 6, 7].map((kind) => ring.lost(kind))).toEqual([0, 0, 0, 0, 0, 0, 9]);
  });

  it.each([2 ** 31, 2 ** 32, 2 ** 33 + 2 ** 31])(
    'are right while the writer is between its two stores at %d',
    (edge) => {
      // The low word has passed the edge, the upper one does not know yet.
      const { buffer } = new SpscRing({ recordWords: 1, capacity: 4 });
      const header = new Int32Array(buffer);
      for (const counter of [RING_HEADER.PUSHED, RING_HEADER.POPPED, RING_HEADER.LOST]) {
        setCounter(header, counter, edge - 1);
        header[counter] = (edge % 2 ** 32) | 0;
      }
      const ring = SpscRing.attach(buffer);
      expect([ring.pushed, ring.popped, ring.lost(0)]).toEqual([edge, edge, edge]);
    },
  );

  it('stay right when the writer died between its two stores and another one goes on', () => {
    const { buffer } = new SpscRing({ recordWords: 1, capacity: 4 });
    const header = new Int32Array(buffer);
    setCounter(header, RING_HEADER.LOST, 2 ** 31 - 1);
    header[RING_HEADER.LOST] = (2 ** 31) | 0;
    const ring = SpscRing.attach(buffer);
    let expected = 2 ** 31;
    for (let turn = 0; turn < 9; turn++) {
      ring.lose(0, 2 ** 31 - 1);
      expected += 2 ** 31 - 1;
      expect(ring.lost(0)).toBe(expected);
    }
    // Caught up: both words are as one writes the number.
    const written = new Int32Array(2);
    setCounter(written, 0, expected);
    expect([...header.subarray(RING_HEADER.LOST, RING_HEADER.LOST + 2)]).toEqual([...written]);
  });
});
