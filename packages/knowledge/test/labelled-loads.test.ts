import { type Demand, TrafficEngineer } from '@int/knowledge';
import { type LabelledLoads, labelledLoads } from '@int/netsim';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { SEED } from './seed.js';

const WINDOW_MS = 200;

/** What an engineer does in a time: the highest load of each window, with its moves done 100 ms after they were chosen. */
function engineered(
  loads: LabelledLoads,
  fromMs: number,
  toMs: number,
  seed: number,
): { highest: number[]; moves: number } {
  const noise = new Random(seed).derive('noise');
  const engineer = new TrafficEngineer();
  const taken = new Map<string, number>();
  let waiting: readonly { demand: string; to: number }[] = [];
  const highest: number[] = [];
  let moves = 0;
  for (let timeMs = fromMs; timeMs < toMs; timeMs += WINDOW_MS) {
    for (const { demand, to } of waiting) taken.set(demand, to);
    const links = loads.links.map(({ key }) => ({ key, capacityBps: loads.capacityAt(key, timeMs) }));
    const demands = loads.flows.flatMap((flow): Demand[] => {
      const bps = loads.rateAt(flow, timeMs);
      return bps === 0 ? [] : [{ key: flow.key, bps, path: taken.get(flow.key) ?? flow.path, paths: flow.paths }];
    });
    const bpsOf = new Map<string, number>();
    for (const { bps, paths, path } of demands) {
      for (const link of paths[path]!) bpsOf.set(link, (bpsOf.get(link) ?? 0) + bps);
    }
    highest.push(Math.max(...links.map(({ key, capacityBps }) => (bpsOf.get(key) ?? 0) / capacityBps)));
    const measured = demands.map((demand) => ({ ...demand, bps: demand.bps * (0.97 + 0.06 * noise.uniform()) }));
    const decision = engineer.step({ links, demands: measured, ageMs: 100, loss: 0 }, timeMs);
    waiting = decision.moves;
    moves += waiting.length;
  }
  return { highest, moves };
}

describe('TrafficEngineer on labelled loads', () => {
  // Half of all flows are on the wrong links of a polarised network: with five moves a cycle that takes some cycles.
  it.each([
    ['link-slow-down', 3],
    ['elephant-collision', 3],
    ['polarised-ecmp', 6],
  ] as const)('%s: the highest load is below 0.8 again within %i s', (kind, seconds) => {
    for (let seed = SEED; seed < SEED + runs(32); seed++) {
      const loads = labelledLoads({ kind, seed });
      const { fromMs } = loads.truth[0]!;
      const { highest } = engineered(loads, fromMs, fromMs + 8000, seed);
      expect(highest[0], `seed ${seed}`).toBeGreaterThan(0.9);
      // It stays there.
      expect(
        Math.max(...highest.slice((1000 * seconds) / WINDOW_MS)),
        `seed ${seed}: ${highest.map((load) => load.toFixed(2))}`,
      ).toBeLessThan(0.8);
    }
  });

  it('day-and-night: nothing is moved, at any hour', () => {
    for (let seed = SEED; seed < SEED + runs(32); seed++) {
      const loads = labelledLoads({ kind: 'day-and-night', seed });
      for (let hour = 0; hour < 24; hour += 4) {
        const fromMs = hour * 3_600_000;
        expect(engineered(loads, fromMs, fromMs + 4000, seed).moves, `seed ${seed}, ${hour} o'clock`).toBe(0);
      }
    }
  });
});
