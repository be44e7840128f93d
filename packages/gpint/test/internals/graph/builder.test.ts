import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeMask } from '../../../src/graph/mask.js';
import { GpintError, type Graph, GraphBuilder } from '../../../src/index.js';
import { SEED } from '../../seed.js';
import { anyGraph, graphOf, linksOf } from './samples.js';

/** Checks everything that the description of the class promises. */
function expectSound(graph: Graph): void {
  expect(graph.first.length).toBe(graph.nodeCount + 1);
  expect(graph.names.length).toBe(graph.nodeCount);
  expect(new Set(graph.names).size).toBe(graph.nodeCount);
  expect(graph.neighbours.length).toBe(2 * graph.linkCount);
  expect(graph.links.length).toBe(2 * graph.linkCount);
  if (graph.weights !== null) expect(graph.weights.length).toBe(graph.linkCount);
  const times = new Uint32Array(graph.linkCount);
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      const u = graph.neighbours[i]!;
      expect(u).not.toBe(v);
      if (i > graph.first[v]!) expect(u).toBeGreaterThan(graph.neighbours[i - 1]!);
      expect(graph.linkBetween(u, v)).toBe(graph.links[i]);
      times[graph.links[i]!]!++;
    }
  }
  expect(times.every((count) => count === 2)).toBe(true);
}

describe('GraphBuilder', () => {
  it('numbers nodes in the order of their first mention', () => {
    const builder = new GraphBuilder();
    expect(builder.addNode('x')).toBe(0);
    builder.addLink('y', 'z').addLink('x', 'y').addLink(2, 0);
    expect(builder.addNode('y')).toBe(1);
    const graph = builder.build();
    expect(graph.names).toEqual(['x', 'y', 'z']);
    expect(linksOf(graph)).toEqual([
      [1, 2],
      [0, 1],
      [0, 2],
    ]);
    expect(graph.weights).toBeNull();
    expectSound(graph);
  });

  it('keeps the first of several links between two nodes, with the smallest weight, and counts the others', () => {
    const builder = new GraphBuilder();
    builder.addLink('a', 'b', 5).addLink('b', 'c', 2).addLink('b', 'a', 3).addLink('a', 'b', 4).addLink('c', 'a');
    const graph = builder.build();
    expect(builder.duplicates).toBe(2);
    expect(linksOf(graph)).toEqual([
      [0, 1],
      [1, 2],
      [0, 2],
    ]);
    // A link without a weight costs 1 where others have one.
    expect(Array.from(graph.weights!)).toEqual([3, 2, 1]);
    expectSound(graph);
  });

  it('leaves out links of a node with itself and counts them', () => {
    const builder = new GraphBuilder();
    builder.addLink('a', 'a').addLink('a', 'b').addLink(1, 1);
    expect(builder.selfLinks).toBe(2);
    expect(builder.build().linkCount).toBe(1);
  });

  it('can go on after a graph was built, and leaves that graph as it was', () => {
    const builder = new GraphBuilder();
    builder.addLink('a', 'b');
    const before = builder.build();
    builder.addLink('b', 'c');
    expect(before.nodeCount).toBe(2);
    expect(before.names).toEqual(['a', 'b']);
    expect(builder.build().linkCount).toBe(2);
  });

  it('refuses unknown numbers and weights that are not positive and finite', () => {
    const builder = new GraphBuilder();
    builder.addNode('a');
    for (const node of [1, -1, 0.5, Number.NaN]) {
      expect(() => builder.addLink(0, node)).toThrow(expect.objectContaining({ code: 'ERR_GPINT_UNKNOWN_NODE' }));
    }
    for (const weight of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => builder.addLink('a', 'b', weight)).toThrow(RangeError);
    }
  });

  it('gives what a set of pairs and a map of weights give', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 11 }), fc.integer({ min: 1, max: 9 })), { maxLength: 60 }),
        (n, raw) => {
          const links = raw.map(([a, b, w]) => [a % n, b % n, w] as const);
          const graph = graphOf(n, links);
          const expected = new Map<string, number>();
          for (const [a, b, w] of links) {
            const key = `${Math.min(a, b)} ${Math.max(a, b)}`;
            if (a !== b) expected.set(key, Math.min(w, expected.get(key) ?? w));
          }
          const found = linksOf(graph).map(([a, b], link) => [`${a} ${b}`, graph.cost(link)] as const);
          // A map keeps the order of first mention, and so do links.
          expect(found).toEqual([...expected]);
          expectSound(graph);
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('builds a hundred thousand nodes with a million links', () => {
    const builder = new GraphBuilder();
    for (let v = 0; v < 100_000; v++) builder.addNode(`v${v}`);
    for (let i = 1; i <= 10; i++) {
      for (let v = 0; v < 100_000; v++) builder.addLink(v, (v + i * 37) % 100_000);
    }
    const graph = builder.build();
    expect(graph.linkCount).toBe(1_000_000);
    expect(builder.duplicates).toBe(0);
    for (let v = 0; v < 100_000; v += 9_973) expect(graph.degree(v)).toBe(20);
  });
});

describe('nodeMask', () => {
  it('takes names and numbers, and refuses what is neither', () => {
    const graph = graphOf(4, [[0, 1]]);
    expect(Array.from(nodeMask(graph, ['n2', 0]))).toEqual([1, 0, 1, 0]);
    for (const node of ['x', 4, -1, 1.5]) {
      expect(() => nodeMask(graph, [node])).toThrow(GpintError);
    }
  });

  it('finds every node of a graph by its name', () => {
    fc.assert(
      fc.property(anyGraph(20), (graph) => {
        expect(graph.names.map((name) => graph.nodeOf(name))).toEqual(graph.names.map((_, node) => node));
      }),
      { seed: SEED, numRuns: 50 },
    );
  });
});
