/** The best covers of small graphs, by trying all walks: written without a look at the planner. */
export interface Optimum {
  readonly longest: number;
  readonly overlap: number;
  readonly spread: number;
}

/** For each set of nodes: fewest visits of a walk that visits these and no others; Infinity if there is none. */
function shortestWalks(graph: readonly number[], entries: number): number[] {
  const n = graph.length;
  const visits: number[] = new Array((1 << n) * n).fill(Number.POSITIVE_INFINITY);
  const queue: number[] = [];
  for (let v = 0; v < n; v++) {
    if (((entries >> v) & 1) === 0) continue;
    visits[(1 << v) * n + v] = 1;
    queue.push((1 << v) * n + v);
  }
  for (const state of queue) {
    const v = state % n;
    const set = (state - v) / n;
    for (let u = 0; u < n; u++) {
      if (((graph[v]! >> u) & 1) === 0) continue;
      const next = (set | (1 << u)) * n + u;
      if (visits[next]! < Number.POSITIVE_INFINITY) continue;
      visits[next] = visits[state]! + 1;
      queue.push(next);
    }
  }
  return Array.from({ length: 1 << n }, (_, set) => Math.min(...visits.slice(set * n, set * n + n)));
}

/**
 * Longest walk, overlap and spread of the best cover by each number of walks from 1 to `most`: the longest as short as can be,
 * then the overlap, then the spread. `entries` has a bit for each node at which a walk may start.
 */
export function optima(graph: readonly number[], most: number, entries = -1): Optimum[] {
  const n = graph.length;
  const sets = 1 << n;
  const walks = shortestWalks(graph, entries);
  const useful = walks.flatMap((visits, set) => (visits < Number.POSITIVE_INFINITY ? [{ set, visits }] : []));
  /** Least of a value over all choices of j walks that visit everything, for j from 1 to `count`. */
  const least = (count: number, combine: (sum: number, visits: number) => number): number[] => {
    let layer: number[] = new Array(sets).fill(Number.POSITIVE_INFINITY);
    layer[0] = 0;
    const out: number[] = [];
    for (let j = 0; j < count; j++) {
      const next: number[] = new Array(sets).fill(Number.POSITIVE_INFINITY);
      for (let covered = 0; covered < sets; covered++) {
        const before = layer[covered]!;
        if (before === Number.POSITIVE_INFINITY) continue;
        for (const { set, visits } of useful) {
          const value = combine(before, visits);
          if (value < next[covered | set]!) next[covered | set] = value;
        }
      }
      layer = next;
      out.push(layer[sets - 1]!);
    }
    return out;
  };
  const longest = least(most, Math.max);
  const sums = new Map<string, number[]>();
  /** Fewest visits with walks of `low` to `high` visits. */
  const sumOf = (low: number, high: number): number[] => {
    const key = `${low} ${high}`;
    const known = sums.get(key);
    if (known !== undefined) return known;
    const made = least(most, (sum, visits) =>
      visits < low || visits > high ? Number.POSITIVE_INFINITY : sum + visits,
    );
    sums.set(key, made);
    return made;
  };
  return longest.map((high, j) => {
    const sum = sumOf(1, high)[j]!;
    let low = 1;
    while (low < high && sumOf(low + 1, high)[j]! === sum) low++;
    return { longest: high, overlap: sum - n, spread: high - low };
  });
}
