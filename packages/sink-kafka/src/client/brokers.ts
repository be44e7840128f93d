import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions, createTopicsV7, initProducerIdV4, metadataV10 } from '@platformatic/kafka';
import { KafkaSinkError } from '../errors.js';
import type { KafkaLogin } from '../options.js';
import { ConnectionLogin } from './login.js';
import { isStarting, PROTOCOL_ERROR, protocolError, toSinkError } from './outcome.js';
import { type PartitionAnswer, type PartitionBatch, produce } from './produce.js';

export interface BrokerAccess {
  /** `host:port` each. */
  readonly bootstrap: readonly string[];
  readonly clientId: string;
  readonly tls?: ConnectionOptions['tls'];
  readonly sasl?: KafkaLogin;
  /** Time limit for connecting and logging in. */
  readonly connectTimeoutMs: number;
  /** Time limit for any answer. */
  readonly requestTimeoutMs: number;
}

/** Partitions and replicas of created topics; -1 leaves the number to the brokers. */
export interface NewTopic {
  readonly partitions: number;
  readonly replicas: number;
}

/** A topic as the brokers describe it. */
export interface TopicLayout {
  readonly name: string;
  /** A topic that was deleted and created again has another id. */
  readonly id: string;
  /** Node id of the leader, by partition; -1: none at the moment. */
  readonly leaders: readonly number[];
}

/** The id and epoch under which a producer numbers its batches. */
export interface ProducerIdentity {
  readonly id: bigint;
  readonly epoch: number;
}

const NO_PRODUCER = -1n;

/** Brokers need a moment to choose the leaders of a new topic. */
const NEW_TOPIC_TRIES = 40;
const NEW_TOPIC_WAIT_MS = 50;
const START_TRIES = 20;
const START_WAIT_MS = 100;

type MetadataResponse = Awaited<ReturnType<(typeof metadataV10)['api']['async']>>;
type CreateTopicsResponse = Awaited<ReturnType<(typeof createTopicsV7)['api']['async']>>;

interface Line {
  readonly made: Promise<Connection>;
  readonly login: ConnectionLogin | null;
  /** Requests without an answer yet. */
  questions: number;
}

/**
 * Connections to the brokers of a cluster, one each.
 *
 * The client's own retries are not used: for an idempotent producer they never end, and a connection is unusable after
 * a late answer. Here each request has a time limit, and any failure ends the connection. The next request makes a new
 * one.
 */
export class Brokers {
  readonly #access: BrokerAccess;
  readonly #lines = new Map<string, Line>();
  readonly #open = new Set<Connection>();
  /** `host:port` by node id, from the brokers' last answer. */
  #nodes = new Map<number, string>();
  /** The broker to try first when any will do. */
  #turn = 0;
  #isClosed = false;
  /** Callbacks that end the requests without an answer yet. */
  readonly #waiting = new Set<(error: KafkaSinkError) => void>();

  constructor(access: BrokerAccess) {
    this.#access = access;
  }

