/**
 * The page for Prometheus under attack: what scrapes of strangers cost a collector that takes 50,000 reports a second.
 *
 * A collector with live statistics, totals by switch, report loss and the page, in a process of its own. First it is scraped
 * each second, as by Prometheus; then node ids are forged and everything that can be done to an HTTP server is done to the page, as
 * fast as it goes; in the end it is stopped in the middle of that. Asked for: no datagram lost that is not lost without the attack,
 * no pause of the event loop of 50 ms or more, memory that does not grow with the attack, an end in time.
 *
 * `--seconds N` (30) for each phase, `--rate N` (50,000), `--no-file`. `--short`: 3 seconds each, and nothing is asked for but
 * accounts that close and an end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, readOptions } from '@int/harness';
import { Child } from './collector-soak/child.js';
import { send } from './collector-soak/sender.js';
import { type Attacks, attack } from './metrics-attack/attackers.js';
import { collect, type Sample } from './metrics-attack/collector.js';

const PROGRAM = fileURLToPath(import.meta.url);
const values = readOptions({
  seconds: { type: 'string' },
  rate: { type: 'string', default: '50000' },
  /** The collector's process. */
  collector: { type: 'boolean', default: false },
  /** The sender's process: where to. */
  send: { type: 'string' },
  /** The attackers' process: the ports of the page and of the reports. */
  attack: { type: 'string' },
});
const SECONDS = Number(values.seconds ?? (values.short ? 3 : 30));
const RATE = Number(values.rate);
const MIB = 2 ** 20;
const LIMITS = { pauseMs: 50, rss: 128 * MIB, stopMs: 10_000 } as const;
/** Time for what is under way in sockets to arrive. */
const SETTLE_MS = 500;

interface Phase {
  readonly name: string;
  readonly sent: number;
  /** Datagrams that did not get through, wherever they were lost. */
  readonly lost: number;
  /** Of the event loop, in milliseconds. */
  readonly pause: { readonly most: number; readonly p99: number };
  /** Share of a processor: of all threads of the collector's process. */
  readonly processor: number;
  /** The most bytes that the process had. */
  readonly rss: number;
  /** Pages made, bytes of the last one, requests answered and turned away. */
  readonly page: Sample['page'];
}

interface Check {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly isMet: boolean;
}

type Collecting = Child<Sample>;

/** Runs a phase. @param during is given the time, in seconds; resolves to datagrams that it has sent itself */
async function measure(
  name: string,
  collector: Collecting,
  sender: Child<{ readonly sent: number }>,
  during: (seconds: number) => Promise<number>,
): Promise<Phase> {
  const before = await collector.ask('begin');
  const began = performance.now();
  const [{ sent }, others] = await Promise.all([
    sender.ask(JSON.stringify({ rate: RATE, seconds: SECONDS, hostile: 0 })),
    during(SECONDS),
  ]);
  const tookMs = performance.now() - began;
  await sleep(SETTLE_MS);
  const after = await collector.ask('');
  const all = sent + others;
  return {
    name,
    sent: all,
    lost: all - (after.decoded - before.decoded),
    pause: after.pause,
    processor: (after.processorMs - before.processorMs) / tookMs,
    rss: after.mostRss,
    page: {
      pages: after.page.pages - before.page.pages,
      bytes: after.page.bytes,
      requests: after.page.requests - before.page.requests,
      refused: after.page.refused - before.page.refused,
    },
  };
}

