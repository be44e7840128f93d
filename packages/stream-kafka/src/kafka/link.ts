import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Connection,
  createPartitionsV3,
  createTopicsV7,
  findCoordinatorV4,
  listOffsetsV7,
  metadataV10,
  offsetFetchV8,
} from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError, reasonOf } from '../errors.js';
import { answerIn, BUSY, has, isAnswer, MOVED } from './answers.js';
import { Connections, type KafkaAccess } from './connections.js';

/** The required properties of a topic. */
export interface TopicWish {
  readonly topic: string;
  /** Least number of partitions. Missing ones are added. */
  readonly partitions: number;
  /** Number of partitions of a new topic. */
  readonly make: number;
  /** Replicas of a new topic; -1 for the brokers' default. */
  readonly replicas: number;
  /** Whether to keep only the last message of each key. */
  readonly compacted?: boolean;
}

/** The brokers' description of a topic. */
export interface TopicLayout {
  readonly id: string;
  /** Address of the leader, by partition; undefined if there is none at the moment. */
  readonly leaders: readonly (string | undefined)[];
}

type Metadata = Awaited<ReturnType<typeof metadataV10.api.async>>;

const ASK_MS = 10_000;
const TRIES = 20;
const WAIT_MS = 100;
const EARLIEST = -2n;
const LATEST = -1n;
/** Kinds of coordinators. */
export const COORDINATOR = { GROUP: 0, TRANSACTION: 1 } as const;
/** Only closed segments of the state topic are compacted, so close them early: after 64 MiB or ten minutes. */
const COMPACTED = [
  { name: 'cleanup.policy', value: 'compact' },
  { name: 'segment.bytes', value: String(64 * 1024 * 1024) },
  { name: 'segment.ms', value: '600000' },
  { name: 'min.cleanable.dirty.ratio', value: '0.2' },
];

/** Requests topics, offsets and coordinators from brokers. All partitions of a process share one. */
export class KafkaLink {
  readonly #access: KafkaAccess;
  readonly #clientId: string;
  readonly #connections: Connections;
  /** Addresses of the brokers, from their last reply. */
  #known: readonly string[] = [];
  /** Index of the first broker to try if any will do. */
  #turn = 0;

  constructor(access: KafkaAccess, clientId: string) {
    this.#access = access;
    this.#clientId = clientId;
    this.#connections = new Connections(access, clientId);
  }

