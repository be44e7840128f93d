/** The command: measures, prints the tables, writes results and a chart. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawDelays } from './chart.js';
import { measure, type StudyResult } from './measure.js';
import { renderStudy } from './table.js';

const SEEDS = 10;
const SHORT_SEEDS = 2;

/** Numbers with seven digits: more is noise. */
function toText(result: StudyResult): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
  const text = JSON.stringify(result, rounded, 2);
  // Lists of numbers on one line.
  return `${text.replace(/\[[\d\s,.]+\]/g, (list) => list.replace(/\s+/g, ' '))}\n`;
}

/** This file's folder is `src/study`, or `dist` once it is built. */
function ownFolder(): string {
  const up = import.meta.url.includes('/dist/') ? '..' : '../..';
  return fileURLToPath(new URL(up, import.meta.url));
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`--${name}: a whole number from ${least} on, not ${text}`);
  return value;
}

/**
 * `study [--seeds N] [--seed FIRST] [--flows N] [--short] [--out FOLDER]`: the result goes into `results` of this example, or
 * FOLDER. `--short` takes two seeds, and writes nothing but into FOLDER; `--flows` watches fewer flows than scenarios have.
 *
 * @param out receives the tables
 * @param say is told what is being done
 * @throws TypeError for an unknown option, RangeError for a number that is none
 */
export function study(args: readonly string[], out: (text: string) => void, say: (text: string) => void): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      flows: { type: 'string' },
      short: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const seeds = wholeNumber('seeds', values.seeds ?? String(values.short ? SHORT_SEEDS : SEEDS), 1);
  const firstSeed = wholeNumber('seed', values.seed, 0);
  const size = values.flows === undefined ? {} : { flows: wholeNumber('flows', values.flows, 64) };
  const result = measure({ seeds, firstSeed, ...size }, say);
  out(renderStudy(result));
  const folder = values.out ?? (values.short ? null : join(ownFolder(), 'results'));
  if (folder === null) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'study.json'), toText(result));
  writeFileSync(join(folder, 'delays.svg'), drawDelays(result.kinds));
  say(`results in ${folder}`);
}
