/**
 * A switch between two interfaces: `int p4 serve` on AF_XDP and AF_PACKET, the kernel's bridge, and simple_switch if
 * INT_SIMPLE_SWITCH and INT_P4C name it and its compiler. Processor time per packet on the core that forwards, the kernel's
 * included, and what is lost at rates of 50,000 to 600,000 packets a second.
 *
 * Everything happens in a network namespace of its own, which needs root and two processors; where that is not possible,
 * a line says why. `--short`: two rates, less time. `--only NAME,...`: these contenders alone, which replace those in the
 * file of results; `--rounds N`, `--no-file`.
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
import { enterNamespace, insideNamespace, SEND_CORE } from './afxdp/network.js';
import { median } from './decode/statistics.js';
import { CONTENDERS, type Contender } from './switch/contenders.js';
import { Wires } from './switch/wires.js';

const { isInside, args } = insideNamespace(process.argv.slice(2));
const values = readOptions({ only: { type: 'string' }, rounds: { type: 'string' } }, args);
const SHORT = values.short;
const ROUNDS = Number(values.rounds ?? (SHORT ? 1 : 3));
const SECONDS = SHORT ? 0.5 : 2;
const RATES = SHORT ? [50_000, 100_000] : [50_000, 100_000, 200_000, 300_000, 600_000];
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

/** One rate in one round. */
interface Measured {
  /** Packets a second that were sent. */
  readonly offered: number;
  readonly sent: number;
  readonly forwarded: number;
  /** Packets that did not come out and that nothing has counted. */
  readonly unaccounted: number | null;
  readonly dropped: Readonly<Record<string, number>>;
  /** Nanoseconds of processor time per forwarded packet: of the process, and of the kernel's thread. */
  readonly ownNs: number;
  readonly kernelNs: number;
}

interface Result {
  readonly name: string;
  readonly about: string;
  readonly frameBytes: number;
  /** Packets a second that one core would forward by its time per packet: the median over the rounds at the highest rate. */
  readonly perCore: number;
  readonly rates: readonly (Measured & { readonly rate: number })[];
}

async function send(wires: Wires, frames: readonly Uint8Array[], rate: number): Promise<{ sent: number; ms: number }> {
  const count = Math.round(rate * SECONDS);
  const command = ['-c', String(SEND_CORE), process.execPath, SENDER, wires.source, String(rate), String(count)];
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
    await sleep(400);
  }
  return before;
}

async function measureRate(contender: Contender, wires: Wires, folder: string, rate: number): Promise<Measured> {
  const frames = contender.frames();
  const cableBefore = wires.cableDrops();
  const forwarding = await contender.start(wires, folder);
  let result: Pick<Measured, 'offered' | 'sent' | 'forwarded' | 'ownNs' | 'kernelNs'>;
  let lostEarlier = 0;
  let dropped: Readonly<Record<string, number>> | null = null;
  try {
    await wires.settle();
    // Until the code is compiled.
    const begun = wires.arrived();
    const { sent: warming } = await send(wires, frames, Math.min(rate, 50_000));
    const warm = await quiet(wires);
    lostEarlier = warming - (warm - begun);
    const [own, kernel] = [forwarding.ns(), wires.kernelNs()];
    const { sent, ms } = await send(wires, frames, rate);
    const forwarded = (await quiet(wires)) - warm;
    result = {
      offered: Math.round((sent * 1000) / ms),
      sent,
      forwarded,
      ownNs: (forwarding.ns() - own) / forwarded,
      kernelNs: (wires.kernelNs() - kernel) / forwarded,
    };
  } finally {
    dropped = await forwarding.stop();
  }
  // The cable counts also what found no room in the switch's rings.
  const cable = wires.cableDrops() - cableBefore - (dropped?.rxFull ?? 0);
  const all = { ...dropped, ...(cable > 0 && { cable }) };
  const counted = Object.values(all).reduce((sum, count) => sum + count, 0);
  const lost = lostEarlier + result.sent - result.forwarded;
  return { ...result, dropped: all, unaccounted: dropped === null ? null : lost - counted };
}

async function measure(contender: Contender, wires: Wires, folder: string): Promise<Result> {
  const rates: Result['rates'][number][] = [];
  const perCore: number[] = [];
  for (const rate of RATES) {
    const rounds: Measured[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measureRate(contender, wires, folder, rate));
    const middle = [...rounds].sort((a, b) => a.ownNs + a.kernelNs - b.ownNs - b.kernelNs)[rounds.length >> 1]!;
    rates.push({ rate, ...middle });
    if (rate === RATES.at(-1)) for (const { ownNs, kernelNs } of rounds) perCore.push(1e9 / (ownNs + kernelNs));
    const { offered, sent, forwarded, ownNs, kernelNs, dropped, unaccounted } = middle;
    const reasons = Object.entries(dropped).map(([reason, count]) => `${reason} ${count}`);
    console.log(
      `${contender.name.padEnd(20)} ${String(offered).padStart(8)}/s  ${forwarded} of ${sent}  ${Math.round(ownNs)} + ${Math.round(kernelNs)} ns` +
        `  lost: ${reasons.join(', ') || 'none'}${unaccounted === null ? '' : `, unaccounted ${unaccounted}`}`,
    );
  }
  const frameBytes = contender.frames()[0]!.length;
  return { name: contender.name, about: contender.about, frameBytes, perCore: Math.round(median(perCore)), rates };
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
      { targets: targetsOf(results), rounds: ROUNDS, seconds: SECONDS, results },
      {
        parts: names,
        merge: (before, now) => ({ ...now, results: mergeRows(({ name }) => name, before.results, now.results) }),
      },
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
