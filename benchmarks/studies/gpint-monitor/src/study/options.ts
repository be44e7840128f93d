/** The command line. */
import { parseArgs } from 'node:util';
import { type Extent, FIGURES, type FigureName, FULL, SHORT } from './matrix.js';

export const USAGE = `Usage: node dist/study.js [options]

Reproduces Figures 8 to 15 of "Reliable and Distributed Network Monitoring via In-band Network Telemetry" (Simsek, Ergenc,
Onur, arXiv 2212.14876) in a simulated network: the report on standard output, progress on standard error, and the
results, charts and report as files.

  --short           fewer sizes, repetitions and rounds: seconds instead of tens of minutes; no files without --out
  --repetitions N   repetitions of each combination, 1 to 1000 (20; with --short 2)
  --only LIST       some figures: ${FIGURES.join(',')}
  --out DIR         where to put files (results/ of this example)
  --seed S          seed of everything random (1)
  --workers N       threads, 0 to 64; 0 computes in this one (2)
  --help            this text
`;

export interface StudyOptions {
  readonly extent: Extent;
  readonly isShort: boolean;
  readonly figures: readonly FigureName[];
  /** null: none given. */
  readonly out: string | null;
  readonly seed: string;
  readonly workers: number;
}

function whole(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < low || value > high) {
    throw new RangeError(`--${name} must be a whole number from ${low} to ${high}, not ${text}`);
  }
  return value;
}

function isFigure(name: string): name is FigureName {
  return (FIGURES as readonly string[]).includes(name);
}

/** @returns null if help is asked for. @throws TypeError or RangeError that says what is wrong */
export function parseOptions(args: readonly string[]): StudyOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      repetitions: { type: 'string' },
      only: { type: 'string' },
      out: { type: 'string' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const base = values.short ? SHORT : FULL;
  const figures = (values.only?.split(',') ?? FIGURES).map((name) => {
    if (!isFigure(name)) throw new RangeError(`--only: "${name}" is none of ${FIGURES.join(', ')}`);
    return name;
  });
  const { repetitions } = values;
  return {
    extent: repetitions === undefined ? base : { ...base, repetitions: whole('repetitions', repetitions, 1, 1000) },
    isShort: values.short,
    figures,
    out: values.out ?? null,
    seed: values.seed,
    workers: whole('workers', values.workers, 0, 64),
  };
}
