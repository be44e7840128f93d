/**
 * What a dashboard costs a collector that takes 100,000 reports a second of 100 switches with 8 queues each, from a capture, at
 * a steady pace: without it, with it and nobody looking, with one viewer, with ten, and with ten of which nine read nothing.
 *
 * One collector with statistics and detection, in a process of its own; the dashboard comes and goes as a sink. Phases take turns, and
 * figures are medians over the rounds. Asked for: at most 8 % of a core more with one viewer, 15 % with ten, no pause of the
 * event loop above 20 ms that is the collector's own: of its thread's processor time, since on a busy machine others pause it, too.
 *
 * `--seconds N` (6) for each phase, `--rounds N` (5), `--rate N`, `--switches N`, `--flows N` (256), `--no-file`. `--short`: one second, one
 * round, and nothing is asked for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, readOptions } from '@int/harness';
import { Child } from './collector-soak/child.js';
import { collect, type Sample } from './dashboard/collector.js';
import { type Seen, view } from './dashboard/viewers.js';

const PROGRAM = fileURLToPath(import.meta.url);
const values = readOptions({
  seconds: { type: 'string' },
  rounds: { type: 'string' },
  rate: { type: 'string', default: '100000' },
  switches: { type: 'string', default: '100' },
  flows: { type: 'string', default: '256' },
  /** The collector's process. */
  collector: { type: 'boolean', default: false },
  /** The viewers' process: where to look. */
  view: { type: 'string' },
});
const SECONDS = Number(values.seconds ?? (values.short ? 1 : 6));
const ROUNDS = Number(values.rounds ?? (values.short ? 1 : 5));
const LOAD = { rate: Number(values.rate), switches: Number(values.switches), flows: Number(values.flows) };
const MIB = 2 ** 20;
const LIMITS = { one: 0.08, ten: 0.15, pauseMs: 20 } as const;
/** Time for viewers to come and go. */
const SETTLE_MS = 500;

const PHASES = [
  { name: 'without', sink: 'without', viewers: '0' },
  { name: 'nobody looks', sink: 'with', viewers: '0' },
  { name: 'one viewer', sink: 'with', viewers: '1' },
  { name: 'ten viewers', sink: 'with', viewers: '10' },
  { name: 'ten that read nothing', sink: 'with', viewers: '10 paused' },
] as const;

interface Measured extends Sample {
  readonly seen: Seen;
}

interface Row {
  readonly name: string;
  /** Share of a core, of all threads of the process. */
  readonly processor: number;
  /** The same beyond that without the dashboard, at the full rate. */
  readonly more: number;
  readonly pauseMs: number;
  /** See {@link Sample.busiestMs}: the most of all rounds. */
  readonly busiestMs: number | null;
  readonly callMs: number;
  readonly meanCallUs: number;
  readonly reportsPerSecond: number;
  readonly rss: number;
  readonly framesPerSecond: number;
  readonly framesSkipped: number;
}

const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? 0;
};

function rowOf(name: string, phases: readonly Measured[], without: readonly Measured[]): Row {
  const share = ({ processorMs, tookMs }: Measured): number => processorMs / tookMs;
  const more = phases.map((phase, round) => {
    const beside = without[round]!;
    // A machine that is busy with other things takes fewer reports: what each costs counts, at the full rate.
    const perReport = phase.processorMs / phase.reports - beside.processorMs / beside.reports;
    return (perReport * LOAD.rate) / 1000;
  });
  const of = (figure: (phase: Measured) => number): number => median(phases.map(figure));
  return {
    name,
    processor: of(share),
    more: median(more),
    pauseMs: of(({ pause }) => pause.most),
    busiestMs: phases.some(({ busiestMs }) => busiestMs === null)
      ? null
      : Math.max(...phases.map(({ busiestMs }) => busiestMs!)),
    callMs: of(({ call }) => call.most),
    meanCallUs: of(({ call }) => call.mean * 1000),
    reportsPerSecond: of(({ reports, tookMs }) => (1000 * reports) / tookMs),
    rss: of(({ rss }) => rss),
    framesPerSecond: of(({ seen, tookMs }) => (1000 * seen.frames) / tookMs),
    framesSkipped: of(({ framesSkipped }) => framesSkipped),
  };
}

