/**
 * The collector for ten minutes at the highest rate that it bears, and then for ten minutes under more than it can take: every
 * datagram and record is in the accounts, what is counted as delivered is there, and memory does not grow.
 *
 * Reports come by UDP over loopback, one datagram in a hundred is hostile, and go to Kafka (one broker, started here) and to Parquet. The rate is
 * the highest at which no more than a thousandth is shed. `--seconds N` (600) for each of the two, `--rate N`: no search,
 * `--overload N`: times that rate (3), `--no-kafka`, `--no-file`. `--short`: 20 seconds in all.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, readOptions } from '@int/harness';
import { kafkaVersion, missingForKafka, startCluster } from '../../.ci/kafka/cluster.mjs';
import { type Growth, growthOf } from './afxdp-soak/growth.js';
import { printGrowth } from './afxdp-soak/results.js';
import { type Check, checksOf } from './collector-soak/account.js';
import { Child } from './collector-soak/child.js';
import { collect, type Sample } from './collector-soak/collector.js';
import { recordsInKafka, recordsInParquet } from './collector-soak/found.js';
import { type Order, send } from './collector-soak/sender.js';

const PROGRAM = fileURLToPath(import.meta.url);
const values = readOptions({
  seconds: { type: 'string' },
  rate: { type: 'string' },
  overload: { type: 'string', default: '3' },
  'no-kafka': { type: 'boolean', default: false },
  /** The collector's process: where it may write. */
  collector: { type: 'string' },
  brokers: { type: 'string', default: '' },
  /** The sender's process: where to. */
  send: { type: 'string' },
});
const SHORT = values.short;
const SECONDS = Number(values.seconds ?? (SHORT ? 6 : 600));
const MIB = 2 ** 20;
/** Bytes that may be added from warm-up to the end. */
const LIMITS = { rss: 48 * MIB, heap: 4 * MIB, external: 4 * MIB } as const;
const RATES: readonly number[] = [120_000, 90_000, 70_000, 55_000, 42_000, 32_000, 24_000, 16_000, 10_000];
const BEARABLE_LOSS = 0.001;
const TRIAL_SECONDS = SHORT ? 1 : 5;
/** Share of the highest rate that is borne. */
const LOAD = 0.85;
const HOSTILE = 0.01;
/** What the brokers keep: all is counted, not all is kept. */
const RETENTION = {
  'log.retention.bytes': String(128 * MIB),
  'log.segment.bytes': String(32 * MIB),
  'log.retention.check.interval.ms': '5000',
} as const;

/** Datagrams and records that were shed. */
function shed({ totals }: Sample): number {
  let lost = totals.dropped.overrun + (totals.kernelDropped ?? 0);
  for (const sink of Object.values(totals.sinks)) {
    for (const counts of Object.values(sink)) for (const count of Object.values(counts.dropped)) lost += count;
  }
  return lost;
}

interface Phase {
  readonly name: string;
  readonly rate: number;
  readonly seconds: number;
  readonly sent: number;
  readonly growth: readonly Growth[];
}

class Soak {
  readonly #collector: Child<Sample>;
  readonly #sender: Child<{ readonly sent: number }>;
  sent = 0;

  constructor(collector: Child<Sample>, sender: Child<{ readonly sent: number }>) {
    this.#collector = collector;
    this.#sender = sender;
  }

  async send(order: Order): Promise<number> {
    const { sent } = await this.#sender.ask(JSON.stringify(order));
    this.sent += sent;
    return sent;
  }

  sample(): Promise<Sample> {
    return this.#collector.ask();
  }

  /** The highest of some rates at which next to nothing is shed. */
  async search(): Promise<number> {
    for (const rate of RATES) {
      const before = shed(await this.sample());
      const sent = await this.send({ rate, seconds: TRIAL_SECONDS, hostile: HOSTILE });
      await sleep(500);
      const share = (shed(await this.sample()) - before) / Math.max(sent, 1);
      const reached = Math.round(sent / TRIAL_SECONDS);
      console.log(`  ${rate}/s: ${reached}/s sent, ${(100 * share).toFixed(2)} % shed`);
      if (share <= BEARABLE_LOSS) return Math.min(rate, reached);
    }
    return RATES.at(-1)!;
  }

