import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import {
  BurstProcess,
  burstQueue,
  FluidQueue,
  likelihoodRatio,
  WORKLOADS,
  type Workload,
  type WorkloadName,
} from '../../src/index.js';
import { workloadOf } from '../../src/internals.js';
import { hotShare } from '../../src/workload.js';
import { SEED } from '../seed.js';
import { binomialBound, SIGMAS } from '../statistics.js';

const NAMES: readonly WorkloadName[] = ['web', 'cache', 'hadoop'];

describe('workloads', () => {
  it.each([
    ['web', 0.003, 0.359, 119.7],
    ['cache', 0.016, 0.721, 45.1],
    ['hadoop', 0.042, 0.655, 15.6],
  ] as const)('%s has the published probabilities and likelihood ratio', (name, cold, hot, ratio) => {
    const workload = workloadOf(name);
    expect(workload).toEqual({ name, hotAfterCold: cold, hotAfterHot: hot });
    expect(Number(likelihoodRatio(workload).toFixed(1))).toBe(ratio);
  });

  it('refuses what is no chain', () => {
    const bad: Workload[] = [
      { name: 'x', hotAfterCold: 0, hotAfterHot: 0.5 },
      { name: 'x', hotAfterCold: 1.1, hotAfterHot: 0.5 },
      { name: 'x', hotAfterCold: 0.5, hotAfterHot: 1 },
      { name: 'x', hotAfterCold: 0.5, hotAfterHot: -0.1 },
      { name: 'x', hotAfterCold: Number.NaN, hotAfterHot: 0.1 },
    ];
    for (const workload of bad) expect(() => workloadOf(workload)).toThrow(RangeError);
    expect(() => workloadOf('database' as WorkloadName)).toThrow(RangeError);
    expect(() => workloadOf('toString' as WorkloadName)).toThrow(RangeError);
  });
});

describe('BurstProcess', () => {
  const alternating: Workload = { name: 'alternating', hotAfterCold: 1, hotAfterHot: 0 };
  const mixed: Workload = { name: 'mixed', hotAfterCold: 0.6, hotAfterHot: 0.2 };

  it.each([...NAMES.map((name) => WORKLOADS[name]), mixed])(
    'goes from slot to slot with the probabilities of $name, and spends the stationary share hot',
    (workload) => {
      const process = new BurstProcess(workload, new Random(SEED).derive(workload.name));
      const n = 1_000_000;
      let previous = process.next();
      let hot = 0;
      let afterHot = 0;
      let afterCold = 0;
      for (let i = 0; i < n; i++) {
        const now = process.next();
        if (previous) hot++;
        if (now && previous) afterHot++;
        if (now && !previous) afterCold++;
        previous = now;
      }
      const { hotAfterCold: p, hotAfterHot: q } = workload;
      expect(Math.abs(afterHot - hot * q)).toBeLessThan(binomialBound(hot, q));
      expect(Math.abs(afterCold - (n - hot) * p)).toBeLessThan(binomialBound(n - hot, p));
      // Central limit theorem of a two-state chain: the variance grows by (1 + m) / (1 - m), m = q - p.
      const share = hotShare(workload);
      const variance = (n * share * (1 - share) * (1 + q - p)) / (1 - q + p);
      expect(Math.abs(hot - n * share)).toBeLessThan(SIGMAS * Math.sqrt(variance) + 1);
    },
  );

  it('is stationary from its first slot on', () => {
    const workload = WORKLOADS.hadoop;
    const random = new Random(SEED);
    const n = 50_000;
    const hot = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const process = new BurstProcess(workload, random.derive('chain', i));
      for (let slot = 0; slot < 3; slot++) if (process.next()) hot[slot]!++;
    }
    const share = hotShare(workload);
    for (const count of hot) expect(Math.abs(count - n * share)).toBeLessThan(binomialBound(n, share));
  });

  it('leaps to the distribution that playing gives', () => {
    const workload = WORKLOADS.cache;
    const { hotAfterCold: p, hotAfterHot: q } = workload;
    const random = new Random(SEED);
    const n = 40_000;
    for (const slots of [0, 1, 5, 1000]) {
      let after = 0;
      let expected = 0;
      let lefts = 0;
      let tooShort = 0;
      for (let i = 0; i < n; i++) {
        const process = new BurstProcess(workload, random.derive('leap', i));
        process.turn();
        // The stay ends with its slot, so the next state is the other one.
        let probability = process.hot ? 0 : 1;
        for (let s = 0; s < Math.min(slots, 200); s++) probability = probability * q + (1 - probability) * p;
        const left = process.leap(slots);
        if (!(left >= 1)) tooShort++;
        expected += probability;
        if (process.hot) {
          after++;
          lefts += left;
        }
      }
      expect(tooShort).toBe(0);
      expect(Math.abs(after - expected)).toBeLessThan(SIGMAS * Math.sqrt(n * 0.25) + 1);
      // A hot stay has 1 / (1 - q) slots left, whenever it is looked at.
      const spread = Math.sqrt(q) / (1 - q);
      expect(Math.abs(lefts / after - 1 / (1 - q))).toBeLessThan((SIGMAS * spread) / Math.sqrt(after));
    }
  });

  it('follows a chain without chance', () => {
    const process = new BurstProcess(alternating, new Random(SEED));
    const states = Array.from({ length: 10 }, () => process.next());
    for (let i = 1; i < 10; i++) expect(states[i]).toBe(!states[i - 1]);
  });
});