async function main(): Promise<void> {
  const run = new BenchmarkRun('metrics-attack', { short: values.short });
  const collector: Collecting = new Child([process.execPath, PROGRAM, '--collector']);
  const { port, page } = await collector.next<{ port: number; page: number }>();
  const sender = new Child<{ sent: number }>([process.execPath, PROGRAM, '--send', String(port)]);
  await sender.next();
  const attackers = new Child<Attacks>([process.execPath, PROGRAM, '--attack', `${page},${port}`]);
  await attackers.next();
  try {
    const scrape = async (seconds: number): Promise<number> => {
      for (let second = 0; second < seconds; second++) {
        await (await fetch(`http://127.0.0.1:${page}/metrics`)).arrayBuffer();
        await sleep(1000);
      }
      return 0;
    };
    // Warms up.
    await sender.ask(JSON.stringify({ rate: 20_000, seconds: values.short ? 1 : 2, hostile: 0 }));
    const quiet = await measure('scraped each second', collector, sender, scrape);
    const attacks: Attacks[] = [];
    const hostile = await measure('attacked', collector, sender, async (seconds) => {
      const done = await attackers.ask(String(seconds));
      attacks.push(done);
      return done.forged;
    });
    // Stopped in the middle of an attack.
    const attacking = attackers.ask(values.short ? '2' : '5').catch(() => null);
    await sleep(1000);
    const began = performance.now();
    const last = await collector.ask('stop');
    const stopMs = performance.now() - began;
    await attacking;
    const checks: Check[] = [
      check('datagrams lost while attacked, beyond those lost while scraped', hostile.lost - quiet.lost, 0),
      check('longest pause of the event loop while attacked, ms', hostile.pause.most, LIMITS.pauseMs),
      check('memory while attacked, beyond that while scraped, MiB', (hostile.rss - quiet.rss) / MIB, LIMITS.rss / MIB),
      check('time to stop while attacked, ms', stopMs, LIMITS.stopMs),
    ];
    const phases = [quiet, hostile];
    print(phases, attacks[0]!, checks);
    const isClosed = last.received === last.decoded + last.dropped;
    if (!isClosed)
      console.log(`\n  missed: received ${last.received} is not decoded ${last.decoded} + dropped ${last.dropped}`);
    // In seconds, on a machine that does other things as well, the figures say little.
    if (!isClosed || !(values.short || checks.every(({ isMet }) => isMet))) process.exitCode = 1;
    if (!values['no-file'] && !values.short) writeResults(run, phases, attacks[0]!, checks);
  } finally {
    for (const child of [attackers, sender, collector]) child.kill();
  }
}

const check = (what: string, value: number, limit: number): Check => ({ what, value, limit, isMet: value <= limit });

function print(phases: readonly Phase[], attacks: Attacks, checks: readonly Check[]): void {
  const heads = ['sent', 'lost', 'pause, ms', 'p99, ms', 'processor', 'RSS, MiB', 'pages', 'requests', 'refused'];
  console.log(`${RATE} reports a second for ${SECONDS} s in each phase\n`);
  console.log(`  ${''.padEnd(20)}${heads.map((head) => head.padStart(11)).join('')}`);
  for (const { name, sent, lost, pause, processor, rss, page } of phases) {
    const cells = [
      String(sent),
      String(lost),
      pause.most.toFixed(1),
      pause.p99.toFixed(1),
      `${(100 * processor).toFixed(0)} %`,
      (rss / MIB).toFixed(0),
      String(page.pages),
      String(page.requests),
      String(page.refused),
    ];
    console.log(`  ${name.padEnd(20)}${cells.map((cell) => cell.padStart(11)).join('')}`);
  }
  console.log(`\n  a page of ${phases.at(-1)!.page.bytes} bytes; attacks: ${JSON.stringify(attacks)}\n`);
  for (const { what, value, limit, isMet } of checks) {
    console.log(`  ${isMet ? 'met   ' : 'missed'} ${what}: ${value.toFixed(0)}, at most ${limit}`);
  }
}

function writeResults(run: BenchmarkRun, phases: readonly Phase[], attacks: Attacks, checks: readonly Check[]): void {
  run.save('metrics-attack', { rate: RATE, seconds: SECONDS, phases, attacks, checks });
}

if (values.send !== undefined) await send(Number(values.send));
else if (values.attack !== undefined) await attack(values.attack);
else if (values.collector) await collect();
else await main();
