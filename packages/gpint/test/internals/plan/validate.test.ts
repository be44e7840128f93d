import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { euler, type Graph, grid, Paths, type Plan, perNode, validatePlan } from '../../../src/index.js';
import { measurePlan } from '../../../src/plan/measure.js';
import { SEED } from '../../seed.js';
import { generatedGraph, graphOf, linksOf } from '../graph/samples.js';

/** Plain counting over plain arrays, for comparison. */
function naive(graph: Graph, paths: readonly (readonly number[])[], required: Uint8Array | null): object {
  const weight = new Map(linksOf(graph).map(([a, b], link) => [`${a} ${b}`, graph.weights?.[link] ?? 1]));
  const costs = paths.map((path) =>
    path.slice(1).reduce((sum, node, i) => {
      const before = path[i]!;
      return sum + weight.get(`${Math.min(before, node)} ${Math.max(before, node)}`)!;
    }, 0),
  );
  const lengths = paths.map((path) => path.length);
  const visited = new Set(paths.flat());
  return {
    uncovered: [...graph.names.keys()].filter((v) => !visited.has(v) && required?.[v] !== 0),
    longest: Math.max(0, ...lengths),
    shortest: lengths.length === 0 ? 0 : Math.min(...lengths),
    overlap: paths.flat().length - visited.size,
    dearest: Math.max(0, ...costs),
    cheapest: costs.length === 0 ? 0 : Math.min(...costs),
  };
}

/** Walks at random: valid, of all lengths, and hardly a cover. */
function randomWalks(graph: Graph, seed: number): number[][] {
  const random = new Random(seed);
  return Array.from({ length: random.integer(6) }, () => {
    let node = random.integer(graph.nodeCount);
    const walk = [node];
    for (let steps = random.integer(10); steps > 0 && graph.degree(node) > 0; steps--) {
      node = graph.neighbours[graph.first[node]! + random.integer(graph.degree(node))]!;
      walk.push(node);
    }
    return walk;
  });
}

function weighted(graph: Graph): Graph {
  return graphOf(
    graph.nodeCount,
    linksOf(graph).map(([a, b], link) => [a, b, 1 + (link % 7)]),
  );
}

describe('validatePlan and measurePlan', () => {
  it('agree with plain counting, for walks over any graph', () => {
    const graphs = fc.tuple(generatedGraph, fc.boolean()).map(([graph, heavy]) => (heavy ? weighted(graph) : graph));
    fc.assert(
      fc.property(graphs, fc.nat(), fc.boolean(), (graph, seed, partial) => {
        const walks = randomWalks(graph, seed);
        const required = partial ? Uint8Array.from(graph.names, (_, v) => (v % 3 === 0 ? 0 : 1)) : null;
        const expected = naive(graph, walks, required);
        expect(measurePlan(graph, Paths.from(walks), 'gpint', false, required)).toMatchObject(expected);
        const report = validatePlan(graph, Paths.from(walks), { required });
        expect(report).toMatchObject(expected);
        expect(report.spread).toBe(report.longest - report.shortest);
        expect(report.problems.map(({ code }) => code)).toEqual(report.uncovered.map(() => 'UNCOVERED'));
        expect(report.valid).toBe(report.uncovered.length === 0);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('agree on the plans of the baselines', () => {
    fc.assert(
      fc.property(generatedGraph, (graph) => {
        for (const plan of [euler(graph, { perComponent: true }), perNode(graph)]) {
          const report = validatePlan(graph, plan.paths, { paths: plan.paths.count });
          expect(report.valid).toBe(true);
          const keys = ['uncovered', 'longest', 'shortest', 'overlap', 'dearest', 'cheapest'] as const;
          for (const key of keys) expect([key, plan[key as keyof Plan]]).toEqual([key, report[key]]);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});

describe('validatePlan', () => {
  const graph = grid(3, 2);
  /** Codes and places of what is wrong. */
  const problems = (
    paths: readonly (readonly number[])[],
    expectations: Parameters<typeof validatePlan>[2] = {},
  ): unknown =>
    validatePlan(graph, Paths.from(paths), expectations).problems.map(({ code, path, position }) => [
      code,
      path,
      position,
    ]);

  it('accepts walks that visit all nodes', () => {
    const report = validatePlan(
      graph,
      Paths.from([
        [0, 1, 2],
        [5, 4, 3, 4],
      ]),
      { paths: 2 },
    );
    expect(report).toEqual({
      valid: true,
      problems: [],
      uncovered: [],
      longest: 4,
      shortest: 3,
      spread: 1,
      overlap: 1,
      dearest: 3,
      cheapest: 2,
    });
  });

  it('finds steps without a link', () => {
    expect(problems([[0, 1, 2, 3, 4, 5]])).toEqual([['NO_LINK', 0, 3]]);
    expect(problems([[0, 1, 2, 5, 4, 3, 3]])).toEqual([['NO_LINK', 0, 6]]);
    expect(validatePlan(graph, Paths.from([[0, 1, 2, 3, 4, 5]])).problems[0]!.message).toBe(
      'path 0 goes from r1c3 to r2c1 without a link',
    );
  });

  it('finds nodes that no path visits, unless they need not be', () => {
    expect(problems([[0, 1, 2]])).toEqual([
      ['UNCOVERED', -1, -1],
      ['UNCOVERED', -1, -1],
      ['UNCOVERED', -1, -1],
    ]);
    expect(validatePlan(graph, Paths.from([[0, 1, 2, 5]])).uncovered).toEqual([3, 4]);
    expect(problems([[0, 1, 2]], { required: Uint8Array.of(1, 1, 1, 0, 0, 0) })).toEqual([]);
  });

  it('finds empty paths, unknown nodes, wrong starts and a wrong number of paths', () => {
    const all = [0, 1, 2, 5, 4, 3];
    expect(problems([all, []])).toEqual([['EMPTY_PATH', 1, -1]]);
    expect(problems([[...all, 6, 0], all])).toEqual([['ERR_GPINT_UNKNOWN_NODE', 0, 6]]);
    expect(problems([all, [1]], { entries: Uint8Array.of(1, 0, 0, 0, 0, 0) })).toEqual([['NO_ENTRY', 1, 0]]);
    expect(problems([all], { paths: 2 })).toEqual([['COUNT', -1, -1]]);
    expect(problems([all, all], { paths: 1 })).toEqual([['COUNT', -1, -1]]);
    expect(validatePlan(graph, Paths.from([[...all, 6, 0], all])).overlap).toBe(7);
  });

  it('looks no further where paths do not begin and end where they should', () => {
    const visits = Uint32Array.of(0, 1, 2, 5, 4, 3);
    for (const starts of [[], [0], [0, 5], [1, 6], [0, 4, 2, 6], [0, 7]]) {
      const report = validatePlan(graph, new Paths(visits, Uint32Array.from(starts)));
      expect(report.valid).toBe(false);
      expect(report.problems[0]!.code).toBe('BAD_STARTS');
    }
  });

  it('reports on no paths at all', () => {
    const report = validatePlan(graph, Paths.from([]));
    expect(report).toMatchObject({
      valid: false,
      longest: 0,
      shortest: 0,
      spread: 0,
      overlap: 0,
      dearest: 0,
      cheapest: 0,
    });
    expect(validatePlan(graphOf(0, []), Paths.from([])).valid).toBe(true);
  });
});
