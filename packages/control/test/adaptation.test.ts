/** The arithmetic of thresholds alone; detection/ has it with switches. */
import { SwitchAdaptation } from '@int/control';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';

const PACKETS_PER_SECOND = 400;
const SECONDS = 2;
const TARGET = 25;
const BAND = { minimum: 500, maximum: 5000 };

describe('thresholds in a switch', () => {
  it('follow what comes, within the learnt band, and real events are found all the same', () => {
    const adaptation = new SwitchAdaptation(
      [{ switchId: 5, rule: 0, target: TARGET, initial: BAND.minimum, ...BAND }],
      { windowMs: SECONDS * 1000 },
    );
    const random = new Random(7);
    let nowMs = 0;
    let moves = 0;
    adaptation.step(nowMs);
    /** A window of packets, of which some are slow for a reason. @returns the events of a second, and those found */
    const window = (mean: number, real = 0): { readonly rate: number; readonly found: number } => {
      const { threshold } = adaptation.thresholds[0]!;
      const values = Array.from({ length: SECONDS * PACKETS_PER_SECOND }, (_, packet) =>
        packet < real ? 20_000 + packet : Math.floor(random.exponential(mean)),
      );
      const events = values.filter((value) => value > threshold);
      for (const value of events) adaptation.observe(5, 0, value);
      nowMs += SECONDS * 1000;
      moves += adaptation.step(nowMs).length;
      return { rate: events.length / SECONDS, found: events.filter((value) => value >= 20_000).length };
    };
    const rates: number[] = [];
    // The load as it is, then more latency, then less.
    for (const mean of [1000, 1500, 500]) {
      for (let at = 0; at < 6; at++) {
        const { rate } = window(mean);
        if (at >= 4) rates.push(rate);
      }
      const { threshold } = adaptation.thresholds[0]!;
      expect(threshold).toBeGreaterThanOrEqual(BAND.minimum);
      expect(threshold).toBeLessThanOrEqual(BAND.maximum);
      // The threshold that an exponential latency needs for the target.
      const ideal = mean * Math.log(PACKETS_PER_SECOND / TARGET);
      expect(threshold).toBeGreaterThan(0.75 * ideal);
      expect(threshold).toBeLessThan(1.3 * ideal);
      // What no band hides.
      expect(window(mean, 10).found).toBe(10);
    }
    const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
    expect(mean).toBeGreaterThan(0.7 * TARGET);
    expect(mean).toBeLessThan(1.3 * TARGET);
    // It rests where it is good: fewer moves than windows.
    expect(moves).toBeLessThan(20);
  });

  it('stay at the ends of the band where the target is out of reach, and move boundedly often', () => {
    const adaptation = new SwitchAdaptation(
      [
        { switchId: 1, rule: 0, target: 10, minimum: 100, maximum: 200, initial: 100 },
        { switchId: 1, rule: 1, target: 10, minimum: 100, maximum: 200, initial: 200 },
        { switchId: 1, rule: 2, target: 10, minimum: 100, maximum: 1000, initial: 1000 },
      ],
      { movesPerWindow: 1 },
    );
    let moves = 0;
    for (let second = 0; second < 40; second++) {
      for (let event = 0; event < 1000; event++) adaptation.observe(1, 0, 5000);
      adaptation.observe(1, 9, 1);
      const moved = adaptation.step(second * 1000);
      expect(moved.length).toBeLessThanOrEqual(1);
      moves += moved.length;
    }
    expect(adaptation.thresholds).toMatchObject([
      { threshold: 200, status: 'at-maximum' },
      { threshold: 100, status: 'at-minimum' },
      { threshold: 100, status: 'at-minimum' },
    ]);
    expect(adaptation.untracked).toBe(40);
    expect(moves).toBeGreaterThan(3);
    // A band learnt anew holds at once.
    adaptation.learn(1, 1, 150, 300);
    for (let second = 40; second < 60; second++) adaptation.step(second * 1000);
    expect(adaptation.thresholds[1]).toMatchObject({ threshold: 150 });
    // Those that are followed further keep what they have, others begin.
    adaptation.follow([
      { switchId: 1, rule: 1, target: 5, minimum: 0, maximum: 9, initial: 9 },
      { switchId: 2, rule: 0, target: 5, minimum: 3, maximum: 9, initial: 1 },
    ]);
    expect(adaptation.thresholds).toMatchObject([
      { switchId: 1, rule: 1, target: 5, minimum: 150, threshold: 150 },
      { switchId: 2, rule: 0, threshold: 3 },
    ]);
    // Of two that would move, the one that may: the other waits, and says where it would go.
    adaptation.step(60_000, 0);
    for (let event = 0; event < 1000; event++)
      for (const id of [1, 2]) adaptation.observe(id, 2 - id, 8 + 200 * (2 - id));
    expect(adaptation.step(61_000, 1)).toHaveLength(1);
    expect(adaptation.thresholds.filter(({ status }) => status === 'waiting')).toHaveLength(1);
    // Events of a window that was not seen as a whole do not count.
    for (let event = 0; event < 1000; event++) adaptation.observe(2, 0, 9);
    adaptation.restart(61_500);
    adaptation.step(62_500);
    expect(adaptation.thresholds.map(({ rate }) => rate)).toEqual([0, 0]);
    expect(() => adaptation.learn(1, 7, 1, 2)).toThrow(TypeError);
    expect(() => adaptation.learn(1, 1, 3, 2)).toThrow(RangeError);
  });
});
