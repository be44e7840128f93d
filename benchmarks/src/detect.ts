/**
 * Detection over decoded reports: each detector of @int/detect against the same algorithm in C and against objects and
 * Maps; and the rules, against a linear scan.
 *
 * All contenders look at the same reports, turn by turn in each round, so that a disturbance of the machine hits all of
 * them. Before that, they must have found the same events: C and the columns the same checksum over all event columns,
 * the ways that make objects the same events one by one. Figures are medians over the rounds.
 *
 * `--short`: few rounds, one share of reports with events. `--rounds N`, `--batches N`, `--batch N`: reports in each,
 * `--flows zipf|uniform`, `--detectors perHop,perFlow`: these alone, with all rules, which replace
 * those in the file of results; `--no-file`.
 */
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcceleratorMemory, type TelemetryBatch } from '@int/codec';
import type { DetectorConfig } from '@int/detect';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { buildNative } from './decode/native.js';
import { median } from './decode/statistics.js';
import { nativeRule, PLANS, type Plan } from './detect/cases.js';
import { Columns, checkObjects, mapping, observing, time } from './detect/contenders.js';
import { NativeDetectors, type Outcome, writeBatches } from './detect/native.js';
import {
  ACCELERATOR,
  C_REFERENCE,
  EXACT,
  type Figures,
  MAPS,
  mergeDetectors,
  OBSERVE,
  PLAIN,
  percent,
  print,
  printRules,
  type Result,
  type RuleResult,
  SCAN,
} from './detect/results.js';
import { type RuleContender, ruleContenders } from './detect/rules.js';
import { copyInto, HOPS, makeWork, type Work } from './detect/workload.js';

const values = readOptions({
  rounds: { type: 'string' },
  batches: { type: 'string', default: '8' },
  batch: { type: 'string', default: '2048' },
  flows: { type: 'string', default: 'zipf' },
  detectors: { type: 'string' },
});
const run = new BenchmarkRun('detect', { short: values.short });
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 15));
/** Rounds before those that count. */
const WARM_UP = values.short ? 1 : 3;
/** Reports that a pass looks at: of the fast contenders, and of those that make objects. */
const FAST_REPORTS = values.short ? 20_000 : 1_000_000;
const SLOW_REPORTS = values.short ? 8000 : 30_000;
/** Shares of the reports that have an event; a detector's threshold is set to what gives that share. */
const SHARES: readonly number[] = values.short ? [0.03] : [0.03, 0.001, 0.3];
/** Turns after which the same reports raise the same events in every turn, or nearly. */
const SETTLING = 24;
const RULE_COUNTS: readonly number[] = values.short ? [10, 1000] : [10, 1000, 10_000];
/** What is asked of the columns. */
const TARGET = { ratioToC: 2, fasterThanMaps: 5 } as const;

interface Contender {
  readonly name: string;
  /** Nanoseconds per report. */
  pass(): number | Promise<number>;
}

/** Passes of all contenders, in turn; each round begins with another one. */
async function interleave(contenders: readonly Contender[]): Promise<Map<string, number[]>> {
  const times = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (let k = 0; k < contenders.length; k++) {
      const contender = contenders[(k + Math.max(0, round)) % contenders.length]!;
      const nanoseconds = await contender.pass();
      if (round >= 0) times.get(contender.name)!.push(nanoseconds);
    }
  }
  return times;
}

function figuresOf(times: Map<string, number[]>, peer: string): Record<string, Figures> {
  const reference = times.get(C_REFERENCE);
  const slow = median(times.get(peer)!);
  return Object.fromEntries(
    [...times].map(([name, list]): [string, Figures] => [
      name,
      {
        median: median(list),
        min: Math.min(...list),
        max: Math.max(...list),
        ratioToC: reference === undefined ? null : median(list.map((value, round) => value / reference[round]!)),
        ratioOfMinimaToC: reference === undefined ? null : Math.min(...list) / Math.min(...reference),
        fasterThanPeer: slow / median(list),
      },
    ]),
  );
}

