import { components, euler, fatTreeGraph, type Graph, type Plan, perNode, ring, validatePlan } from '@int/gpint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from '../../seed.js';
import { anyGraph, generatedGraph, graphOf } from '../graph/samples.js';

/** Checks that each link is walked once, by as few trails as can be. */
function expectTrails(graph: Graph, plan: Plan): void {
  expect(validatePlan(graph, plan.paths).problems).toEqual([]);
  const times = new Uint32Array(graph.linkCount);
  for (let p = 0; p < plan.paths.count; p++) {
    const path = plan.paths.path(p);
    for (let i = 1; i < path.length; i++) times[graph.linkBetween(path[i - 1]!, path[i]!)]!++;
  }
  expect(times.every((count) => count === 1)).toBe(true);
  const { count, of } = components(graph);
  const odd = new Uint32Array(count);
  for (let v = 0; v < graph.nodeCount; v++) if (graph.degree(v) % 2 === 1) odd[of[v]!]!++;
  expect(plan.paths.count).toBe(odd.reduce((sum, nodes) => sum + Math.max(1, nodes / 2), 0));
}

describe('euler', () => {
  it('covers every link once, in m trails for 2m odd nodes', () => {
    fc.assert(
      fc.property(fc.oneof(anyGraph(30), generatedGraph), (graph) => {
        expectTrails(graph, euler(graph, { perComponent: true }));
      }),
      { seed: SEED, numRuns: 250 },
    );
  });

  it('is one circuit where no node is odd', () => {
    const plan = euler(ring(5));
    expect(plan.paths.named(ring(5))).toEqual([['s1', 's5', 's4', 's3', 's2', 's1']]);
    expect(plan).toMatchObject({ algorithm: 'euler', longest: 6, shortest: 6, overlap: 1, dearest: 5, optimal: false });
    expect(euler(fatTreeGraph(4)).paths.count).toBe(1);
  });

  it('puts a circuit into the trail that touches it', () => {
    // A path a - b - c with a triangle at b.
    const graph = graphOf(5, [
      [0, 1],
      [1, 2],
      [1, 3],
      [3, 4],
      [4, 1],
    ]);
    expect(Array.from(euler(graph).paths.visits)).toEqual([0, 1, 4, 3, 1, 2]);
  });

  it('visits a node without links by itself', () => {
    expect(euler(graphOf(1, [])).paths.named(graphOf(1, []))).toEqual([['n0']]);
  });

  it('refuses graphs in pieces unless each is to be planned, and those without nodes', () => {
    const graph = graphOf(4, [
      [0, 1],
      [2, 3],
    ]);
    expect(() => euler(graph)).toThrow(expect.objectContaining({ code: 'ERR_GPINT_DISCONNECTED' }));
    expect(euler(graph, { perComponent: true }).paths.count).toBe(2);
    for (const plan of [euler, perNode]) {
      expect(() => plan(graphOf(0, []))).toThrow(expect.objectContaining({ code: 'ERR_GPINT_EMPTY_GRAPH' }));
    }
  });
});

describe('perNode', () => {
  it('visits each node by itself', () => {
    fc.assert(
      fc.property(anyGraph(20), (graph) => {
        const plan = perNode(graph);
        expect(plan.paths.named(graph)).toEqual(graph.names.map((name) => [name]));
        expect(plan).toMatchObject({
          algorithm: 'per-node',
          longest: 1,
          shortest: 1,
          overlap: 0,
          dearest: 0,
          cheapest: 0,
        });
        expect(plan.optimal).toBe(true);
      }),
      { seed: SEED, numRuns: 50 },
    );
  });
});
