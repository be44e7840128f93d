/** The command: measures, prints the report, writes results and charts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawChart } from '@int/harness';
import { chartOf } from './chart.js';
import { CLAIMS } from './claims.js';
import { judge } from './expectations.js';
import { figureParts } from './figures.js';
import { Lookup } from './lookup.js';
import { cellsFor } from './matrix.js';
import { type CellResult, summarise } from './measures.js';
import { parseOptions, type StudyOptions, USAGE } from './options.js';
import { runAll } from './pool.js';
import type { RepetitionTask } from './repetition.js';
import { renderReport, type StudyResults } from './report.js';

/** This file's folder is `src/study`, or `dist` once it is built. */
function ownFolder(): string {
  const up = import.meta.url.includes('/dist/') ? '..' : '../..';
  return fileURLToPath(new URL(up, import.meta.url));
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Runs every repetition of every combination. @param say is told how far it is, once in a while */
async function measure(
  { extent, figures, seed, workers }: StudyOptions,
  script: URL,
  say: (text: string) => void,
): Promise<StudyResults> {
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const cells = cellsFor(figures, extent);
  const { repetitions, rounds } = extent;
  const tasks = Array.from({ length: repetitions }, (_, repetition) =>
    cells.map((cell): RepetitionTask => ({ cell, repetition, rounds, seed })),
  ).flat();
  say(`${cells.length} combinations, ${repetitions} repetitions of ${rounds} rounds, ${workers} threads`);
  let done = 0;
  let saidAt = 0;
  const ran = await runAll(tasks, workers, script, () => {
    done++;
    if (seconds() - saidAt < 10 && done < tasks.length) return;
    saidAt = seconds();
    const left = (seconds() / done) * (tasks.length - done);
    say(`${done} of ${tasks.length} repetitions, ${duration(seconds())}, about ${duration(left)} left`);
  });
  const results = cells.map(
    (cell, index): CellResult =>
      summarise(
        cell,
        Array.from({ length: repetitions }, (_, repetition) => ran[repetition * cells.length + index]!),
      ),
  );
  return {
    extent,
    seed,
    results,
    parts: figureParts(figures, extent, results),
    outcomes: judge(CLAIMS, new Lookup(results)),
    virtualSeconds: ran.reduce((sum, each) => sum + each.virtualSeconds, 0),
    computedSeconds: ran.reduce((sum, each) => sum + each.seconds, 0),
    workers,
    seconds: seconds(),
  };
}

/** Results as text: the same for the same seed and extent. */
function toText({ extent, seed, results, outcomes, virtualSeconds }: StudyResults): string {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
  return `${JSON.stringify({ extent, seed, virtualSeconds, outcomes, results }, rounded, 1)}\n`;
}

async function write(folder: string, study: StudyResults, report: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'study.json'), toText(study));
  writeFileSync(join(folder, 'REPORT.md'), report);
  for (const part of study.parts) {
    const svg = await drawChart(chartOf(part, study.extent.repetitions));
    writeFileSync(join(folder, `figure-${part.name}.svg`), svg);
  }
}

/**
 * The program.
 *
 * @param script what threads run
 * @returns the exit code
 */
export async function main(
  args: readonly string[],
  script: URL,
  out: (text: string) => void = (text) => process.stdout.write(text),
  say: (text: string) => void = (text) => process.stderr.write(`${text}\n`),
): Promise<number> {
  let options: StudyOptions | null;
  try {
    options = parseOptions(args);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (options === null) {
    out(USAGE);
    return 0;
  }
  const study = await measure(options, script, say);
  const report = renderReport(study);
  out(report);
  const folder = options.out ?? (options.isShort ? null : join(ownFolder(), 'results'));
  if (folder !== null) {
    await write(folder, study, report);
    say(`results in ${folder}`);
  }
  const { virtualSeconds, computedSeconds, seconds, workers } = study;
  say(
    `${duration(virtualSeconds)} of virtual time in ${duration(seconds)} (${duration(computedSeconds)} of computing, ${workers} threads)`,
  );
  return 0;
}