/** The share of the reports that have an event, once averages have come to where they stay from turn to turn. */
function shareOf(config: DetectorConfig, work: Work): number {
  const columns = new Columns(config, work.batches, { stateBytes: 8 << 20 });
  columns.check(SETTLING, config.kind);
  return columns.check(1, config.kind).survivors / work.reports;
}

/** The threshold with which about `share` of the reports have an event. */
function tune({ detector }: Plan, work: Work, share: number): number {
  let low = 4;
  let high = 20;
  for (let step = 0; step < 12; step++) {
    const middle = (low + high) / 2;
    if (shareOf(detector(Math.round(2 ** middle)), work) > share) low = middle;
    else high = middle;
  }
  return Math.round(2 ** high);
}

/** The hot path in its forms. */
function columnContenders(config: DetectorConfig, { batches }: Work): { name: string; by: Columns }[] {
  return [
    { name: ACCELERATOR, by: new Columns(config, inside, { memory }) },
    { name: EXACT, by: new Columns(config, inside, { memory, state: 'exact' }) },
    { name: PLAIN, by: new Columns(config, batches) },
  ];
}

function isSame(a: Outcome, b: Outcome): boolean {
  return a.reports === b.reports && a.survivors === b.survivors && a.events === b.events && a.checksum === b.checksum;
}

/**
 * Exact state remembers the first value of a switch or flow, where registers count from 0: with detectors of reported values it
 * finds other events, which the tests of the package check.
 */
function knowsFirstSight(name: string, kind: Plan['kind']): boolean {
  return name === EXACT && (kind === 'perHop' || kind === 'perFlow');
}

/** All contenders but C must agree with each other before any is timed; this also shows the engine every detector. */
function rehearse(plans: readonly (readonly [Plan, DetectorConfig])[], work: Work): Map<DetectorConfig, Outcome> {
  const outcomes = new Map<DetectorConfig, Outcome>();
  for (const [plan, config] of plans) {
    checkObjects(config, work);
    const first = new Columns(config, work.batches).check(2, plan.kind);
    for (const columns of columnContenders(config, work)) {
      const found = columns.by.check(2, plan.kind);
      if (!knowsFirstSight(columns.name, plan.kind) && !isSame(first, found))
        throw new Error(`${plan.name}: ${columns.name}: other events`);
      for (let turn = 0; turn < 10; turn++) columns.by.turn(null);
    }
    outcomes.set(config, first);
  }
  return outcomes;
}

async function measure(
  plan: Plan,
  config: DetectorConfig,
  expected: Outcome,
  work: Work,
  natives: ReadonlyMap<string, NativeDetectors>,
): Promise<Result> {
  const fast = Math.ceil(FAST_REPORTS / work.reports);
  const slow = Math.ceil(SLOW_REPORTS / work.reports);
  const contenders: Contender[] = [];
  for (const [name, native] of natives) {
    await native.rule(nativeRule(config));
    if (!isSame(await native.check(2), expected)) throw new Error(`${plan.name}: ${name} gives other events`);
    contenders.push({ name, pass: () => native.pass(fast) });
  }
  const turning = (name: string, turn: () => unknown, turns: number): void => {
    const pass = (): number =>
      time(() => {
        for (let k = 0; k < turns; k++) turn();
      }) /
      (turns * work.reports);
    contenders.push({ name, pass });
  };
  const columns = columnContenders(config, work);
  for (const { by } of columns) by.check(SETTLING, plan.kind);
  const warm = columns[0]!.by.check(1, plan.kind);
  for (const { name, by } of columns) turning(name, () => by.turn(null), fast);
  const comfort = observing(config, work.records);
  const maps = mapping(config, work);
  turning(OBSERVE, () => comfort.turn(), slow);
  turning(MAPS, () => maps.turn(), slow);
  return {
    detector: plan.name,
    threshold: plan.isTuned && 'threshold' in config ? config.threshold : null,
    withEvent: warm.survivors / work.reports,
    eventsPerReport: warm.events / work.reports,
    checksum: expected.checksum,
    contenders: figuresOf(await interleave(contenders), MAPS),
  };
}

