/** Planners side by side: all answer with exactly the paths asked for, or with those that their method gives. */
import { euler, type Graph, gpint, Paths, perNode } from '@int/gpint';
import { UndirectedGraph } from 'graphology';

export interface Contender {
  readonly name: string;
  /** Makes what is not part of planning; returns what plans once, with a seed. */
  readonly prepare: (graph: Graph, paths: number) => (seed: number) => Paths;
}

/** A graph as an application holds it that uses graphology. */
function toGraphology(graph: Graph): UndirectedGraph {
  const out = new UndirectedGraph();
  for (let v = 0; v < graph.nodeCount; v++) out.addNode(v);
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      if (graph.neighbours[i]! < v) out.addEdge(v, graph.neighbours[i]!);
    }
  }
  return out;
}

/** Nodes behind the first on a shortest way from a node to one that is left; empty if there is none. */
function wayToNearest(graph: UndirectedGraph, from: string, left: ReadonlySet<string>): string[] {
  const before = new Map<string, string>([[from, '']]);
  for (const v of before.keys()) {
    if (left.has(v)) {
      const way: string[] = [];
      for (let x = v; x !== from; x = before.get(x)!) way.push(x);
      return way.reverse();
    }
    graph.forEachNeighbor(v, (u) => {
      if (!before.has(u)) before.set(u, v);
    });
  }
  return [];
}

/**
 * What one writes in an afternoon: walk from a node of lowest degree to neighbours of lowest degree that are left, n / k
 * nodes a path; then the shortest path goes on to the nearest node that is left, until none is.
 */
function greedy(graph: UndirectedGraph, paths: number): Paths {
  const share = Math.ceil(graph.order / paths);
  const nodes = graph.nodes().sort((a, b) => graph.degree(a) - graph.degree(b));
  const left = new Set(nodes);
  const walks: string[][] = [];
  for (const seed of nodes) {
    if (walks.length === paths) break;
    if (!left.delete(seed)) continue;
    const walk = [seed];
    while (walk.length < share) {
      let next: string | undefined;
      for (const u of graph.neighbors(walk.at(-1)!)) {
        if (left.has(u) && (next === undefined || graph.degree(u) < graph.degree(next))) next = u;
      }
      if (next === undefined) break;
      left.delete(next);
      walk.push(next);
    }
    walks.push(walk);
  }
  while (left.size > 0) {
    const walk = walks.reduce((a, b) => (b.length < a.length ? b : a));
    const way = wayToNearest(graph, walk.at(-1)!, left);
    walk.push(...way);
    left.delete(way.at(-1)!);
  }
  return Paths.from(walks.map((walk) => walk.map(Number)));
}

export const CONTENDERS: readonly Contender[] = [
  { name: 'gpint', prepare: (graph, paths) => (seed) => gpint(graph, { paths, seed }).paths },
  {
    name: 'gpint, phase 1 alone',
    prepare: (graph, paths) => (seed) => gpint(graph, { paths, seed, phases: 'grow' }).paths,
  },
  {
    name: 'greedy with graphology',
    prepare: (graph, paths) => {
      const held = toGraphology(graph);
      return () => greedy(held, paths);
    },
  },
  { name: 'euler trails', prepare: (graph) => () => euler(graph).paths },
  { name: 'one path a node', prepare: (graph) => () => perNode(graph).paths },
];
