import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafSpineGraph } from '../../../src/graph/generate/regular.js';
import {
  components,
  erdosRenyi,
  fatTreeGraph,
  type Graph,
  grid,
  ring,
  star,
  wattsStrogatz,
} from '../../../src/index.js';
import { SEED } from '../../seed.js';
import { linksOf } from './samples.js';

/** How many nodes there are of each degree. */
function degrees(graph: Graph): Record<number, number> {
  const counts: Record<number, number> = {};
  for (let v = 0; v < graph.nodeCount; v++) counts[graph.degree(v)] = (counts[graph.degree(v)] ?? 0) + 1;
  return counts;
}

describe('wattsStrogatz', () => {
  it('is a ring with its nearest neighbours at probability 0', () => {
    const graph = wattsStrogatz(10, 4, 0, 1);
    expect(graph.names[0]).toBe('s1');
    expect(degrees(graph)).toEqual({ 4: 10 });
    for (let v = 0; v < 10; v++) {
      for (const distance of [1, 2, 8, 9]) expect(graph.positionOf(v, (v + distance) % 10)).toBeGreaterThanOrEqual(0);
    }
  });

  it('keeps n k / 2 links, and k / 2 or more at each node, whatever is rewired', () => {
    const numbers = fc.tuple(fc.integer({ min: 3, max: 200 }), fc.integer({ min: 1, max: 6 }), fc.nat());
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), ([n, half, seed], p) => {
        const k = 2 * Math.min(half, Math.floor((n - 1) / 2));
        const graph = wattsStrogatz(n, k, p, seed, { connected: false });
        expect(graph.linkCount).toBe((n * k) / 2);
        expect(Math.min(...graph.names.map((_, v) => graph.degree(v)))).toBeGreaterThanOrEqual(k / 2);
        expect(linksOf(wattsStrogatz(n, k, p, seed, { connected: false }))).toEqual(linksOf(graph));
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('rewires about the share asked for', () => {
    const graph = wattsStrogatz(5000, 4, 0.1, SEED);
    const moved = linksOf(graph).filter(([a, b]) => ![1, 2, 4998, 4999].includes(b - a)).length;
    // Binomial: 10,000 links, standard deviation 30.
    expect(Math.abs(moved - 1000)).toBeLessThan(180);
  });

  it('stays simple where hardly a pair is left to link', () => {
    for (const [n, k] of [
      [4, 2],
      [5, 4],
      [12, 10],
      [200, 198],
      [1001, 1000],
    ] as const) {
      const graph = wattsStrogatz(n, k, 1, SEED);
      expect(graph.linkCount).toBe((n * k) / 2);
    }
    expect(() => wattsStrogatz(2000, 1002, 0.5, 1)).toThrow(RangeError);
  });

  it('is connected unless that is not asked for', () => {
    // Two links a node, many of them rewired: most such graphs fall apart.
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    for (const seed of seeds) expect(components(wattsStrogatz(12, 2, 0.3, seed)).count).toBe(1);
    const loose = seeds.map((seed) => components(wattsStrogatz(12, 2, 0.3, seed, { connected: false })).count);
    expect(Math.max(...loose)).toBeGreaterThan(1);
  });

  it('gives another graph for another seed, and the same for a number and its text', () => {
    expect(linksOf(wattsStrogatz(50, 4, 0.2, 1))).not.toEqual(linksOf(wattsStrogatz(50, 4, 0.2, 2)));
    expect(linksOf(wattsStrogatz(50, 4, 0.2, '7'))).toEqual(linksOf(wattsStrogatz(50, 4, 0.2, 7)));
  });

  it('refuses numbers that make no such graph', () => {
    for (const [n, k, p] of [
      [2, 2, 0],
      [10, 3, 0],
      [10, 0, 0],
      [10, 10, 0],
      [10.5, 2, 0],
      [10, 2, -0.1],
      [10, 2, 1.1],
      [10, 2, Number.NaN],
      [1e9, 2, 0],
    ] as const) {
      expect(() => wattsStrogatz(n, k, p, 1)).toThrow(RangeError);
    }
  });
});

describe('fatTree', () => {
  it('has 5 k² / 4 switches of the degrees of their layers', () => {
    for (const k of [2, 4, 8, 14]) {
      const graph = fatTreeGraph(k);
      const half = k / 2;
      expect(graph.nodeCount).toBe((5 * k * k) / 4);
      expect(graph.linkCount).toBe((k * k * k) / 2);
      for (const [v, name] of graph.names.entries()) expect(graph.degree(v)).toBe(name.startsWith('edge') ? half : k);
      expect(components(graph).count).toBe(1);
    }
  });

  it('links edge with aggregation within a pod, and each core with one aggregation switch of every pod', () => {
    const graph = fatTreeGraph(6);
    const pod = (name: string): string => /p(\d+)/.exec(name)?.[1] ?? '';
    const layers = new Set<string>();
    for (const [a, b] of linksOf(graph)) {
      const [x, y] = [graph.names[a]!, graph.names[b]!];
      layers.add(`${x.split('-')[0]} ${y.split('-')[0]}`);
      if (x.startsWith('edge')) expect(pod(x)).toBe(pod(y));
    }
    expect([...layers].sort()).toEqual(['agg core', 'edge agg']);
    const core = graph.nodeOf('core-9');
    const pods = Array.from(graph.neighbours.subarray(graph.first[core]!, graph.first[core + 1]!), (v) =>
      pod(graph.names[v]!),
    );
    expect(pods).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('has 9,680 switches and 340,736 links of 88 ports', () => {
    const graph = fatTreeGraph(88);
    expect([graph.nodeCount, graph.linkCount]).toEqual([9680, 340_736]);
    expect(degrees(graph)).toEqual({ 44: 3872, 88: 3872 + 1936 });
  });

  it('refuses an odd number of ports, none, and too many', () => {
    for (const k of [0, 3, -2, 2.5, 258, Number.NaN]) expect(() => fatTreeGraph(k)).toThrow(RangeError);
  });
});

describe('erdosRenyi', () => {
  it('has no link at probability 0 and all at 1', () => {
    expect(erdosRenyi(30, 0, 1).linkCount).toBe(0);
    expect(degrees(erdosRenyi(30, 1, 1))).toEqual({ 29: 30 });
    expect(erdosRenyi(1, 1, 1).linkCount).toBe(0);
  });

  it('has about as many links as the probability says, in every part of the graph', () => {
    const graph = erdosRenyi(1000, 0.02, SEED);
    // Binomial: 499,500 pairs, mean 9,990, standard deviation 99.
    expect(Math.abs(graph.linkCount - 9990)).toBeLessThan(600);
    let low = 0;
    for (let v = 0; v < 500; v++) low += graph.degree(v);
    expect(Math.abs(low - graph.linkCount)).toBeLessThan(900);
  });

  it('is the same for the same seed', () => {
    expect(linksOf(erdosRenyi(60, 0.1, 5))).toEqual(linksOf(erdosRenyi(60, 0.1, 5)));
    expect(linksOf(erdosRenyi(60, 0.1, 5))).not.toEqual(linksOf(erdosRenyi(60, 0.1, 6)));
  });

  it('draws each pair with the same probability', () => {
    const times = new Uint32Array(15);
    for (let seed = 0; seed < 3000; seed++) {
      for (const [a, b] of linksOf(erdosRenyi(6, 0.3, seed))) times[(b * (b - 1)) / 2 + a]!++;
    }
    // Mean 900, standard deviation 25.
    for (const count of times) expect(Math.abs(count - 900)).toBeLessThan(150);
  });

  it('refuses numbers that make no such graph, and far too many links', () => {
    expect(() => erdosRenyi(0, 0.1, 1)).toThrow(RangeError);
    expect(() => erdosRenyi(10, 2, 1)).toThrow(RangeError);
    expect(() => erdosRenyi(1_000_000, 0.5, 1)).toThrow(RangeError);
  });
});

describe('graphs that follow from their size', () => {
  it('are a leaf-spine, where every leaf is linked with every spine', () => {
    const graph = leafSpineGraph(32, 8);
    expect(degrees(graph)).toEqual({ 8: 32, 32: 8 });
    expect([graph.names[0], graph.names[31], graph.names[32]]).toEqual(['leaf-1', 'leaf-32', 'spine-1']);
  });

  it('are a grid, with its width first', () => {
    const graph = grid(4, 3);
    expect(graph.nodeCount).toBe(12);
    expect(degrees(graph)).toEqual({ 2: 4, 3: 6, 4: 2 });
    expect(graph.linkBetween(graph.nodeOf('r1c4'), graph.nodeOf('r2c4'))).toBeGreaterThanOrEqual(0);
    expect(graph.linkBetween(graph.nodeOf('r1c4'), graph.nodeOf('r2c1'))).toBe(-1);
    expect(grid(1, 1).linkCount).toBe(0);
  });

  it('are a ring and a star', () => {
    expect(degrees(ring(3))).toEqual({ 2: 3 });
    expect(degrees(ring(9))).toEqual({ 2: 9 });
    const graph = star(6);
    expect(graph.nodeCount).toBe(7);
    expect(graph.degree(graph.nodeOf('hub'))).toBe(6);
  });

  it('are refused in sizes that are none', () => {
    for (const make of [
      () => ring(2),
      () => star(0),
      () => grid(0, 5),
      () => grid(1.5, 5),
      () => leafSpineGraph(5, 0),
      () => leafSpineGraph(100_000, 100_000),
      () => grid(100_000, 100_000),
      () => ring(Number.POSITIVE_INFINITY),
    ]) {
      expect(make).toThrow(RangeError);
    }
  });
});