async function measureRules(count: number): Promise<RuleResult> {
  const { contenders, matched, probes } = ruleContenders(count, memory, inside, values.short ? 4 : 20);
  return {
    rules: count,
    matched,
    probes,
    contenders: figuresOf(await interleave(contenders satisfies readonly RuleContender[]), SCAN),
  };
}

if (values.flows !== 'zipf' && values.flows !== 'uniform') throw new Error('--flows zipf or uniform');
const compiler = buildNative();
if (compiler === undefined)
  console.log('no C compiler: the C contenders are left out (apt-get install build-essential)');
const work = makeWork(Number(values.batches), Number(values.batch), values.flows);
/** Detectors take their state from it as long as the program runs; pages that are never written cost nothing. */
const memory = new AcceleratorMemory(0x80000000);
const inside: readonly TelemetryBatch[] = copyInto(memory, work.batches);
const chosen = partsOf(
  values.detectors,
  PLANS.map(({ name }) => name),
  'detectors',
);
const plans = PLANS.filter(({ name }) => chosen === null || chosen.includes(name));
const configs = SHARES.flatMap((share, index) =>
  plans
    .filter(({ isTuned }) => isTuned || index === 0)
    .map((plan) => [plan, plan.detector(plan.isTuned ? tune(plan, work, share) : 0)] as const),
);
const results: Result[] = [];
const natives = new Map<string, NativeDetectors>();
const path = join(tmpdir(), `int-benchmark-${process.pid}.columns`);
try {
  if (compiler !== undefined) {
    writeBatches(path, work.batches);
    natives.set(C_REFERENCE, new NativeDetectors('detect_bench', path));
    natives.set('C -O2', new NativeDetectors('detect_bench_O2', path));
  }
  const outcomes = rehearse(configs, work);
  for (const [plan, config] of configs) {
    const result = await measure(plan, config, outcomes.get(config)!, work, natives);
    print(result);
    results.push(result);
  }
} finally {
  for (const native of natives.values()) native.stop();
  rmSync(path, { force: true });
}
const rules: RuleResult[] = [];
for (const count of RULE_COUNTS) {
  const result = await measureRules(count);
  printRules(result);
  rules.push(result);
}

/** What is asked, and whether it is met. */
function targetsOf(measured: readonly Result[]): Record<string, boolean> {
  const targets: Record<string, boolean> = {};
  for (const { detector, withEvent, contenders } of measured) {
    const ours = contenders[ACCELERATOR];
    // A file may have detectors that were measured when it had another name.
    if (ours === undefined) continue;
    const { ratioToC, fasterThanPeer } = ours;
    const what = `${detector}, ${percent(withEvent)}`;
    if (ratioToC !== null) {
      targets[`${what}: ${ratioToC.toFixed(2)} x C, at most ${TARGET.ratioToC}`] = ratioToC <= TARGET.ratioToC;
    }
    targets[`${what}: ${fasterThanPeer.toFixed(1)} x faster than objects and Maps, at least ${TARGET.fasterThanMaps}`] =
      fasterThanPeer >= TARGET.fasterThanMaps;
  }
  return targets;
}

console.log('\ntargets:');
for (const [text, isMet] of Object.entries(targetsOf(results))) console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);

if (!values['no-file']) {
  const settings = {
    rounds: ROUNDS,
    batches: work.batches.length,
    batch: work.batches[0]!.reports,
    hops: HOPS,
    flows: values.flows,
  };
  const content = { compiler: compiler ?? null, settings, results, rules, targets: targetsOf(results) };
  run.save('detect', content, {
    parts: chosen === null ? null : [...chosen, 'rules'],
    merge: (before, now) => {
      const all = mergeDetectors(before.results, now.results);
      return { ...before, results: all, rules: now.rules, targets: targetsOf(all) };
    },
  });
}
