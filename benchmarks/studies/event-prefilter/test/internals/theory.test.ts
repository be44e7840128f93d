import { burstQueue, WORKLOADS, type Workload } from '@int/traffic';
import { describe, expect, it } from 'vitest';
import { HOT, OTHER_HOT, WORKLOAD_NAMES } from '../../src/plan.js';
import { expectation } from '../../src/theory.js';

describe('the exact figures', () => {
  it('are those of a chain that can be worked out by hand', () => {
    // One hot slot at a time. Its 30 packets find 0 to 29 units (5/12 us each), those behind it 30, 23, 16, 9, 2 and 0:
    // 29 + 6 changes, and 435 + 80 units, in a cycle of 30 packets and 6 for each cold slot.
    const workload: Workload = { name: 'single', hotAfterCold: 0.1, hotAfterHot: 0 };
    const packets = 30 + 6 / 0.1;
    const { fraction, meanQueueUs, packetsPerSlot } = expectation(workload, 1.5, 0, 1e6);
    expect(fraction).toBeCloseTo(35 / packets, 9);
    expect(meanQueueUs).toBeCloseTo((515 * 5) / 12 / packets, 9);
    expect(packetsPerSlot).toBeCloseTo(packets / (1 + 1 / 0.1), 9);
    // Above 30 units, 12.5 us, nothing is ever seen; 12.4 us let two events of a cycle through, up to 30 and back to 0.
    expect(expectation(workload, 1.5, 12.5, 1e6).fraction).toBe(0);
    expect(expectation(workload, 1.5, 12.4, 1e6).fraction).toBeCloseTo(2 / packets, 9);
  });

  it('know that what was reported last outlives the burst', () => {
    // 20 us of threshold, 12.5 us a hot slot. At first nothing is reported, and two hot slots in a row raise an event on
    // the way up and one on the way back to 0. After four in a row some 20 us are reported last and stay, in an empty
    // queue, and then two in a row raise none.
    const workload: Workload = { name: 'sticky', hotAfterCold: 0.1, hotAfterHot: 0.3 };
    const [early, late] = [50, 400_000].map((slots) => expectation(workload, 1.5, 20, slots).fraction);
    expect(early! / late!).toBeGreaterThan(1.3);
    let [packets, events, reported] = [0, 0, 0];
    for (const occupancyUs of burstQueue(workload, { slots: 400_000, seed: 4 })) {
      packets++;
      if (Math.abs(Math.round(1000 * (occupancyUs - reported))) <= 20_000) continue;
      reported = occupancyUs;
      events++;
    }
    expect(Math.abs(events / packets / late! - 1)).toBeLessThan(0.03);
  });

  it('refuse rates that have no lattice', () => {
    expect(() => expectation(WORKLOADS.web, 1, 0, 10)).toThrow(RangeError);
    expect(() => expectation(WORKLOADS.web, 1.501, 0, 10)).toThrow(RangeError);
  });

  it.each([HOT, ...OTHER_HOT])('agree with what the queue does, hot slots at %d times line rate', (hot) => {
    const thresholds = [0, 1, 5];
    for (const name of WORKLOAD_NAMES) {
      const slots = name === 'web' ? 600_000 : 200_000;
      const reported = thresholds.map(() => 0);
      const events = thresholds.map(() => 0);
      let [packets, sum] = [0, 0];
      for (const occupancyUs of burstQueue(name, { slots, hot, seed: 4 })) {
        const value = Math.round(occupancyUs * 1000);
        packets++;
        sum += occupancyUs;
        for (let k = 0; k < thresholds.length; k++) {
          if (Math.abs(value - reported[k]!) <= thresholds[k]! * 1000) continue;
          reported[k] = value;
          events[k]!++;
        }
      }
      // The seed is fixed: no test by chance. Bursts are few, so that their number alone is off by some per cent.
      for (const [k, threshold] of thresholds.entries()) {
        const { fraction, meanQueueUs, packetsPerSlot } = expectation(WORKLOADS[name], hot, threshold, slots);
        expect(Math.abs(events[k]! / packets / fraction - 1), `${name} at ${threshold} us`).toBeLessThan(0.05);
        expect(Math.abs(sum / packets / meanQueueUs - 1), `mean queue of ${name}`).toBeLessThan(0.08);
        expect(Math.abs(packets / slots / packetsPerSlot - 1), `packets of ${name}`).toBeLessThan(0.02);
      }
    }
  });
});
