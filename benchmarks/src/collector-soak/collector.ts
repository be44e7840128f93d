/**
 * The collector under test: reports by UDP, live statistics, detection, a flow cache, and everything to Kafka and Parquet. A line
 * on standard input asks what it has counted and how much memory it takes; `stop` has it drain and tell a last time.
 */
import { createInterface } from 'node:readline';
import {
  Collector,
  type CollectorTotals,
  DetectionStage,
  FlowStage,
  LiveStatistics,
  type Sink,
  UdpSource,
} from '@int/collector';
import { compileRules } from '@int/detect';
import { KafkaSink } from '@int/sink-kafka';
import { ParquetSink } from '@int/sink-parquet';

/** What the collector says when it is asked. */
export interface Sample {
  readonly totals: CollectorTotals;
  readonly events: number;
  /** Bytes. The heap is measured after a collection. */
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
}

const RULES = compileRules({
  version: 1,
  default: 'drop',
  rules: [
    { name: 'latency', priority: 1, match: 'any', detect: { perHop: { metric: 'hopLatency', threshold: 1000 } } },
  ],
});

/** @param bootstrap brokers; empty: without Kafka */
export async function collect(bootstrap: readonly string[], directory: string): Promise<void> {
  let events = 0;
  const detection = new DetectionStage(RULES, {
    onEvents: (found) => {
      events += found.count;
    },
  });
  const source = new UdpSource({ address: 'udp://127.0.0.1:0' });
  const onProblem = (error: Error): void => {
    process.stderr.write(`${error.message}\n`);
  };
  const sinks: Sink[] = [
    await ParquetSink.open({ directory: `${directory}/parquet`, whenFull: 'drop', rotate: { ageMs: 5000 }, onProblem }),
  ];
  if (bootstrap.length > 0) {
    const spool = { directory: `${directory}/spool` };
    sinks.push(new KafkaSink({ bootstrap, whenFull: 'drop', spool, watermarkMs: 0, onProblem }));
  }
  const collector = new Collector({
    sources: [source],
    stages: [new LiveStatistics(), detection, new FlowStage({ rows: 1 << 10, buckets: 4, idleNs: 10_000_000_000n })],
    sinks,
    onProblem: ({ error }) => onProblem(error),
  });
  await collector.start();
  process.stdout.write(`${JSON.stringify({ port: source.address.port })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
    await source.pollKernelDrops();
    globalThis.gc?.();
    process.stdout.write(`${JSON.stringify(sample())}\n`);
  }
  await collector.stop();
  process.stdout.write(`${JSON.stringify(sample())}\n`);

  function sample(): Sample {
    const { rss, heapUsed, external } = process.memoryUsage();
    return { totals: collector.totals(), events, rss, heap: heapUsed, external };
  }
}
