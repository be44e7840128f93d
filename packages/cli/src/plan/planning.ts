/** What `int plan` computes, and how long that takes. */
import {
  type Algorithm,
  type Bounds,
  euler,
  GpintError,
  type Graph,
  gpint,
  lowerBounds,
  type Plan,
  perNode,
  type Replan,
  replan,
} from '@int/gpint';
import { CliError, EXIT } from '../io.js';
import { withoutWeights } from './topology.js';

export interface Question {
  readonly algorithm: Algorithm;
  /** Number of paths, with `gpint`. */
  readonly paths: number | undefined;
  readonly seed: number | string;
  readonly budgetMs: number | undefined;
  /** Switches at which paths may start; `null`: any. */
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
  /** Floors under longest and overlap, in visits. */
  readonly bounds: Bounds;
  /** The floor under the dearest path, where links have weights. */
  readonly dearest: number | null;
}

export interface SecondAnswer {
  readonly replan: Replan;
  readonly elapsedMs: number;
}

/** What the errors of planners mean for the one who typed the command. */
function refusal(error: unknown): unknown {
  if (error instanceof RangeError) return new CliError(error.message, EXIT.USAGE, error);
  if (!GpintError.is(error)) return error;
  switch (error.code) {
    case 'DISCONNECTED':
      return new CliError(`${error.message}; --per-component plans each of them`, EXIT.INPUT, error);
    case 'EMPTY_GRAPH':
      return new CliError(error.message, EXIT.INPUT, error);
    default:
      return new CliError(error.message, EXIT.USAGE, error);
  }
}

function planned(graph: Graph, question: Question): Plan {
  const { algorithm, paths, seed, budgetMs, entries, perComponent } = question;
  if (algorithm === 'euler') return euler(graph, { perComponent });
  if (algorithm === 'per-node') return perNode(graph);
  return gpint(graph, {
    paths: paths!,
    seed,
    perComponent,
    ...(budgetMs !== undefined && { budgetMs }),
    ...(entries !== null && { entries }),
  });
}

/**
 * Plans. `elapsedMs` is the planner alone; the floors that it computes for itself are computed again for the answer.
 *
 * @throws CliError if there is no such plan
 */
export function answer(graph: Graph, question: Question): Answer {
  let plan: Plan;
  const started = performance.now();
  try {
    plan = planned(graph, question);
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

/** Plans anew what failures broke. @throws CliError if that cannot be */
export function secondAnswer(graph: Graph, plan: Plan, failures: Failures, question: Question): SecondAnswer {
  const { seed, budgetMs, entries } = question;
  const started = performance.now();
  try {
    const again = replan(graph, plan, failures, {
      seed,
      ...(budgetMs !== undefined && { budgetMs }),
      ...(entries !== null && { entries }),
    });
    return { replan: again, elapsedMs: performance.now() - started };
  } catch (error) {
    throw refusal(error);
  }
}
