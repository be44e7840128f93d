import type { Watermark } from '@int/sink-kafka';
import { describe, expect, it } from 'vitest';
import { Writers } from '../../src/writers.js';

const LIMITS = { waitMs: 10_000, forgetMs: 20_000 };
const CLOSING_MS = 1250;

function word(instanceLow: number, timeMs: number, more: Partial<Watermark> = {}): Watermark {
  return { instanceHigh: 0, instanceLow, timeMs, clockMs: timeMs, dropped: 0, ended: false, ...more };
}

/** What one writer tells, a second apart. */
function speak(writers: Writers, instance: number, fromMs: number, seconds: number): void {
  for (let second = 0; second < seconds; second++) writers.watermark(word(instance, fromMs + second * 1000));
}

describe('the writers of a partition', () => {
  it('have reached what the slowest of them has told, and it does not go back', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(Number.NEGATIVE_INFINITY);
    writers.watermark(word(1, 5000));
    writers.watermark(word(2, 3000, { clockMs: 5100 }));
    expect(writers.settle()).toEqual([]);
    expect([writers.timeMs, writers.behindMs]).toEqual([3000, 2100]);
    writers.watermark(word(2, 4000));
    writers.watermark(word(3, 1000));
    writers.settle();
    expect(writers.timeMs).toBe(3000);
    expect(writers.waitingFor).toMatchObject({ instance: '0000000000000003', isLost: false });
  });

  it('that end are not waited for, and the last one that ends leaves no window open', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 5000));
    writers.watermark(word(2, 3000));
    writers.watermark(word(2, 3500, { ended: true }));
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(5000);
    writers.watermark(word(1, 6000, { ended: true }));
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(6000 + CLOSING_MS);
  });

  it('that are silent while another is heard are given up after a time, and missed until they are forgotten', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 0));
    speak(writers, 2, 0, 9);
    writers.settle();
    expect(writers.timeMs).toBe(0);
    speak(writers, 2, 9000, 12);
    expect(writers.settle()).toEqual([{ fromMs: 0, toMs: 20_000 }]);
    expect([writers.timeMs, writers.waitingFor?.isLost]).toEqual([20_000, true]);
    speak(writers, 2, 21_000, 5);
    expect(writers.settle()).toEqual([{ fromMs: 0, toMs: 25_000 }]);
    speak(writers, 2, 26_000, 20);
    expect(writers.settle()).toEqual([]);
    expect(writers.waitingFor).toMatchObject({ instance: '0000000000000002', isLost: false });
  });

  it('are waited for over a time in which nobody could write', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 0));
    speak(writers, 2, 0, 3);
    // Both were cut off for minutes; the second one is back first.
    writers.watermark(word(2, 2000, { clockMs: 300_000 }));
    expect(writers.settle()).toEqual([]);
    expect([writers.timeMs, writers.behindMs]).toEqual([0, 300_000]);
    writers.watermark(word(1, 300_100));
    writers.watermark(word(2, 300_200));
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(300_100);
  });

  it('that are silent all together are given up by the time that the reader has waited', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    speak(writers, 1, 0, 4);
    for (let second = 0; second < 9; second++) writers.quiet(1000);
    writers.settle();
    expect(writers.timeMs).toBe(3000);
    writers.quiet(1000);
    expect(writers.settle()).toEqual([{ fromMs: 3000, toMs: 3000 + CLOSING_MS }]);
    expect(writers.timeMs).toBe(3000 + CLOSING_MS);
    // It was only cut off.
    writers.watermark(word(1, 3000, { clockMs: 30_000 }));
    writers.watermark(word(1, 30_000));
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(30_000);
  });

  it('leave no window open, whoever of them was the last to say something', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 1000));
    writers.watermark(word(2, 5000));
    writers.watermark(word(2, 6000, { ended: true }));
    for (let second = 0; second < 10; second++) writers.quiet(1000);
    writers.settle();
    expect(writers.timeMs).toBe(6000 + CLOSING_MS);
  });

  it('that have dropped reports, or of whom some were deleted, leave a stretch in which something is missing', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 1000));
    writers.watermark(word(1, 1500, { clockMs: 2500, dropped: 3 }));
    expect(writers.settle()).toEqual([{ fromMs: 1000, toMs: 2501 }]);
    writers.watermark(word(1, 3000, { dropped: 3 }));
    expect(writers.settle()).toEqual([]);
    writers.gap();
    writers.watermark(word(1, 4000, { dropped: 3 }));
    expect(writers.settle()).toEqual([{ fromMs: 3000, toMs: 4000 }]);
    writers.watermark(word(2, 4100, { dropped: 1 }));
    expect(writers.settle()).toEqual([{ fromMs: 0, toMs: 4101 }]);
  });

  it('whose partition is gone are waited for no more, and what they may have written leaves a stretch in which something is missing', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 1000));
    writers.watermark(word(2, 2000, { clockMs: 2500 }));
    writers.settle();
    writers.end();
    expect(writers.settle()).toEqual([{ fromMs: 1000, toMs: 2501 }]);
    expect(writers.timeMs).toBe(2500 + CLOSING_MS);
    expect(writers.waitingFor).toBeNull();
    writers.end();
    expect(writers.settle()).toEqual([]);
  });

  it('that tell nothing are taken at the times of their reports', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.report(0, 1, 1000);
    writers.report(0, 1, 900);
    writers.report(0, 2, 500);
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(500);
    for (let second = 0; second < 10; second++) writers.quiet(1000);
    expect(writers.settle()).toEqual([]);
    expect(writers.timeMs).toBe(1000 + CLOSING_MS);
  });

  it('are the same after a way through bytes', () => {
    const writers = new Writers(LIMITS, CLOSING_MS);
    writers.watermark(word(1, 0, { dropped: 5 }));
    speak(writers, 2, 0, 15);
    writers.settle();
    const bytes = writers.changed()!;
    expect(writers.changed()).toBeNull();
    const again = new Writers(LIMITS, CLOSING_MS);
    again.restore(bytes);
    expect(again.timeMs).toBe(writers.timeMs);
    expect(again.waitingFor).toEqual(writers.waitingFor);
    speak(writers, 2, 15_000, 30);
    speak(again, 2, 15_000, 30);
    expect(again.settle()).toEqual(writers.settle());
    expect(again.changed()).toEqual(writers.changed());
    expect(() => again.restore(bytes.subarray(1))).toThrow('state');
  });
});
