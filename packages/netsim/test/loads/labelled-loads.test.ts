import { type LabelledLoads, LOAD_KINDS, type LoadKind, labelledLoads } from '@int/netsim';
import { describe, expect, it } from 'vitest';

/** The highest load of any link, as a share of what it can carry then. */
function highest(loads: LabelledLoads, timeMs: number): { link: string; share: number } {
  let [link, share] = ['', 0];
  for (const [key, bps] of loads.loadsAt(timeMs)) {
    const of = bps / loads.capacityAt(key, timeMs);
    if (of > share) [link, share] = [key, of];
  }
  return { link, share };
}

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const harmful: readonly LoadKind[] = LOAD_KINDS.filter((kind) => kind !== 'day-and-night');

describe('labelledLoads', () => {
  it.each(harmful)('%s: the links of the truth are overloaded while it holds, and none before and after', (kind) => {
    for (const seed of seeds) {
      const loads = labelledLoads({ kind, seed });
      const [truth] = loads.truth;
      expect([loads.truth.length, truth!.kind]).toEqual([1, kind]);
      for (const timeMs of [0, truth!.fromMs - 1, truth!.toMs, loads.endMs - 1]) {
        expect(highest(loads, timeMs).share, `seed ${seed} at ${timeMs}`).toBeLessThan(0.8);
      }
      for (const timeMs of [truth!.fromMs, (truth!.fromMs + truth!.toMs) / 2, truth!.toMs - 1]) {
        const { link, share } = highest(loads, timeMs);
        expect(share, `seed ${seed} at ${timeMs}`).toBeGreaterThan(0.9);
        expect(truth!.links, `seed ${seed}`).toContain(link);
        expect(loads.flows.some(({ isCause, paths, path }) => isCause && paths[path]!.includes(link))).toBe(true);
      }
    }
  });

  it('day-and-night: three times as much in the afternoon as in the night, and nothing is overloaded', () => {
    const loads = labelledLoads({ kind: 'day-and-night', seed: 1 });
    const at = (hour: number): number => [...loads.loadsAt(hour * 3_600_000).values()].reduce((a, b) => a + b);
    expect(at(16) / at(4)).toBeCloseTo(3, 6);
    for (let hour = 0; hour < 24; hour++) expect(highest(loads, hour * 3_600_000).share).toBeLessThan(0.8);
    expect(loads.truth).toEqual([]);
  });

  it.each(LOAD_KINDS)(
    '%s: packets are as many as the loads say, in the order of time, the same for the same seed',
    (kind) => {
      const loads = labelledLoads({ kind, seed: 5 });
      const [fromMs, toMs] = [0.5 * loads.endMs, 0.5 * loads.endMs + 1000];
      const expected = loads.loadsAt(fromMs);
      const counted = new Map<string, number>();
      let before = fromMs;
      let isInOrder = true;
      let sum = 0;
      for (const { timeMs, flow, lengthBytes } of loads.packets(fromMs, toMs, 50)) {
        isInOrder &&= timeMs >= before && timeMs < toMs;
        before = timeMs;
        sum += timeMs;
        for (const link of flow.paths[flow.path]!) counted.set(link, (counted.get(link) ?? 0) + 8 * 50 * lengthBytes);
      }
      expect(isInOrder).toBe(true);
      for (const [link, bps] of expected) {
        // Five deviations of a Poisson process.
        const deviation = Math.sqrt(bps * 8 * 50 * 1500);
        expect(Math.abs((counted.get(link) ?? 0) - bps), link).toBeLessThanOrEqual(5 * deviation);
      }
      const again = [...labelledLoads({ kind, seed: 5 }).packets(fromMs, toMs, 50)];
      expect(again.reduce((all, { timeMs }) => all + timeMs, 0)).toBe(sum);
      expect(labelledLoads({ kind, seed: 6 }).flows).not.toEqual(loads.flows);
    },
  );

  it('refuses what makes no scenario', () => {
    expect(() => labelledLoads({ kind: 'polarised-ecmp', seed: 1, seconds: 9 })).toThrow('10 is the least');
    expect(() => labelledLoads({ kind: 'polarised-ecmp', seed: 1, flows: 3 })).toThrow('32 is the least');
  });
});
