import { Graph } from './graph.js';

/** A graph, with counts of its links. */
interface Assembled {
  readonly graph: Graph;
  /** Links left out because their ends were linked already. */
  readonly duplicates: number;
}

/** Sorts links between different nodes into rows: two counting sorts, O(nodes + links). */
function rows(
  nodeCount: number,
  count: number,
  from: Uint32Array,
  to: Uint32Array,
): { first: Uint32Array; neighbours: Uint32Array; links: Uint32Array; duplicates: number } {
  const first = new Uint32Array(nodeCount + 1);
  for (let i = 0; i < count; i++) {
    const a = from[i]!;
    const b = to[i]!;
    first[a + 1] = first[a + 1]! + 1;
    first[b + 1] = first[b + 1]! + 1;
  }
  for (let v = 0; v < nodeCount; v++) first[v + 1] = first[v + 1]! + first[v]!;
  const looseNeighbours = new Uint32Array(2 * count);
  const looseLinks = new Uint32Array(2 * count);
  const next = first.slice(0, nodeCount);
  for (let i = 0; i < count; i++) {
    const a = from[i]!;
    const b = to[i]!;
    const atA = next[a]!;
    looseNeighbours[atA] = b;
    looseLinks[atA] = i;
    next[a] = atA + 1;
    const atB = next[b]!;
    looseNeighbours[atB] = a;
    looseLinks[atB] = i;
    next[b] = atB + 1;
  }
  // Read the rows in ascending order of their nodes, and write to the rows of the neighbours: these become sorted.
  const neighbours = new Uint32Array(2 * count);
  const links = new Uint32Array(2 * count);
  next.set(first.subarray(0, nodeCount));
  let duplicates = 0;
  for (let v = 0; v < nodeCount; v++) {
    const end = first[v + 1]!;
    for (let i = first[v]!; i < end; i++) {
      const u = looseNeighbours[i]!;
      const at = next[u]!;
      if (at > first[u]! && neighbours[at - 1] === v) duplicates++;
      neighbours[at] = v;
      links[at] = looseLinks[i]!;
      next[u] = at + 1;
    }
  }
  return { first, neighbours, links, duplicates: duplicates / 2 };
}

/**
 * Makes a graph from links `from[i]` - `to[i]`, i below `count`. No link may join a node with itself. Of links that
 * join the same two nodes the first is kept, with the smallest weight of them all. Links keep their order.
 */
export function assemble(
  names: readonly string[],
  count: number,
  from: Uint32Array,
  to: Uint32Array,
  weights: Float64Array | null = null,
): Assembled {
  const { first, neighbours, links, duplicates } = rows(names.length, count, from, to);
  if (duplicates === 0) {
    return {
      graph: new Graph({ names, first, neighbours, links, weights: weights?.slice(0, count) ?? null }),
      duplicates,
    };
  }
  // Rows are stable: from either side, the first entry of a run of equal neighbours is the first link given.
  const keeper = new Uint32Array(count);
  for (let v = 0; v < names.length; v++) {
    let kept = 0;
    for (let i = first[v]!; i < first[v + 1]!; i++) {
      if (i === first[v] || neighbours[i] !== neighbours[i - 1]) kept = i;
      keeper[links[i]!] = links[kept]!;
    }
  }
  const fewer = count - duplicates;
  const keptFrom = new Uint32Array(fewer);
  const keptTo = new Uint32Array(fewer);
  const keptWeights = weights === null ? null : new Float64Array(fewer);
  const number = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const first = keeper[i]!;
    if (first === i) {
      keptFrom[at] = from[i]!;
      keptTo[at] = to[i]!;
      if (keptWeights !== null) keptWeights[at] = weights![i]!;
      number[i] = at++;
    } else if (keptWeights !== null) {
      const kept = number[first]!;
      keptWeights[kept] = Math.min(keptWeights[kept]!, weights![i]!);
    }
  }
  const again = rows(names.length, fewer, keptFrom, keptTo);
  return {
    graph: new Graph({
      names,
      first: again.first,
      neighbours: again.neighbours,
      links: again.links,
      weights: keptWeights,
    }),
    duplicates,
  };
}

/** Names `s1`, `s2`, ... for switches without names. */
export function numberedNames(count: number, prefix = 's'): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i + 1}`);
}
