/** All connected graphs of a few nodes, up to isomorphism; adjacency as one bit mask a node. */
type Masks = readonly number[];

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** What isomorphic graphs have in common: degrees, with those of the neighbours. */
function invariant(graph: Masks): string {
  return graph
    .map((mask) => {
      const near = graph.filter((_, u) => (mask & (1 << u)) !== 0).map(bits);
      return `${bits(mask)}:${near.sort((a, b) => a - b).join('')}`;
    })
    .sort()
    .join(' ');
}

function isIsomorphic(a: Masks, b: Masks): boolean {
  const image: number[] = [];
  const extend = (used: number): boolean => {
    const v = image.length;
    if (v === a.length) return true;
    for (let w = 0; w < b.length; w++) {
      if ((used & (1 << w)) !== 0 || bits(a[v]!) !== bits(b[w]!)) continue;
      if (image.some((x, u) => ((a[v]! >> u) & 1) !== ((b[w]! >> x) & 1))) continue;
      image.push(w);
      if (extend(used | (1 << w))) return true;
      image.pop();
    }
    return false;
  };
  return extend(0);
}

/**
 * Every connected graph of `nodes` nodes, one of each kind. Each has a node without which it stays connected: all come from
 * the connected graphs of one node fewer, with a node added.
 */
export function connectedGraphs(nodes: number): Masks[] {
  if (nodes === 1) return [[0]];
  const found = new Map<string, Masks[]>();
  for (const smaller of connectedGraphs(nodes - 1)) {
    for (let near = 1; near < 1 << (nodes - 1); near++) {
      const graph = [...smaller.map((mask, v) => mask | (((near >> v) & 1) << (nodes - 1))), near];
      const key = invariant(graph);
      const same = found.get(key) ?? [];
      if (same.some((other) => isIsomorphic(graph, other))) continue;
      same.push(graph);
      found.set(key, same);
    }
  }
  return [...found.values()].flat();
}