  /**
   * Asks for the leaders of topics, and creates missing topics.
   * @param create null: create none
   * @throws KafkaSinkError ERR_KAFKA_TOPIC for a missing topic
   */
  async describe(names: readonly string[], create: NewTopic | null): Promise<ReadonlyMap<string, TopicLayout>> {
    let answer = await this.#metadata(names);
    const missing = answer.topics.filter((topic) => topic.errorCode === PROTOCOL_ERROR.UNKNOWN_TOPIC_OR_PARTITION);
    if (missing.length > 0 && create !== null) {
      await this.#create(
        missing.flatMap(({ name }) => name ?? []),
        create,
      );
      answer = await this.#metadata(names);
      for (let tries = 0; tries < NEW_TOPIC_TRIES && !answer.topics.every(hasLeaders); tries++) {
        await sleep(NEW_TOPIC_WAIT_MS);
        answer = await this.#metadata(names);
      }
    }
    const layouts = new Map<string, TopicLayout>();
    for (const { name, topicId: id, errorCode, partitions } of answer.topics) {
      if (errorCode !== PROTOCOL_ERROR.NONE) throw protocolError(errorCode, `topic ${name}`);
      const leaders: number[] = new Array(partitions.length).fill(-1);
      for (const { partitionIndex, leaderId } of partitions) leaders[partitionIndex] = leaderId;
      if (typeof name === 'string') layouts.set(name, { name, id, leaders });
    }
    for (const name of names) {
      if ((layouts.get(name)?.leaders.length ?? 0) === 0) {
        throw new KafkaSinkError('ERR_KAFKA_TOPIC', `topic ${name}: the brokers do not describe it`);
      }
    }
    return layouts;
  }

  async identify(): Promise<ProducerIdentity> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#identify();
      } catch (error) {
        // Brokers that have just started have no producer ids yet.
        if (!isStarting(error) || tries > START_TRIES || this.#isClosed) throw error;
        await sleep(START_WAIT_MS);
      }
    }
  }

  async #identify(): Promise<ProducerIdentity> {
    const { connectTimeoutMs } = this.#access;
    const { producerEpoch, producerId } = await this.#ask(null, (connection) =>
      initProducerIdV4.api.async(connection, null, connectTimeoutMs, NO_PRODUCER, -1),
    );
    return { id: producerId, epoch: producerEpoch };
  }

  /**
   * Sends batches to a leader, which stores them with all its replicas in sync.
   * @returns the answer for each batch that the broker mentions
   */
  produce(node: number, batches: readonly PartitionBatch[]): Promise<readonly PartitionAnswer[]> {
    // The broker's own limit is shorter, so that its answer still arrives.
    const brokerTimeoutMs = Math.ceil(this.#access.requestTimeoutMs * 0.8);
    return this.#ask(node, (connection) => produce.async(connection, batches, brokerTimeoutMs));
  }

  /** Ends all connections at once. Requests without an answer fail. */
  close(): void {
    this.#isClosed = true;
    for (const reject of this.#waiting) reject(new KafkaSinkError('ERR_KAFKA_CONNECTION', 'closed'));
    for (const connection of this.#open) connection.socket?.destroy();
    this.#open.clear();
    this.#lines.clear();
  }

  async #metadata(names: readonly string[]): Promise<MetadataResponse> {
    const answer = await this.#ask(null, (connection) =>
      metadataV10.api.async(connection, [...names], false, false).catch(answerIn<MetadataResponse>),
    );
    const nodes = new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, `${host}:${port}`]));
    if (nodes.size > 0) this.#nodes = nodes;
    return answer;
  }

  async #create(names: readonly string[], { partitions, replicas }: NewTopic): Promise<void> {
    const topics = names.map((name) => ({
      name,
      numPartitions: partitions,
      replicationFactor: replicas,
      assignments: [],
      configs: [],
    }));
    const { requestTimeoutMs } = this.#access;
    const answer = await this.#ask(null, (connection) =>
      createTopicsV7.api.async(connection, topics, requestTimeoutMs, false).catch(answerIn<CreateTopicsResponse>),
    );
    for (const { name, errorCode } of answer.topics) {
      // Another client may have been faster.
      if (errorCode !== PROTOCOL_ERROR.NONE && errorCode !== PROTOCOL_ERROR.TOPIC_ALREADY_EXISTS) {
        throw protocolError(errorCode, `topic ${name} cannot be made`);
      }
    }
  }

  /** @param node node id of the broker to ask; null: any that can be reached @throws KafkaSinkError */
  async #ask<T>(node: number | null, question: (connection: Connection) => Promise<T>): Promise<T> {
    if (node !== null) {
      const address = this.#nodes.get(node);
      if (address === undefined) throw new KafkaSinkError('ERR_KAFKA_UNAVAILABLE', `broker ${node} is not known`);
      return await this.#askAt(address, question);
    }
    const addresses = [...new Set([...this.#nodes.values(), ...this.#access.bootstrap])];
    let failure: unknown;
    for (let tries = 0; tries < addresses.length && !this.#isClosed; tries++) {
      try {
        return await this.#askAt(addresses[this.#turn % addresses.length]!, question);
      } catch (error) {
        failure = error;
        this.#turn += 1;
      }
    }
    throw toSinkError(failure ?? new KafkaSinkError('ERR_KAFKA_CONNECTION', 'closed'));
  }

  /** Limits the wait even if the client never answers. */
  #withLimit<T>(promise: Promise<T>, limitMs: number, address: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new KafkaSinkError('ERR_KAFKA_TIMEOUT', `${address} has not answered after ${limitMs} ms`));
      }, limitMs);
      this.#waiting.add(reject);
      promise.then(resolve, reject).finally(() => {
        clearTimeout(timer);
        this.#waiting.delete(reject);
      });
    });
  }

  async #askAt<T>(address: string, question: (connection: Connection) => Promise<T>): Promise<T> {
    const { connectTimeoutMs, requestTimeoutMs } = this.#access;
    const line = this.#lineTo(address);
    line.questions++;
    try {
      const connection = await this.#withLimit(line.made, connectTimeoutMs + 1000, address);
      return await this.#withLimit(question(connection), requestTimeoutMs + 1000, address);
    } catch (error) {
      this.#end(address, line);
      throw toSinkError(error);
    } finally {
      line.questions--;
      if (line.questions === 0 && this.#lines.get(address) !== line) this.#end(address, line);
    }
  }

  #end(address: string, line: Line): void {
    if (this.#lines.get(address) === line) this.#lines.delete(address);
    line.made.then(
      (connection) => {
        this.#open.delete(connection);
        connection.socket?.destroy();
      },
      () => undefined,
    );
  }

  #lineTo(address: string): Line {
    if (this.#isClosed) throw new KafkaSinkError('ERR_KAFKA_CONNECTION', 'closed');
    const existing = this.#lines.get(address);
    if (existing !== undefined && existing.login?.isOver !== true) return existing;
    // The last answer ends the connection.
    this.#lines.delete(address);
    if (existing?.questions === 0) this.#end(address, existing);
    const { clientId, connectTimeoutMs, requestTimeoutMs, sasl, tls } = this.#access;
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
    const login = sasl === undefined ? null : new ConnectionLogin(sasl);
    const options: ConnectionOptions = {
      connectTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // One request at a time, so that none waits behind another without a limit.
      maxInflights: 1,
      ...(tls === undefined ? {} : { tls, tlsServerName: serverName(tls.servername, host) }),
    };
    const connection = new Connection(clientId, login?.within(options) ?? options);
    const forget = (): void => {
      this.#open.delete(connection);
      if (this.#lines.get(address)?.made === made) this.#lines.delete(address);
    };
    // Without a listener an error event would end the process.
    connection.on('error', forget);
    connection.on('close', forget);
    this.#open.add(connection);
    const made = Promise.resolve(connection.connect(host, Number(address.slice(colon + 1)))).then(() => connection);
    const line = { made, login, questions: 0 };
    this.#lines.set(address, line);
    made.catch(forget);
    return line;
  }
}

/** The TLS server name: host names only, as the standard has none for addresses. */
function serverName(given: string | undefined, host: string): string | false {
  return given ?? (isIP(host) === 0 ? host : false);
}

function hasLeaders({ errorCode, partitions }: MetadataResponse['topics'][number]): boolean {
  return errorCode === PROTOCOL_ERROR.NONE && partitions.every(({ leaderId }) => leaderId >= 0);
}

/**
 * The client throws when any part of an answer is an error, such as that of a single topic. The thrown error holds the
 * whole answer.
 */
function answerIn<T extends { readonly topics: readonly unknown[] }>(error: unknown): T {
  if (error instanceof Error && 'response' in error && error.response !== undefined) return error.response as T;
  throw error;
}
