import {
  fatTreeGraph,
  GpintError,
  type Graph,
  GraphBuilder,
  gpint,
  grid,
  lowerBounds,
  ring,
  wattsStrogatz,
} from '@int/gpint';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from '../seed.js';
import { look } from './check.js';

/** A graph in one piece: a random tree with more links. */
function connected(n: number, more: number, seed: number, weigh?: (random: Random) => number): Graph {
  const random = new Random(seed).derive('graph');
  const builder = new GraphBuilder();
  for (let v = 0; v < n; v++) builder.addNode(`s${v + 1}`);
  for (let v = 1; v < n; v++) builder.addLink(v, random.integer(v), weigh?.(random) ?? 1);
  for (let i = 0; i < more; i++) {
    const a = random.integer(n);
    const b = random.integer(n);
    if (a !== b) builder.addLink(a, b, weigh?.(random) ?? 1);
  }
  return builder.build();
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (GpintError.is(error)) return error.code;
    throw error;
  }
  return 'none';
}

describe('gpint', () => {
  it('visits every node of any connected graph with exactly as many walks as asked for, and says how long they are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(80),
        fc.integer({ min: 1, max: 70 }),
        fc.nat(),
        fc.constantFrom<'both' | 'grow'>('both', 'grow'),
        (n, more, paths, seed, phases) => {
          const graph = connected(n, more, seed);
          const plan = gpint(graph, { paths, seed, phases });
          const { longest, shortest, overlap } = look(graph, plan.paths);
          expect(plan.paths.count).toBe(paths);
          expect([plan.longest, plan.shortest, plan.overlap]).toEqual([longest, shortest, overlap]);
          expect(plan.uncovered).toEqual([]);
          const floor = lowerBounds(graph, { paths });
          expect(longest).toBeGreaterThanOrEqual(floor.longest);
          expect(overlap).toBeGreaterThanOrEqual(floor.overlap);
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('gives the same plan for the same seed', () => {
    for (const seed of [1, 'a', 77]) {
      const graph = connected(80, 60, 3);
      const plans = [1, 2].map(() => gpint(graph, { paths: 9, seed }));
      expect([...plans[0]!.paths.visits]).toEqual([...plans[1]!.paths.visits]);
      expect([...plans[0]!.paths.starts]).toEqual([...plans[1]!.paths.starts]);
    }
  });

  it('covers everything even if there is no time at all, and is no worse with more', () => {
    for (const graph of [connected(150, 30, 5), wattsStrogatz(150, 4, 0.1, 2), fatTreeGraph(8)]) {
      const hasty = look(graph, gpint(graph, { paths: 11, budgetMs: 0 }).paths);
      const patient = look(graph, gpint(graph, { paths: 11 }).paths);
      expect(patient.longest).toBeLessThanOrEqual(hasty.longest);
    }
  });

  it('is better with both phases than with the first alone', () => {
    let first = 0;
    let both = 0;
    for (let seed = 0; seed < 10; seed++) {
      const graph = wattsStrogatz(100, 4, 0.1, seed);
      first += gpint(graph, { paths: 30, phases: 'grow' }).overlap;
      both += gpint(graph, { paths: 30 }).overlap;
    }
    expect(both).toBe(0);
    expect(first).toBeGreaterThan(both);
  });

  it('starts every path at an entry', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }),
        fc.nat(40),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(),
        fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
        (n, more, paths, seed, chosen) => {
          const graph = connected(n, more, seed);
          const entries = chosen.map((entry) => entry % n);
          const plan = gpint(graph, { paths, entries: entries.map((v) => (v % 2 === 0 ? v : graph.names[v]!)) });
          look(graph, plan.paths);
          expect(plan.paths.count).toBe(paths);
          for (let p = 0; p < paths; p++) expect(entries).toContain(plan.paths.path(p)[0]);
        },
      ),
      { seed: SEED, numRuns: 50 },
    );
  });

  it('comes near the floor with a few entries', () => {
    const graph = wattsStrogatz(100, 4, 0.1, 4);
    const entries = [0, 33, 66];
    const mask = Uint8Array.from({ length: 100 }, (_, v) => (entries.includes(v) ? 1 : 0));
    for (const paths of [3, 6, 10]) {
      const { longest } = look(graph, gpint(graph, { paths, entries }).paths);
      const floor = lowerBounds(graph, { paths, entries: mask }).longest;
      expect(longest / floor).toBeLessThan(1.5);
    }
  });

  it('balances the cost of paths where links have weights', () => {
    for (let seed = 0; seed < 4; seed++) {
      // Half of the links of a grid cost ten times as much as the others.
      const graph = connected(60, 140, seed, (random) => 1 + 9 * random.integer(2));
      const plan = gpint(graph, { paths: 6, seed });
      const { costs } = look(graph, plan.paths);
      expect(plan.dearest).toBeCloseTo(Math.max(...costs), 9);
      expect(plan.cheapest).toBeCloseTo(Math.min(...costs), 9);
      const blind = gpint(withoutWeights(graph), { paths: 6, seed });
      expect(plan.dearest).toBeLessThan(Math.max(...look(graph, blind.paths).costs));
    }
  });

  it('goes round a link that costs more than the way round', () => {
    const builder = new GraphBuilder();
    for (const name of ['a', 'b', 'c']) builder.addNode(name);
    builder.addLink('a', 'b', 100);
    builder.addLink('a', 'c', 1);
    builder.addLink('c', 'b', 1);
    expect(gpint(builder.build(), { paths: 1 }).dearest).toBe(2);
  });

  it('plans each component on its own where that is asked for', () => {
    const builder = new GraphBuilder();
    for (let v = 0; v < 30; v++) builder.addNode(`s${v}`);
    for (let v = 0; v < 19; v++) builder.addLink(v, v + 1);
    for (let v = 20; v < 28; v++) builder.addLink(v, v + 1);
    const graph = builder.build();
    const plan = gpint(graph, { paths: 7, perComponent: true });
    expect(plan.paths.count).toBe(7);
    expect(look(graph, plan.paths)).toMatchObject({ overlap: 0, longest: 5 });
    expect(codeOf(() => gpint(graph, { paths: 7 }))).toBe('ERR_GPINT_DISCONNECTED');
    expect(codeOf(() => gpint(graph, { paths: 2, perComponent: true }))).toBe('ERR_GPINT_NO_PLAN');
    expect(codeOf(() => gpint(graph, { paths: 7, perComponent: true, entries: [0] }))).toBe('ERR_GPINT_NO_PLAN');
    expect(gpint(graph, { paths: 40, perComponent: true })).toMatchObject({ longest: 1, overlap: 10 });
  });

  it('refuses what cannot be', () => {
    const graph = ring(5);
    expect(() => gpint(graph, { paths: 0 })).toThrow(RangeError);
    expect(() => gpint(graph, { paths: 1.5 })).toThrow(RangeError);
    expect(() => gpint(graph, { paths: 1, budgetMs: Number.NaN })).toThrow(RangeError);
    expect(() => gpint(graph, { paths: 1, phases: 'all' as 'both' })).toThrow(RangeError);
    expect(codeOf(() => gpint(graph, { paths: 1, entries: ['nowhere'] }))).toBe('ERR_GPINT_UNKNOWN_NODE');
    expect(codeOf(() => gpint(graph, { paths: 1, entries: [5] }))).toBe('ERR_GPINT_UNKNOWN_NODE');
    expect(codeOf(() => gpint(graph, { paths: 1, entries: [] }))).toBe('ERR_GPINT_NO_PLAN');
    expect(codeOf(() => gpint(new GraphBuilder().build(), { paths: 1 }))).toBe('ERR_GPINT_EMPTY_GRAPH');
  });

  it('repeats single nodes if there are more paths than nodes', () => {
    expect(gpint(grid(2, 2), { paths: 6 })).toMatchObject({ longest: 1, shortest: 1, overlap: 2, optimal: true });
  });
});

function withoutWeights(graph: Graph): Graph {
  const builder = new GraphBuilder();
  for (const name of graph.names) builder.addNode(name);
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      if (graph.neighbours[i]! < v) builder.addLink(v, graph.neighbours[i]!);
    }
  }
  return builder.build();
}
