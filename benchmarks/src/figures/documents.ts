/** Which texts have figures, and what stands between their marks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { paragraph, REPOSITORY, withFigures } from '@int/harness';
import { accelerators } from './accelerators.js';
import { afxdp, dgramRatio } from './afxdp.js';
import { collector } from './collector.js';
import { dart } from './dart.js';
import { dashboard } from './dashboard.js';
import { decode, decodingOf5Hops } from './decode.js';
import { detect } from './detect.js';
import { flowcache } from './flowcache.js';
import { gpint } from './gpint.js';
import { ofKnowledge } from './knowledge.js';
import { ofP4Runtime } from './p4runtime.js';
import { p4vm, routerRatio } from './p4vm.js';
import { sinks } from './sinks.js';
import { studies } from './studies.js';
import { softwareSwitch } from './switch.js';

/** A whole number as an ordinal: 12th, 43rd. */
function ordinal(value: number): string {
  const last = value % 100 > 10 && value % 100 < 14 ? 0 : value % 10;
  return `${value}${{ 1: 'st', 2: 'nd', 3: 'rd' }[last] ?? 'th'}`;
}

/** The three ratios of the repository's README. */
function ratios(): string {
  const { ratioToC, parserRatio } = decodingOf5Hops();
  return [
    paragraph(
      `- Decoding a report of 5 hops into columns takes ${ratioToC.toFixed(2)} times as long as scalar C, and a ${ordinal(Math.round(parserRatio))} of the time of binary-parser.`,
    ),
    paragraph(
      `- A report that arrives by AF_XDP and is decoded costs a ${ordinal(Math.round(dgramRatio()))} of one that arrives by \`node:dgram\`.`,
    ),
    paragraph(`- A P4 router forwards ${routerRatio().toFixed(0)} times as many packets a second as in simple_switch.`),
  ].join('\n');
}

/** By the names of marks. */
const FIGURES: Readonly<Record<string, () => string>> = {
  ...decode,
  ...detect,
  ...flowcache,
  ...dart,
  ...gpint,
  ...p4vm,
  ...softwareSwitch,
  ...afxdp,
  ...sinks,
  ...collector,
  ...dashboard,
  ...ofKnowledge,
  ...ofP4Runtime,
  ...accelerators,
  ...studies,
  ratios,
};

export const FIGURE_NAMES: readonly string[] = Object.keys(FIGURES);

/** Texts with marks, from the root; those of the studies aside, which are the studies' own. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'benchmarks/FIGURES.md',
  'benchmarks/README.md',
  'packages/control/README.md',
  'packages/dashboard/README.md',
  'packages/knowledge/README.md',
  'packages/p4runtime/README.md',
  'packages/sink-kafka/README.md',
];

/** A text as it is, and as the files of results have it. */
export function documentOf(name: string): { readonly path: string; readonly before: string; readonly after: string } {
  const path = join(REPOSITORY, name);
  const before = readFileSync(path, 'utf8');
  const after = withFigures(before, (wanted) => {
    const figures = FIGURES[wanted];
    if (figures === undefined) throw new Error(`${name}: there are no figures called ${wanted}`);
    return figures();
  });
  return { path, before, after };
}
