import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { RateFilter } from '../../../src/adapt/rate-filter.js';
import { RecentStatistics } from '../../../src/adapt/recent.js';
import { TailModel } from '../../../src/adapt/tail-model.js';
import { MAXIMUM_THRESHOLD, ThresholdVector } from '../../../src/adapt/threshold-vector.js';
import { VisitedPositions } from '../../../src/adapt/visited.js';
import { arrivals, randomOf } from '../../adapt/loads.js';
import { SEED } from '../../seed.js';

const RUNS = { seed: SEED, numRuns: runs(200) };

describe('recent statistics', () => {
  it('finds every order statistic of the last ones above a position', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: -1, max: 50 }),
        fc.nat(60),
        (values, capacity, position, from) => {
          const recent = new RecentStatistics(capacity);
          for (const value of values) recent.add(value);
          const first = Math.max(from, values.length - capacity);
          const expected = values.slice(first).filter((value) => value > position);
          expected.sort((a, b) => b - a);
          const count = recent.choose(position, from);
          expect(count).toBe(expected.length);
          for (let rank = 1; rank <= count; rank++) expect(recent.largest(rank)).toBe(expected[rank - 1]);
        },
      ),
      RUNS,
    );
  });

  it('keeps every n-th', () => {
    const recent = new RecentStatistics(8);
    recent.stride = 3;
    for (let i = 1; i <= 9; i++) recent.add(i);
    expect(recent.choose(0, 0)).toBe(3);
    expect([recent.largest(1), recent.largest(2), recent.largest(3)]).toEqual([9, 6, 3]);
  });
});

describe('thresholds that move together', () => {
  const members = fc.array(
    fc
      .tuple(
        fc.integer({ min: 1, max: MAXIMUM_THRESHOLD }),
        fc.integer({ min: 0, max: MAXIMUM_THRESHOLD }),
        fc.integer({ min: 0, max: MAXIMUM_THRESHOLD }),
      )
      .map(([weight, a, b]) => ({ weight, minimum: Math.min(a, b), maximum: Math.max(a, b) })),
    { minLength: 1, maxLength: 5 },
  );

  function thresholds(vector: ThresholdVector, position: number): number[] {
    vector.set(position);
    return [...vector.thresholds];
  }

  it('are the same from `lower` up to `upper`, others beyond, and stay within limits', () => {
    fc.assert(
      fc.property(members, fc.double({ min: 0, max: 1, noNaN: true }), (parts, part) => {
        const vector = new ThresholdVector(
          parts.map(({ weight }) => weight),
          parts.map(({ minimum }) => minimum),
          parts.map(({ maximum }) => maximum),
        );
        const position = vector.first + (vector.last - vector.first) * part;
        const here = thresholds(vector, position);
        for (const [i, { minimum, maximum }] of parts.entries()) {
          expect(here[i]).toBeGreaterThanOrEqual(minimum);
          expect(here[i]).toBeLessThanOrEqual(maximum);
        }
        const lower = vector.lower(position);
        const upper = vector.upper(position);
        expect(lower).toBeLessThanOrEqual(position * (1 + 1e-9));
        expect(thresholds(vector, lower)).toEqual(here);
        if (Number.isFinite(upper)) {
          expect(upper).toBeGreaterThan(position * (1 - 1e-9));
          expect(thresholds(vector, upper)).not.toEqual(here);
        } else expect(here).toEqual(parts.map(({ maximum }) => maximum));
        const below = vector.below(position);
        if (here.some((threshold, i) => threshold > parts[i]!.minimum)) {
          expect(thresholds(vector, below)).not.toEqual(here);
          expect(below).toBeLessThan(lower);
        } else expect(below).toBe(vector.first);
        expect(thresholds(vector, vector.first)).toEqual(parts.map(({ minimum }) => minimum));
        expect(thresholds(vector, vector.last)).toEqual(parts.map(({ maximum }) => maximum));
      }),
      RUNS,
    );
  });

  it('of one alone are the whole numbers', () => {
    const vector = new ThresholdVector([1], [0], [MAXIMUM_THRESHOLD]);
    for (const position of [0, 1, 2, 1000, MAXIMUM_THRESHOLD - 1, MAXIMUM_THRESHOLD]) {
      expect(thresholds(vector, position)).toEqual([position]);
      expect(vector.lower(position + 0.25)).toBe(position);
      expect(vector.upper(position)).toBe(position === MAXIMUM_THRESHOLD ? Number.POSITIVE_INFINITY : position + 1);
      expect(vector.below(position)).toBe(Math.max(0, position - 1));
    }
  });
});

