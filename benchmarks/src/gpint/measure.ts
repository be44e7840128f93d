import { performance } from 'node:perf_hooks';
import { type Graph, gpint, lowerBounds, validatePlan } from '@int/gpint';
import { CONTENDERS, type Contender } from './contenders.js';

/** What a planner made of one network. */
interface Figures {
  readonly paths: number;
  readonly longest: number;
  readonly shortest: number;
  readonly overlap: number;
  /** Median time of a plan, in milliseconds. */
  readonly ms: number;
}

export interface Comparison {
  readonly network: string;
  readonly nodes: number;
  readonly links: number;
  readonly paths: number;
  readonly floor: { readonly longest: number; readonly overlap: number };
  readonly planners: Readonly<Record<string, Figures>>;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Means over seeds of what a planner makes of graphs, each checked to be a plan at all. */
function run(contender: Contender, graphs: readonly Graph[], paths: number, repeats: number): Figures {
  const times: number[] = [];
  const sum = { paths: 0, longest: 0, shortest: 0, overlap: 0 };
  for (const [seed, graph] of graphs.entries()) {
    const plan = contender.prepare(graph, paths);
    for (let i = 0; i < repeats; i++) {
      const begun = performance.now();
      const found = plan(seed);
      times.push(performance.now() - begun);
      if (i > 0) continue;
      const report = validatePlan(graph, found);
      if (!report.valid) throw new Error(`${contender.name}: ${report.problems[0]!.message}`);
      sum.paths += found.count;
      sum.longest += report.longest;
      sum.shortest += report.shortest;
      sum.overlap += report.overlap;
    }
  }
  const mean = (total: number): number => total / graphs.length;
  return {
    paths: mean(sum.paths),
    longest: mean(sum.longest),
    shortest: mean(sum.shortest),
    overlap: mean(sum.overlap),
    ms: median(times),
  };
}

/** All planners on the same graphs of one kind; numbers are means over the graphs. */
export function compare(network: string, graphs: readonly Graph[], paths: number, repeats: number): Comparison {
  const floors = graphs.map((graph) => lowerBounds(graph, { paths }));
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  return {
    network,
    nodes: graphs[0]!.nodeCount,
    links: graphs[0]!.linkCount,
    paths,
    floor: { longest: mean(floors.map((f) => f.longest)), overlap: mean(floors.map((f) => f.overlap)) },
    planners: Object.fromEntries(CONTENDERS.map((each) => [each.name, run(each, graphs, paths, repeats)])),
  };
}

interface ScalePoint {
  readonly network: string;
  readonly nodes: number;
  readonly links: number;
  readonly ms: number;
  readonly nsPerLink: number;
}

/** Median time of `repeats` plans with as many seeds, after one that is not counted. */
export function scale(network: string, graph: Graph, paths: number, repeats: number): ScalePoint {
  const times: number[] = [];
  for (let seed = 0; seed <= repeats; seed++) {
    const begun = performance.now();
    gpint(graph, { paths, seed });
    if (seed > 0) times.push(performance.now() - begun);
  }
  const ms = median(times);
  return { network, nodes: graph.nodeCount, links: graph.linkCount, ms, nsPerLink: (ms * 1e6) / graph.linkCount };
}

/** A plan against the floors under all plans of its network. */
export interface Quality {
  readonly network: string;
  readonly nodes: number;
  readonly links: number;
  readonly paths: number;
  readonly longest: number;
  readonly spread: number;
  readonly overlap: number;
  readonly floor: { readonly longest: number; readonly overlap: number };
  /** Longest path less its floor. */
  readonly gap: number;
  readonly ms: number;
}

export function quality(network: string, graph: Graph, paths: number): Quality {
  const floor = lowerBounds(graph, { paths });
  const begun = performance.now();
  const plan = gpint(graph, { paths });
  const ms = performance.now() - begun;
  const report = validatePlan(graph, plan.paths, { paths });
  if (!report.valid) throw new Error(`${network}: ${report.problems[0]!.message}`);
  return {
    network,
    nodes: graph.nodeCount,
    links: graph.linkCount,
    paths,
    longest: report.longest,
    spread: report.spread,
    overlap: report.overlap,
    floor: { longest: floor.longest, overlap: floor.overlap },
    gap: report.longest - floor.longest,
    ms,
  };
}
