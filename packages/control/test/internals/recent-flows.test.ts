import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { RecentFlows } from '../../src/controller/recent-flows.js';
import { flow, measurement } from '../controller/scenes.js';

const rateOf = (recent: RecentFlows): number | undefined => [...recent.over(1, 101, 0).values()][0]?.bps;

it('a flow has the rate that it had while it was there, however its first and last window are cut', () => {
  const part = fc.double({ min: 0.001, max: 1, noNaN: true });
  const shape = fc.record({ first: part, last: part, whole: fc.integer({ min: 1, max: 20 }), seconds: part });
  fc.assert(
    fc.property(shape, ({ first, last, whole, seconds }) => {
      const recent = new RecentFlows();
      let timeMs = 1_000_000;
      for (const share of [first, ...new Array<number>(whole).fill(1), last]) {
        timeMs += 1000 * seconds;
        const bytes = (share * seconds * 3e6) / 8;
        recent.add(measurement(timeMs, [{ ...flow(), bytes }], { seconds }));
      }
      expect(rateOf(recent)).toBeCloseTo(3e6, 0);
    }),
    { numRuns: runs(160), seed: 5 },
  );
});

it('windows without packets count, but a long pause does not bring the rate to nothing', () => {
  const recent = new RecentFlows();
  const add = (second: number): void => recent.add(measurement(1000 * second, [flow({ mbps: 2 })]));
  for (let second = 2; second <= 40; second += 2) add(second);
  expect(rateOf(recent)).toBeCloseTo(1e6, 0);
  add(3600);
  for (let second = 3601; second < 3612; second++) add(second);
  expect(rateOf(recent)).toBeGreaterThan(1.7e6);
});

it('what was seen in fewer than three windows may have been there for a moment', () => {
  const recent = new RecentFlows();
  recent.add(measurement(1000, [flow()]));
  recent.add(measurement(2000, [flow()]));
  expect(rateOf(recent)).toBeUndefined();
  recent.add(measurement(3000, [flow()]));
  expect(rateOf(recent)).toBeCloseTo(1e6, 0);
});
