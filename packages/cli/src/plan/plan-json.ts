/** `int plan --json`: one object, written in pieces, because a plan may have hundreds of thousands of visits. */
import type { Graph, Paths, Plan } from '@int/gpint';
import type { DataOutput } from '../output/data-output.js';
import type { Answer, Failures, Question, SecondAnswer } from './planning.js';

/** Milliseconds, rounded to the microsecond. */
const milliseconds = (value: number): number => Math.round(value * 1000) / 1000;

const names = (graph: Graph, nodes: Iterable<number>): string[] => Array.from(nodes, (node) => graph.names[node]!);

async function writePaths(output: DataOutput, graph: Graph, paths: Paths): Promise<void> {
  await output.text('[');
  for (let p = 0; p < paths.count && !output.closed; p++) {
    await output.text(p === 0 ? '[' : ',[');
    const path = paths.path(p);
    for (let i = 0; i < path.length && !output.closed; i++) {
      const wait = output.text(`${i === 0 ? '' : ','}${JSON.stringify(graph.names[path[i]!]!)}`);
      if (wait !== undefined) await wait;
    }
    await output.text(']');
  }
  await output.text(']');
}

/** Writes the fields of an object without its braces; `undefined` fields are omitted. */
function fields(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

function measures(plan: Plan, graph: Graph): object {
  const { longest, shortest, overlap, dearest, cheapest } = plan;
  return {
    longest,
    shortest,
    overlap,
    spread: longest - shortest,
    ...(graph.weights !== null && { dearest, cheapest }),
  };
}

async function writeReplan(output: DataOutput, graph: Graph, failures: Failures, second: SecondAnswer): Promise<void> {
  const { plan, kept, changed } = second.replan;
  const failed = {
    links: failures.links.map((link) => names(graph, link)),
    switches: names(graph, failures.nodes),
  };
  await output.text(`,"failed":${JSON.stringify(failed)},"replan":{"paths":`);
  await writePaths(output, graph, plan.paths);
  const rest = {
    uncovered: names(graph, plan.uncovered),
    ...measures(plan, graph),
    kept: Array.from(kept),
    changed: Array.from(changed),
    elapsedMs: milliseconds(second.elapsedMs),
  };
  await output.text(`,${fields(rest)}}`);
}

export async function writePlanJson(
  output: DataOutput,
  graph: Graph,
  question: Pick<Question, 'seed'>,
  { plan, elapsedMs, bounds, dearest }: Answer,
  failures: Failures,
  second: SecondAnswer | null,
): Promise<void> {
  await output.text('{"paths":');
  await writePaths(output, graph, plan.paths);
  const { spread, ...asked } = measures(plan, graph) as { spread: number };
  const rest = {
    uncovered: names(graph, plan.uncovered),
    ...asked,
    bound: {
      longest: bounds.longest,
      overlap: bounds.overlap,
      ...(dearest !== null && { dearest }),
      why: bounds.why,
    },
    elapsedMs: milliseconds(elapsedMs),
    spread,
    gap: { longest: plan.longest - bounds.longest, overlap: plan.overlap - bounds.overlap },
    optimal: plan.optimal,
    algorithm: plan.algorithm,
    seed: question.seed,
    switches: graph.nodeCount,
    links: graph.linkCount,
    visits: plan.paths.visits.length,
  };
  await output.text(`,${fields(rest)}`);
  if (second !== null) await writeReplan(output, graph, failures, second);
  await output.line('}');
}
