/**
 * The computation of `int plan`, with its duration. Input and result are plain data, so that another thread can do it.
 */
import {
  type Algorithm,
  type Bounds,
  euler,
  GpintError,
  Graph,
  gpint,
  lowerBounds,
  Paths,
  type Plan,
  perNode,
  type Replan,
  replan,
} from '@int/gpint';
import { given } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { failureOf, graphOf, nodesOf, type TopologySource, type Weights, withoutWeights } from './topology.js';

/** The task, with names as typed. */
export interface PlanTask {
  readonly source: TopologySource;
  readonly weights: Weights;
  readonly question: Omit<Question, 'entries'>;
  readonly entries: readonly string[] | null;
  readonly failures: readonly string[];
}

export interface Planned {
  readonly graph: Graph;
  readonly failures: Failures;
  readonly first: Answer;
  /** The new plan after failures; null without failures. */
  readonly second: SecondAnswer | null;
}

export interface Question {
  readonly algorithm: Algorithm;
  /** Number of paths, with `gpint`. */
  readonly paths: number | undefined;
  readonly seed: number | string;
  readonly budgetMs: number | undefined;
  /** Switches at which paths may start; `null` for any. */
  readonly entries: readonly number[] | null;
  readonly perComponent: boolean;
}

/** Links and switches that fail after planning. */
export interface Failures {
  readonly links: readonly (readonly [number, number])[];
  readonly nodes: readonly number[];
}

export interface Answer {
  readonly plan: Plan;
  readonly elapsedMs: number;
  /** Lower bounds of longest path and overlap, in visits. */
  readonly bounds: Bounds;
  /** Lower bound of the dearest path, if links have weights. */
  readonly dearest: number | null;
}

export interface SecondAnswer {
  readonly replan: Replan;
  readonly elapsedMs: number;
}

/** Converts errors of planners into errors of the command. */
function refusal(error: unknown): unknown {
  if (error instanceof RangeError) return new CliError(error.message, EXIT.USAGE, error);
  if (!GpintError.is(error)) return error;
  switch (error.code) {
    case 'ERR_GPINT_DISCONNECTED':
      return new CliError(`${error.message}; --per-component plans each of them`, EXIT.INPUT, error);
    case 'ERR_GPINT_EMPTY_GRAPH':
      return new CliError(error.message, EXIT.INPUT, error);
    default:
      return new CliError(error.message, EXIT.USAGE, error);
  }
}

function makePlan(graph: Graph, question: Question): Plan {
  const { algorithm, paths, seed, budgetMs, entries, perComponent } = question;
  if (algorithm === 'euler') return euler(graph, { perComponent });
  if (algorithm === 'per-node') return perNode(graph);
  return gpint(graph, {
    paths: paths!,
    seed,
    perComponent,
    ...given({ budgetMs, entries: entries ?? undefined }),
  });
}

/**
 * Plans paths. `elapsedMs` is the time of the planner alone. The lower bounds are computed again for the answer.
 *
 * @throws CliError if no plan exists
 */
function answer(graph: Graph, question: Question): Answer {
  let plan: Plan;
  const started = performance.now();
  try {
    plan = makePlan(graph, question);
  } catch (error) {
    throw refusal(error);
  }
  const elapsedMs = performance.now() - started;
  const paths = plan.paths.count;
  const entries = question.entries === null ? null : Uint8Array.from(graph.names, () => 0);
  for (const node of question.entries ?? []) entries![node] = 1;
  const bounds = lowerBounds(withoutWeights(graph), { paths, entries });
  const dearest = graph.weights === null ? null : lowerBounds(graph, { paths, entries }).longest;
  return { plan, elapsedMs, bounds, dearest };
}

/** Replans the paths that failures broke. @throws CliError if no plan exists */
function secondAnswer(graph: Graph, plan: Plan, failures: Failures, question: Question): SecondAnswer {
  const { seed, budgetMs, entries } = question;
  const started = performance.now();
  try {
    const again = replan(graph, plan, failures, { seed, ...given({ budgetMs, entries: entries ?? undefined }) });
    return { replan: again, elapsedMs: performance.now() - started };
  } catch (error) {
    throw refusal(error);
  }
}

/**
 * Makes the graph and a plan, then replans the paths that failures break.
 *
 * @throws CliError if the graph is invalid or no plan exists
 */
export function planned({ source, weights, question, entries, failures }: PlanTask): Planned {
  const graph = graphOf(source, question.seed, weights);
  const asked: Question = { ...question, entries: entries === null ? null : nodesOf(graph, entries, '--entries') };
  const broken = failures.map((text) => failureOf(graph, text));
  const failed: Failures = {
    links: broken.flatMap((each) => ('link' in each ? [each.link] : [])),
    nodes: broken.flatMap((each) => ('node' in each ? [each.node] : [])),
  };
  const first = answer(graph, asked);
  const second = broken.length === 0 ? null : secondAnswer(graph, first.plan, failed, asked);
  return { graph, failures: failed, first, second };
}

function withPaths(plan: Plan): Plan {
  return { ...plan, paths: new Paths(plan.paths.visits, plan.paths.starts) };
}

/** Restores the classes of a result from another thread, which are lost in the copy. */
export function revived({ graph, failures, first, second }: Planned): Planned {
  return {
    graph: new Graph(graph),
    failures,
    first: { ...first, plan: withPaths(first.plan) },
    second: second && { ...second, replan: { ...second.replan, plan: withPaths(second.replan.plan) } },
  };
}
