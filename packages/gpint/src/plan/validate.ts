import type { Graph } from '../graph/graph.js';
import type { Paths } from './plan.js';

/** Codes of problems with paths. New codes are appended; codes are never renamed. */
export type PathProblemCode =
  /** The starts of the paths do not ascend from 0 to the number of visits. Nothing else was checked. */
  | 'BAD_STARTS'
  /** A wrong number of paths. */
  | 'COUNT'
  /** A path without visits. */
  | 'EMPTY_PATH'
  /** A visit to an unknown node. */
  | 'ERR_GPINT_UNKNOWN_NODE'
  /** A visit to a node that is not a neighbour of the previous one. */
  | 'NO_LINK'
  /** A path that begins at a node other than an entry point. */
  | 'NO_ENTRY'
  /** A node that no path visits. */
  | 'UNCOVERED';

/** A problem with paths. */
export interface PathProblem {
  readonly code: PathProblemCode;
  /** Number of the path, -1 if the problem concerns no single path. */
  readonly path: number;
  /** Visit within the path, from 0; -1 if the problem concerns no single visit. */
  readonly position: number;
  readonly message: string;
}

/** Expectations of paths in addition to the graph. */
export interface PlanExpectations {
  /** Number of paths; absent: any. */
  readonly paths?: number;
  /** 1 for each node at which a path may begin; absent or `null`: any. */
  readonly entries?: Uint8Array | null;
  /** 1 for each node that must be visited; absent or `null`: all. */
  readonly required?: Uint8Array | null;
}

/** The result of {@link validatePlan}. The numbers exclude visits to unknown nodes and missing links. */
export interface PlanReport {
  readonly valid: boolean;
  readonly problems: readonly PathProblem[];
  /** Required nodes that no path visits, ascending. */
  readonly uncovered: readonly number[];
  /** Visits of the longest and of the shortest path, and the difference. */
  readonly longest: number;
  readonly shortest: number;
  readonly spread: number;
  /** Total visits minus distinct visited nodes. */
  readonly overlap: number;
  /** Cost of the dearest and the cheapest path: the sum of its links' weights, or their number without weights. */
  readonly dearest: number;
  readonly cheapest: number;
}

function startsAreSound(paths: Paths): boolean {
  const { starts, visits } = paths;
  if (starts.length === 0 || starts[0] !== 0 || starts[starts.length - 1] !== visits.length) return false;
  for (let p = 1; p < starts.length; p++) {
    if (starts[p]! < starts[p - 1]!) return false;
  }
  return true;
}

/** Walks along one path, records visits and problems, and returns its cost. */
function inspect(
  graph: Graph,
  path: Uint32Array,
  number: number,
  entries: Uint8Array | null,
  seen: Set<number>,
  problems: PathProblem[],
): number {
  const name = (node: number): string => graph.names[node] ?? `node ${node}`;
  const report = (code: PathProblemCode, position: number, message: string): void => {
    problems.push({ code, path: number, position, message });
  };
  if (path.length === 0) report('EMPTY_PATH', -1, `path ${number} is empty`);
  let cost = 0;
  for (const [position, node] of path.entries()) {
    if (node >= graph.nodeCount) {
      report(
        'ERR_GPINT_UNKNOWN_NODE',
        position,
        `path ${number} visits ${node}, and nodes end at ${graph.nodeCount - 1}`,
      );
      continue;
    }
    seen.add(node);
    if (position === 0) {
      if (entries !== null && entries[node] !== 1) {
        report('NO_ENTRY', 0, `path ${number} begins at ${name(node)}, which is no entry point`);
      }
      continue;
    }
    const before = path[position - 1]!;
    if (before >= graph.nodeCount) continue;
    const link = graph.linkBetween(before, node);
    if (link < 0)
      report('NO_LINK', position, `path ${number} goes from ${name(before)} to ${name(node)} without a link`);
    else cost += graph.cost(link);
  }
  return cost;
}

/**
 * Checks paths against a graph: that each is a walk, and that together they visit all required nodes; and measures
 * them. It shares no code with the planners, never throws, and reports all problems.
 */
export function validatePlan(graph: Graph, paths: Paths, expectations: PlanExpectations = {}): PlanReport {
  const problems: PathProblem[] = [];
  const seen = new Set<number>();
  const lengths: number[] = [];
  const costs: number[] = [];
  if (startsAreSound(paths)) {
    for (let p = 0; p < paths.count; p++) {
      const path = paths.path(p);
      lengths.push(path.length);
      costs.push(inspect(graph, path, p, expectations.entries ?? null, seen, problems));
    }
  } else {
    problems.push({
      code: 'BAD_STARTS',
      path: -1,
      position: -1,
      message: `where paths begin does not ascend from 0 to ${paths.visits.length}`,
    });
  }
  if (expectations.paths !== undefined && expectations.paths !== lengths.length) {
    const message = `${lengths.length} paths instead of ${expectations.paths}`;
    problems.push({ code: 'COUNT', path: -1, position: -1, message });
  }
  const uncovered: number[] = [];
  for (const [node, name] of graph.names.entries()) {
    if (seen.has(node) || (expectations.required ?? null)?.[node] === 0) continue;
    uncovered.push(node);
    problems.push({ code: 'UNCOVERED', path: -1, position: -1, message: `no path visits ${name}` });
  }
  // Not `Math.max(...values)`, because there may be more paths than a call takes arguments.
  const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
  const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);
  const unknown = problems.reduce((count, { code }) => count + (code === 'ERR_GPINT_UNKNOWN_NODE' ? 1 : 0), 0);
  return {
    valid: problems.length === 0,
    problems,
    uncovered,
    longest: most(lengths),
    shortest: least(lengths),
    spread: most(lengths) - least(lengths),
    overlap: lengths.reduce((a, b) => a + b, 0) - unknown - seen.size,
    dearest: most(costs),
    cheapest: least(costs),
  };
}
