import { beaconScore, RandomWalk, samplesToFalseAlarm, thresholdFor } from '@int/knowledge';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';

describe('the threshold random walk', () => {
  it('has the numbers of the paper: alpha 0.01, beta 0.99', () => {
    const walk = new RandomWalk({ falsePositives: 0.01 });
    expect(Math.exp(walk.convict)).toBeCloseTo(99, 9);
    expect(Math.exp(walk.acquit)).toBeCloseTo(0.0101, 4);
    expect(Math.exp(walk.failure)).toBeCloseTo(4, 9);
    expect(Math.exp(walk.success)).toBeCloseTo(0.25, 9);
    expect(walk.failuresToConvict).toBe(4);
    expect(walk.meanContacts).toBeCloseTo(5.4, 1);
  });

  it('by default convicts after nine failures in a row', () => {
    const walk = new RandomWalk();
    expect(walk.failuresToConvict).toBe(9);
    expect(walk.meanContacts).toBeCloseTo(13.6, 1);
  });

  it('errs as seldom as it says, and takes as long', () => {
    const walk = new RandomWalk({ falsePositives: 0.01 });
    const random = new Random('walks');
    const walks = 20_000;
    const judge = (share: number): { convicted: number; contacts: number } => {
      let convicted = 0;
      let contacts = 0;
      for (let k = 0; k < walks; k++) {
        let likelihood = 0;
        while (likelihood < walk.convict && likelihood > walk.acquit) {
          likelihood += random.uniform() < share ? walk.success : walk.failure;
          contacts++;
        }
        if (likelihood >= walk.convict) convicted++;
      }
      return { convicted: convicted / walks, contacts: contacts / walks };
    };
    const scanner = judge(walk.scannerSuccess);
    expect(scanner.convicted).toBeGreaterThan(0.99);
    // Wald's approximation ignores by how much the last step goes too far.
    expect(scanner.contacts / walk.meanContacts).toBeGreaterThan(0.95);
    expect(scanner.contacts / walk.meanContacts).toBeLessThan(1.3);
    expect(judge(walk.benignSuccess).convicted).toBeLessThan(0.01);
  });

  it.each([
    [{ benignSuccess: 0.2, scannerSuccess: 0.8 }, 'scannerSuccess'],
    [{ falsePositives: 0 }, 'falsePositives'],
    [{ detection: 1 }, 'detection'],
  ])('refuses %o', (options, word) => {
    expect(() => new RandomWalk(options)).toThrow(word);
  });
});

describe('the cumulative sum', () => {
  it.each([
    [5, 469],
    [10, 70_700],
    [17, 77.5e6],
  ])('with h = %i alarms falsely once in %i samples', (h, samples) => {
    expect(samplesToFalseAlarm(h, 0.5) / samples).toBeCloseTo(1, 2);
  });

  it('alarms as seldom as the formula says', () => {
    const random = new Random('sums');
    const normal = (): number =>
      Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
    let samples = 0;
    const runs = 400;
    for (let k = 0; k < runs; k++) {
      let up = 0;
      let down = 0;
      while (up <= 5 && down <= 5) {
        const z = normal();
        up = Math.max(0, up + z - 0.5);
        down = Math.max(0, down - z - 0.5);
        samples++;
      }
    }
    const ratio = samples / runs / samplesToFalseAlarm(5, 0.5);
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
  });

  it('gets its threshold from the false alarms that one can bear', () => {
    expect(thresholdFor(1, 1000, 86_400, 0.5)).toBeCloseTo(17.1, 1);
    for (const h of [3, 8, 20]) expect(thresholdFor(1, samplesToFalseAlarm(h, 0.5), 1, 0.5)).toBeCloseTo(h, 6);
  });
});

describe('the beacon score', () => {
  const gaps = (count: number, gap: (k: number) => number): Float64Array =>
    Float64Array.from({ length: count }, (_, k) => gap(k));

  it('is 1 for a clock with empty messages every ten seconds', () => {
    expect(
      beaconScore(
        gaps(40, () => 10_000),
        gaps(40, () => 0),
      ).score,
    ).toBe(1);
  });

  it.each([5000, 60_000, 3_600_000])('falls with jitter, whatever the period: %i ms', (periodMs) => {
    const random = new Random('jitter');
    const scores = [0, 0.25, 0.5, 1].map((jitter) =>
      beaconScore(
        gaps(200, () => periodMs * (1 + jitter * (2 * random.uniform() - 1))),
        gaps(200, () => 310),
      ),
    );
    const values = scores.map(({ score }) => score);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(values[0]).toBeGreaterThan(0.95);
    expect(scores.map(({ isPeriodic }) => isPeriodic)).toEqual([true, true, true, false]);
  });

  it('takes independent connections for periodic as seldom as it says', () => {
    const random = new Random('independent');
    for (const count of [20, 63]) {
      for (let k = 0; k < 20_000; k++) {
        const ofChance = gaps(count, () => -1000 * Math.log(1 - random.uniform()));
        expect(beaconScore(ofChance, Float64Array.of(76)).isPeriodic).toBe(false);
      }
    }
  });

  it('has the parts that one can compute by hand', () => {
    // Sorted gaps 10, 20, 30, 40, 100 s: quartiles 20, 30, 40, so no skew; deviations 0, 10, 10, 20, 70 s: median 10 s.
    const score = beaconScore(
      Float64Array.of(40_000, 10_000, 100_000, 20_000, 30_000),
      Float64Array.of(5, 5, 5, 7, 9, 5),
    );
    expect(score.gapSkew).toBe(1);
    expect(score.gapSpread).toBeCloseTo(2 / 3, 9);
    // 200 s have room for 6.7 gaps of the usual 30 s.
    expect(score.gapCount).toBeCloseTo((5 * 30) / 200, 9);
    expect(score.sizeSpread).toBe(1);
    expect(score.sizeSmall).toBeCloseTo(1 - 5 / 65_535, 9);
  });
});
