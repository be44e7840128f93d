/** The command: measures, prints the tables, writes results, charts and the README's tables. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawFigures } from './figures.js';
import { FULL, SHORT } from './plan.js';
import { measureRates } from './rates.js';
import { renderReport, withReport } from './report.js';
import { type Results, resultsOf } from './results.js';
import { measureSurvivors } from './survivors.js';

/** This example's folder: `src` and `dist` are both in it. */
const FOLDER: string = fileURLToPath(new URL('..', import.meta.url));
export const RESULTS_FOLDER: string = join(FOLDER, 'results');
export const README: string = join(FOLDER, 'README.md');
export const RESULTS_FILE = 'prefilter.json';

/** Numbers with seven digits: more is noise. */
function toText(results: Results): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
  return `${JSON.stringify(results, rounded, 2)}\n`;
}

/** @throws SyntaxError or Error if there is no such file or it is no JSON */
export function readResults(folder: string): Results {
  return JSON.parse(readFileSync(join(folder, RESULTS_FILE), 'utf8')) as Results;
}

function writeFigures(folder: string, results: Results): void {
  for (const [name, svg] of drawFigures(results)) writeFileSync(join(folder, name), svg);
}

/**
 * `study [--short] [--out FOLDER]`: without options, the full study into `results` and `README.md` of this example.
 * `--short` takes seconds and writes nothing by itself; `--out` writes everything into another folder.
 * `--render` measures nothing: charts and tables from the results file.
 *
 * @param out receives the tables
 * @param say is told what is being done
 * @throws TypeError for an unknown option
 */
export function study(args: readonly string[], out: (text: string) => void, say: (text: string) => void): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      render: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const { short, render } = values;
  const folder = values.out ?? (short ? null : RESULTS_FOLDER);
  let text = '';
  if (!render) {
    const loadBefore = loadavg()[0]!;
    const effort = short ? SHORT : FULL;
    const survivors = measureSurvivors(effort, say);
    text = toText(resultsOf(short ? 'short' : 'full', effort, survivors, measureRates(effort, say), loadBefore));
  }
  // The tables are made of what the file says, rounded as it is.
  const results = render ? readResults(folder ?? RESULTS_FOLDER) : (JSON.parse(text) as Results);
  out(renderReport(results));
  if (folder === null) return;
  mkdirSync(folder, { recursive: true });
  if (!render) writeFileSync(join(folder, RESULTS_FILE), text);
  writeFigures(folder, results);
  if (values.out === undefined) writeFileSync(README, withReport(readFileSync(README, 'utf8'), results));
  else writeFileSync(join(folder, 'tables.md'), `${renderReport(results)}\n`);
}
