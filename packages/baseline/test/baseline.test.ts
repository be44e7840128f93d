import { Baseline, BaselineTable, type Judgement, USUALNESS } from '@int/baseline';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { type Anomaly, anomaliesOf, DAY_MS, valueAt } from './days.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);

/** Judgements of a second's worth of values at a time; the values of each second come from `values`. */
function judge(baseline: Baseline, seconds: number, values: (second: number) => readonly number[]): Judgement[] {
  const all: Judgement[] = [];
  for (let second = 0; second < seconds; second++) {
    for (const [k, value] of values(second).entries()) all.push(...baseline.observe(second * 1000 + k, value));
    all.push(...baseline.advance(second * 1000 + 999));
  }
  return all;
}

/** Ten values around a level. */
const around = (random: Random, level: number): number[] =>
  Array.from({ length: 10 }, () => Math.round(level * (0.9 + random.integer(200) / 1000)));

describe('Baseline', () => {
  test('judges nothing unusual before it has learned, whatever comes', () => {
    const random = new Random(SEED);
    const baseline = new Baseline({ above: 1.1, below: 0.9, learnMs: 60_000 });
    const judged = judge(baseline, 60, () => [random.integer(1_000_000)]);
    expect(new Set(judged.map(({ usualness }) => usualness))).toEqual(new Set(['learning']));
  });

  test('tells values above and below multiples of the usual, with what would have been usual', () => {
    const random = new Random(SEED);
    const baseline = new Baseline({ above: 2, below: 0.5, learnMs: 60_000 });
    const levels = (second: number): number =>
      second === 100 ? 2500 : second === 110 ? 400 : second === 120 ? 1900 : 1000;
    const judged = judge(baseline, 130, (second) => around(random, levels(second)));
    const unusual = judged.filter(({ usualness }) => usualness !== 'usual' && usualness !== 'learning');
    expect(unusual.map(({ timeMs, usualness }) => [timeMs, usualness])).toEqual([
      [101_000, 'above'],
      [111_000, 'below'],
    ]);
    expect(unusual[0]!.usual).toBeGreaterThan(950);
    expect(unusual[0]!.usual).toBeLessThan(1050);
    expect(unusual[0]!.value).toBeGreaterThan(2300);
    expect(unusual[0]!.deviation).toBeGreaterThan(4);
  });

  test('one report of a hundred that is slow does not make a window slow', () => {
    const random = new Random(SEED);
    const baseline = new Baseline({ above: 2, learnMs: 30_000 });
    const judged = judge(baseline, 100, () => [...around(random, 1000), 1_000_000, ...around(random, 1000)]);
    expect(judged.some(({ usualness }) => usualness === 'above')).toBe(false);
  });

  test('never learns from what it judges unusual: a step stays one for hours', () => {
    const random = new Random(SEED);
    const baseline = new Baseline({ above: 2, learnMs: 60_000 });
    const judged = judge(baseline, 7200, (second) => around(random, second < 300 ? 1000 : 3000));
    const after = judged.filter(({ timeMs }) => timeMs > 300_000);
    expect(after.every(({ usualness }) => usualness === 'above')).toBe(true);
    expect(after.at(-1)!.usual).toBeLessThan(1050);
  });

  test('tells silence where there usually is something, and nothing of a key that is mostly silent', () => {
    const random = new Random(SEED);
    const busy = new Baseline({ below: 0.5, learnMs: 30_000 });
    const heard = judge(busy, 120, (second) => (second >= 60 && second < 90 ? [] : around(random, 1000)));
    const silent = heard.filter(({ usualness }) => usualness === 'silent').map(({ timeMs }) => timeMs);
    expect([silent[0], silent.at(-1), silent.length]).toEqual([63_000, 90_000, 28]);
    const rare = new Baseline({ below: 0.5, learnMs: 30_000 });
    const now = judge(rare, 600, (second) => (second % 4 === 0 ? around(random, 1000) : []));
    expect(now.some(({ usualness }) => usualness === 'silent')).toBe(false);
    const without = new Baseline({ above: 2, learnMs: 30_000 });
    const none = judge(without, 120, (second) => (second < 60 ? around(random, 1000) : []));
    expect(none.some(({ usualness }) => usualness === 'silent')).toBe(false);
  });

  test.each([1, 3, 10, 29])(
    'tells silence after %i s of learning, again and again, and not of a key that is mostly silent',
    (learn) => {
      const random = new Random(SEED);
      const busy = new Baseline({ below: 0.5, learnMs: learn * 1000 });
      // Silent for 8 of 20 seconds, from the third time that it has learned on.
      const start = 3 * learn + 20;
      const isSilent = (second: number): boolean => second >= start && (second - start) % 20 < 8;
      const heard = judge(busy, start + 100, (second) => (isSilent(second) ? [] : around(random, 1000)));
      const silent = heard.filter(({ usualness }) => usualness === 'silent').map(({ timeMs }) => timeMs / 1000 - start);
      const expected = [0, 20, 40, 60, 80].flatMap((from) => [3, 4, 5, 6, 7, 8].map((second) => from + second));
      expect(silent).toEqual(expected);
      // One window without values, now and then, is nothing.
      const even = new Baseline({ below: 0.5, learnMs: learn * 1000 });
      const now = judge(even, 600, (second) => (second % 40 === 39 ? [] : around(random, 1000)));
      expect(now.some(({ usualness }) => usualness === 'silent')).toBe(false);
      const rare = new Baseline({ below: 0.5, learnMs: learn * 1000 });
      const seldom = judge(rare, 600, (second) => (second % 5 === 0 ? around(random, 1000) : []));
      expect(seldom.filter(({ timeMs }) => timeMs > 60_000).some(({ usualness }) => usualness === 'silent')).toBe(
        false,
      );
    },
  );

  test('a silence of years costs no years', () => {
    const baseline = new Baseline({ below: 0.5, learnMs: 10_000 });
    judge(baseline, 60, () => [5]);
    expect(baseline.advance(100 * 365 * DAY_MS).length).toBeLessThan(10_010);
  });

  /** What is unusual in two days, of which the first is calm. */
  function unusualOf(seed: number, anomalies: readonly Anomaly[]): Judgement[] {
    const baseline = new Baseline({ above: 2, below: 0.5, season: 'day' });
    const random = new Random(seed);
    const unusual: Judgement[] = [];
    let next = 0;
    for (let timeMs = 0; timeMs < 2 * DAY_MS; timeMs += 1000) {
      while (next < anomalies.length && anomalies[next]!.toMs <= timeMs) next++;
      const anomaly = anomalies[next];
      const now = anomaly !== undefined && anomaly.fromMs <= timeMs ? anomaly : undefined;
      for (let k = 0; k < 10; k++) {
        const value = valueAt(random, timeMs, now);
        const judged = Number.isNaN(value) ? baseline.advance(timeMs) : baseline.observe(timeMs, Math.round(value));
        unusual.push(...judged.filter(({ usualness }) => usualness !== 'usual' && usualness !== 'learning'));
      }
    }
    return unusual;
  }

  // Two days, a second at a time: that long is what is promised.
  test('after a day finds anomalies of four kinds, in a season and noise, and none on a calm day', () => {
    const anomalies = anomaliesOf(SEED, 40);
    const unusual = unusualOf(SEED, anomalies).map(({ timeMs }) => timeMs);
    const incidents = unusual.filter((end, k) => k === 0 || end - unusual[k - 1]! > 10_000);
    const found = anomalies.filter(({ fromMs, toMs }) => unusual.some((end) => end > fromMs && end <= toMs + 1000));
    const right = incidents.filter((end) => anomalies.some(({ fromMs, toMs }) => end > fromMs && end <= toMs + 1000));
    expect(found.length / anomalies.length).toBeGreaterThanOrEqual(0.95);
    expect(right.length / incidents.length).toBeGreaterThanOrEqual(0.95);
    expect(unusualOf(SEED + 1, [])).toEqual([]);
  }, 120_000);

  test('knows a week: what is usual on Mondays is not so on Sundays', () => {
    const baseline = new Baseline({ above: 1.5, below: 0.7, season: 'week', windowMs: 60_000 });
    const random = new Random(SEED);
    const unusual: number[] = [];
    for (let timeMs = 0; timeMs < 15 * DAY_MS; timeMs += 60_000) {
      const day = Math.floor(timeMs / DAY_MS);
      // A week to learn in; in the second one, the third day is like the first.
      const level = 1000 * 2 ** (day === 9 ? 0 : day % 7);
      const value = Math.round(level * (0.95 + random.integer(100) / 1000));
      const judged = baseline.observe(timeMs, value);
      unusual.push(...judged.filter(({ usualness }) => usualness === 'below').map((one) => one.timeMs / DAY_MS));
    }
    // But for some minutes at midnight, where these levels jump: what is usual goes on a line from slot to slot.
    const ofSecondWeek = unusual.filter((day) => day > 7 && Math.abs(day - Math.round(day)) > 0.008);
    expect(ofSecondWeek.length).toBeGreaterThan(1400);
    expect(ofSecondWeek.every((day) => day > 9 && day < 10)).toBe(true);
  }, 30_000);

  test('refuses options out of range', () => {
    for (const options of [
      { above: 1 },
      { above: Number.NaN },
      { below: 1 },
      { below: -1 },
      { windowMs: 0 },
      { learnMs: 1 },
    ]) {
      expect(() => new Baseline(options)).toThrow(RangeError);
    }
    expect(() => new Baseline({ season: 'year' as 'day' })).toThrow(RangeError);
    expect(() => new BaselineTable(0)).toThrow(RangeError);
  });
});

