import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { reach } from '../../../src/graph/reach.js';
import { type Graph, GraphBuilder, gpint, grid, lowerBounds } from '../../../src/index.js';
import { SpanningTree } from '../../../src/planner/spanning-tree.js';
import { TreeMetric } from '../../../src/planner/tree-metric.js';
import { splitTree } from '../../../src/planner/tree-split.js';
import { look } from '../../planner/check.js';
import { SEED } from '../../seed.js';

/** A tree in which each node but the first hangs on one of the `near` before it; with `parts`, as many trees. */
function tree(n: number, near: number, seed: number, parts = 1): Graph {
  const random = new Random(seed).derive('trees');
  const builder = new GraphBuilder();
  for (let v = 0; v < n; v++) builder.addNode(`s${v}`);
  for (let v = parts; v < n; v++) {
    const back = parts * (1 + random.integer(Math.max(1, Math.min(near, Math.floor(v / parts)))));
    builder.addLink(v, v - back);
  }
  return builder.build();
}

function everyNode(graph: Graph): Int32Array {
  return Int32Array.from({ length: graph.nodeCount }, (_, v) => v);
}

describe('distances in a spanning tree', () => {
  it.each(['broad', 'deep'] as const)('are those of the graph if it is a tree: %s', (shape) => {
    for (let seed = 0; seed < 6; seed++) {
      const graph = tree(60 + seed, 1 + 12 * seed, SEED + seed);
      const spanning = new SpanningTree(graph, everyNode(graph), shape);
      expect(spanning.isWhole).toBe(true);
      for (let a = 0; a < graph.nodeCount; a++) {
        const { hops } = reach(graph, [a]);
        expect(Array.from(hops, (_, b) => spanning.hops(a, b))).toEqual(Array.from(hops));
      }
    }
  });

  it('are never less than those of the graph, and exact between neighbours, if it is none', () => {
    const graph = grid(7, 9);
    const metric = new TreeMetric(graph, everyNode(graph), null);
    for (let a = 0; a < metric.size; a++) {
      const { hops } = reach(graph, [metric.nodes[a]!]);
      for (let b = 0; b < metric.size; b++) {
        const its = hops[metric.nodes[b]!]!;
        if (its < 2) expect(metric.hopsBetween(a, b)).toBe(its);
        else expect(metric.hopsBetween(a, b)).toBeGreaterThanOrEqual(its);
      }
    }
  });

  it('are very large between parts of a graph, and parts without required nodes are left out', () => {
    const graph = tree(40, 3, SEED, 2);
    expect(new SpanningTree(graph, everyNode(graph), 'broad').hops(0, 1)).toBeGreaterThan(1e6);
    expect(new SpanningTree(graph, Int32Array.of(2, 4), 'deep').order.length).toBe(20);
  });
});

describe('the division of a tree', () => {
  it('meets the floor with one walk', () => {
    for (let seed = 0; seed < 8; seed++) {
      const graph = tree(1500 + seed, 1 + 3 ** seed, SEED + seed);
      const plan = gpint(graph, { paths: 1, budgetMs: Number.POSITIVE_INFINITY });
      expect(look(graph, plan.paths).longest).toBe(lowerBounds(graph, { paths: 1 }).longest);
    }
  });

  it('names each required node once, in pieces as many as asked for, in every part', () => {
    const graph = tree(300, 5, SEED, 3);
    const required = Uint8Array.from({ length: 300 }, (_, v) => (v % 3 === 2 || v % 2 === 1 ? 0 : 1));
    const wanted = everyNode(graph).filter((v) => required[v] === 1);
    const spanning = new SpanningTree(graph, wanted, 'deep');
    expect(splitTree(spanning, 1, required)).toBeNull();
    for (const pieces of [2, 7, 40]) {
      const orders = splitTree(spanning, pieces, required)!;
      expect(orders.length).toBe(pieces);
      expect(orders.flat().sort((a, b) => a - b)).toEqual([...wanted]);
    }
  });
});

describe('plans of large trees', () => {
  // Plans of thousands of switches.
  it('come near the floor', () => {
    for (const [near, paths, most] of [
      [2000, 30, 1.09],
      [2000, 100, 1.17],
      [40, 30, 1.17],
    ] as const) {
      const graph = tree(2500, near, SEED);
      const { longest } = look(graph, gpint(graph, { paths }).paths);
      expect(longest / lowerBounds(graph, { paths }).longest).toBeLessThan(most);
    }
  }, 180_000);

  it('are the same for the same seed', () => {
    const graph = tree(2000, 50, SEED);
    const [a, b] = [1, 1].map((seed) => gpint(graph, { paths: 40, seed }).paths);
    expect(a).toEqual(b);
  });

  it('start at entry points where these are given', () => {
    const graph = tree(1500, 50, SEED);
    const entries = [0, 700, 1400];
    const { paths } = gpint(graph, { paths: 20, entries });
    look(graph, paths);
    for (let p = 0; p < paths.count; p++) expect(entries).toContain(paths.path(p)[0]);
  });
});
