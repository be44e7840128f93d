import fc from 'fast-check';
import Graphology from 'graphology';
import { describe, expect, it } from 'vitest';
import { components, GpintError, type Graph, GraphBuilder, requireConnected } from '../../../src/index.js';
import { SEED } from '../../seed.js';
import { anyGraph, generatedGraph, graphOf, linksOf } from './samples.js';

/** Components as graphology sees them: a search from every node that no search has reached. */
function componentsOf(graph: Graphology): string[][] {
  const reached = new Set<string>();
  const found: string[][] = [];
  graph.forEachNode((start) => {
    if (reached.has(start)) return;
    const part: string[] = [];
    const stack = [start];
    reached.add(start);
    while (stack.length > 0) {
      const node = stack.pop()!;
      part.push(node);
      for (const other of graph.neighbors(node)) {
        if (!reached.has(other)) stack.push(other);
        reached.add(other);
      }
    }
    found.push(part.sort());
  });
  return found;
}

function graphologyOf(graph: Graph): Graphology {
  const other = new Graphology({ type: 'undirected' });
  for (const name of graph.names) other.addNode(name);
  for (const [a, b] of linksOf(graph)) other.addUndirectedEdge(graph.names[a]!, graph.names[b]!);
  return other;
}

describe('components', () => {
  it('are those that graphology has', () => {
    fc.assert(
      fc.property(fc.oneof(anyGraph(30), generatedGraph), (graph) => {
        const { count, of, sizes } = components(graph);
        const named: string[][] = Array.from({ length: count }, () => []);
        for (let v = 0; v < graph.nodeCount; v++) named[of[v]!]!.push(graph.names[v]!);
        expect(named.map((part) => part.sort())).toEqual(componentsOf(graphologyOf(graph)));
        expect(Array.from(sizes)).toEqual(named.map((part) => part.length));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  it('name themselves, largest first, where one was needed', () => {
    const graph = graphOf(6, [
      [1, 2],
      [3, 4],
      [4, 5],
    ]);
    try {
      requireConnected(graph);
      expect.unreachable();
    } catch (error) {
      expect(GpintError.is(error)).toBe(true);
      expect(error).toMatchObject({
        code: 'ERR_GPINT_DISCONNECTED',
        components: [['n3', 'n4', 'n5'], ['n1', 'n2'], ['n0']],
        message: 'the graph falls into 3 components: {n3, n4, n5}, {n1, n2}, {n0}',
      });
    }
  });

  it('name some of many only, in the message', () => {
    expect(() =>
      requireConnected(
        graphOf(1000, [
          [0, 1],
          [1, 2],
          [2, 3],
          [3, 4],
          [4, 5],
          [5, 6],
        ]),
      ),
    ).toThrow('the graph falls into 994 components: {n0, n1, n2, n3, n4 and 2 more}, {n7}, {n8}, {n9} and 990 more');
  });

  it('are none in a graph without nodes, which is refused as such', () => {
    expect(components(graphOf(0, [])).count).toBe(0);
    expect(() => requireConnected(graphOf(0, []))).toThrow(expect.objectContaining({ code: 'ERR_GPINT_EMPTY_GRAPH' }));
  });

  it('are one in a connected graph, which passes', () => {
    expect(requireConnected(graphOf(2, [[0, 1]]))).toBeUndefined();
  });
});

/** As in the README. */
function fromGraphology(graph: Graphology): Graph {
  const builder = new GraphBuilder();
  graph.forEachNode((node) => void builder.addNode(node));
  graph.forEachEdge((_, { weight }, a, b) => void builder.addLink(a, b, weight));
  return builder.build();
}

describe('a graph of graphology', () => {
  it('gives nodes, neighbours and degrees to a builder', () => {
    fc.assert(
      fc.property(anyGraph(30), (graph) => {
        const other = graphologyOf(graph);
        const back = fromGraphology(other);
        expect(back.names).toEqual(graph.names);
        expect(linksOf(back)).toEqual(linksOf(graph));
        expect(back.nodeCount).toBe(other.order);
        expect(back.linkCount).toBe(other.size);
        for (let v = 0; v < back.nodeCount; v++) expect(back.degree(v)).toBe(other.degree(back.names[v]!));
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('gives weights, and makes one link of parallel and directed edges', () => {
    const graph = new Graphology({ multi: true });
    for (const node of ['a', 'b', 'c']) graph.addNode(node);
    graph.addDirectedEdge('a', 'b', { weight: 4 });
    graph.addDirectedEdge('b', 'a', { weight: 2.5 });
    graph.addUndirectedEdge('b', 'c');
    graph.addDirectedEdge('c', 'c');
    expect(Array.from(fromGraphology(graph).weights!)).toEqual([2.5, 1]);
  });

  it('gives no weights that are no positive numbers', () => {
    for (const weight of [0, -1, Number.NaN, 'heavy']) {
      const graph = new Graphology();
      graph.addNode('a');
      graph.addNode('b');
      graph.addEdge('a', 'b', { weight });
      expect(() => fromGraphology(graph)).toThrow(RangeError);
    }
  });
});