describe('BaselineTable', () => {
  test('judges each of many rows as a Baseline of its own does', () => {
    const options = { above: 1.5, below: 0.7, learnMs: 5000, season: 'day' } as const;
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.array(fc.nat(5000), { maxLength: 4 }), { minLength: 3, maxLength: 3 }), {
          minLength: 20,
          maxLength: 60,
        }),
        fc.constantFrom(0, 890_000, DAY_MS - 20_000),
        (seconds, start) => {
          const table = new BaselineTable(4, options);
          const ones = [0, 1, 2].map(() => new Baseline(options));
          const begun = [false, false, false];
          seconds.forEach((rows, second) => {
            const timeMs = start + second * 1000;
            const judged = ones.map((one) => one.advance(timeMs));
            if (second > 0) {
              table.close(timeMs, 3);
              judged.forEach((all, row) => {
                if (!begun[row]) return;
                expect(all.length).toBe(1);
                const [{ usualness, value, usual }] = all as [Judgement];
                expect(USUALNESS[usualness.toUpperCase() as keyof typeof USUALNESS]).toBe(table.usualness[row]);
                expect(value ?? Number.NaN).toBe(table.value[row]);
                expect(usual ?? Number.NaN).toBe(table.usual[row]);
              });
            }
            rows.forEach((values, row) => {
              for (const value of values) {
                table.add(row, value);
                ones[row]!.observe(timeMs + 1, value);
                begun[row] = true;
              }
            });
          });
        },
      ),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  test('a cleared row learns anew, and the others go on', () => {
    const table = new BaselineTable(2, { above: 2, learnMs: 10_000 });
    for (let second = 1; second <= 20; second++) {
      for (const row of [0, 1]) table.add(row, 1000);
      table.close(second * 1000);
    }
    expect([...table.usualness]).toEqual([USUALNESS.USUAL, USUALNESS.USUAL]);
    table.clear(0);
    for (const row of [0, 1]) table.add(row, 5000);
    table.close(21_000);
    expect([...table.usualness]).toEqual([USUALNESS.LEARNING, USUALNESS.ABOVE]);
    expect(BaselineTable.byteLength(2, { season: 'day' })).toBeGreaterThan(BaselineTable.byteLength(2));
  });
});