  /** Sends for some time and looks at the memory each second. */
  async run(name: string, rate: number, seconds: number): Promise<Phase> {
    const samples: [number, Sample][] = [];
    const started = performance.now();
    let isOver = false;
    const watching = (async (): Promise<void> => {
      while (!isOver) {
        samples.push([(performance.now() - started) / 1000, await this.sample()]);
        await sleep(1000);
      }
    })();
    const sent = await this.send({ rate, seconds, hostile: HOSTILE });
    isOver = true;
    await watching;
    const growth = (['rss', 'heap', 'external'] as const).map((what) =>
      growthOf(
        what,
        samples.map(([at, sample]) => [at, sample[what]] as const),
        LIMITS[what],
      ),
    );
    return { name, rate, seconds, sent, growth };
  }

  /** Has the collector drain. */
  async stop(): Promise<Sample> {
    await this.#sender.end();
    return this.#collector.ask('stop');
  }
}

function print(phases: readonly Phase[], checks: readonly Check[], { totals }: Sample): void {
  for (const { name, rate, seconds, sent, growth } of phases) {
    console.log(`\n${name}: ${sent.toLocaleString('en-US')} datagrams in ${seconds} s, ${rate} a second asked for`);
    printGrowth(growth);
  }
  console.log(`\n${JSON.stringify(totals)}\n`);
  for (const { what, left, right } of checks) {
    console.log(`  ${left === right ? 'met   ' : 'missed'} ${what}: ${left} = ${right}`);
  }
}

async function main(): Promise<void> {
  const run = new BenchmarkRun('collector-soak', { short: SHORT });
  const folder = mkdtempSync(join(tmpdir(), 'int-soak-'));
  const missing = values['no-kafka'] ? 'not wanted' : missingForKafka();
  if (missing !== null) console.log(`without Kafka: ${missing}`);
  const cluster = missing === null ? await startCluster({ brokers: 1, properties: RETENTION }) : null;
  const brokers = cluster?.bootstrap.join(',') ?? '';
  const flags = ['--expose-gc', '--max-semi-space-size=4'];
  const own = [PROGRAM, '--collector', folder, '--brokers', brokers];
  const collector = new Child<Sample>([process.execPath, ...flags, ...own]);
  const { port } = await collector.next<{ port: number }>();
  const sender = new Child<{ sent: number }>([process.execPath, PROGRAM, '--send', String(port)]);
  await sender.next();
  try {
    const soak = new Soak(collector, sender);
    await soak.send({ rate: 20_000, seconds: 2, hostile: HOSTILE });
    const rate = Number(values.rate ?? Math.round(LOAD * (await soak.search())));
    const phases = [await soak.run('what it bears', rate, SECONDS)];
    phases.push(await soak.run('more than it can take', Math.round(rate * Number(values.overload)), SECONDS));
    const last = await soak.stop();
    const found = {
      ...(cluster !== null && { kafka: await recordsInKafka(cluster.bootstrap) }),
      parquet: await recordsInParquet(join(folder, 'parquet')),
    };
    const checks = checksOf(soak.sent, last, found);
    print(phases, checks, last);
    const isMet =
      checks.every(({ left, right }) => left === right) &&
      // In seconds, memory is still on its way to its level.
      (SHORT || phases.every(({ growth }) => growth.every((each) => each.isMet)));
    if (!isMet) process.exitCode = 1;
    if (!values['no-file'] && !SHORT) writeResults(run, phases, checks, last);
  } finally {
    sender.kill();
    collector.kill();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeResults(run: BenchmarkRun, phases: readonly Phase[], checks: readonly Check[], { totals }: Sample): void {
  run.save('collector-soak', { kafka: kafkaVersion() ?? null, phases, checks, totals });
}

if (values.send !== undefined) await send(Number(values.send));
else if (values.collector !== undefined) {
  await collect(values.brokers === '' ? [] : values.brokers.split(','), values.collector);
} else await main();
