/**
 * Reports to Kafka: the KafkaSink, which makes the messages, against a producer of its client that is handed messages made before;
 * the same batches, compression and acknowledgements, interleaved rounds, each in a process of its own; processor time per message.
 * One broker on loopback. `--short`: one round of one form; `--rounds N`, `--batch N`, `--no-file`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, readOptions } from '@int/harness';
import { Admin } from '@platformatic/kafka';
import { kafkaVersion, missingForKafka, startCluster } from '../../.ci/kafka/cluster.mjs';
import { median } from './decode/statistics.js';

const values = readOptions({
  rounds: { type: 'string' },
  batch: { type: 'string', default: '1000' },
});
const SHORT = values.short;
const ROUNDS = Number(values.rounds ?? (SHORT ? 1 : 5));
const BATCH = Number(values.batch);
const BATCHES = SHORT ? 20 : 300;
const PARTITIONS = 4;
/** What may be added to the client alone. */
const LIMIT = 1.15;
const CONTENDER = fileURLToPath(new URL('kafka-contender.js', import.meta.url));

interface Figures {
  readonly cpuNs: number;
  readonly userNs: number;
  readonly wallNs: number;
}

interface Form {
  readonly format: string;
  readonly compression: string;
  readonly bare: Figures[];
  readonly sink: Figures[];
}

const FORMS = SHORT
  ? [['protobuf', 'snappy']]
  : ['protobuf', 'json'].flatMap((format) => ['snappy', 'lz4', 'gzip', 'none'].map((each) => [format, each]));

function run(how: string, bootstrap: string, topic: string, format: string, compression: string): Figures {
  const args = [CONTENDER, how, bootstrap, topic, format, compression, String(BATCH), String(BATCHES)];
  // A contender that hangs must not hang this.
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 })) as Figures;
}

const ratio = ({ bare, sink }: Form): number => median(sink.map(({ cpuNs }, round) => cpuNs / bare[round]!.cpuNs));

async function main(): Promise<void> {
  const benchmark = new BenchmarkRun('kafka', { short: SHORT });
  const missing = missingForKafka();
  if (missing !== null) {
    console.log(`reports to Kafka is left out: ${missing} is missing (npm run setup:system)`);
    return;
  }
  const cluster = await startCluster({ brokers: 1 });
  try {
    const bootstrap = cluster.bootstrap.join(',');
    const admin = new Admin({ clientId: 'benchmark', bootstrapBrokers: cluster.bootstrap });
    await admin.createTopics({ topics: ['bare', 'int.reports'], partitions: PARTITIONS, replicas: 1 });
    await admin.close();
    const forms = FORMS.map(([format, compression]): Form => {
      return { format: format!, compression: compression!, bare: [], sink: [] };
    });
    for (let round = 0; round < ROUNDS; round++) {
      for (const { format, compression, bare, sink } of forms) {
        const turns = [
          (): number => bare.push(run('bare', bootstrap, 'bare', format, compression)),
          (): number => sink.push(run('sink', bootstrap, 'int.reports', format, compression)),
        ];
        for (const turn of round % 2 === 0 ? turns : turns.reverse()) turn();
      }
    }
    print(forms);
    if (!values['no-file'] && !SHORT) write(benchmark, forms);
  } finally {
    await cluster.close();
  }
}

function print(forms: readonly Form[]): void {
  console.log(
    `\nreports of 5 hops to Kafka, batches of ${BATCH}, acks all, idempotent; ns of processor time per message`,
  );
  console.log(
    `  ${'format, compression'.padEnd(24)}${['client alone', 'KafkaSink', 'ratio', 'k/s'].map((cell) => cell.padStart(14)).join('')}`,
  );
  for (const form of forms) {
    const { format, compression, bare, sink } = form;
    const cells = [
      median(bare.map(({ cpuNs }) => cpuNs)).toFixed(0),
      median(sink.map(({ cpuNs }) => cpuNs)).toFixed(0),
      ratio(form).toFixed(2),
      (1e6 / median(sink.map(({ wallNs }) => wallNs))).toFixed(0),
    ];
    console.log(`  ${`${format}, ${compression}`.padEnd(24)}${cells.map((cell) => cell.padStart(14)).join('')}`);
  }
  for (const form of forms) {
    const value = ratio(form);
    console.log(
      `  ${value <= LIMIT ? 'met   ' : 'missed'} ${form.format}, ${form.compression}: KafkaSink / client alone, at most ${LIMIT}: ${value.toFixed(2)}`,
    );
  }
}

function write(run: BenchmarkRun, forms: readonly Form[]): void {
  run.save('kafka', {
    kafka: kafkaVersion() ?? null,
    batch: BATCH,
    batches: BATCHES,
    forms: forms.map((form) => ({ ...form, ratio: ratio(form) })),
  });
}

await main();