describe('the rate filter', () => {
  it('finds the rate, and raises less than a false alarm in a minute', () => {
    const random = randomOf('filter');
    let alarms = 0;
    for (let run = 0; run < 5; run++) {
      const filter = new RateFilter(0.4);
      filter.update(10, 0.01);
      for (let tick = 0; tick < 12_000; tick++) if (filter.update(poisson(random, 10), 0.01) !== 'none') alarms++;
      expect(Math.abs(filter.rate / 1000 - 1)).toBeLessThan(0.25);
      expect(filter.burst).toBeLessThan(1.5);
    }
    expect(alarms).toBeLessThan(10);
  });

  it.each([
    [10_000, 'up', 1],
    [3000, 'up', 5],
    [100, 'down', 6],
    [0, 'down', 4],
  ] as const)(
    'notices a step from 1,000/s to %d/s as %s within %d ticks, and knows the new rate',
    (rate, change, most) => {
      const random = randomOf(`step ${rate}`);
      const filter = new RateFilter(0.4);
      for (let tick = 0; tick < 300; tick++) filter.update(poisson(random, 10), 0.01);
      let ticks = 0;
      let found = 'none';
      while (found === 'none' && ticks < 100) {
        found = filter.update(poisson(random, rate / 100), 0.01);
        ticks++;
      }
      expect(found).toBe(change);
      expect(ticks).toBeLessThanOrEqual(most);
      expect(Math.abs(filter.rate - rate)).toBeLessThan(0.5 * rate + 300);
    },
  );

  it('measures burstiness, and does not take bursts for changes', () => {
    const random = randomOf('bursts');
    const filter = new RateFilter(2);
    let alarms = 0;
    for (let tick = 0; tick < 6000; tick++) {
      if (filter.update(20 * poisson(random, 0.5), 0.01) !== 'none' && tick > 500) alarms++;
    }
    expect(filter.burst).toBeGreaterThan(10);
    expect(filter.burst).toBeLessThan(40);
    expect(alarms).toBeLessThanOrEqual(3);
  });

  function poisson(random: Random, mean: number): number {
    let count = -1;
    for (let sum = 0; sum <= mean; count++) sum += random.exponential(1);
    return count;
  }
});

describe('the model of the tail', () => {
  it.each(['level', 'difference'] as const)(
    'finds the threshold for a third of the events of an exponential: %s',
    (kind) => {
      const random = new Random(SEED);
      const model = new TailModel(1000, 5000, kind);
      for (let i = 0; i < 500; i++) model.add(5000 + random.exponential(700));
      model.learnScale(5000);
      expect(Math.abs(model.scale / 700 - 1)).toBeLessThan(0.25);
      model.raise(5000, Math.log(3));
      expect(Math.abs((model.next - 5000) / (700 * Math.log(3)) - 1)).toBeLessThan(0.3);
      model.lower(5000, 0.3);
      expect(Math.abs((5000 - model.next) / 210 - 1)).toBeLessThan(0.3);
    },
  );

  it('learns that moves achieve less than the statistics promise', () => {
    const random = new Random(SEED);
    const model = new TailModel(1000, 5000, 'difference');
    for (let i = 0; i < 300; i++) {
      const shift = random.uniform() - 0.5;
      // Expected with the present slope, and what a slope of 0.1 gives.
      model.learnSlope(shift, arrivals(random, 100 * Math.exp(0.1 * shift)), 100 * Math.exp(model.slope * shift));
    }
    expect(model.slope).toBeGreaterThan(0.02);
    expect(model.slope).toBeLessThan(0.3);
  });
});

describe('visited positions', () => {
  it('are one if no value lies between them', () => {
    const visited = new VisitedPositions();
    const record = visited.add(100, 40, 0.01, 160, 20);
    expect(visited.at(159)).toBe(record);
    expect(visited.at(160)).toBeNull();
    expect(visited.at(99)).toBeNull();
    // Below, and with the same lowest value: found out by counting there.
    expect(visited.add(90, 40, 0.01, 160, 20)).toBe(record);
    expect(record.position).toBe(90);
    const above = visited.add(160, 20, 0.01, 240, 10);
    expect(visited.at(239)).toBe(above);
    expect(visited.at(159)).toBe(record);
  });

  it('are apart where the lowest value is only that of a sample, and the oldest make room', () => {
    const visited = new VisitedPositions();
    const record = visited.add(100, 400, 0.01, 160, 1);
    expect(visited.at(159)).toBeNull();
    for (let position = 200; position < 206; position++) visited.add(position, 400, 0.01, position + 60, 1);
    expect(visited.at(100)).toBeNull();
    expect(visited.at(205)).toBe(record);
    visited.clear();
    expect(visited.at(205)).toBeNull();
  });
});
