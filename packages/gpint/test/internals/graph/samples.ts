/** Graphs for tests. */

import fc from 'fast-check';
import { leafSpineGraph } from '../../../src/graph/generate/regular.js';
import {
  erdosRenyi,
  fatTreeGraph,
  type Graph,
  GraphBuilder,
  grid,
  ring,
  star,
  wattsStrogatz,
} from '../../../src/index.js';

/** A graph of `n` nodes n0, n1, ... and links between their numbers. */
export function graphOf(n: number, links: readonly (readonly number[])[]): Graph {
  const builder = new GraphBuilder();
  for (let v = 0; v < n; v++) builder.addNode(`n${v}`);
  for (const [a, b, weight] of links) builder.addLink(a!, b!, weight);
  return builder.build();
}

/** The links of a graph as pairs, smaller number first, in the order of their numbers. */
export function linksOf(graph: Graph): [number, number][] {
  const links: [number, number][] = [];
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      if (graph.neighbours[i]! > v) links[graph.links[i]!] = [v, graph.neighbours[i]!];
    }
  }
  return links;
}

/** Any graph: it may be disconnected, sparse or dense, with or without weights. */
export function anyGraph(mostNodes: number, options: { readonly weighted?: boolean } = {}): fc.Arbitrary<Graph> {
  return fc.integer({ min: 1, max: mostNodes }).chain((n) => {
    const node = fc.nat({ max: n - 1 });
    const weight = options.weighted === true ? [fc.integer({ min: 1, max: 9 })] : [];
    return fc.array(fc.tuple(node, node, ...weight), { maxLength: 3 * n }).map((links) => graphOf(n, links));
  });
}

/** A connected graph: a random tree and some links more. */
export function connectedGraph(mostNodes: number, options: { readonly weighted?: boolean } = {}): fc.Arbitrary<Graph> {
  return fc.integer({ min: 1, max: mostNodes }).chain((n) => {
    const weight = options.weighted === true ? fc.integer({ min: 1, max: 9 }) : fc.constant(1);
    const parents = fc.tuple(...Array.from({ length: n - 1 }, (_, v) => fc.tuple(fc.nat({ max: v }), weight)));
    const more = fc.array(fc.tuple(fc.nat({ max: n - 1 }), fc.nat({ max: n - 1 }), weight), { maxLength: n });
    return fc.tuple(parents, more).map(([tree, extra]) => {
      const links = [...tree.map(([parent, w], v) => [v + 1, parent, w]), ...extra];
      return graphOf(n, options.weighted === true ? links : links.map(([a, b]) => [a!, b!]));
    });
  });
}

/** A graph of one of the generators, of 2 to about 200 nodes. */
export const generatedGraph: fc.Arbitrary<Graph> = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: 5, max: 200 }),
      fc.integer({ min: 1, max: 2 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(),
    )
    .map(([n, half, p, seed]) => wattsStrogatz(n, 2 * half, p, seed, { connected: false })),
  fc.constantFrom(2, 4, 6, 8, 10, 12).map((k) => fatTreeGraph(k)),
  fc.tuple(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 50 })).map(([a, b]) => leafSpineGraph(a, b)),
  fc
    .tuple(fc.integer({ min: 2, max: 200 }), fc.double({ min: 0, max: 0.2, noNaN: true }), fc.nat())
    .map(([n, p, seed]) => erdosRenyi(n, p, seed)),
  fc.tuple(fc.integer({ min: 1, max: 14 }), fc.integer({ min: 1, max: 14 })).map(([w, h]) => grid(w, h)),
  fc.integer({ min: 3, max: 200 }).map((n) => ring(n)),
  fc.integer({ min: 1, max: 199 }).map((n) => star(n)),
);
