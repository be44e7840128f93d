/**
 * What it costs to insert a report (DART, figure 1): processor time per report of 64 and 128 bytes of a plain UDP receive,
 * of a UDP receive and a write into a DART store, of the same write from memory, and of Kafka (producer and broker).
 *
 * Everything runs in a process of its own; the time is user and system time of all its threads, less what came before it
 * was warm. Datagrams are RoCEv2 packets of so many bytes of UDP payload; they come over loopback from a process that
 * sends as fast as it can and does not count, and those that the socket drops do not count either.
 *
 * `--short`: fewer reports, of one size. `--reports N`, `--rounds N`, `--only udp,udp-dart,frames,rows,kafka`: these parts
 * alone, which replace those in the file of results; `--no-file`.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BenchmarkRun, partsOf, readOptions } from '@int/harness';
import { type KafkaBroker, missingForKafka, startCluster } from '../../.ci/kafka/cluster.mjs';
import { KAFKA_BATCH, KAFKA_IN_FLIGHT, type Part, type PartOptions } from './dart-insertion/parts.js';
import { insertionChart, type Measured, type Name, SIZES, TITLES } from './dart-insertion/results.js';
import { createTopic } from './dart-insertion/topic.js';
import { median } from './decode/statistics.js';

const values = readOptions({
  reports: { type: 'string' },
  rounds: { type: 'string' },
  only: { type: 'string' },
});
const SHORT = values.short;
const REPORTS = Number(values.reports ?? (SHORT ? 10_000 : 2_000_000));
const ROUNDS = Number(values.rounds ?? (SHORT ? 1 : 3));
const LEAD = SHORT ? 2000 : 200_000;
const MEMORY = SHORT ? 1 << 24 : 1 << 30;
const PART = fileURLToPath(new URL('./dart-insertion-part.js', import.meta.url));

const PARTS = ['udp', 'udp-dart', 'frames', 'rows', 'kafka'] as const;
const parts = partsOf(values.only, PARTS);
const wants = (part: (typeof PARTS)[number]): boolean => parts === null || parts.includes(part);
const benchmark = new BenchmarkRun('dart-insertion', { short: SHORT });

interface Message {
  readonly port?: number;
  readonly warm?: boolean;
  readonly result?: Part;
}

/** Runs a part to its end. */
async function run(
  name: string,
  options: PartOptions,
  onMessage: (message: Message) => void = () => {},
): Promise<Part> {
  const child = fork(PART, [name, JSON.stringify(options)]);
  return new Promise((resolve, reject) => {
    let result: Part | undefined;
    child.on('message', (message: Message) => {
      result ??= message.result;
      onMessage(message);
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`${name} ended with ${code}`));
    });
  });
}

/** Runs a part that listens, with a sender beside it. */
async function runWithSender(name: string, options: PartOptions): Promise<Part> {
  let sender: ReturnType<typeof fork> | undefined;
  try {
    return await run(name, options, ({ port }) => {
      if (port !== undefined) sender = fork(PART, ['send', JSON.stringify({ ...options, port })]);
    });
  } finally {
    sender?.kill();
  }
}

/** Producer and broker, over the same time. */
async function runKafka(broker: KafkaBroker, options: PartOptions): Promise<readonly [Part, Part]> {
  let before = 0;
  let after = 0;
  const producer = await run('kafka', options, ({ warm, result }) => {
    if (warm === true) before = broker.cpu();
    if (result !== undefined) after = broker.cpu();
  });
  return [producer, { ...producer, cpu: (after - before) / producer.reports }];
}

function clockMHz(): number {
  const match = /^cpu MHz\s*:\s*([\d.]+)/m.exec(readFileSync('/proc/cpuinfo', 'utf8'));
  if (match === null) throw new Error('/proc/cpuinfo does not say the clock');
  return Number(match[1]);
}

