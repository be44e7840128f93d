import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { leafSpineGraph } from '../../../src/graph/generate/regular.js';
import { fatTreeGraph, type Graph, grid, lowerBounds, parseEdgeList, star, wattsStrogatz } from '../../../src/index.js';
import { bestCovers } from '../../plan/brute-force.js';
import { SEED } from '../../seed.js';
import { anyGraph, connectedGraph, graphOf } from '../graph/samples.js';

const anyMask = (n: number): fc.Arbitrary<Uint8Array | null> =>
  fc.option(
    fc.array(fc.nat({ max: 1 }), { minLength: n, maxLength: n }).map((bits) => Uint8Array.from(bits)),
    { freq: 2 },
  );

/** A graph with a number of paths and, sometimes, masks. */
function instance(graphs: fc.Arbitrary<Graph>): fc.Arbitrary<[Graph, number, Uint8Array | null, Uint8Array | null]> {
  return graphs.chain((graph) =>
    fc.tuple(
      fc.constant(graph),
      fc.integer({ min: 1, max: graph.nodeCount + 1 }),
      anyMask(graph.nodeCount),
      anyMask(graph.nodeCount),
    ),
  );
}

describe('lowerBounds', () => {
  it('is never above what trying everything finds', () => {
    const graphs = fc.oneof(connectedGraph(6), anyGraph(6), connectedGraph(6, { weighted: true }));
    fc.assert(
      fc.property(instance(graphs), ([graph, paths, required, entries]) => {
        const bounds = lowerBounds(graph, { paths, required, entries });
        const best = bestCovers(graph, paths, required, entries);
        expect(bounds.longest).toBeLessThanOrEqual(graph.weights === null ? best.longest : best.dearest);
        expect(bounds.overlap).toBeLessThanOrEqual(best.overlap);
        expect(bounds.why).toHaveLength(2);
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
  });

  it('is never above what trying everything finds, where weights are fractions', () => {
    const graphs = connectedGraph(6, { weighted: true }).map((graph) =>
      graphOf(
        graph.nodeCount,
        Array.from({ length: graph.nodeCount }, (_, v) =>
          Array.from(graph.neighbours.subarray(graph.first[v]!, graph.first[v + 1]!), (u, i) => [
            v,
            u,
            (graph.weights?.[graph.links[graph.first[v]! + i]!] ?? 1) / 10,
          ]),
        ).flat(),
      ),
    );
    fc.assert(
      fc.property(instance(graphs), ([graph, paths, required, entries]) => {
        const bounds = lowerBounds(graph, { paths, required, entries });
        const best = bestCovers(graph, paths, required, entries);
        expect(bounds.longest).toBeLessThanOrEqual(graph.weights === null ? best.longest : best.dearest);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('is exact for stars', () => {
    for (let leaves = 1; leaves <= 40; leaves++) {
      for (let paths = 1; paths <= leaves + 3; paths++) {
        const { longest, overlap } = lowerBounds(star(leaves), { paths });
        // Each path but those of one leaf goes through the hub between leaves; the hub is one more node to visit.
        const most = Math.ceil(leaves / paths);
        const expected = paths > leaves ? 1 : most === 1 ? 2 : 2 * most - 1;
        expect([leaves, paths, longest]).toEqual([leaves, paths, expected]);
        expect(overlap).toBe(Math.max(0, leaves - paths - 1, paths - leaves - 1));
      }
    }
  });

  it('is exact for the overlap of trees', () => {
    const trees = fc
      .integer({ min: 1, max: 7 })
      .chain((n) => fc.tuple(...Array.from({ length: n - 1 }, (_, v) => fc.nat({ max: v }))))
      .map((parents) =>
        graphOf(
          parents.length + 1,
          parents.map((parent, v) => [v + 1, parent]),
        ),
      );
    fc.assert(
      fc.property(trees, fc.integer({ min: 1, max: 8 }), (graph, paths) => {
        const best = bestCovers(graph, paths);
        const { longest, overlap } = lowerBounds(graph, { paths });
        expect(overlap).toBe(best.overlap);
        expect(longest).toBeLessThanOrEqual(best.longest);
        expect(longest).toBeGreaterThanOrEqual(best.longest - 1);
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  it('knows how far a tree makes walks go back', () => {
    // Three arms of ten nodes: k walks less turn back on less.
    const arms = graphOf(
      31,
      Array.from({ length: 30 }, (_, i) => [i + 1, i % 10 === 0 ? 0 : i]),
    );
    expect(lowerBounds(arms, { paths: 1 })).toMatchObject({ longest: 41, overlap: 10 });
    expect(lowerBounds(arms, { paths: 2 })).toMatchObject({ longest: 16, overlap: 0 });
  });

  it('knows that the smaller layer of a network of two layers is passed again and again', () => {
    // 32 leaves and 4 spines on one path: a spine between any two leaves.
    expect(lowerBounds(leafSpineGraph(32, 4), { paths: 1 })).toMatchObject({ longest: 63, overlap: 27 });
    // Edge and core switches of a fat tree have aggregation switches as neighbours only.
    expect(lowerBounds(fatTreeGraph(8), { paths: 1 })).toMatchObject({ longest: 95, overlap: 15 });
    expect(lowerBounds(fatTreeGraph(88), { paths: 2904 })).toMatchObject({ longest: 4, overlap: 0 });
  });

  it('is the share of nodes where nothing stands in the way', () => {
    expect(lowerBounds(wattsStrogatz(100, 4, 0.1, 1), { paths: 30 })).toMatchObject({ longest: 4, overlap: 0 });
    expect(lowerBounds(grid(6, 6), { paths: 5 })).toMatchObject({ longest: 8, overlap: 0 });
  });

  it('finds that hanging paths cannot be joined', () => {
    // A ring of four with two leaves at each node.
    const graph = parseEdgeList('a b\nb c\nc d\nd a\na a1\na a2\nb b1\nb b2\nc c1\nc c2\nd d1\nd d2');
    expect(lowerBounds(graph, { paths: 1 })).toMatchObject({ longest: 15, overlap: 3 });
    expect(lowerBounds(graph, { paths: 2 })).toMatchObject({ longest: 7, overlap: 2 });
    expect(lowerBounds(graph, { paths: 4 })).toMatchObject({ longest: 3, overlap: 0 });
  });

  it('reaches the farthest node from an entry point, by visits or by cost', () => {
    const graph = grid(10, 1);
    const entries = new Uint8Array(10);
    entries[3] = 1;
    expect(lowerBounds(graph, { paths: 5, entries })).toMatchObject({ longest: 7, overlap: 4 });
    const weighted = graphOf(4, [
      [0, 1, 5],
      [1, 2, 2],
      [2, 3, 0.5],
      [0, 3, 9],
    ]);
    const start = Uint8Array.of(1, 0, 0, 0);
    expect(lowerBounds(weighted, { paths: 4, entries: start }).longest).toBeCloseTo(7.5, 6);
  });

  it('leaves nodes alone that need not be visited', () => {
    const required = new Uint8Array(11);
    required.fill(1, 1, 6);
    expect(lowerBounds(star(10), { paths: 1, required })).toMatchObject({ longest: 9, overlap: 3 });
    expect(lowerBounds(star(10), { paths: 1, required: new Uint8Array(11) })).toMatchObject({ longest: 1, overlap: 0 });
  });

  it('refuses a number of paths that is none', () => {
    for (const paths of [0, -1, 1.5, Number.NaN]) {
      expect(() => lowerBounds(star(3), { paths })).toThrow(RangeError);
    }
  });

  it('says why', () => {
    expect(lowerBounds(star(10), { paths: 3 }).why).toEqual([
      'longest: every second node (1) leave 10 parts: some path sees 4 of them',
      'overlap: every second node (1) leave 10 parts: 7 visits to them or more',
    ]);
  });
});
