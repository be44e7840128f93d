/** What the study measures, and what is made of its results. */
import { defineStudy, duration, mergeRows, Progress, partsOf, wholeNumber } from '@int/harness';
import { chartOf } from './chart.js';
import { CLAIMS } from './claims.js';
import { judge } from './expectations.js';
import { figureParts } from './figures.js';
import { Lookup } from './lookup.js';
import { cellsFor, type Extent, FIGURES, type FigureName, FULL, keyOf, SHORT } from './matrix.js';
import { type CellResult, summarise } from './measures.js';
import { runAll } from './pool.js';
import { claimsInWords } from './quoted.js';
import type { RepetitionTask } from './repetition.js';
import { renderReport, type StudyResults } from './report.js';

interface Plan {
  readonly extent: Extent;
  /** null: all of them. */
  readonly only: readonly FigureName[] | null;
  readonly seed: string;
  readonly workers: number;
}

/** Runs every repetition of every combination. @param script what threads run @param say is told how far it is */
async function measure(
  { extent, only, seed, workers }: Plan,
  script: URL,
  say: (text: string) => void,
): Promise<StudyResults> {
  const cells = cellsFor(only ?? FIGURES, extent);
  const { repetitions, rounds } = extent;
  const tasks = Array.from({ length: repetitions }, (_, repetition) =>
    cells.map((cell): RepetitionTask => ({ cell, repetition, rounds, seed })),
  ).flat();
  say(`${cells.length} combinations, ${repetitions} repetitions of ${rounds} rounds, ${workers} threads`);
  const progress = new Progress(tasks.length, 'repetitions', say);
  const ran = await runAll(tasks, workers, script, () => progress.step());
  const results = cells.map(
    (cell, index): CellResult =>
      summarise(
        cell,
        Array.from({ length: repetitions }, (_, repetition) => ran[repetition * cells.length + index]!),
      ),
  );
  const virtualSeconds = ran.reduce((sum, each) => sum + each.virtualSeconds, 0);
  const computedSeconds = ran.reduce((sum, each) => sum + each.seconds, 0);
  say(
    `${duration(virtualSeconds)} of virtual time in ${duration(progress.seconds)} (${duration(computedSeconds)} of computing, ${workers} threads)`,
  );
  return { extent, seed, virtualSeconds, outcomes: judge(CLAIMS, new Lookup(results)), results };
}

/** The cells of some figures replace those of the file, and the paper's statements are judged by all of them. */
function merge(before: StudyResults, now: StudyResults): StudyResults {
  const results = mergeRows(({ cell }) => keyOf(cell), before.results, now.results);
  return { ...before, results, outcomes: judge(CLAIMS, new Lookup(results)) };
}

/** @param script what threads run */
export function gpintMonitor(script: URL) {
  return defineStudy({
    name: 'gpint-monitor',
    about: `Reproduces Figures 8 to 15 of "Reliable and Distributed Network Monitoring via In-band Network Telemetry" (Simsek, Ergenc,
Onur, arXiv 2212.14876) in a simulated network.`,
    usage: `  --repetitions N   repetitions of each combination, 1 to 1000 (20; with --short 2)
  --only LIST       some figures, which replace those in the results: ${FIGURES.join(',')}
  --seed S          seed of everything random (1)
  --workers N       threads, 0 to 64; 0 computes in this one (2)
`,
    options: {
      repetitions: { type: 'string' },
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
    },
    file: 'study.json',
    digits: 6,
    plan({ short, repetitions, only, seed, workers }): Plan {
      const base = short ? SHORT : FULL;
      return {
        extent:
          repetitions === undefined ? base : { ...base, repetitions: wholeNumber('repetitions', repetitions, 1, 1000) },
        only: partsOf(only, FIGURES),
        seed,
        workers: wholeNumber('workers', workers, 0, 64),
      };
    },
    measure: (plan, say) => measure(plan, script, say),
    merging: ({ only }) => ({ parts: only, merge }),
    report: renderReport,
    reportFile: 'REPORT.md',
    charts: ({ extent, results }) =>
      figureParts(extent, results).map(
        (part) => [`figure-${part.name}.svg`, chartOf(part, extent.repetitions)] as const,
      ),
    figures: { claims: (read) => claimsInWords(read('study.json')) },
  });
}