const megahertz = clockMHz();
const missing = wants('kafka') ? missingForKafka() : null;
if (missing !== null) console.log(`Kafka is left out: install ${missing} (npm run setup:system)`);
const cluster = wants('kafka') && missing === null ? await startCluster({ jvm: ['-Xms1g', '-Xmx1g'] }) : null;
const broker = cluster?.brokers[0] ?? null;
/** By size and name, a part per round. */
const measured = new Map<number, Map<Name, Part[]>>(SIZES.map((size) => [size, new Map()]));
function keep(size: number, name: Name, part: Part): void {
  const ofSize = measured.get(size)!;
  ofSize.set(name, [...(ofSize.get(name) ?? []), part]);
}
try {
  if (cluster !== null) await createTopic(cluster.bootstrap);
  for (let round = 0; round < ROUNDS; round++) {
    for (const size of SHORT ? SIZES.slice(0, 1) : SIZES) {
      const options: PartOptions = { size, reports: REPORTS, lead: LEAD, memory: MEMORY, port: broker?.port ?? 0 };
      for (const name of ['udp', 'udp-dart'] as const) {
        if (wants(name)) keep(size, name, await runWithSender(name, options));
      }
      for (const name of ['frames', 'rows'] as const) if (wants(name)) keep(size, name, await run(name, options));
      if (broker === null) continue;
      const [producer, ofBroker] = await runKafka(broker, options);
      keep(size, 'kafka-producer', producer);
      keep(size, 'kafka-broker', ofBroker);
      keep(size, 'kafka', { ...producer, cpu: producer.cpu + ofBroker.cpu });
    }
  }
} finally {
  await cluster?.close();
}

const results = Object.fromEntries(
  SIZES.map((size) => {
    const ofSize = measured.get(size)!;
    const reference = ofSize.get('udp');
    const names = (Object.keys(TITLES) as Name[]).filter((name) => ofSize.has(name));
    const entries = names.map((name): [Name, Measured] => {
      const list = ofSize.get(name)!;
      const cpu = list.map((part) => part.cpu);
      return [
        name,
        {
          title: TITLES[name],
          cpu: median(cpu),
          min: Math.min(...cpu),
          max: Math.max(...cpu),
          wall: median(list.map((part) => part.wall)),
          cycles: (median(cpu) * megahertz) / 1000,
          ratioToUdp: reference === undefined ? null : median(cpu.map((ns, round) => ns / reference[round]!.cpu)),
          stored: Math.min(...list.map((part) => part.stored)),
        },
      ];
    });
    return [String(size), Object.fromEntries(entries) as Partial<Record<Name, Measured>>];
  }),
);

for (const [size, ofSize] of Object.entries(results)) {
  console.log(`\nprocessor time per report of ${size} bytes, at ${megahertz} MHz`);
  console.log(
    `  ${''.padEnd(38)}${'ns'.padStart(9)}${'cycles'.padStart(9)}${'x UDP'.padStart(9)}${'stored'.padStart(9)}`,
  );
  for (const { title, cpu, cycles, ratioToUdp, stored } of Object.values(ofSize)) {
    const cells = [cpu.toFixed(cpu < 100 ? 1 : 0), cycles.toFixed(0), ratioToUdp?.toFixed(2) ?? '-', stored.toFixed(4)];
    console.log(`  ${title.padEnd(38)}${cells.map((cell) => cell.padStart(9)).join('')}`);
  }
}

if (!values['no-file']) {
  const content = {
    kafka: cluster?.version ?? null,
    megahertz,
    settings: {
      reports: REPORTS,
      rounds: ROUNDS,
      lead: LEAD,
      memory: MEMORY,
      kafkaBatch: KAFKA_BATCH,
      kafkaInFlight: KAFKA_IN_FLIGHT,
    },
    results,
  };
  const saved = benchmark.save('dart-insertion', content, {
    parts,
    merge: (before, now) => ({
      ...before,
      results: Object.fromEntries(
        SIZES.map((size) => [size, { ...before.results[size], ...now.results[size] }] as const),
      ),
    }),
  });
  await benchmark.saveChart('dart-insertion', insertionChart(saved.results));
}
