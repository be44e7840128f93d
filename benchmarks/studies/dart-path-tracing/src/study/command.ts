/** The command: measures, prints the tables, writes results and charts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type AdaptivePoint,
  type InsertionPoint,
  type LossPoint,
  measureAdaptive,
  measureInsertion,
  measureLoss,
} from './beyond.js';
import { type CounterStudy, measureCounters } from './counters.js';
import { drawFigures } from './figures.js';
import { measurePaper, type PaperFigures } from './paper.js';
import { renderReport } from './report.js';

const KEYS = 10_000_000;
const SHORT_KEYS = 200_000;
/** Keys of each point past the paper, at most: enough for three digits. */
const MOST_BEYOND = 1_000_000;

export interface Results {
  readonly keys: number;
  readonly paper: PaperFigures;
  readonly adaptive: readonly AdaptivePoint[];
  readonly insertion: readonly InsertionPoint[];
  readonly loss: readonly LossPoint[];
  readonly counters: CounterStudy;
  readonly seconds: number;
  readonly largestBytes: number;
}

/** Numbers with seven digits: more is noise. */
function toText(results: Results): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
  return `${JSON.stringify(results, rounded, 2)}\n`;
}

/** This file's folder is `src/study`, or `dist` once it is built. */
function ownFolder(): string {
  const up = import.meta.url.includes('/dist/') ? '..' : '../..';
  return fileURLToPath(new URL(up, import.meta.url));
}

/**
 * `study [--keys N] [--short] [--out FOLDER]`: results and charts into `results` of this example, or FOLDER. `--short`
 * takes seconds, and writes nothing but into FOLDER. A run of 100 million keys takes 5 GB of memory.
 *
 * @param out receives the tables
 * @param say is told what is being done
 * @throws TypeError for an unknown option, RangeError for keys that are no whole number from 1000 on
 */
export function study(args: readonly string[], out: (text: string) => void, say: (text: string) => void): void {
  const { values } = parseArgs({
    args: [...args],
    options: { keys: { type: 'string' }, short: { type: 'boolean', default: false }, out: { type: 'string' } },
  });
  const keys = values.keys === undefined ? (values.short ? SHORT_KEYS : KEYS) : Number(values.keys);
  if (!(Number.isInteger(keys) && keys >= 1000))
    throw new RangeError(`--keys: a whole number from 1000 on, not ${keys}`);
  const begun = performance.now();
  const some = Math.min(MOST_BEYOND, keys);
  const paper = measurePaper(keys, say);
  const results: Results = {
    keys,
    paper,
    adaptive: measureAdaptive(some, say),
    insertion: measureInsertion(some, say),
    loss: measureLoss(some, say),
    counters: measureCounters(Math.min(keys, 10 * MOST_BEYOND), say),
    largestBytes: Math.max(...paper.byAge.map(({ simulationBytes }) => simulationBytes)),
    seconds: (performance.now() - begun) / 1000,
  };
  out(renderReport(results));
  const folder = values.out ?? (values.short ? null : join(ownFolder(), 'results'));
  if (folder === null) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'study.json'), toText(results));
  for (const [name, svg] of drawFigures(paper)) writeFileSync(join(folder, name), svg);
  say(`results in ${folder}`);
}
