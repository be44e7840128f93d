/** Every plan is a plan: random graphs of all generators, each checked here from the links alone. */

import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { leafSpineGraph } from '../../src/graph/generate/regular.js';
import {
  erdosRenyi,
  fatTreeGraph,
  type Graph,
  GraphBuilder,
  gpint,
  grid,
  ring,
  star,
  validatePlan,
  wattsStrogatz,
} from '../../src/index.js';
import { SEED } from '../seed.js';

const GRAPHS = process.env.INT_LONG === '1' ? 10_000 : 1000;
/** Looks at the clock that a plan may take: the search is cut short at any place, and the plan must be a plan all the same. */
const MOST_LOOKS = 40;

/** A tree with some links more: connected, and of any shape between a chain and a star. */
function treelike(n: number, random: Random): Graph {
  const builder = new GraphBuilder();
  for (let v = 0; v < n; v++) builder.addNode(`n${v}`);
  const reach = 1 + random.integer(n);
  for (let v = 1; v < n; v++) builder.addLink(v, Math.max(0, v - 1 - random.integer(reach)));
  for (let extra = random.integer(n); extra > 0; extra--) {
    const [a, b] = [random.integer(n), random.integer(n)];
    if (a !== b) builder.addLink(a, b);
  }
  return builder.build();
}

/** 2 to 200 nodes; small ones as often as large ones, since that is where the corners are. */
function graphOf(random: Random): Graph {
  const n = Math.max(2, Math.round(2 * 100 ** random.uniform()));
  switch (random.integer(9)) {
    case 0: {
      const size = Math.max(5, n);
      return wattsStrogatz(size, 4, random.uniform(), random.uint32());
    }
    case 1:
      return fatTreeGraph(2 + 2 * random.integer(6)); // 5 to 180 switches
    case 2:
      return leafSpineGraph(1 + random.integer(Math.max(1, n >>> 1)), 1 + random.integer(Math.max(1, n >>> 2)));
    case 3: {
      // Dense enough to be connected now and then; planned per component where it is not.
      return erdosRenyi(n, Math.min(1, (1 + 4 * random.uniform()) * (Math.log(n + 1) / n)), random.uint32());
    }
    case 4: {
      const width = 1 + random.integer(14);
      return grid(width, Math.max(width === 1 ? 2 : 1, Math.min(14, Math.ceil(n / width))));
    }
    case 5:
      return ring(Math.max(3, n));
    case 6:
      return star(Math.max(1, n - 1));
    default:
      return treelike(n, random);
  }
}

/** Number of components, by joining the ends of links. */
function componentsOf(graph: Graph): number {
  const head = Array.from({ length: graph.nodeCount }, (_, v) => v);
  const find = (v: number): number => {
    let at = v;
    while (head[at] !== at) at = head[at] = head[head[at]!]!;
    return at;
  };
  let count = graph.nodeCount;
  for (let v = 0; v < graph.nodeCount; v++) {
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
      const [a, b] = [find(v), find(graph.neighbours[i]!)];
      if (a === b) continue;
      head[a] = b;
      count--;
    }
  }
  return count;
}

describe('gpint', () => {
  it(`leaves no node out and walks links alone, on ${GRAPHS} graphs`, () => {
    const random = new Random(SEED).derive('validity');
    let shapes = 0;
    for (let round = 0; round < GRAPHS; round++) {
      const graph = graphOf(random);
      const parts = componentsOf(graph);
      const k = parts + random.integer(graph.nodeCount - parts + 1);
      const where = `seed ${SEED}, round ${round}: ${graph.nodeCount} nodes, ${graph.linkCount} links, k ${k}`;
      let looks = 0;
      const budgetMs = round % 10 === 0 ? Number.POSITIVE_INFINITY : random.integer(MOST_LOOKS);
      const plan = gpint(graph, { paths: k, seed: round, perComponent: parts > 1, budgetMs, clock: () => looks++ });
      const links = new Set<number>();
      for (let v = 0; v < graph.nodeCount; v++) {
        for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++)
          links.add(v * graph.nodeCount + graph.neighbours[i]!);
      }
      const seen = new Set<number>();
      let wrong = plan.paths.count === k ? '' : `${plan.paths.count} paths`;
      for (let p = 0; p < plan.paths.count; p++) {
        const path = plan.paths.path(p);
        if (path.length === 0) wrong ||= `path ${p} is empty`;
        for (const [i, node] of path.entries()) {
          seen.add(node);
          if (i > 0 && !links.has(path[i - 1]! * graph.nodeCount + node)) wrong ||= `path ${p} leaps at visit ${i}`;
        }
      }
      if (seen.size !== graph.nodeCount) wrong ||= `${graph.nodeCount - seen.size} nodes left out`;
      if (plan.uncovered.length > 0) wrong ||= 'uncovered nodes';
      if (wrong !== '') expect.fail(`${wrong}; ${where}`);
      const report = validatePlan(graph, plan.paths, { paths: k });
      if (!report.valid) expect.fail(`the validator finds ${JSON.stringify(report.problems)}; ${where}`);
      if (report.longest !== plan.longest || report.overlap !== plan.overlap)
        expect.fail(`measured otherwise; ${where}`);
      shapes += graph.linkCount;
    }
    expect(shapes).toBeGreaterThan(GRAPHS);
  }, 120_000);
});
