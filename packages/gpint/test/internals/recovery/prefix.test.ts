import { type Graph, GraphBuilder, grid, type PrefixRequest, wattsStrogatz } from '@int/gpint';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { farthestFromEntries, prefixFinder } from '../../../src/recovery/prefix.js';
import { SEED } from '../../seed.js';

const nothing: PrefixRequest['avoid'] = () => false;

/** Hops from each node to the target, around what is to be avoided, the long way round: by relaxing until it stands. */
function distances(graph: Graph, target: number, avoid: PrefixRequest['avoid']): number[] {
  const distance = new Array<number>(graph.nodeCount).fill(Number.POSITIVE_INFINITY);
  distance[target] = 0;
  for (let round = 0; round < graph.nodeCount; round++) {
    for (let node = 0; node < graph.nodeCount; node++) {
      for (let at = graph.first[node]!; at < graph.first[node + 1]!; at++) {
        const next = graph.neighbours[at]!;
        if (!avoid(node, next)) distance[node] = Math.min(distance[node]!, distance[next]! + 1);
      }
    }
  }
  return distance;
}

describe('the way from an entry to where a probe begins', () => {
  it('is empty at an entry', () => {
    expect(prefixFinder(grid(3, 3), [4], 8)({ target: 4, attempt: 0, avoid: nothing })).toEqual([]);
  });

  it('is a shortest one, around what is to be avoided', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(19), fc.integer({ min: 0, max: 6 }), (seed, target, spoiled) => {
        const graph = wattsStrogatz(20, 4, 0.2, seed);
        const random = new Random(seed);
        const entries = [random.integer(20), random.integer(20)];
        const bad = new Set(Array.from({ length: spoiled }, () => random.integer(graph.linkCount)));
        const avoid = (from: number, to: number): boolean => bad.has(graph.linkBetween(from, to));
        const distance = distances(graph, target, avoid);
        const nearest = Math.min(...entries.map((entry) => distance[entry]!));
        fc.pre(nearest < 19);
        const prefix = prefixFinder(graph, entries, 19)({ target, attempt: 0, avoid });
        expect(prefix).toHaveLength(nearest);
        const route = [...prefix, target];
        expect(entries).toContain(route[0]);
        for (let at = 1; at < route.length; at++) {
          expect(graph.positionOf(route[at - 1]!, route[at]!)).toBeGreaterThanOrEqual(0);
          expect(avoid(route[at - 1]!, route[at]!)).toBe(false);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('comes from the next entry at the next attempt', () => {
    const find = prefixFinder(grid(1, 7), [0, 6], 6);
    const first = [0, 1, 2, 3].map((attempt) => find({ target: 2, attempt, avoid: nothing })[0]);
    expect(first).toEqual([0, 6, 0, 6]);
  });

  it('takes what is to be avoided where there is no other way, or only one that is too long', () => {
    const graph = grid(1, 4);
    expect(prefixFinder(graph, [0], 3)({ target: 3, attempt: 0, avoid: () => true })).toEqual([0, 1, 2]);
    const loop = new GraphBuilder();
    for (let node = 0; node < 6; node++) loop.addLink(`s${node}`, `s${(node + 1) % 6}`);
    const around = loop.build();
    const avoid: PrefixRequest['avoid'] = (from, to) => from + to === 1;
    expect(prefixFinder(around, [0], 5)({ target: 1, attempt: 0, avoid })).toEqual([0, 5, 4, 3, 2]);
    expect(prefixFinder(around, [0], 4)({ target: 1, attempt: 0, avoid })).toEqual([0]);
  });

  it('is empty if there is none', () => {
    const graph = new GraphBuilder().addLink('a', 'b').addLink('c', 'd').build();
    expect(prefixFinder(graph, [0], 3)({ target: 3, attempt: 0, avoid: nothing })).toEqual([]);
  });

  it('is as long as farthestFromEntries says, at most', () => {
    const graph = grid(5, 8);
    const find = prefixFinder(graph, [0, 17], farthestFromEntries(graph, [0, 17]));
    const lengths = graph.names.map((_, target) => find({ target, attempt: 0, avoid: nothing }).length);
    expect(Math.max(...lengths)).toBe(farthestFromEntries(graph, [0, 17]));
  });
});
