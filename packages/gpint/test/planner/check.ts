import type { Graph, Paths } from '@int/gpint';
import { expect } from 'vitest';

/** What a plain look at paths finds. */
export interface Look {
  readonly longest: number;
  readonly shortest: number;
  readonly overlap: number;
  /** Sums of the weights of the links of each path. */
  readonly costs: readonly number[];
}

/** Checks that paths are walks of a graph and visit every node of `required` (all, if absent), and measures them. */
export function look(graph: Graph, paths: Paths, required?: Uint8Array): Look {
  const links = new Map<number, number>();
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      links.set(v * graph.nodeCount + graph.neighbours[i]!, graph.weights?.[graph.links[i]!] ?? 1);
    }
  }
  const seen = new Set<number>();
  const lengths: number[] = [];
  const costs: number[] = [];
  for (let p = 0; p < paths.count; p++) {
    const path = [...paths.path(p)];
    lengths.push(path.length);
    let cost = 0;
    path.forEach((v, i) => {
      seen.add(v);
      if (i === 0) return;
      const weight = links.get(path[i - 1]! * graph.nodeCount + v);
      if (weight === undefined) throw new Error(`path ${p} goes from ${path[i - 1]} to ${v} without a link`);
      cost += weight;
    });
    costs.push(cost);
  }
  expect(Math.min(...lengths)).toBeGreaterThan(0);
  for (let v = 0; v < graph.nodeCount; v++) {
    if ((required === undefined || required[v] === 1) && !seen.has(v)) throw new Error(`no path visits ${v}`);
  }
  return {
    longest: Math.max(...lengths),
    shortest: Math.min(...lengths),
    overlap: paths.visits.length - seen.size,
    costs,
  };
}