  /** New connections, for requests that must not wait behind others. */
  connections(): Connections {
    return new Connections(this.#access, this.#clientId);
  }

  /** @throws ProcessError `ERR_PROCESS_UNREACHABLE` */
  async reach(): Promise<void> {
    try {
      await this.#metadata([]);
    } catch (error) {
      const where = this.#access.bootstrap.join(', ');
      throw new ProcessError(PROCESS_CODES.UNREACHABLE, `no Kafka broker at ${where}: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * Makes a topic if it is missing, and adds partitions if it has too few.
   * @returns the number of its partitions
   * @throws ProcessError `ERR_PROCESS_TOPIC`
   */
  async topic(wish: TopicWish): Promise<number> {
    const { topic, partitions, make } = wish;
    try {
      const before = await this.layout(topic);
      if (before !== null && before.leaders.length >= partitions) return before.leaders.length;
      await (before === null ? this.#create(wish) : this.#grow(topic, partitions));
      return await this.#awaitLeaders(topic, before === null ? make : partitions);
    } catch (error) {
      throw new ProcessError(PROCESS_CODES.TOPIC, `topic ${topic}: ${reasonOf(error)}`, { cause: error });
    }
  }

  /** The present layout of a topic; null if the topic does not exist. */
  async layout(topic: string): Promise<TopicLayout | null> {
    const { topics, brokers } = await this.#metadata([topic]);
    const found = topics.find(({ name }) => name === topic);
    if (found === undefined || found.partitions.length === 0) return null;
    const addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, addressOf(host, port)]));
    const leaders: (string | undefined)[] = new Array(found.partitions.length).fill(undefined);
    for (const { partitionIndex, leaderId } of found.partitions) leaders[partitionIndex] = addresses.get(leaderId);
    return { id: found.topicId, leaders };
  }

  /** Offset of the oldest message, or after the newest, whether committed or not. */
  async offset(topic: string, partition: number, which: 'earliest' | 'latest'): Promise<number> {
    const timestamp = which === 'earliest' ? EARLIEST : LATEST;
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }] }];
    const what = `asking for the offsets of ${topic} ${partition}`;
    return await this.#retried(MOVED, async () => {
      const leader = (await this.layout(topic))?.leaders[partition];
      if (leader === undefined) throw new ProcessError(PROCESS_CODES.REQUEST, `${topic} ${partition} has no leader`);
      const answer = await this.#connections.ask(leader, what, ASK_MS, (connection) =>
        listOffsetsV7.api.async(connection, -1, 0, topics),
      );
      return Number(answer.topics[0]?.partitions[0]?.offset ?? 0n);
    });
  }

  /** The group's committed offset, after open transactions on it have ended; null if there is none. */
  async committed(group: string, topic: string, partition: number): Promise<number | null> {
    const groups = [{ groupId: group, memberEpoch: -1, topics: [{ name: topic, partitionIndexes: [partition] }] }];
    const again = [...BUSY, 'NOT_COORDINATOR', 'UNSTABLE_OFFSET_COMMIT'];
    return await this.#retried(again, async () => {
      const coordinator = await this.coordinator(COORDINATOR.GROUP, group);
      const answer = await this.#connections.ask(coordinator, 'asking for a committed offset', ASK_MS, (connection) =>
        offsetFetchV8.api.async(connection, groups, true),
      );
      const offset = answer.groups[0]?.topics[0]?.partitions[0]?.committedOffset ?? -1n;
      return offset < 0n ? null : Number(offset);
    });
  }

  /** Address of the coordinator of a group or a transactional id. */
  async coordinator(kind: (typeof COORDINATOR)[keyof typeof COORDINATOR], key: string): Promise<string> {
    const found = await this.#retried(BUSY, () =>
      this.#anywhere('asking for a coordinator', (connection) => findCoordinatorV4.api.async(connection, kind, [key])),
    );
    const one = found.coordinators[0];
    if (one === undefined) throw new ProcessError(PROCESS_CODES.REQUEST, `no coordinator for ${key}`);
    return addressOf(one.host, one.port);
  }

  close(): void {
    this.#connections.close();
  }

  async #metadata(topics: string[]): Promise<Metadata> {
    const answer = await this.#anywhere('asking for topics', async (connection) => {
      try {
        return await metadataV10.api.async(connection, topics, false, false);
      } catch (error) {
        // The reply contains errors of single topics: a missing topic, or a partition without a leader.
        const response = answerIn(error);
        if (response === null || response === undefined) throw error;
        return response as Metadata;
      }
    });
    if (answer.brokers.length > 0) this.#known = answer.brokers.map(({ host, port }) => addressOf(host, port));
    return answer;
  }

  /** Sends a request to one broker after another until one answers. */
  async #anywhere<T>(what: string, question: (connection: Connection) => Promise<T>): Promise<T> {
    const addresses = [...new Set([...this.#known, ...this.#access.bootstrap])];
    let failure: unknown;
    for (let attempt = 0; attempt < addresses.length; attempt++) {
      try {
        return await this.#connections.ask(addresses[this.#turn % addresses.length]!, what, ASK_MS, question);
      } catch (error) {
        if (isAnswer(error)) throw error;
        failure = error;
        this.#turn++;
      }
    }
    throw failure;
  }

  /** Repeats a request, for a limited time, while the reply is one of `again` or missing. */
  async #retried<T>(again: readonly string[], ask: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask();
      } catch (error) {
        if (attempt === TRIES || (isAnswer(error) && !has(error, again))) throw error;
        await sleep(WAIT_MS);
      }
    }
  }

  async #create({ topic, make, replicas, compacted }: TopicWish): Promise<void> {
    const configs = compacted === true ? COMPACTED : [];
    const topics = [{ name: topic, numPartitions: make, replicationFactor: replicas, assignments: [], configs }];
    try {
      await this.#anywhere('making a topic', (connection) =>
        createTopicsV7.api.async(connection, topics, ASK_MS, false),
      );
    } catch (error) {
      // Another processor has made it meanwhile.
      if (!has(error, ['TOPIC_ALREADY_EXISTS'])) throw error;
    }
  }

  async #grow(topic: string, count: number): Promise<void> {
    try {
      await this.#anywhere('adding partitions', (connection) =>
        createPartitionsV3.api.async(connection, [{ name: topic, count, assignments: null }], ASK_MS, false),
      );
    } catch (error) {
      // Another partition's work, or another processor, has added them meanwhile.
      if (!has(error, ['INVALID_PARTITIONS'])) throw error;
    }
  }

  /** Waits until the brokers know a topic that was just made or enlarged. */
  async #awaitLeaders(topic: string, partitions: number): Promise<number> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const leaders = (await this.layout(topic))?.leaders ?? [];
      if (leaders.length >= partitions && leaders.every((leader) => leader !== undefined)) return leaders.length;
      await sleep(WAIT_MS);
    }
    throw new ProcessError(PROCESS_CODES.TOPIC, `it did not get its ${partitions} partitions`);
  }
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
