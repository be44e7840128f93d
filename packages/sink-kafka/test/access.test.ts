import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaSink, type KafkaSinkOptions } from '@int/sink-kafka';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type KafkaCluster, startCluster } from '../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../.ci/kafka/for-tests.js';
import { requires } from '../../../.ci/test/requires.js';
import { check, closedAccount } from './check.js';
import { batchOf } from './load.js';
import { read, until } from './source/reading.js';
import { newName, readTopic } from './topic.js';

// It starts a Kafka of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const USER = { mechanism: 'PLAIN', username: 'collector', password: 'of telemetry' } as const;

interface Secured {
  readonly cluster: KafkaCluster;
  /** Of the listener that wants TLS and a login. */
  readonly bootstrap: readonly string[];
  readonly ca: Buffer;
}

/** A broker with a second listener, whose certificate is its own authority. */
async function start(folder: string, openssl: string): Promise<Secured> {
  const [key, certificate, both] = ['key.pem', 'certificate.pem', 'both.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  execFileSync(
    openssl,
    [...'req -x509 -newkey rsa:2048 -nodes -days 2'.split(' '), ...names, '-keyout', key, '-out', certificate],
    { stdio: 'ignore', timeout: 30_000 },
  );
  const ca = readFileSync(certificate);
  writeFileSync(both, Buffer.concat([readFileSync(key), ca]));
  const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  const cluster = await startCluster({
    listeners: ['SECURED'],
    properties: {
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL',
      'listener.name.secured.ssl.keystore.type': 'PEM',
      'listener.name.secured.ssl.keystore.location': both,
      'listener.name.secured.sasl.enabled.mechanisms': USER.mechanism,
      // A second, and everybody has to log in again.
      'listener.name.secured.plain.connections.max.reauth.ms': '1000',
      'listener.name.secured.plain.sasl.jaas.config': `${login} user_${USER.username}="${USER.password}";`,
    },
  });
  return { cluster, bootstrap: [`127.0.0.1:${cluster.brokers[0]!.morePorts.SECURED}`], ca };
}

describe('a broker that wants TLS and a login', () => {
  const folder = mkdtempSync(join(tmpdir(), 'int-access-'));
  let started: Promise<Secured> | undefined;

  afterAll(async () => {
    await (await started)?.cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function secured(): Promise<Secured> {
    requireKafka();
    const openssl = requires('openssl', 'npm run setup:system');
    started ??= start(folder, openssl);
    return started;
  }

  /** The first problem of a sink that cannot get in. */
  async function refused(bootstrap: readonly string[], options: Partial<KafkaSinkOptions>): Promise<string> {
    const problems: string[] = [];
    const sink = new KafkaSink({
      bootstrap,
      topics: { reports: newName('reports') },
      retry: { firstMs: 10, maxMs: 50 },
      connectTimeoutMs: 2000,
      onProblem: ({ code, message }) => problems.push(`${code} ${message}`),
      ...options,
    });
    const batch = batchOf(10);
    await sink.write(batch);
    await expect.poll(() => problems.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await sink.close(0);
    expect(closedAccount(sink)).toMatchObject({ offered: 10, delivered: 0, pending: 0 });
    return problems[0]!;
  }

  it('takes records and gives them to those who may', async () => {
    const { bootstrap, ca, cluster } = await secured();
    const topic = newName('reports');
    const access = { bootstrap, tls: { ca }, sasl: USER };
    const sink = new KafkaSink({ ...access, topics: { reports: topic }, format: 'json' });
    const batch = batchOf(500);
    await sink.write(batch);
    await sink.flush();
    await sink.close();
    expect(closedAccount(sink)).toMatchObject({ offered: 500, delivered: 500, pending: 0 });
    expect(check(await readTopic(cluster.bootstrap, topic))).toEqual({ records: 500, repeats: 0 });
    const { collector, keeper } = await read({ ...access, topic, group: newName('group') });
    await until(() => keeper.kept.length === 500);
    await collector.stop();
  });

  it('lets a login count for a time only, and the sink does not wait for the end of it', async () => {
    const { bootstrap, ca } = await secured();
    const problems: string[] = [];
    const sink = new KafkaSink({
      bootstrap,
      tls: { ca },
      sasl: USER,
      topics: { reports: newName('reports') },
      lingerMs: 0,
      onProblem: ({ message }) => problems.push(message),
    });
    const batch = batchOf(10);
    let written = 0;
    for (const began = performance.now(); performance.now() - began < 1800; written += 10) {
      await sink.write(batch);
      await sink.flush();
    }
    await sink.close();
    expect(problems).toEqual([]);
    expect(closedAccount(sink)).toMatchObject({ offered: written, delivered: written });
  });

  it('refuses others, and the sink says why', async () => {
    const { bootstrap, ca } = await secured();
    const wrong = { ...USER, password: 'guessed' };
    expect(await refused(bootstrap, { tls: { ca }, sasl: wrong })).toMatch(/^ERR_KAFKA_AUTH /);
    expect(await refused(bootstrap, { sasl: USER, tls: {} })).toMatch(/^ERR_KAFKA_CONNECTION .*certificate/);
    const other = { ca, servername: 'broker.example' };
    expect(await refused(bootstrap, { sasl: USER, tls: other })).toMatch(/^ERR_KAFKA_CONNECTION .*broker\.example/);
    // Neither side knows what the other says.
    expect(await refused(bootstrap, {})).toMatch(/^ERR_KAFKA_(CONNECTION|TIMEOUT) /);
  });
});
