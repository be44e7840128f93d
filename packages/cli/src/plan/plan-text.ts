/** The text output of `int plan`. */
import type { Graph, Paths, Plan } from '@int/gpint';
import type { Colours } from '../output/colour.js';
import type { DataOutput } from '../output/data-output.js';
import { counted, grouped } from '../output/numbers.js';
import type { Answer, Failures, SecondAnswer } from './planning.js';

const PIECE = 1 << 12;
const ARROW = ' > ';
const MORE = ' ...';

const WHAT: Readonly<Record<Plan['algorithm'], string>> = {
  gpint: 'balanced paths',
  euler: 'trails over every link',
  'per-node': 'one path for each switch',
};

/** Writes a path in one line of at most `width` characters; Infinity for the whole path. */
async function writePath(
  output: DataOutput,
  graph: Graph,
  paths: Paths,
  p: number,
  mark: string,
  width: number,
): Promise<void> {
  const path = paths.path(p);
  let text = `${mark}${grouped(p + 1).padStart(7)} ${grouped(path.length).padStart(7)}  `;
  let room = width - text.length;
  for (let i = 0; i < path.length && !output.closed; i++) {
    const piece = `${i === 0 ? '' : ARROW}${graph.names[path[i]!]!}`;
    const isLast = i === path.length - 1;
    if (piece.length + (isLast ? 0 : MORE.length) > room) {
      text += MORE;
      break;
    }
    room -= piece.length;
    text += piece;
    if (text.length >= PIECE) {
      await output.text(text);
      text = '';
    }
  }
  await output.line(text);
}

async function writePaths(
  output: DataOutput,
  graph: Graph,
  paths: Paths,
  chosen: Iterable<number>,
  width: number,
  colour: Colours,
): Promise<void> {
  output.line(colour.bold(`${'path'.padStart(8)} ${'visits'.padStart(7)}  switches`));
  for (const p of chosen) {
    if (output.closed) return;
    await writePath(output, graph, paths, p, ' ', width);
  }
}

const number = (value: number): string =>
  Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(6)));

function row(name: string, value: number, bound: number | null, colour: Colours): string {
  const text = `  ${name.padEnd(9)}${number(value).padStart(10)}`;
  if (bound === null) return text;
  const gap = value - bound;
  const words = `${number(bound).padStart(10)}${gap === 0 ? '' : `   ${number(gap)} above`}`;
  return gap === 0 ? `${text}${colour.green(words)}` : `${text}${words}`;
}

function measureLines(plan: Plan, answer: Answer | null, isWeighted: boolean, colour: Colours): string[] {
  const { longest, shortest, overlap, dearest, cheapest } = plan;
  const bounds = answer?.bounds;
  return [
    colour.bold(`  ${''.padEnd(9)}${'plan'.padStart(10)}${bounds === undefined ? '' : 'bound'.padStart(10)}`),
    row('longest', longest, bounds?.longest ?? null, colour),
    row('shortest', shortest, null, colour),
    row('spread', longest - shortest, null, colour),
    row('overlap', overlap, bounds?.overlap ?? null, colour),
    ...(isWeighted
      ? [row('dearest', dearest, answer?.dearest ?? null, colour), row('cheapest', cheapest, null, colour)]
      : []),
  ];
}

function named(graph: Graph, nodes: readonly number[]): string {
  const shown = nodes.slice(0, 20).map((node) => graph.names[node]!);
  return nodes.length > shown.length ? `${shown.join(', ')} and ${nodes.length - shown.length} more` : shown.join(', ');
}

function uncoveredLines(graph: Graph, { uncovered }: Plan, colour: Colours): string[] {
  if (uncovered.length === 0) return [];
  return [colour.red(`not covered: ${grouped(uncovered.length)} (${named(graph, uncovered)})`)];
}

/** Writes the plan: the paths, then their figures, so that these stay in sight. */
export async function writePlanText(
  output: DataOutput,
  graph: Graph,
  answer: Answer,
  width: number,
  colour: Colours,
): Promise<void> {
  const { plan, elapsedMs, bounds } = answer;
  const { paths } = plan;
  await writePaths(output, graph, paths, Array(paths.count).keys(), width, colour);
  const size = `${grouped(graph.nodeCount)} switches, ${grouped(graph.linkCount)} links`;
  const lines = [
    '',
    `${plan.algorithm}: ${grouped(paths.count)} ${WHAT[plan.algorithm]} over ${size}, planned in ${elapsedMs.toFixed(1)} ms`,
    ...measureLines(plan, answer, graph.weights !== null, colour),
    ...uncoveredLines(graph, plan, colour),
    ...(plan.optimal ? [colour.green('no plan is better')] : []),
    ...bounds.why.map((line) => colour.dim(`  bound: ${line}`)),
  ];
  for (const line of lines) await output.line(line);
}

/** Writes the paths that failures changed. */
export async function writeReplanText(
  output: DataOutput,
  graph: Graph,
  failures: Failures,
  { replan, elapsedMs }: SecondAnswer,
  width: number,
  colour: Colours,
): Promise<void> {
  const { plan, kept, changed } = replan;
  const links = failures.links.map(([a, b]) => `${graph.names[a]!}-${graph.names[b]!}`);
  const nodes = failures.nodes.map((node) => graph.names[node]!);
  await output.line('');
  await output.line(`after the failure of ${[...links, ...nodes].join(', ')}`);
  await writePaths(output, graph, plan.paths, changed, width, colour);
  const lines = [
    '',
    `replanned in ${elapsedMs.toFixed(1)} ms: ${counted(changed.length, 'path')} changed, ${grouped(kept.length)} kept`,
    ...measureLines(plan, null, graph.weights !== null, colour),
    ...uncoveredLines(graph, plan, colour),
  ];
  for (const line of lines) await output.line(line);
}
