/**
 * What it costs to have records on disk before the pipeline goes on: a KafkaSink with `durability: 'spool'` against one with
 * `memory`, both with a spool, handed batches of reports of which each is waited for. Interleaved rounds, each in a process of
 * its own; one broker on loopback, and without any. `--short`: one round of few batches; `--rounds N`, `--directory DIR` (on the
 * disk to be measured; default: the system's for temporary files), `--no-file`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, readOptions } from '@int/harness';
import { Admin } from '@platformatic/kafka';
import { kafkaVersion, missingForKafka, startCluster } from '../../.ci/kafka/cluster.mjs';
import { median } from './decode/statistics.js';

const values = readOptions({
  rounds: { type: 'string' },
  directory: { type: 'string', default: tmpdir() },
});
const SHORT = values.short;
const ROUNDS = Number(values.rounds ?? (SHORT ? 1 : 5));
/** Records in all, in batches of a size. */
const RECORDS = SHORT ? 5000 : 400_000;
const BATCHES = SHORT ? [1000] : [64, 1000];
const PARTITIONS = 4;
const NOBODY = '127.0.0.1:1';
/** Appended and forced onto the disk, to see what the disk itself takes. */
const PROBE_BYTES = 256 * 1024;
const PROBES = SHORT ? 20 : 200;
const CONTENDER = fileURLToPath(new URL('kafka-durability-contender.js', import.meta.url));

interface Figures {
  /** Processor time, of all that the process does. */
  readonly cpuNs: number;
  /** Until the last record was taken, per record. */
  readonly takenNs: number;
  /** Until the last record was delivered, per record. */
  readonly wallNs: number;
  /** What a batch waits: half of them no longer, 99 of 100 no longer. */
  readonly waitMs: number;
  readonly longWaitMs: number;
}

interface Form {
  readonly brokers: 'there' | 'away';
  readonly batch: number;
  readonly durability: 'memory' | 'spool';
  readonly sync: 'never' | 'segment' | 'chunk';
  readonly rounds: Figures[];
}

const FORMS = (['there', 'away'] as const).flatMap((brokers) =>
  BATCHES.flatMap((batch): Form[] => [
    { brokers, batch, durability: 'memory', sync: 'segment', rounds: [] },
    { brokers, batch, durability: 'spool', sync: 'never', rounds: [] },
    { brokers, batch, durability: 'spool', sync: 'chunk', rounds: [] },
  ]),
);

function run({ batch, brokers, durability, sync }: Form, bootstrap: string): Figures {
  const directory = mkdtempSync(join(values.directory, 'int-durability-'));
  try {
    const address = brokers === 'there' ? bootstrap : NOBODY;
    const batches = Math.ceil(RECORDS / batch);
    const args = [CONTENDER, address, 'int.reports', durability, sync, directory, String(batch), String(batches)];
    // A contender that hangs must not hang this.
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 })) as Figures;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds to append to a file and force that onto the disk, as a median. */
async function probeDisk(): Promise<number> {
  const directory = mkdtempSync(join(values.directory, 'int-durability-'));
  const file = await open(join(directory, 'probe'), 'wx');
  const bytes = Buffer.alloc(PROBE_BYTES, 7);
  const times: number[] = [];
  try {
    for (let round = 0; round < PROBES; round++) {
      const before = performance.now();
      await file.write(bytes, 0, bytes.length, round * bytes.length);
      await file.datasync();
      times.push(performance.now() - before);
    }
  } finally {
    await file.close();
    rmSync(directory, { recursive: true, force: true });
  }
  return median(times);
}

const middle = ({ rounds }: Form, of: keyof Figures): number => median(rounds.map((figures) => figures[of]));

async function main(): Promise<void> {
  const benchmark = new BenchmarkRun('kafka-durability', { short: SHORT });
  const missing = missingForKafka();
  if (missing !== null) {
    console.log(`durability of reports to Kafka is left out: ${missing} is missing (npm run setup:system)`);
    return;
  }
  const cluster = await startCluster({ brokers: 1 });
  try {
    const admin = new Admin({ clientId: 'benchmark', bootstrapBrokers: cluster.bootstrap });
    await admin.createTopics({ topics: ['int.reports'], partitions: PARTITIONS, replicas: 1 });
    await admin.close();
    for (let round = 0; round < ROUNDS; round++) {
      const turns = round % 2 === 0 ? FORMS : [...FORMS].reverse();
      for (const form of turns) form.rounds.push(run(form, cluster.bootstrap.join(',')));
    }
    const diskMs = await probeDisk();
    print(diskMs);
    if (!values['no-file'] && !SHORT) write(benchmark, diskMs);
  } finally {
    await cluster.close();
  }
}

function print(diskMs: number): void {
  console.log(
    `\nreports of 5 hops to a KafkaSink, each batch waited for; ${PROBE_BYTES / 1024} KiB appended and forced`,
  );
  console.log(`onto this disk take ${diskMs.toFixed(2)} ms; ns per record, ms per batch`);
  const head = ['processor', 'taken', 'delivered', 'wait', 'wait, 99 %', 'taken, k/s'];
  console.log(`  ${'brokers, batch, durability, sync'.padEnd(36)}${head.map((cell) => cell.padStart(12)).join('')}`);
  for (const form of FORMS) {
    const { batch, brokers, durability, sync } = form;
    const cells = [
      middle(form, 'cpuNs').toFixed(0),
      middle(form, 'takenNs').toFixed(0),
      brokers === 'there' ? middle(form, 'wallNs').toFixed(0) : '-',
      middle(form, 'waitMs').toFixed(2),
      middle(form, 'longWaitMs').toFixed(2),
      (1e6 / middle(form, 'takenNs')).toFixed(0),
    ];
    const name = `${brokers}, ${batch}, ${durability}, ${sync}`;
    console.log(`  ${name.padEnd(36)}${cells.map((cell) => cell.padStart(12)).join('')}`);
  }
}

function write(run: BenchmarkRun, diskMs: number): void {
  const forms = FORMS.map((form) => ({
    ...form,
    median: {
      cpuNs: middle(form, 'cpuNs'),
      takenNs: middle(form, 'takenNs'),
      wallNs: middle(form, 'wallNs'),
      waitMs: middle(form, 'waitMs'),
      longWaitMs: middle(form, 'longWaitMs'),
    },
  }));
  run.save('kafka-durability', { kafka: kafkaVersion() ?? null, records: RECORDS, diskMs, forms });
}

await main();
