import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { type Graph, GraphBuilder, grid, Paths, ring, star, wattsStrogatz } from '../../../src/index.js';
import type { CoverProblem } from '../../../src/planner/problem.js';
import { solveCover } from '../../../src/planner/solve.js';
import { look } from '../../planner/check.js';

function problem(graph: Graph, paths: number, more: Partial<CoverProblem> = {}): CoverProblem {
  return {
    graph,
    paths,
    required: null,
    entries: null,
    initial: null,
    random: new Random(5),
    budgetMs: Number.POSITIVE_INFINITY,
    clock: () => 0,
    bound: { longest: 1, overlap: 0 },
    ...more,
  };
}

function mask(graph: Graph, nodes: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: graph.nodeCount }, (_, v) => (nodes.includes(v) ? 1 : 0));
}

describe('solveCover', () => {
  it('visits the nodes that are required, through the others where it must', () => {
    const graph = ring(12);
    const required = mask(graph, [0, 2, 4]);
    const { paths } = solveCover(problem(graph, 1, { required }));
    expect(look(graph, paths, required).longest).toBe(5);
  });

  it('leaves nodes alone that are not required and not on the way', () => {
    const graph = star(50);
    const required = mask(graph, [7, 8, 9, 10]);
    const { paths } = solveCover(problem(graph, 2, { required }));
    const { longest } = look(graph, paths, required);
    expect(longest).toBe(3);
    expect(paths.visits.length).toBe(6);
  });

  it('visits many required nodes of a network of which a part is not required', () => {
    const graph = wattsStrogatz(400, 4, 0.1, 1);
    const required = Uint8Array.from({ length: 400 }, (_, v) => (v % 5 === 0 ? 0 : 1));
    const { paths } = solveCover(problem(graph, 40, { required, bound: { longest: 8, overlap: 0 } }));
    expect(paths.count).toBe(40);
    expect(look(graph, paths, required).longest).toBeLessThanOrEqual(10);
  });

  it('starts from a cover given, whatever is wrong with it', () => {
    const graph = grid(10, 10);
    const initial = Paths.from([[0, 1, 2, 1, 0], [99, 3], [50]]);
    const { paths, optimal } = solveCover(problem(graph, 10, { initial, bound: { longest: 10, overlap: 0 } }));
    expect(look(graph, paths)).toMatchObject({ longest: 10, overlap: 0 });
    expect(optimal).toBe(true);
  });

  it('covers the parts of a graph that falls apart if there are paths enough, and refuses if not', () => {
    const builder = new GraphBuilder();
    for (let v = 0; v < 40; v++) builder.addNode(`s${v}`);
    for (let v = 0; v < 40; v++) if (v % 10 !== 9) builder.addLink(v, v + 1);
    const graph = builder.build();
    expect(look(graph, solveCover(problem(graph, 4)).paths)).toMatchObject({ longest: 10, overlap: 0 });
    expect(() => solveCover(problem(graph, 3))).toThrow(/fewer/);
  });

  it('ends when its time is up, wherever it is by then', () => {
    const graph = star(300);
    const asked: number[] = [];
    for (const budgetMs of [0, 1, 5, 20, 100, 400]) {
      let now = 0;
      const { paths } = solveCover(problem(graph, 40, { budgetMs, clock: () => now++ }));
      look(graph, paths);
      // The clock goes on by a millisecond whenever it is read.
      expect(now).toBeLessThan(budgetMs + 12);
      asked.push(now);
    }
    expect(asked).toEqual(asked.toSorted((a, b) => a - b));
  });

  it('works where nothing is required', () => {
    const graph = ring(4);
    const { paths } = solveCover(problem(graph, 2, { required: new Uint8Array(4) }));
    expect(paths.count).toBe(2);
    look(graph, paths, new Uint8Array(4));
  });
});
