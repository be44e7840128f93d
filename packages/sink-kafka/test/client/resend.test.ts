import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { KafkaSink } from '@int/sink-kafka';
import { afterEach, expect, test, vi } from 'vitest';
import { startCluster } from '../../../../.ci/kafka/cluster.mjs';
import { requireKafka } from '../../../../.ci/kafka/for-tests.js';
import { inTime } from '../../../../.ci/test/until.js';
import { check, closedAccount } from '../check.js';
import { batchOf } from '../load.js';
import { newName, readTopic } from '../topic.js';

// It starts a Kafka of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** How often a batch is written, and every third time its answer gets lost; INT_LONG=1: more often. */
const ROUNDS = process.env.INT_LONG === '1' ? 30 : 12;

/** Number of the request Produce in the protocol. */
const PRODUCE = 0;

const NOT_LEADER_OR_FOLLOWER = 6;

/** In front of a broker: can lose the answer to a Produce request with the connection, or change what it says. */
class AnswerProxy {
  port = 0;
  /** Answers to lose. */
  toLose = 0;
  /** Answers that say that the leader of their first partition is another broker. */
  toMove = 0;
  #target = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#connect(client));

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await inTime('a TCP port', once(this.#server, 'listening'));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    this.port = address.port;
  }

  forwardTo(port: number): void {
    this.#target = port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #connect(client: Socket): void {
    const broker = createConnection(this.#target, '127.0.0.1');
    let isProducing = false;
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      // The sink asks one question at a time, and each begins a piece of its own: length, then number.
      if (!isProducing) isProducing = bytes.length > 6 && bytes.readInt16BE(4) === PRODUCE;
      broker.write(bytes);
    });
    broker.on('data', (bytes) => {
      if (isProducing && this.toLose > 0) {
        this.toLose -= 1;
        client.destroy();
        return;
      }
      if (isProducing && this.toMove > 0) {
        this.toMove -= 1;
        // Length, number of the question and tags; topics, the name of the first; its partitions, number of the first.
        bytes.writeInt16BE(NOT_LEADER_OR_FOLLOWER, 4 + 4 + 1 + 1 + bytes.readUInt8(10) + 1 + 4);
      }
      isProducing = false;
      client.write(bytes);
    });
  }
}

interface Path {
  readonly proxy: AnswerProxy;
  readonly bootstrap: readonly string[];
  readonly topic: string;
  readonly sink: KafkaSink;
  /** Codes of the problems told. */
  readonly problems: readonly string[];
}

/** A sink that reaches its broker through the proxy only. */
async function open(): Promise<Path> {
  const proxy = new AnswerProxy();
  await proxy.listen();
  ends.push(() => proxy.close());
  // The broker tells clients the address of the proxy.
  const cluster = await startCluster({
    properties: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${proxy.port}` },
  });
  ends.push(() => cluster.close());
  proxy.forwardTo(cluster.brokers[0]!.port);
  const topic = newName('reports');
  const problems: string[] = [];
  const sink = new KafkaSink({
    bootstrap: [`127.0.0.1:${proxy.port}`],
    topics: { reports: topic },
    format: 'json',
    retry: { firstMs: 10, maxMs: 50 },
    onProblem: ({ code }) => problems.push(code),
  });
  ends.push(() => sink.close(0));
  return { proxy, bootstrap: cluster.bootstrap, topic, sink, problems };
}

test('a batch that was stored though its answer got lost is stored once', async () => {
  requireKafka();
  const { proxy, bootstrap, topic, sink, problems } = await open();
  const batch = batchOf(200);
  for (let round = 0; round < ROUNDS; round++) {
    if (round % 3 === 1) proxy.toLose = 2;
    await sink.write(batch);
    await sink.flush();
    expect(proxy.toLose).toBe(0);
  }
  expect(closedAccount(sink)).toMatchObject({ offered: 200 * ROUNDS, delivered: 200 * ROUNDS, pending: 0 });
  expect(sink.state()).toMatchObject({ outages: ROUNDS / 3, newProducers: 0 });
  expect(sink.state().resentBatches).toBeGreaterThanOrEqual((2 * ROUNDS) / 3);
  expect(new Set(problems)).toEqual(new Set(['ERR_KAFKA_CONNECTION']));
  expect(check(await readTopic(bootstrap, topic))).toEqual({ records: 200 * ROUNDS, repeats: 0 });

  // A leader that is another broker now is no outage until it has been looked for in vain some times.
  proxy.toMove = 3;
  await sink.write(batch);
  await sink.flush();
  expect(sink.state()).toMatchObject({ outages: ROUNDS / 3 });
  proxy.toMove = 7;
  await sink.write(batch);
  await sink.flush();
  expect(sink.state()).toMatchObject({ outages: ROUNDS / 3 + 1 });
  expect(problems.at(-1)).toBe('ERR_KAFKA_UNAVAILABLE');
  expect(closedAccount(sink)).toMatchObject({ offered: 200 * (ROUNDS + 2), delivered: 200 * (ROUNDS + 2), pending: 0 });
});
