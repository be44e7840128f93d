/**
 * The planner: time and quality against a greedy planner written with graphology, Euler trails and one path a node; the time
 * of the first plan in a process of its own; time by size; plans against the floors under all plans.
 *
 * Every plan compared is checked by `validatePlan` before its time counts. `--short`: smaller networks, fewer repeats.
 * `--no-file`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { erdosRenyi, fatTreeGraph, type Graph, GraphBuilder, grid, parseGraphFile, wattsStrogatz } from '@int/gpint';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { Random } from '@int/random';
import { type Comparison, compare, type Quality, quality, scale } from './gpint/measure.js';

const values = readOptions({});
const SHORT = values.short;
const run = new BenchmarkRun('gpint', { short: SHORT });
const smallWorld = (n: number, seed: number): Graph => wattsStrogatz(n, 4, 0.1, seed);
const seeds = (count: number): number[] => Array.from({ length: count }, (_, seed) => seed);

interface Cold {
  readonly elapsedMs: number;
  readonly processorMs: number;
  readonly longest: number;
  readonly overlap: number;
}

const number = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));

function printQuality(title: string, rows: readonly Quality[]): void {
  printTable(
    title,
    ['', 'nodes', 'paths', 'longest', 'floor', 'gap', 'spread', 'overlap', 'floor', 'ms'],
    rows.map((row) => [
      row.network,
      ...[row.nodes, row.paths, row.longest, row.floor.longest, row.gap, row.spread, row.overlap].map(number),
      number(row.floor.overlap),
      row.ms.toFixed(1),
    ]),
  );
}

/** Each node linked with a random one before it. */
function randomTree(n: number): Graph {
  const builder = new GraphBuilder();
  const random = new Random('tree');
  for (let v = 0; v < n; v++) builder.addNode(`n${v}`);
  for (let v = 1; v < n; v++) builder.addLink(v, random.integer(v));
  return builder.build();
}

const program = fileURLToPath(new URL('gpint-cold.js', import.meta.url));
const ports = SHORT ? 32 : 88;
const coldPaths = Math.floor((3 * 5 * ports * ports) / 40);
const cold = seeds(SHORT ? 3 : 9).map((seed): Cold => {
  const printed = execFileSync(process.execPath, [program, String(ports), String(coldPaths), String(seed)]);
  return JSON.parse(printed.toString()) as Cold;
});
printTable(
  `first plan in a process of its own: fat tree of ${(5 * ports * ports) / 4} switches by ${coldPaths} paths`,
  ['', 'elapsed ms', 'processor ms', 'longest', 'overlap'],
  cold.map(({ elapsedMs, processorMs, longest, overlap }, i) => [
    `process ${i + 1}`,
    elapsedMs.toFixed(1),
    processorMs.toFixed(1),
    number(longest),
    number(overlap),
  ]),
);

const comparisons: Comparison[] = [];
const many = seeds(SHORT ? 10 : 100).map((seed) => smallWorld(100, seed));
for (const paths of [20, 30, 50]) comparisons.push(compare('Watts-Strogatz', many, paths, 3));
comparisons.push(
  compare(
    'Watts-Strogatz',
    seeds(3).map((seed) => smallWorld(1000, seed)),
    300,
    3,
  ),
);
comparisons.push(compare('fat tree', [fatTreeGraph(16)], 96, 3));
if (!SHORT) comparisons.push(compare('fat tree', [fatTreeGraph(32)], 384, 3));
for (const { network, nodes, links, paths, floor, planners } of comparisons) {
  printTable(
    `${network}, ${nodes} nodes, ${links} links, ${paths} paths; floor: longest ${number(floor.longest)}, overlap ${number(floor.overlap)}`,
    ['', 'paths', 'longest', 'shortest', 'overlap', 'ms'],
    Object.entries(planners).map(([name, figures]) => [
      name,
      number(figures.paths),
      number(figures.longest),
      number(figures.shortest),
      number(figures.overlap),
      figures.ms.toFixed(3),
    ]),
  );
}

const sizes = SHORT ? [1000, 10_000] : [1000, 3000, 10_000, 30_000, 100_000];
const curve = sizes.map((n) => scale('Watts-Strogatz', smallWorld(n, 1), 0.3 * n, SHORT ? 3 : 7));
for (const k of SHORT ? [16, 32] : [16, 32, 64, 88, 128]) {
  const graph = fatTreeGraph(k);
  curve.push(scale('fat tree', graph, Math.floor(0.3 * graph.nodeCount), SHORT ? 3 : 7));
}
printTable(
  'time by size, 3 paths for 10 nodes',
  ['', 'nodes', 'links', 'ms', 'ns/link'],
  curve.map(({ network, nodes, links, ms, nsPerLink }) => [
    network,
    String(nodes),
    String(links),
    ms.toFixed(2),
    nsPerLink.toFixed(0),
  ]),
);

const networks: [string, Graph][] = [
  ['Watts-Strogatz', smallWorld(100, 1)],
  ['Watts-Strogatz', smallWorld(1000, 1)],
  ['grid', grid(30, 30)],
  ['fat tree', fatTreeGraph(16)],
  ['random, degree 8', erdosRenyi(500, 8 / 500, 5)],
];
if (!SHORT) networks.push(['Watts-Strogatz', smallWorld(100_000, 1)]);
const long = networks.flatMap(([network, graph]) => {
  const n = graph.nodeCount;
  const counts = new Set([...(n > 1000 ? [10] : [1, 2, 3]), n / 100, n / 50, n / 20].map(Math.floor));
  return [...counts].map((paths) => quality(network, graph, paths));
});
printQuality('long paths', long);

const topologies = fileURLToPath(new URL('../studies/gpint-monitor/topologies/', import.meta.url));
const named = [
  ...[8, 10, 12, 14, 16].map((k): [string, Graph] => [`fat tree ${k}`, fatTreeGraph(k)]),
  ...readdirSync(topologies).map((file): [string, Graph] => [
    file.replace('.graphml', ''),
    parseGraphFile(readFileSync(join(topologies, file), 'utf8'), file),
  ]),
  ...(SHORT ? [1000] : [1000, 10_000]).map((n): [string, Graph] => ['random tree', randomTree(n)]),
].flatMap(([network, graph]) =>
  [0.2, 0.3].map((share) => quality(network, graph, Math.floor(share * graph.nodeCount))),
);
printQuality('fat trees, wide-area networks, trees', named);

const perfect = comparisons.filter(({ network, nodes }) => network === 'Watts-Strogatz' && nodes === 100);
const perLink = curve.filter(({ network }) => network === 'Watts-Strogatz').map(({ nsPerLink }) => nsPerLink);
const slowest = Math.max(...cold.map(({ elapsedMs }) => elapsedMs));
const targets: Record<string, boolean> = {
  'the first plan of the large fat tree takes less than 283 ms in every process': slowest < 283,
  'its paths have five nodes at most, and no overlap': cold.every(
    ({ longest, overlap }) => longest <= 5 && overlap === 0,
  ),
  'Watts-Strogatz graphs of 100 nodes: no overlap, longest at the floor': perfect.every(
    ({ planners, floor }) => planners.gpint!.overlap === 0 && planners.gpint!.longest <= floor.longest,
  ),
  'time per link grows less than 5-fold over the sizes': Math.max(...perLink) / Math.min(...perLink) < 5,
};
console.log(SHORT ? '\ntargets, which are those of a full run:' : '\ntargets:');
for (const [text, isMet] of Object.entries(targets)) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) run.save('gpint', { cold, comparisons, curve, long, named, targets });
