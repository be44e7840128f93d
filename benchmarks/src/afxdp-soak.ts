/**
 * The AF_XDP collector under load for ten minutes: no frame without a trace, and memory that does not grow.
 *
 * First the highest rate at which the kernel has room for all but a thousandth of the frames is searched, then reports are sent
 * at 85 % of it. Each second the collector tells its memory; a line is fitted to the last 80 % of the time. In the end the
 * frames sent are those received and those that the kernel has counted as dropped, exactly.
 *
 * Everything happens in a network namespace of its own, which needs root and two processors; where that is not possible,
 * a line says why, and the exit code is 0. `--seconds N` (600), `--rate N`: no search, `--mode driver|generic`,
 * `--max-semi-space MIB` (1), `--no-file`. `--short`: 20 seconds. The engine lets the young generation of its heap grow to 48 MiB
 * at its leisure; it is kept small here, so that what grows is what the collector keeps.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { xdpSupport } from '@int/afxdp';
import { BenchmarkRun, readOptions } from '@int/harness';
import { Cable, enterNamespace, insideNamespace } from './afxdp/network.js';
import { buildPrograms, Sender } from './afxdp/programs.js';
import { COMMON, templateOf } from './afxdp/template.js';
import { collect, type Sample } from './afxdp-soak/collector.js';
import { type Growth, growthOf } from './afxdp-soak/growth.js';
import { printAccount, printGrowth, printTrials } from './afxdp-soak/results.js';
import { bestOf, searchRate, type Trial } from './afxdp-soak/search.js';
import { type Account, CollectorProcess, Traffic } from './afxdp-soak/traffic.js';

const PROGRAM = fileURLToPath(import.meta.url);
const { isInside, args } = insideNamespace(process.argv.slice(2));
const values = readOptions(
  {
    seconds: { type: 'string' },
    rate: { type: 'string' },
    mode: { type: 'string', default: 'driver' },
    'max-semi-space': { type: 'string', default: '1' },
    /** The collector's process: the interface to collect from. */
    collector: { type: 'string' },
  },
  args,
);
const SHORT = values.short;
const SECONDS = Number(values.seconds ?? (SHORT ? 20 : 600));
const MODE = values.mode === 'generic' ? 'generic' : 'driver';
/** Share of the highest rate at which the collector is to run. */
const LOAD = 0.85;
/** Seconds that frames are sent for at a time. */
const SLICE_SECONDS = 2;
/** Seconds that each rate is tried for in the search. */
const TRIAL_SECONDS = SHORT ? 1 : 4;
const MIB = 2 ** 20;
/** What may be added to memory from warm-up to the end. A byte for each frame would be a hundred times that. */
const LIMITS = { rss: 8 * MIB, heap: 1 * MIB, external: 1 * MIB } as const;

function leaveOut(reason: string): never {
  console.log(`soaking the AF_XDP collector is left out: ${reason}`);
  process.exit(0);
}

/** Sends for some seconds, and asks for the collector's memory each second. */
async function soak(
  traffic: Traffic,
  collector: CollectorProcess,
  rate: number,
  duration: number,
): Promise<{ account: Account; elapsed: number; samples: readonly (readonly [number, Sample])[] }> {
  const samples: [number, Sample][] = [];
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let isOver = false;
  const sampling = async (): Promise<void> => {
    while (!isOver) {
      samples.push([seconds(), await collector.sample()]);
      await sleep(1000);
    }
  };
  let sent = 0;
  let elapsed = 0;
  const account = await traffic.account(async () => {
    const watching = sampling();
    while (seconds() < duration) {
      const frames = Math.ceil(rate * Math.min(SLICE_SECONDS, duration - seconds()));
      await traffic.send(frames, rate);
      sent += frames;
    }
    elapsed = seconds();
    isOver = true;
    await watching;
    return sent;
  });
  return { account, elapsed, samples };
}

function writeResults(
  run: BenchmarkRun,
  trials: readonly Trial[],
  rate: { readonly asked: number; readonly reached: number },
  account: Account,
  growth: readonly Growth[],
): void {
  run.save('afxdp-soak', {
    seconds: SECONDS,
    mode: MODE,
    maxSemiSpaceMiB: Number(values['max-semi-space']),
    search: trials.map(({ rate, reached, isBorne, account }) => ({ rate, reached, isBorne, ...account })),
    rate,
    account,
    growth,
  });
}

async function main(): Promise<void> {
  const benchmark = new BenchmarkRun('afxdp-soak', { short: SHORT, args });
  const built = buildPrograms();
  if ('missing' in built) leaveOut(built.missing);
  const cable = new Cable();
  // Frames are received where they are sent, by the same processor: the cable's short ring then hardly overflows.
  writeFileSync(`/sys/class/net/${cable.interface}/threaded`, '0');
  const support = xdpSupport(cable.interface);
  if (!support.ok) leaveOut(support.error.message);
  const folder = mkdtempSync(join(tmpdir(), 'int-soak-'));
  const flags = ['--expose-gc', `--max-semi-space-size=${values['max-semi-space']}`];
  const own = [PROGRAM, '--collector', cable.interface, '--mode', MODE];
  const collector = await CollectorProcess.start([process.execPath, ...flags, ...own]);
  try {
    const sender = new Sender(cable, folder);
    sender.use(templateOf(COMMON, cable));
    const traffic = new Traffic(cable, sender, collector);
    // The engine compiles what is used often.
    await traffic.send(200_000, 1e5);
    const run = (asked: number, seconds: number): ReturnType<typeof soak> => soak(traffic, collector, asked, seconds);
    const trials =
      values.rate === undefined ? await searchRate((asked) => run(asked, TRIAL_SECONDS), SHORT ? 2 : 5) : [];
    printTrials(trials);
    const rate = Number(values.rate ?? Math.round(LOAD * bestOf(trials)));
    const { account, elapsed, samples } = await run(rate, SECONDS);
    const growth = (['rss', 'heap', 'external'] as const).map((what) =>
      growthOf(
        what,
        samples.map(([at, sample]) => [at, sample[what]] as const),
        LIMITS[what],
      ),
    );
    printAccount(account, rate, elapsed, samples.at(-1)![1]);
    printGrowth(growth);
    if (!values['no-file'])
      writeResults(benchmark, trials, { asked: rate, reached: Math.round(account.sent / elapsed) }, account, growth);
    const unexplained = [...trials.map((trial) => trial.account), account].some(({ missing }) => missing !== 0);
    if (unexplained || growth.some(({ isMet }) => !isMet)) process.exitCode = 1;
  } finally {
    await collector.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.collector !== undefined) await collect(values.collector, MODE);
else if (isInside) await main();
else {
  const outcome = enterNamespace(PROGRAM, args);
  if ('missing' in outcome) leaveOut(outcome.missing);
  process.exitCode = outcome.status;
}
