import { placeDemands, TrafficClusters, TrafficEngineer } from '@int/knowledge';
import { Random } from '@int/random';
import { beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { leafSpineLinks } from './leaf-spine-demands.js';
import { CAPACITY_BPS, demandsOf, LEAVES, type MixedFlow, mixedFlows, SPINES } from './mixed-traffic.js';
import { Oracle } from './oracle.js';

const LINKS = leafSpineLinks(LEAVES, SPINES, CAPACITY_BPS);
const WINDOW_MS = 200;

let oracle: Oracle;
beforeAll(async () => {
  oracle = await Oracle.open();
});

function highest(flows: readonly MixedFlow[]): number {
  const sums = new Map<string, number>();
  for (const { from, to, spine, bps } of flows) {
    for (const link of [`l${from}-s${spine}`, `s${spine}-l${to}`]) sums.set(link, (sums.get(link) ?? 0) + bps);
  }
  return Math.max(...sums.values()) / CAPACITY_BPS;
}

/** Does moves, of elephants and of aggregates, flow by flow. */
function move(
  flows: readonly MixedFlow[],
  aggregates: ReturnType<typeof demandsOf>['aggregates'],
  moves: readonly { readonly demand: string; readonly to: number }[],
): MixedFlow[] {
  const spines = new Map<string, number>();
  for (const { demand, to } of moves) {
    const found = aggregates.find(({ key }) => key === demand);
    for (const key of found === undefined ? [demand] : found.flows.map((flow) => flow.key)) spines.set(key, to);
  }
  return flows.map((flow) => ({ ...flow, spine: spines.get(flow.key) ?? flow.spine }));
}

/** A network whose hash fills a link to more than 0.8, though there is room: its optimum is 0.4 to 0.78. */
function crowded(seed: number): MixedFlow[] {
  for (let attempt = 0; ; attempt++) {
    const random = new Random(`crowded ${seed} ${attempt}`);
    const first = mixedFlows(random, 500 + random.integer(2500), random.integer(36), random.uniform() / 2);
    const load = 0.4 + 0.38 * random.uniform();
    const scale = load / oracle.optimum(first, false).bound;
    // In some networks elephants are the obstacle.
    const stretch = seed % 4 === 0 ? 2 : 1;
    const flows = first.map((flow, index) => ({ ...flow, bps: flow.bps * scale * (index % 12 === 0 ? stretch : 1) }));
    if (highest(flows) > 0.8) return flows;
  }
}

describe('elephants and aggregates', () => {
  it('are placed within a tenth of the optimum in which all but elephants may be divided', () => {
    for (let seed = 1; seed <= runs(48); seed++) {
      const flows = crowded(seed);
      const { demands, aggregates } = demandsOf(flows, new TrafficClusters());
      const { moves, before, after } = placeDemands(LINKS, demands, 1000);
      expect(before).toBeCloseTo(highest(flows), 6);
      expect(after, `seed ${seed}`).toBeCloseTo(highest(move(flows, aggregates, moves)), 6);
      const mixed = oracle.optimum(flows, true);
      const divisible = oracle.optimum(flows, false).bound;
      expect(after / mixed.bound, `seed ${seed}`).toBeLessThan(1.1);
      // Where elephants are no obstacle, that is the linear program in which everything may be divided.
      if (mixed.reached < 1.005 * divisible) expect(after / divisible, `seed ${seed}`).toBeLessThan(1.1);
    }
  });
});

interface Course {
  readonly loads: readonly number[];
  readonly movesByCycle: readonly number[];
  readonly before: number;
  readonly best: number;
}

/** A network that has settled, whose hash then prefers a spine; and an engineer that sees it late, in part and with noise. */
function simulate(seed: number, seconds: number): Course {
  const random = new Random(`course ${seed}`);
  const first = mixedFlows(random.derive('flows'), 700, 10);
  const scale = 0.6 / oracle.optimum(first, false).bound;
  let flows: MixedFlow[] = first.map((flow) => ({ ...flow, bps: flow.bps * scale }));
  const settled = demandsOf(flows, new TrafficClusters());
  flows = move(flows, settled.aggregates, placeDemands(LINKS, settled.demands, 1000).moves);
  // What leaves one leaf meets on a spine.
  const [leaf, spine] = [random.integer(LEAVES), random.integer(SPINES)];
  flows = flows.map((flow) => (flow.from === leaf && random.uniform() < 0.5 ? { ...flow, spine } : flow));
  const before = highest(flows);
  const best = oracle.optimum(flows, true).reached;
  const engineer = new TrafficEngineer();
  const clusters = new TrafficClusters();
  const noise = random.derive('noise');
  const seen: MixedFlow[][] = [];
  const installing: { at: number; do: (flows: MixedFlow[]) => MixedFlow[] }[] = [];
  const loads: number[] = [];
  const movesByCycle: number[] = [];
  let age = 0;
  for (let timeMs = 0; timeMs < 1000 * seconds; timeMs += WINDOW_MS) {
    while (installing.length > 0 && installing[0]!.at <= timeMs) flows = installing.shift()!.do(flows);
    loads.push(highest(flows));
    seen.push(flows);
    // A window in twenty is lost; in some networks telemetry stops for some seconds.
    age = noise.uniform() < 0.05 || (timeMs % 8000 > 5000 && seed % 3 === 0) ? age + WINDOW_MS : WINDOW_MS;
    const late = seen[Math.max(0, seen.length - 1 - Math.round(age / WINDOW_MS))]!;
    const measured = late.map((flow) => ({ ...flow, bps: flow.bps * (0.97 + 0.06 * noise.uniform()) }));
    const { demands, aggregates } = demandsOf(measured, clusters, timeMs);
    const loss = noise.uniform() < 0.02 ? 0.2 : 0;
    const { moves } = engineer.step({ links: LINKS, demands, ageMs: age, loss }, timeMs);
    if (moves.length === 0) continue;
    movesByCycle.push(moves.length);
    installing.push({ at: timeMs + 100, do: (now) => move(now, aggregates, moves) });
  }
  return { loads, movesByCycle, before, best };
}

describe('TrafficEngineer with aggregates', () => {
  it('brings the highest load below 0.8 within three seconds, and does not oscillate', () => {
    for (let seed = 1; seed <= runs(100); seed++) {
      const { loads, movesByCycle, before, best } = simulate(seed, 14);
      const words = `seed ${seed}: ${before} before, ${best} is possible, moves ${movesByCycle}`;
      // Measured rates are off by 3 %: a link that is a little above may seem to be below, for a while.
      expect(loads[3000 / WINDOW_MS]!, words).toBeLessThan(0.81);
      expect(loads.at(-1)!, words).toBeLessThan(0.8);
      expect(Math.max(0, ...movesByCycle), words).toBeLessThanOrEqual(5);
      // Nothing goes to and fro: there are few cycles, and each lowers the highest load.
      expect(movesByCycle.length, words).toBeLessThanOrEqual(4);
      expect(
        loads.every((load, k) => k === 0 || load <= loads[k - 1]! + 1e-9),
        words,
      ).toBe(true);
    }
  });
});
