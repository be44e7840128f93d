/**
 * Rules that look at time, and `decide: all`: what a report costs, beside the moving average.
 *
 * All contenders are TypeScript and look at the same reports of 5 hops, turn by turn in each round. Time goes on by a report each
 * microsecond, so a window of a second has a million reports, and its end is part of what is measured.
 *
 * `--short`: few rounds. `--rounds N`, `--batches N`, `--batch N`: reports in each, `--flows zipf|uniform`, `--no-file`.
 */
import { AcceleratorMemory } from '@int/codec';
import { BenchmarkRun, printTable, readOptions } from '@int/harness';
import { median } from './decode/statistics.js';
import { type RuleContender, ruleContenders } from './detect/rules.js';
import { MOVING_AVERAGE, STREAM_RATE, watchContenders } from './detect/watches.js';
import { copyInto, HOPS, makeWork } from './detect/workload.js';

/** Nanoseconds per report, and how often more than those of the peer. */
export interface WatchFigures {
  readonly median: number;
  readonly min: number;
  /** Of the minima: load adds to the others. */
  readonly ratio: number;
}

export interface Watches {
  readonly settings: Readonly<Record<string, number | string>>;
  readonly watches: Readonly<Record<string, WatchFigures>>;
  /** Ten rules: the first one that matches decides, or all look. */
  readonly decisions: Readonly<Record<string, WatchFigures>>;
}

const FIRST = 'detector, known flows';
const ALL = 'detector, decide: all';
const RULES = 10;

const values = readOptions({
  rounds: { type: 'string' },
  batches: { type: 'string', default: '8' },
  batch: { type: 'string', default: '2048' },
  flows: { type: 'string', default: 'zipf' },
});
const run = new BenchmarkRun('watches', { short: values.short });
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 15));
/** Reports of a pass: of the short one less than a window. */
const REPORTS = values.short ? 200_000 : 2 * STREAM_RATE;

function measure(contenders: readonly RuleContender[], peer: string): Record<string, WatchFigures> {
  const times = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const contender = contenders[(k + Math.max(0, round)) % contenders.length]!;
      const nanoseconds = contender.pass();
      if (round >= 0) times.get(contender.name)!.push(nanoseconds);
    }
  }
  const least = Math.min(...times.get(peer)!);
  return Object.fromEntries(
    [...times].map(([name, list]): [string, WatchFigures] => {
      const min = Math.min(...list);
      return [name, { median: median(list), min, ratio: min / least }];
    }),
  );
}

function print(title: string, figures: Readonly<Record<string, WatchFigures>>): void {
  printTable(
    title,
    ['contender', 'ns/report', 'min', 'ratio'],
    Object.entries(figures).map(([name, { median: middle, min, ratio }]) => [
      name,
      middle.toFixed(1),
      min.toFixed(1),
      ratio.toFixed(2),
    ]),
  );
}

if (values.flows !== 'zipf' && values.flows !== 'uniform') throw new Error('--flows zipf or uniform');
const work = makeWork(Number(values.batches), Number(values.batch), values.flows);
const turns = Math.ceil(REPORTS / work.reports);
const memory = new AcceleratorMemory(0x40000000);
const { contenders } = ruleContenders(RULES, memory, copyInto(memory, work.batches), values.short ? 4 : 20);
const decisions = measure(
  contenders.filter(({ name }) => name === FIRST || name === ALL),
  FIRST,
);
print(`${RULES} rules, of which the first decides, or all look`, decisions);
const watches = measure(watchContenders(work.batches, turns), MOVING_AVERAGE);
print('detectors that look at time', watches);

if (!values['no-file']) {
  const settings = {
    rounds: ROUNDS,
    batches: work.batches.length,
    batch: work.batches[0]!.reports,
    hops: HOPS,
    flows: values.flows,
  };
  run.save('watches', { settings, watches, decisions } satisfies Watches);
}
