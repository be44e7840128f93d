import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { startCluster } from '../../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../../.ci/kafka/for-tests.js';
import { makeTopic, messages, REPORTS, read, send, sorted, until } from './reading.js';

// It starts Kafka, kills it and starts it again.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

test('a source outlasts its broker, tells of it once, and gives each record once', async () => {
  requireKafka();
  const cluster = await startCluster({ brokers: 1 });
  try {
    const { bootstrap, brokers } = cluster;
    const topic = await makeTopic(bootstrap);
    const { records, slab } = messages('protobuf', 5);
    const problems: string[] = [];
    const recovered: number[] = [];
    const { collector, keeper } = await read({
      bootstrap,
      topic,
      // Nothing is committed before the outage: all is read again after it.
      commitMs: 600_000,
      sessionMs: 6000,
      connectTimeoutMs: 1000,
      requestTimeoutMs: 3000,
      retry: { firstMs: 100, maxMs: 500 },
      onProblem: ({ code }) => problems.push(code),
      onRecovered: ({ attempts }) => recovered.push(attempts),
    });
    await send(bootstrap, topic, slab, 0, 300);
    await until(() => keeper.kept.length === 300);
    await brokers[0]!.kill();
    await until(() => problems.length > 0);
    await sleep(1000);
    brokers[0]!.start();
    await cluster.ready();
    await send(bootstrap, topic, slab, 300, REPORTS);
    await until(() => keeper.kept.length === REPORTS);
    const totals = await collector.stop();
    expect(sorted(keeper.kept)).toEqual(sorted(records.values()));
    expect(totals.received).toBe(REPORTS);
    expect(new Set(problems).size).toBe(problems.length);
    expect(recovered).toHaveLength(1);
    expect(recovered[0]).toBeGreaterThan(0);
  } finally {
    await cluster.close();
  }
});
