import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { leafSpineGraph } from '../../../src/graph/generate/regular.js';
import {
  erdosRenyi,
  fatTreeGraph,
  type Graph,
  GraphBuilder,
  gpint,
  grid,
  lowerBounds,
  star,
  wattsStrogatz,
} from '../../../src/index.js';
import { look } from '../../planner/check.js';

/** A tree of `n` nodes: each but the first hangs on a random one before it. */
function randomTree(n: number, seed: number): Graph {
  const random = new Random(seed).derive('tree');
  const builder = new GraphBuilder();
  for (let v = 0; v < n; v++) builder.addNode(`s${v + 1}`);
  for (let v = 1; v < n; v++) builder.addLink(v, random.integer(v));
  return builder.build();
}

describe('plans of Watts-Strogatz graphs', () => {
  it.each([20, 30, 50])(
    'of 100 nodes by %i paths are perfect for 100 seeds: no overlap, lengths as equal as can be',
    (paths) => {
      const graphs = Array.from({ length: 100 }, (_, seed) => wattsStrogatz(100, 4, 0.1, seed));
      const perfect = graphs.filter((graph, seed) => {
        const plan = gpint(graph, { paths, seed });
        const { longest, shortest, overlap } = look(graph, plan.paths);
        expect(plan.paths.count).toBe(paths);
        return overlap === 0 && longest === Math.ceil(100 / paths) && shortest === Math.floor(100 / paths);
      });
      expect(perfect.length).toBeGreaterThanOrEqual(99);
    },
  );

  it('of 1000 nodes by 1 to 50 long paths have the lengths of the floor or one more, without overlap', () => {
    for (const paths of [1, 2, 3, 10, 20, 50]) {
      for (let seed = 0; seed < 2; seed++) {
        const graph = wattsStrogatz(1000, 4, 0.1, seed);
        const { longest, overlap } = look(graph, gpint(graph, { paths }).paths);
        expect({ paths, seed, overlap }).toEqual({ paths, seed, overlap: 0 });
        expect(longest).toBeLessThanOrEqual(Math.ceil(1000 / paths) + (paths === 1 ? 0 : 1));
      }
    }
  });
});

describe('plans of regular networks', () => {
  it('of the fat tree of 9,680 switches by 2,904 paths visit no switch twice and at most five on a path', () => {
    const graph = fatTreeGraph(88);
    const plan = gpint(graph, { paths: 2904 });
    const { longest, shortest, overlap } = look(graph, plan.paths);
    expect(plan.paths.count).toBe(2904);
    expect(overlap).toBe(0);
    expect(longest).toBeLessThanOrEqual(5);
    expect(shortest).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ['fat tree of 320', fatTreeGraph(16), [1, 8, 40, 64, 96, 128]],
    ['fat tree of 80', fatTreeGraph(8), [1, 5, 20, 24]],
    ['32 leaves and 8 spines', leafSpineGraph(32, 8), [1, 5, 24]],
    ['grid of 30 by 30', grid(30, 30), [1, 3, 9, 18, 45]],
    ['grid of 31 by 31', grid(31, 31), [1, 3, 10]],
    ['star of 100 leaves', star(100), [1, 2, 3, 7, 10, 30, 50, 99, 100, 101]],
    ['star of 10,000 leaves', star(10_000), [10, 100, 3000]],
    ['complete graph of 40', erdosRenyi(40, 1, 1), [1, 3, 11, 39]],
  ])('meet the floor: %s', (_, graph, counts) => {
    for (const paths of counts) {
      const plan = gpint(graph, { paths });
      const floor = lowerBounds(graph, { paths });
      const { longest, overlap } = look(graph, plan.paths);
      expect({ paths, longest, overlap, optimal: plan.optimal }).toEqual({
        paths,
        longest: floor.longest,
        overlap: floor.overlap,
        optimal: true,
      });
    }
  });
});

describe('plans of stars', () => {
  it.each([1, 2, 3, 4, 9, 20, 57, 200])('of %i leaves are optimal for every number of paths', (leaves) => {
    const graph = star(leaves);
    for (let paths = 1; paths <= leaves; paths += Math.max(1, Math.floor(leaves / 12))) {
      const { longest, overlap } = look(graph, gpint(graph, { paths }).paths);
      // A path with j leaves passes the centre between each two of them: 2 j - 1 visits. If all paths have one leaf, one of
      // them visits the centre as well.
      const most = Math.ceil(leaves / paths);
      expect({ paths, longest, overlap }).toEqual({
        paths,
        longest: most === 1 ? 2 : 2 * most - 1,
        overlap: most === 1 ? 0 : leaves - paths - 1,
      });
    }
  });
});

describe('plans of trees', () => {
  it('by one path visit every link twice, but those of a longest way', () => {
    for (let seed = 0; seed < 12; seed++) {
      const n = 12 + 3 * seed;
      const graph = randomTree(n, seed);
      const far = (from: number): { readonly node: number; readonly hops: number } => {
        const hops = new Map([[from, 0]]);
        let node = from;
        for (const v of hops.keys()) {
          node = v;
          for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
            const u = graph.neighbours[i]!;
            if (!hops.has(u)) hops.set(u, hops.get(v)! + 1);
          }
        }
        return { node, hops: hops.get(node)! };
      };
      const diameter = far(far(0).node).hops;
      const { longest } = look(graph, gpint(graph, { paths: 1 }).paths);
      expect({ n, longest }).toEqual({ n, longest: 2 * (n - 1) - diameter + 1 });
    }
  });

  it('by more paths come near the floor', () => {
    let longest = 0;
    let floor = 0;
    for (let seed = 0; seed < 20; seed++) {
      const graph = randomTree(12 + seed, seed);
      const paths = 2 + (seed % 7);
      longest += look(graph, gpint(graph, { paths }).paths).longest;
      floor += lowerBounds(graph, { paths }).longest;
    }
    expect(longest / floor).toBeLessThan(1.25);
  });
});
