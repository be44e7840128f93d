/** The figures of the paper: which measures of which combinations they show. */
import {
  type Cell,
  cellsOf,
  type Extent,
  type FigureName,
  HIGH_LOAD,
  keyOf,
  LOW_LOAD,
  METHODS,
  type MethodId,
} from './matrix.js';
import type { CellResult, Measure } from './measures.js';

/** One part of a figure. */
interface Part {
  readonly figure: FigureName;
  readonly part: string;
  readonly title: string;
  readonly measure: Measure;
  readonly yLabel: string;
  /** Which of the figure's combinations it shows. */
  readonly shows: (cell: Cell) => boolean;
  /** What is drawn side by side. */
  readonly facet: 'none' | 'load' | 'loss';
}

const ELAPSED = { measure: 'elapsed', yLabel: 'elapsed time (s)' } as const;
const SESSIONS = { measure: 'failedSessions', yLabel: 'failed sessions (%)' } as const;
const PROBES = { measure: 'failedProbes', yLabel: 'failed probes (%)' } as const;
const ADDED = { measure: 'recoveryRatio', yLabel: 'recovery probes (% of initial)' } as const;
const BACKGROUND = { measure: 'backgroundLoss', yLabel: 'background packets lost (%)' } as const;
const PLAIN = { facet: 'none', shows: (): boolean => true } as const;
const BY_LOSS = { facet: 'loss', shows: (): boolean => true } as const;

const PARTS: readonly Part[] = [
  {
    figure: 'fig8',
    part: 'a',
    title: 'Background loss, recovery off',
    ...BACKGROUND,
    facet: 'load',
    shows: ({ recover }) => !recover,
  },
  {
    figure: 'fig8',
    part: 'b',
    title: 'Background loss, recovery on',
    ...BACKGROUND,
    facet: 'load',
    shows: ({ recover }) => recover,
  },
  {
    figure: 'fig9',
    part: 'a',
    title: 'Failed probes, recovery off, low load',
    ...PROBES,
    facet: 'none',
    shows: ({ load }) => load === LOW_LOAD,
  },
  {
    figure: 'fig9',
    part: 'b',
    title: 'Failed probes, recovery off, high load',
    ...PROBES,
    facet: 'none',
    shows: ({ load }) => load === HIGH_LOAD,
  },
  { figure: 'fig10', part: 'a', title: 'Elapsed time, recovery off, low load', ...ELAPSED, ...PLAIN },
  { figure: 'fig10', part: 'b', title: 'Failed sessions, recovery off, low load', ...SESSIONS, ...PLAIN },
  { figure: 'fig11', part: 'a', title: 'Elapsed time, recovery off, high load', ...ELAPSED, ...PLAIN },
  { figure: 'fig11', part: 'b', title: 'Failed sessions, recovery off, high load', ...SESSIONS, ...PLAIN },
  {
    figure: 'fig12',
    part: 'a',
    title: 'Background loss, recovery off, high load, lossy links',
    ...BACKGROUND,
    ...BY_LOSS,
  },
  {
    figure: 'fig12',
    part: 'b',
    title: 'Failed sessions, recovery off, high load, lossy links',
    ...SESSIONS,
    ...BY_LOSS,
  },
  { figure: 'fig12', part: 'c', title: 'Failed probes, recovery off, high load, lossy links', ...PROBES, ...BY_LOSS },
  { figure: 'fig13', part: 'a', title: 'Elapsed time, recovery on, low load', ...ELAPSED, ...PLAIN },
  { figure: 'fig13', part: 'b', title: 'Recovery probes, low load', ...ADDED, ...PLAIN },
  { figure: 'fig14', part: 'a', title: 'Elapsed time, recovery on, high load', ...ELAPSED, ...PLAIN },
  { figure: 'fig14', part: 'b', title: 'Recovery probes, high load', ...ADDED, ...PLAIN },
  { figure: 'fig15', part: 'a', title: 'Elapsed time, recovery on, high load, lossy links', ...ELAPSED, ...BY_LOSS },
  { figure: 'fig15', part: 'b', title: 'Recovery probes, high load, lossy links', ...ADDED, ...BY_LOSS },
];

/** A part of a figure with what was measured. */
export interface FigurePart {
  /** `8a`. */
  readonly name: string;
  readonly title: string;
  readonly measure: Measure;
  readonly yLabel: string;
  readonly facet: 'none' | 'load' | 'loss';
  readonly results: readonly CellResult[];
}

/** What can be drawn of what was measured: the parts of which nothing is missing. */
export function figureParts(extent: Extent, results: readonly CellResult[]): FigurePart[] {
  const byKey = new Map(results.map((result) => [keyOf(result.cell), result]));
  return PARTS.flatMap((part) => {
    const cells = cellsOf(part.figure, extent).filter(part.shows);
    const found = cells.map((cell) => byKey.get(keyOf(cell))).filter((result) => result !== undefined);
    if (found.length < cells.length) return [];
    const { facet, figure, measure, title, yLabel } = part;
    return [{ name: `${figure.slice(3)}${part.part}`, title, measure, yLabel, facet, results: found }];
  });
}

/** Head of the chart that a combination belongs to. */
export function facetOf(facet: FigurePart['facet'], { load, loss }: Cell): string {
  if (facet === 'load') return `${load.toLocaleString('en')} packets/s`;
  return facet === 'loss' ? `${Math.round(loss * 100)} % loss per link` : '';
}

/** Methods of a part, in the order of their definition. */
export function methodsOf({ results }: FigurePart): MethodId[] {
  const present = new Set(results.map(({ cell }) => cell.method));
  return (Object.keys(METHODS) as MethodId[]).filter((method) => present.has(method));
}
