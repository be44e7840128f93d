/**
 * A switch between two interfaces: `int p4 serve` on AF_XDP and AF_PACKET, the kernel's bridge, and simple_switch if
 * INT_SIMPLE_SWITCH and INT_P4C name it and its compiler. Processor time per packet on the core that forwards, the kernel's
 * included, and what is lost: at the rates that are the goal, paced, and at 600,000 packets a second.
 *
 * Everything happens in a network namespace of its own, which needs root and two processors; where that is not possible,
 * a line says why. `--short`: two rates, less time. `--only NAME,...`: these contenders alone, which replace those in the
 * file of results; `--no-file`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { xdpSupport } from '@int/afxdp';
import { BenchmarkRun, mergeRows, partsOf, readOptions } from '@int/harness';
import { enterNamespace, insideNamespace, processNs, SEND_CORE } from './afxdp/network.js';
import { median } from './decode/statistics.js';
import { CONTENDERS, type Contender, type Forwarding } from './switch/contenders.js';
import { Wires } from './switch/wires.js';

const { isInside, args } = insideNamespace(process.argv.slice(2));
const values = readOptions({ only: { type: 'string' } }, args);
const SHORT = values.short;
const SECONDS = SHORT ? 0.1 : 2;
/** Frames that may be under way at a paced rate: half of what the rings of the switch hold. */
const WINDOW = 8000;
/** Times that frames are forwarded in one go; the median counts. */
const BURSTS = SHORT ? 1 : 11;
/** Packets a second. Paced, and for longer: the sender waits while the switch gets no processor. The others do not wait. */
const RATES: readonly { readonly rate: number; readonly isPaced: boolean }[] = [
  { rate: 100_000, isPaced: true },
  ...(SHORT ? [] : [true, false].map((isPaced) => ({ rate: 300_000, isPaced }))),
  { rate: 600_000, isPaced: false },
];
const PACED_SECONDS = SHORT ? 0.2 : 6;
/** Without a packet for this time, all have arrived. */
const QUIET_MS = SHORT ? 150 : 400;
const ADDON = fileURLToPath(new URL(`../../native-afxdp/prebuilds/linux-${process.arch}/afxdp.node`, import.meta.url));
const SENDER = fileURLToPath(new URL('switch-sender.js', import.meta.url));

function leaveOut(reason: string): never {
  console.log(`a switch between two interfaces is left out: ${reason}`);
  process.exit(0);
}

if (!existsSync(ADDON)) leaveOut('the addon is not built (npm run build:native)');
process.env.INT_AFXDP_ADDON = ADDON;
if (!isInside) {
  const outcome = enterNamespace(fileURLToPath(import.meta.url), args);
  if ('missing' in outcome) leaveOut(outcome.missing);
  process.exit(outcome.status);
}

/** What became of the packets of one rate. */
interface Offered {
  readonly rate: number;
  /** Whether the sender waited for the switch: see `switch-sender.ts`. */
  readonly isPaced: boolean;
  /** Packets a second that were sent. */
  readonly offered: number;
  readonly sent: number;
  readonly forwarded: number;
  /** Packets forwarded in a second of the core's time: of the process and of the kernel's thread. */
  readonly perCoreSecond: number;
  /** Packets that did not come out and that nothing has counted; null: the contender does not say what it drops. */
  readonly unaccounted: number | null;
  readonly dropped: Readonly<Record<string, number>>;
}

interface Result {
  readonly name: string;
  readonly about: string;
  readonly frameBytes: number;
  /** Nanoseconds of processor time per packet: of the process, and of the kernel's thread that receives. */
  readonly ownNs: number;
  readonly kernelNs: number;
  /** Packets a second that one core would forward by these. */
  readonly perCore: number;
  readonly rates: readonly Offered[];
}