describe('burstQueue', () => {
  it('never goes below nothing or above the cap, and rises and falls by the rates', () => {
    for (const name of NAMES) {
      let previous = 0;
      let packets = 0;
      let highest = 0;
      const wrong: [packet: number, occupancy: number, change: number][] = [];
      for (const occupancy of burstQueue(name, { slots: 50_000, seed: SEED })) {
        const change = occupancy - previous;
        // A hot packet: 12.5 us in 30 packets; a cold one: -17.5 us in 6, or what there is.
        const hot = Math.abs(change - 12.5 / 30) < 1e-9;
        const cold = Math.abs(change + 17.5 / 6) < 1e-9 || (occupancy === 0 && change > -17.5 / 6 - 1e-9);
        const sound = occupancy >= 0 && occupancy <= 1000 && (packets === 0 ? occupancy === 0 : hot || cold);
        if (!sound) wrong.push([packets, occupancy, change]);
        previous = occupancy;
        highest = Math.max(highest, occupancy);
        packets++;
      }
      expect(wrong).toEqual([]);
      expect(highest).toBeGreaterThan(12.5);
      // 6 to 30 packets a slot.
      expect(packets).toBeGreaterThan(6 * 50_000);
      expect(packets).toBeLessThan(30 * 50_000);
    }
  });

  it('sends 30 packets in a hot slot and 6 in a cold one', () => {
    const workload: Workload = { name: 'alternating', hotAfterCold: 1, hotAfterHot: 0 };
    expect([...burstQueue(workload, { slots: 100, seed: SEED })]).toHaveLength(50 * 36);
  });

  it('reaches the cap and stays there while it is hot', () => {
    const always: Workload = { name: 'always', hotAfterCold: 1, hotAfterHot: 1 - 1e-12 };
    const values = [...burstQueue(always, { slots: 100, hot: 2, seed: SEED })];
    expect(Math.max(...values)).toBe(1000);
    expect(values[values.length - 1]).toBe(1000);
    // 25 us a slot: the cap after 40 slots of 40 packets, the first packet finding nothing.
    expect(values.indexOf(1000)).toBe(40 * 40);
    expect(Math.max(...burstQueue(always, { slots: 100, hot: 2, capUs: 30, seed: SEED }))).toBe(30);
  });

  it('carries fractions of packets over, and counts right when slots have none', () => {
    const workload: Workload = { name: 'alternating', hotAfterCold: 1, hotAfterHot: 0 };
    expect([...burstQueue(workload, { slots: 1000, hot: 1.25, lineRate: 10, cold: 0.05 })]).toHaveLength(500 * 13);
    const rare = [...burstQueue(workload, { slots: 1000, lineRate: 0.1, cold: 0.3 })];
    expect(rare).toHaveLength(Math.round(1000 * 0.1 * 0.9));
  });

  it('gives the same values for the same seed, and others for another', () => {
    const values = (seed: number): number[] => [...burstQueue('hadoop', { slots: 200, seed })];
    expect(values(SEED)).toEqual(values(SEED));
    expect(values(SEED)).not.toEqual(values(SEED + 1));
  });

  it('refuses parameters out of range when it is first asked', () => {
    for (const options of [
      { slots: 0 },
      { slots: 5, hot: 0 },
      { slots: 5, cold: -1 },
      { slots: 5, lineRate: Number.NaN },
    ]) {
      expect(() => burstQueue('web', options).next()).toThrow(RangeError);
    }
  });
});

