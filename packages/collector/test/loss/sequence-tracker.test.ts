import { type SequenceCounts, SequenceTracker } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';

const SEED = Number(process.env.INT_SEED ?? 20261121);

const ZERO: SequenceCounts = { inOrder: 0, reordered: 0, duplicates: 0, late: 0, restarts: 0, lost: 0, missing: 0 };

/** Numbers of one reporter, in the order of their arrival. */
function follow(numbers: readonly number[], bits: number, window = 32): SequenceCounts {
  const tracker = new SequenceTracker({ reporters: 4, window });
  for (const number of numbers) tracker.note(7, 3, number, bits);
  return numbers.length === 0 ? ZERO : tracker.counts(0);
}

/** The same with numbers that never wrap, and a set of all that was ever seen. */
function model(numbers: readonly number[], window: number): SequenceCounts {
  const seen = new Set<number>();
  const [first] = numbers;
  if (first === undefined) return ZERO;
  let highest = first - 1;
  const counts = { ...ZERO } as { -readonly [K in keyof SequenceCounts]: number };
  for (const number of numbers) {
    if (number > highest) counts.inOrder++;
    else if (number <= highest - window) counts.late++;
    else if (seen.has(number) || number < first) counts.duplicates++;
    else counts.reordered++;
    // What comes late was lost when it left the window, and stays lost.
    if (number > highest - window) seen.add(number);
    highest = Math.max(highest, number);
  }
  for (let number = first; number <= highest; number++) {
    if (seen.has(number)) continue;
    if (number > highest - window) counts.missing++;
    else counts.lost++;
  }
  return counts;
}

/** Numbers from 0 on: some skipped, some doubled, each displaced by no more than `reach` places. */
const arrivals = (reach: number): fc.Arbitrary<number[]> =>
  fc
    .array(fc.record({ copies: fc.integer({ min: 0, max: 2 }), late: fc.integer({ min: 0, max: reach }) }), {
      minLength: 1,
      maxLength: 200,
    })
    .map((each) =>
      each
        .flatMap(({ copies, late }, number) =>
          Array.from({ length: copies }, (_, copy) => [number, number + late * copy + late] as const),
        )
        .sort((a, b) => a[1] - b[1])
        .map(([number]) => number),
    );

describe('SequenceTracker', () => {
  it('counts what a set of all numbers counts, wherever the numbers wrap around', () => {
    fc.assert(
      fc.property(
        arrivals(20),
        fc.constantFrom(17, 22, 32),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(32, 64, 128),
        (numbers, bits, place, window) => {
          const start = Math.floor(place * (2 ** bits - 1));
          const wrapped = numbers.map((number) => (number + start) % 2 ** bits);
          expect(follow(wrapped, bits, window)).toEqual(model(numbers, window));
        },
      ),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('puts every number it is given into one of four counts, whatever the numbers are', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 22 - 1 }), { minLength: 1, maxLength: 300 }), (numbers) => {
        const { inOrder, reordered, duplicates, late, lost, missing } = follow(numbers, 22);
        expect(inOrder + reordered + duplicates + late).toBe(numbers.length);
        expect(Math.min(reordered, duplicates, late, lost, missing)).toBeGreaterThanOrEqual(0);
        expect(missing).toBeLessThan(32);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  it('takes packets that overtake each other for no loss', () => {
    expect(follow([10, 12, 11, 14, 13], 22)).toEqual({ ...ZERO, inOrder: 3, reordered: 2 });
  });

  it('tells what is missing from what is lost', () => {
    expect(follow([1, 3], 22)).toMatchObject({ missing: 1, lost: 0 });
    expect(follow([1, 3, 34], 22)).toMatchObject({ missing: 30, lost: 1 });
    // All of 4 to 999, but for the window's 31 before the last.
    expect(follow([1, 2, 3, 1000], 22)).toMatchObject({ missing: 31, lost: 965 });
  });

  it('goes on where numbers wrap around', () => {
    expect(follow([2 ** 22 - 2, 2 ** 22 - 1, 0, 1], 22)).toEqual({ ...ZERO, inOrder: 4 });
    expect(follow([2 ** 32 - 1, 1, 0], 32)).toEqual({ ...ZERO, inOrder: 2, reordered: 1 });
  });

  it('notices a reporter that starts anew, in either direction, and counts no millions lost', () => {
    expect(follow([3_000_000, 3_000_002, 0, 1, 2], 22)).toEqual({ ...ZERO, inOrder: 5, restarts: 1, lost: 1 });
    expect(follow([5, 6, 1_000_000, 1_000_001], 22)).toEqual({ ...ZERO, inOrder: 4, restarts: 1 });
  });

  it('does not take one stray number for a restart', () => {
    expect(follow([100, 101, 3_000_000, 102, 5, 103], 22)).toEqual({ ...ZERO, inOrder: 4, late: 2 });
  });

  it('keeps reporters apart, and says when there are too many', () => {
    const tracker = new SequenceTracker({ reporters: 2 });
    expect([tracker.note(1, 0, 5, 22), tracker.note(1, 1, 9, 22), tracker.note(2, 0, 1, 22)]).toEqual([0, 1, -1]);
    expect(tracker.note(1, 0, 7, 22)).toBe(0);
    expect([tracker.counts(0).missing, tracker.counts(1).missing, tracker.size]).toEqual([1, 0, 2]);
    expect([tracker.key(0), tracker.key(1)]).toEqual([
      [1, 0],
      [1, 1],
    ]);
  });

  it('refuses options out of range', () => {
    for (const options of [
      { reporters: 0 },
      { reporters: 1.5 },
      { reporters: 70_000 },
      { window: 31 },
      { window: 48 },
      { window: 1 << 17 },
    ]) {
      expect(() => new SequenceTracker(options)).toThrow(RangeError);
    }
  });
});
