import { type Graph, GraphBuilder, gpint } from '@int/gpint';
import { describe, expect, it } from 'vitest';
import { look } from './check.js';
import { optima } from './optimum.js';
import { connectedGraphs } from './small-graphs.js';

function graphOf(masks: readonly number[]): Graph {
  const builder = new GraphBuilder();
  masks.forEach((_, v) => {
    builder.addNode(`s${v + 1}`);
  });
  masks.forEach((mask, v) => {
    for (let u = 0; u < v; u++) if (((mask >> u) & 1) === 1) builder.addLink(u, v);
  });
  return builder.build();
}

describe('small graphs', () => {
  it('are enumerated: 1, 1, 2, 6, 21, 112 and 853 connected ones of 1 to 7 nodes', () => {
    const counts = [1, 2, 3, 4, 5, 6, 7].map((nodes) => connectedGraphs(nodes).length);
    expect(counts).toEqual([1, 1, 2, 6, 21, 112, 853]);
  });

  it('have optimal plans: longest, overlap and spread, for every connected graph up to 6 nodes (7 with INT_LONG=1) and every number of paths', () => {
    for (let nodes = 1; nodes <= (process.env.INT_LONG === '1' ? 7 : 6); nodes++) {
      for (const masks of connectedGraphs(nodes)) {
        const graph = graphOf(masks);
        optima(masks, nodes < 7 ? nodes + 1 : nodes).forEach((best, j) => {
          const plan = gpint(graph, { paths: j + 1 });
          const { longest, shortest, overlap } = look(graph, plan.paths);
          expect({ masks, paths: plan.paths.count, longest, overlap, spread: longest - shortest }).toEqual({
            masks,
            paths: j + 1,
            ...best,
          });
          expect(plan.optimal).toBe(true);
        });
      }
    }
  });

  it('have optimal plans from every set of entries, for every connected graph up to 5 nodes', () => {
    for (let nodes = 1; nodes <= 5; nodes++) {
      for (const masks of connectedGraphs(nodes)) {
        const graph = graphOf(masks);
        for (let set = 1; set < 1 << nodes; set++) {
          const entries = masks.map((_, v) => v).filter((v) => ((set >> v) & 1) === 1);
          optima(masks, nodes + 1, set).forEach((best, j) => {
            const plan = gpint(graph, { paths: j + 1, entries });
            const { longest, shortest, overlap } = look(graph, plan.paths);
            for (let p = 0; p < plan.paths.count; p++) expect(entries).toContain(plan.paths.path(p)[0]);
            expect({ masks, entries, k: plan.paths.count, longest, overlap, spread: longest - shortest }).toEqual({
              masks,
              entries,
              k: j + 1,
              ...best,
            });
          });
        }
      }
    }
  });
});