async function main(): Promise<void> {
  const run = new BenchmarkRun('dashboard', { short: values.short });
  const options = ['rate', 'switches', 'flows'].flatMap((name) => [`--${name}`, String(values[name as 'rate'])]);
  const collector = new Child<Sample>([process.execPath, PROGRAM, '--collector', ...options]);
  const { url } = await collector.next<{ url: string }>();
  const viewers = new Child<Seen>([process.execPath, PROGRAM, '--view', url]);
  await viewers.next();
  try {
    const measured = new Map<string, Measured[]>(PHASES.map(({ name }) => [name, []]));
    const phase = async ({ name, sink, viewers: count }: (typeof PHASES)[number], isWarm: boolean): Promise<void> => {
      await viewers.ask(count);
      await sleep(SETTLE_MS);
      await collector.ask(sink);
      await viewers.ask('');
      await sleep(SECONDS * 1000);
      const sample = await collector.ask('');
      const seen = await viewers.ask('');
      if (isWarm) measured.get(name)!.push({ ...sample, seen });
    };
    for (const each of PHASES) await phase(each, false);
    for (let round = 0; round < ROUNDS; round++) for (const each of PHASES) await phase(each, true);
    await viewers.ask('0');
    const without = measured.get('without')!;
    const rows = PHASES.map(({ name }) => rowOf(name, measured.get(name)!, without));
    print(rows);
    const row = (name: string): Row => rows.find((each) => each.name === name)!;
    // Where the system does not tell: the longest call, with what others took of it.
    const pause = Math.max(...rows.map(({ busiestMs, callMs }) => busiestMs ?? callMs));
    const checks = [
      check('of a core more with one viewer, %', 100 * row('one viewer').more, 100 * LIMITS.one),
      check('of a core more with ten viewers, %', 100 * row('ten viewers').more, 100 * LIMITS.ten),
      check('most processor time of the collector at a stretch, ms', pause, LIMITS.pauseMs),
    ];
    for (const { what, value, limit, isMet } of checks) {
      console.log(`  ${isMet ? 'met   ' : 'missed'} ${what}: ${value.toFixed(1)}, at most ${limit}`);
    }
    if (!values.short && !checks.every(({ isMet }) => isMet)) process.exitCode = 1;
    if (!values['no-file'] && !values.short) {
      run.save('dashboard', { ...LOAD, seconds: SECONDS, rounds: ROUNDS, phases: rows, checks });
    }
  } finally {
    for (const child of [viewers, collector]) child.kill();
  }
}

const check = (
  what: string,
  value: number,
  limit: number,
): { what: string; value: number; limit: number; isMet: boolean } => ({ what, value, limit, isMet: value <= limit });

function print(rows: readonly Row[]): void {
  const heads = [
    'reports/s',
    'processor',
    'more',
    'pause, ms',
    'busy, ms',
    'call, ms',
    'mean, us',
    'RSS, MiB',
    'frames/s',
    'skipped',
  ];
  console.log(`${LOAD.rate} reports a second of ${LOAD.switches} switches and ${LOAD.flows} flows\n`);
  console.log(`  ${''.padEnd(24)}${heads.map((head) => head.padStart(11)).join('')}`);
  for (const row of rows) {
    const cells = [
      row.reportsPerSecond.toFixed(0),
      `${(100 * row.processor).toFixed(1)} %`,
      `${(100 * row.more).toFixed(1)} %`,
      row.pauseMs.toFixed(1),
      row.busiestMs?.toFixed(1) ?? '-',
      row.callMs.toFixed(2),
      row.meanCallUs.toFixed(0),
      (row.rss / MIB).toFixed(0),
      row.framesPerSecond.toFixed(0),
      row.framesSkipped.toFixed(0),
    ];
    console.log(`  ${row.name.padEnd(24)}${cells.map((cell) => cell.padStart(11)).join('')}`);
  }
  console.log('');
}

if (values.view !== undefined) await view(values.view);
else if (values.collector) await collect(LOAD);
else await main();
