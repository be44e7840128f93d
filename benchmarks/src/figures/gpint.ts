/** Figures of planning probe paths. */
import { markdownTable, paragraph, surroundingsLine } from '@int/harness';
import type { Comparison, Quality } from '../gpint/measure.js';
import { one, pick, range, results, two, whole } from './reading.js';

interface Planning {
  readonly cold: readonly { readonly elapsedMs: number; readonly longest: number; readonly overlap: number }[];
  readonly comparisons: readonly Comparison[];
  readonly curve: readonly {
    readonly network: string;
    readonly nodes: number;
    readonly ms: number;
    readonly nsPerLink: number;
  }[];
  readonly long: readonly Quality[];
  readonly named: readonly Quality[];
}

const read = () => results<Planning>('gpint');
/** Switches of the large fat tree. */
const LARGE = 9680;

/** Of the fresh processes. */
function coldMs({ cold }: Planning): string {
  return range(
    cold.map(({ elapsedMs }) => elapsedMs),
    (value) => value.toFixed(0),
  );
}

function first(): string {
  const all = read();
  const [{ longest, overlap }] = all.cold as [Planning['cold'][number]];
  const warm = pick(all.curve, 'large fat tree', ({ nodes }) => nodes === LARGE).ms;
  return [
    `${surroundingsLine(all)}:`,
    paragraph(
      `The first plan of the large fat tree took ${coldMs(all)} ms in the ${all.cold.length} processes. Its longest path is ${longest} (no plan can have`,
      `less), its overlap ${overlap}. Once the code is compiled it takes ${warm.toFixed(0)} ms.`,
    ),
  ].join('\n\n');
}

const compared = (network: string, paths: number): Comparison =>
  pick(read().comparisons, `comparison of ${network}`, (each) => each.network === network && each.paths === paths);

/** As few digits as a mean of whole numbers needs. */
const mean = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(2));

function planners(): string {
  const networks = [
    ['100 Watts-Strogatz graphs of 100 nodes, 30', compared('Watts-Strogatz', 30)],
    ['fat tree of 1280 switches, 384', compared('fat tree', 384)],
  ] as const;
  const rows = networks.flatMap(([name, comparison]) =>
    Object.entries(comparison.planners)
      .filter(([planner]) => planner !== 'one path a node')
      .map(([planner, { paths, longest, shortest, overlap, ms }], at) => [
        at === 0 ? name : '',
        planner.replace('euler', 'Euler'),
        ...[paths, longest, shortest, overlap].map(mean),
        ms >= 100 ? ms.toFixed(0) : ms.toFixed(2),
      ]),
  );
  return markdownTable(['network, paths', 'planner', 'paths', 'longest', 'shortest', 'overlap', 'ms'], rows, 2);
}

function curve(): string {
  const of = (name: string) => read().curve.filter(({ network }) => network === name);
  const [graphs, trees] = [of('Watts-Strogatz'), of('fat tree')];
  const ns = graphs.map(({ nsPerLink }) => nsPerLink.toFixed(0)).join(', ');
  const sizes = graphs.map(({ nodes }) => whole(nodes));
  return paragraph(
    `Time by size, 3 paths for 10 nodes: ${ns} ns a link for Watts-Strogatz graphs of ${sizes.slice(0, -1).join(', ')}`,
    `and ${sizes.at(-1)} nodes (${graphs.at(-1)!.ms.toFixed(0)} ms for the last), ${trees[0]!.nsPerLink.toFixed(0)} down to ${trees.at(-1)!.nsPerLink.toFixed(0)} ns for`,
    `fat trees of ${whole(trees[0]!.nodes)} to ${whole(trees.at(-1)!.nodes)} switches.`,
  );
}

/** What is shown: the others are alike. */
const SHOWN: readonly (readonly [network: string, nodes: number, paths: number, name?: string])[] = [
  ['Watts-Strogatz', 1000, 1],
  ['Watts-Strogatz', 1000, 20],
  ['Watts-Strogatz', 100_000, 10],
  ['Watts-Strogatz', 100_000, 1000],
  ['Watts-Strogatz', 100_000, 5000],
  ['grid', 900, 9, 'grid 30 x 30'],
  ['fat tree', 320, 3, 'fat tree 16'],
  ['fat tree 8', 80, 24],
  ['fat tree 10', 125, 37],
  ['fat tree 12', 180, 54],
  ['fat tree 14', 245, 73],
  ['fat tree 16', 320, 96],
  ['abilene', 11, 3, 'Abilene'],
  ['european-backbone', 37, 7, 'European backbone'],
  ['metro-rings', 48, 14, 'metropolitan rings'],
  ['nsfnet', 14, 4, 'NSFNET'],
  ['regional-tree', 57, 11, 'regional tree'],
  ['regional-tree', 57, 17, 'regional tree'],
  ['random tree', 1000, 300],
  ['random tree', 10_000, 3000],
];

function floors(): string {
  const { long, named } = read();
  return markdownTable(
    ['network', 'nodes', 'paths', 'longest', 'floor', 'spread', 'overlap', 'floor', 'ms'],
    SHOWN.map(([network, nodes, paths, name = network]) => {
      const found = pick(
        [...long, ...named],
        `plan of ${network}`,
        (each) => each.network === network && each.nodes === nodes && each.paths === paths,
      );
      const { longest, floor, spread, overlap, ms } = found;
      const time = ms >= 10 ? ms.toFixed(0) : one(ms);
      return [name, nodes, paths, longest, floor.longest, spread, overlap, floor.overlap, time];
    }),
  );
}

/** For FIGURES.md. */
export function planningWords(): string {
  const all = read();
  const { planners: of } = compared('Watts-Strogatz', 30);
  const [ours, greedy] = [of.gpint!, of['greedy with graphology']!];
  const [{ longest }] = all.cold as [Planning['cold'][number]];
  return paragraph(
    `Planning probe paths: for a fat tree of 9,680 switches and 340,736 links by 2,904 paths, a fresh process takes ${coldMs(all)} ms`,
    `(the [benchmark](README.md) has ${all.cold.length}). The longest path has ${longest} switches, which no plan undercuts, and no switch is visited`,
    `twice. For a hundred Watts-Strogatz graphs of 100 switches by 30 paths, every plan has longest ${mean(ours.longest)}, shortest ${mean(ours.shortest)}, overlap ${mean(ours.overlap)},`,
    `and takes ${two(ours.ms)} ms; a greedy planner on a graph library gives ${mean(greedy.longest)}, ${mean(greedy.shortest)} and ${two(greedy.overlap)}.`,
  );
}

export const gpint = { 'gpint-first': first, 'gpint-planners': planners, 'gpint-curve': curve, 'gpint-floors': floors };
