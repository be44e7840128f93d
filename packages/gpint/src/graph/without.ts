import { Graph } from './graph.js';

/** The graph without some links: the same nodes with the same numbers, the links renumbered in order. */
export function withoutLinks(graph: Graph, dead: Uint8Array): Graph {
  const { nodeCount, linkCount, first, neighbours, links, weights } = graph;
  const number = new Uint32Array(linkCount);
  let left = 0;
  for (let link = 0; link < linkCount; link++) {
    number[link] = left;
    left += 1 - dead[link]!;
  }
  if (left === linkCount) return graph;
  const leftFirst = new Uint32Array(nodeCount + 1);
  const leftNeighbours = new Uint32Array(2 * left);
  const leftLinks = new Uint32Array(2 * left);
  let at = 0;
  for (let v = 0; v < nodeCount; v++) {
    const end = first[v + 1]!;
    for (let i = first[v]!; i < end; i++) {
      const link = links[i]!;
      if (dead[link] === 1) continue;
      leftNeighbours[at] = neighbours[i]!;
      leftLinks[at++] = number[link]!;
    }
    leftFirst[v + 1] = at;
  }
  return new Graph({
    names: graph.names,
    first: leftFirst,
    neighbours: leftNeighbours,
    links: leftLinks,
    weights: weights === null ? null : weights.filter((_, link) => dead[link] === 0),
  });
}
