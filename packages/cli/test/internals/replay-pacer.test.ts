import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FrameChunk } from '../../src/replay/frame-chunk.js';
import { Pacer } from '../../src/replay/pacer.js';
import { CapturedSchedule, SteadySchedule } from '../../src/replay/schedule.js';
import { SEED } from '../seed.js';

const SLACK_MS = 2;
const CATCH_UP = 2;
const EPSILON = 1e-6;
const NOTHING = { bytes: new Uint8Array(0), offsets: new Uint32Array(0), lengths: new Uint32Array(0) };

/** A chunk of frames with these times. */
function chunkOf(...timesMs: number[]): FrameChunk {
  return { ...NOTHING, timesMs: Float64Array.from(timesMs), count: timesMs.length, skipped: new Map() };
}

function steadyTimes(rate: number, count: number): number[] {
  const steady = new SteadySchedule(rate);
  return Array.from({ length: count }, (_, sent) => steady.dueMs(chunkOf(), 0, sent));
}

/** Sends `count` frames by a virtual clock that goes on by `stepsMs` between looks at it. Gives when each of them left. */
function send(due: readonly number[], stepsMs: Iterable<number>, pacer: Pacer): number[] {
  const left: number[] = [];
  let now = 12_345;
  const steps = stepsMs[Symbol.iterator]();
  while (left.length < due.length) {
    const released = pacer.release(now, due[left.length]!);
    while (left.length < due.length && due[left.length]! <= released) left.push(now - 12_345);
    if (left.length === due.length) break;
    const step = steps.next();
    // Without a hindrance: as long as the pacer says.
    now += step.done === true ? Math.max(0.01, pacer.waitMs(due[left.length]!)) : step.value;
  }
  return left;
}

const schedule = fc.oneof(
  fc
    .record({ rate: fc.double({ min: 1, max: 2e6, noNaN: true }), count: fc.integer({ min: 1, max: 400 }) })
    .map(({ rate, count }) => steadyTimes(rate, count)),
  fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 300 }).map((gaps) => {
    let at = 0;
    return gaps.map((gap, index) => {
      at += index === 0 ? 0 : gap;
      return at;
    });
  }),
);
const steps = fc.array(
  fc.oneof(
    fc.double({ min: 0, max: 0.1, noNaN: true }),
    fc.double({ min: 1, max: 2.5, noNaN: true }),
    fc.double({ min: 10, max: 300, noNaN: true }),
  ),
  { maxLength: 200 },
);

describe('pacing', () => {
  test('sends every frame, none before it is due', () => {
    fc.assert(
      fc.property(schedule, steps, (due, hindrances) => {
        const pacer = new Pacer();
        const left = send(due, hindrances, pacer);
        expect(left).toHaveLength(due.length);
        expect(left.findIndex((at, index) => at < due[index]! - EPSILON)).toBe(-1);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('never makes up for lost time in a burst, however long the sender was held up', () => {
    fc.assert(
      fc.property(schedule, steps, (due, hindrances) => {
        const left = send(due, hindrances, new Pacer({ slackMs: SLACK_MS, catchUp: CATCH_UP }));
        // What leaves from frame `first` to frame `last` is so much of the schedule, in so much time.
        let most = 0;
        for (let first = 0; first < left.length; first++) {
          for (let last = first; last < left.length; last++) {
            most = Math.max(most, due[last]! - due[first]! - CATCH_UP * (left[last]! - left[first]!));
          }
        }
        expect(most).toBeLessThanOrEqual(SLACK_MS + EPSILON);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  test('is back on schedule some time after a pause, and then as late as the waits are long', () => {
    const due = steadyTimes(1000, 2000);
    expect(due[1999]).toBe(1999);
    const left = send(due, [100], new Pacer({ catchUp: 2 }));
    expect(left[1]).toBeCloseTo(100);
    // At twice the speed, 100 ms are caught up in another 100.
    for (const [index, at] of left.entries()) if (index > 205) expect(at - due[index]!).toBeLessThan(0.02);
  });

  test('keeps to rates from one frame a second to millions', () => {
    for (const rate of [1, 3, 999, 1e4, 1e6, 5e6]) {
      const due = steadyTimes(rate, 5000);
      const left = send(due, [], new Pacer());
      expect(left.at(-1)! - due.at(-1)!).toBeLessThan(0.05);
      expect((5000 * 1000) / (left.at(-1)! + 1000 / rate) / rate).toBeCloseTo(1, 1);
    }
  });

  test('gives up what it is behind by more than a second', () => {
    const pacer = new Pacer();
    const due = Array.from({ length: 3000 }, (_, sent) => sent);
    const left = send(due, [10_000], pacer);
    expect(pacer.lostMs).toBeGreaterThan(8900);
    expect(pacer.lostMs).toBeLessThan(9000);
    expect(left.at(-1)! - due.at(-1)!).toBeCloseTo(pacer.lostMs, 0);
  });

  test('makes up for no more than 256 frames at once, or those of a millisecond', () => {
    for (const [rate, slackMs] of [
      [1, 10],
      [25_600, 10],
      [100_000, 2.56],
      [1_000_000, 1],
    ] as const) {
      expect(new SteadySchedule(rate).slackMs).toBe(slackMs);
    }
  });

  test('refuses bounds that are none', () => {
    expect(() => new Pacer({ slackMs: 0 })).toThrow(RangeError);
    expect(() => new Pacer({ catchUp: 1 })).toThrow(RangeError);
    expect(() => new Pacer({ maxLagMs: Number.NaN })).toThrow(RangeError);
  });
});

describe('the pace of a capture', () => {
  test('repeats with the mean distance between the last frame and the first', () => {
    const chunk = chunkOf(0, 10, 30);
    const captured = new CapturedSchedule(2);
    expect([0, 1, 2].map((row) => captured.dueMs(chunk, row))).toEqual([0, 5, 15]);
    captured.endLoop(3, 30);
    expect([0, 1, 2].map((row) => captured.dueMs(chunk, row))).toEqual([22.5, 27.5, 37.5]);
    captured.endLoop(3, 30);
    expect(captured.dueMs(chunk, 0)).toBe(45);
  });

  test('of one frame is that of a flood', () => {
    const chunk = chunkOf(0);
    const captured = new CapturedSchedule(1);
    captured.endLoop(1, 0);
    expect(captured.dueMs(chunk, 0)).toBe(0);
  });
});