async function send(
  wires: Wires,
  frames: readonly Uint8Array[],
  rate: number,
  count: number,
  window: number | null = null,
): Promise<{ sent: number; ms: number }> {
  const paced = window === null ? [] : [wires.sink, String(window)];
  const what = [wires.source, String(rate), String(count), ...paced];
  const command = ['-c', String(SEND_CORE), process.execPath, SENDER, ...what];
  const child = spawn('taskset', command, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(frames.map((frame) => Buffer.from(frame).toString('hex')).join('\n'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  return JSON.parse(output) as { sent: number; ms: number };
}

/** Waits until nothing arrives any more. */
async function quiet(wires: Wires): Promise<number> {
  let before = -1;
  for (let now = wires.arrived(); now !== before; now = wires.arrived()) {
    before = now;
    await sleep(QUIET_MS);
  }
  return before;
}

/** Runs `work` with a contender, and closes the account of its packets. */
async function withContender(
  contender: Contender,
  wires: Wires,
  folder: string,
  work: (forwarding: Forwarding) => Promise<number>,
): Promise<Pick<Offered, 'dropped' | 'unaccounted'>> {
  const cableBefore = wires.cableDrops();
  const begun = wires.arrived();
  const forwarding = await contender.start(wires, folder);
  let sent: number;
  let dropped: Readonly<Record<string, number>> | null = null;
  try {
    await wires.settle();
    sent = await work(forwarding);
  } finally {
    dropped = await forwarding.stop();
  }
  // The cable counts also what found no room in the switch's rings.
  const cable = wires.cableDrops() - cableBefore - (dropped?.rxFull ?? 0);
  const all = { ...dropped, ...(cable > 0 && { cable }) };
  const counted = Object.values(all).reduce((sum, count) => sum + count, 0);
  const lost = sent - (wires.arrived() - begun);
  return { dropped: all, unaccounted: dropped === null ? null : lost - counted };
}

/** Sends at a rate for some seconds. */
async function offer(
  contender: Contender,
  wires: Wires,
  folder: string,
  { rate, isPaced }: (typeof RATES)[number],
): Promise<Offered> {
  const frames = contender.frames();
  let result = { offered: 0, sent: 0, forwarded: 0, perCoreSecond: 0 };
  const account = await withContender(contender, wires, folder, async ({ pid, room }) => {
    // Until the code is compiled.
    const warm = await send(wires, frames, 20_000, SHORT ? 2000 : 50_000, Math.min(WINDOW, room >> 1));
    await quiet(wires);
    const begun = wires.arrived();
    const coreNs = (): number => wires.kernelNs() + (pid === null ? 0 : processNs(pid));
    const before = coreNs();
    const count = Math.round(rate * (isPaced ? PACED_SECONDS : SECONDS));
    const { sent, ms } = await send(wires, frames, rate, count, isPaced ? Math.min(WINDOW, room >> 1) : null);
    const ns = coreNs() - before;
    const forwarded = (await quiet(wires)) - begun;
    const perCoreSecond = Math.round((forwarded * 1e9) / ns);
    result = { offered: Math.round((sent * 1000) / ms), sent, forwarded, perCoreSecond };
    return warm.sent + sent;
  });
  return { rate, isPaced, ...result, ...account };
}

/**
 * Processor time per packet where there is always a next one: the process is stopped while frames arrive, then goes on.
 * A process that polls for frames would otherwise use all the time that there is, whatever the rate.
 */
async function timePerPacket(
  contender: Contender,
  wires: Wires,
  folder: string,
): Promise<{ own: number; kernel: number }> {
  const frames = contender.frames();
  const own: number[] = [];
  const kernel: number[] = [];
  await withContender(contender, wires, folder, async ({ pid, room }) => {
    let all = 0;
    // Until the code is compiled.
    all += (await send(wires, frames, 50_000, SHORT ? 5000 : 100_000)).sent;
    await quiet(wires);
    for (let burst = 0; burst < BURSTS; burst++) {
      const before = wires.arrived();
      const kernelBefore = wires.kernelNs();
      if (pid !== null) process.kill(pid, 'SIGSTOP');
      all += (await send(wires, frames, 200_000, room)).sent;
      const kernelReceived = wires.kernelNs();
      const ownBefore = pid === null ? 0 : processNs(pid);
      if (pid !== null) process.kill(pid, 'SIGCONT');
      const count = (await quiet(wires)) - before;
      if (pid !== null) own.push((processNs(pid) - ownBefore) / count);
      kernel.push(((pid === null ? wires.kernelNs() : kernelReceived) - kernelBefore) / count);
    }
    return all;
  });
  return { own: own.length === 0 ? 0 : median(own), kernel: median(kernel) };
}

async function measure(contender: Contender, wires: Wires, folder: string): Promise<Result> {
  const { name, about } = contender;
  const { own, kernel } = await timePerPacket(contender, wires, folder);
  const perCore = Math.round(1e9 / (own + kernel));
  console.log(
    `${name.padEnd(20)} ${Math.round(own)} + ${Math.round(kernel)} ns per packet: ${perCore} packets/s and core`,
  );
  const rates: Offered[] = [];
  for (const rate of RATES) {
    const each = await offer(contender, wires, folder, rate);
    rates.push(each);
    const { offered, sent, forwarded, dropped, unaccounted, isPaced, perCoreSecond } = each;
    const reasons = Object.entries(dropped).map(([reason, count]) => `${reason} ${count}`);
    console.log(
      `${''.padEnd(20)} ${String(offered).padStart(8)}/s ${isPaced ? 'paced' : '     '}  ${forwarded} of ${sent}, ${perCoreSecond}/s of the core` +
        `  lost: ${reasons.join(', ') || 'none'}${unaccounted === null ? '' : `, unaccounted ${unaccounted}`}`,
    );
  }
  return { name, about, frameBytes: contender.frames()[0]!.length, ownNs: own, kernelNs: kernel, perCore, rates };
}

/** What is asked of the switch, and whether it is met. */
function targetsOf(measured: readonly Result[]): Record<string, boolean> {
  const targets: Record<string, boolean> = {};
  const wanted = { router: 300_000, transit: 100_000 } as const;
  for (const { name, perCore, rates } of measured) {
    const least = wanted[name as keyof typeof wanted];
    if (least !== undefined) {
      targets[`${name}: ${least.toLocaleString('en')} packets a second and core on AF_XDP`] = perCore >= least;
    }
    if (rates.some(({ unaccounted }) => unaccounted !== null)) {
      targets[`${name}: every lost packet is counted`] = rates.every(({ unaccounted }) => unaccounted === 0);
      targets[`${name}: nothing is lost at a paced rate`] = rates.every(
        ({ isPaced, sent, forwarded }) => !isPaced || sent === forwarded,
      );
    }
  }
  return targets;
}

const run = new BenchmarkRun('switch', { short: SHORT, args });
const names = partsOf(
  values.only,
  CONTENDERS.map(({ name }) => name),
);
const wires = new Wires();
const support = xdpSupport(wires.into);
if (!support.ok) leaveOut(support.error.message);
const folder = mkdtempSync(join(tmpdir(), 'int-switch-'));
try {
  const results: Result[] = [];
  for (const contender of CONTENDERS) {
    if (names === null || names.includes(contender.name)) results.push(await measure(contender, wires, folder));
  }
  console.log(SHORT ? '\ntargets, which are those of a full run:' : '\ntargets:');
  for (const [text, isMet] of Object.entries(targetsOf(results)))
    console.log(`  ${isMet ? 'met   ' : 'MISSED'} ${text}`);
  if (!values['no-file']) {
    run.save(
      'switch',
      { targets: targetsOf(results), bursts: BURSTS, seconds: SECONDS, results },
      {
        parts: names,
        merge: (before, now) => ({ ...now, results: mergeRows(({ name }) => name, before.results, now.results) }),
      },
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