describe('FluidQueue', () => {
  it('agrees with a queue that is moved a microsecond at a time', () => {
    for (const name of NAMES) {
      const queue = new FluidQueue(new Random(SEED).derive(name), { workload: WORKLOADS[name], capNs: 20_000 });
      let delay = 0;
      let utilization = Math.min(1, queue.rate);
      let full = 0;
      const wrong: [us: number, what: string, is: number, shouldBe: number][] = [];
      for (let us = 0; us < 400_000; us++) {
        const t = us * 1000;
        queue.advance(t);
        const loss = delay >= 20_000 && queue.rate > 1 ? 1 - 1 / queue.rate : 0;
        if (Math.abs(queue.delayNs(t) - delay) > 1e-3) wrong.push([us, 'delay', queue.delayNs(t), delay]);
        // The stepped one takes a microsecond in which the queue runs empty for a busy one: 1 % of the window.
        if (Math.abs(queue.utilization(t) - utilization) > 0.011) {
          wrong.push([us, 'utilization', queue.utilization(t), utilization]);
        }
        if (queue.lossShare(t) !== loss) wrong.push([us, 'loss', queue.lossShare(t), loss]);
        if (delay >= 20_000) full++;
        const sent = delay > 0 ? 1 : Math.min(1, queue.rate);
        utilization += (sent - utilization) * (1 - Math.exp(-1 / 100));
        delay = Math.min(20_000, Math.max(0, delay + (queue.rate - 1) * 1000));
      }
      expect(wrong).toEqual([]);
      if (name !== 'web') expect(full).toBeGreaterThan(0);
    }
  });

  it('is not changed by being looked at', () => {
    const make = (): FluidQueue =>
      new FluidQueue(new Random(SEED), {
        workload: WORKLOADS.cache,
        episodes: { rate: 2, everyNs: 5e6, lengthNs: 3e6 },
      });
    const often = make();
    const rarely = make();
    let highest = 0;
    for (let t = 0; t < 100e6; t += 777) {
      often.advance(t);
      if (t % (777 * 5000) !== 0) continue;
      rarely.advance(t);
      expect(rarely.delayNs(t)).toBe(often.delayNs(t));
      expect(rarely.utilization(t)).toBe(often.utilization(t));
      expect(rarely.congested).toBe(often.congested);
      highest = Math.max(highest, often.delayNs(t));
    }
    expect(highest).toBeGreaterThan(100_000);
  });

  it('shows, looked at after a long time, what it shows when played through', () => {
    const n = 20_000;
    const at = 30_010_000;
    const played = { sum: 0, squares: 0, busy: 0, utilization: 0 };
    const leapt = { sum: 0, squares: 0, busy: 0, utilization: 0 };
    for (let i = 0; i < n; i++) {
      for (const [into, step] of [
        [played, 1e6],
        [leapt, at],
      ] as const) {
        const queue = new FluidQueue(new Random(SEED).derive(into === played ? 'played' : 'leapt', i), {
          workload: WORKLOADS.hadoop,
        });
        for (let t = 0; t < at; t += step) queue.advance(t);
        queue.advance(at);
        const delay = queue.delayNs(at);
        into.sum += delay;
        into.squares += delay * delay;
        into.utilization += queue.utilization(at);
        if (delay > 0) into.busy++;
      }
    }
    const deviation = Math.sqrt(played.squares / n - (played.sum / n) ** 2);
    expect(Math.abs(played.sum - leapt.sum) / n).toBeLessThan((SIGMAS * deviation * Math.SQRT2) / Math.sqrt(n));
    expect(Math.abs(played.busy - leapt.busy)).toBeLessThan(Math.SQRT2 * binomialBound(n, played.busy / n));
    // Utilisation lies between 0.3 and 1: its deviation is at most 0.35.
    expect(Math.abs(played.utilization - leapt.utilization) / n).toBeLessThan(
      (SIGMAS * 0.35 * Math.SQRT2) / Math.sqrt(n),
    );
  });

  it('has a mean utilisation of what arrives, as long as nothing is lost', () => {
    const workload = WORKLOADS.hadoop;
    const queue = new FluidQueue(new Random(SEED), { workload });
    let sum = 0;
    const n = 400_000;
    for (let i = 0; i < n; i++) {
      queue.advance(i * 20_000);
      sum += queue.utilization(i * 20_000);
    }
    const share = hotShare(workload);
    const load = 1.5 * share + 0.3 * (1 - share);
    // Variance of the mean over 320,000 slots of a chain with memory m = 0.613.
    const slots = (n * 20) / 25;
    const sigma = 1.2 * Math.sqrt((share * (1 - share) * 1.613) / 0.387 / slots);
    expect(Math.abs(sum / n - load)).toBeLessThan(SIGMAS * sigma + 1e-4);
  });
});
