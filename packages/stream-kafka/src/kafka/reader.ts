import { setTimeout as sleep } from 'node:timers/promises';
import { fetchV13 } from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError, reasonOf } from '../errors.js';
import { has } from './answers.js';
import { committedRecords, type LogRecord } from './committed.js';
import type { Connections } from './connections.js';
import type { KafkaLink } from './link.js';

const READ_COMMITTED = 1;
/** Time limit for the answer, added to the broker's wait for messages. */
const ANSWER_MS = 10_000;
/** Interval for checking whether a missing partition exists again. */
const GONE_LOOK_MS = 1000;
/** No fetch session: each fetch is complete. */
const NO_SESSION = { ID: 0, EPOCH: -1 } as const;

/** Reads the committed records of a partition in order. */
export class PartitionReader {
  readonly #link: KafkaLink;
  readonly #topic: string;
  readonly #partition: number;
  readonly #connections: Connections;
  #place: { readonly id: string; readonly leader: string } | null = null;
  /** Offset of the next record. */
  position: number;
  /** Offset after the last record, at the broker's last answer; -1 before. */
  highWatermark = -1;
  /** Messages that the broker deleted before they were read, as far as they can be counted. */
  lost = 0;
  /** Number of times that messages may have been deleted before they were read. */
  gaps = 0;
  /** Id of the topic that {@link position} belongs to; null if not yet known. */
  topicId: string | null;
  /** Time of the last check that found the partition missing; null if it exists. */
  #goneSince: number | null = null;
  /**
   * Whether the topic was made again and the next read begins with the new one; {@link position} still belongs to the
   * old one.
   */
  isMoving = false;

  /**
   * @param position offset of the first record wanted
   * @param topicId id of the topic that `position` belongs to; null for the present topic
   */
  constructor(link: KafkaLink, topic: string, partition: number, position: number, topicId: string | null = null) {
    this.#link = link;
    this.#topic = topic;
    this.#partition = partition;
    this.position = position;
    this.topicId = topicId;
    this.#connections = link.connections();
  }

  /** Whether the partition is missing, because the topic was deleted and made again with fewer. */
  get isGone(): boolean {
    return this.#goneSince !== null;
  }

  /**
   * Waits at most `waitMs` for records, and returns those available, in order; empty if none came.
   *
   * @param maxBytes approximate limit in bytes; a larger single batch is returned whole
   * @throws ProcessError `ERR_PROCESS_REQUEST`; the next call retries from the same offset
   */
  async read(waitMs: number, maxBytes: number): Promise<LogRecord[]> {
    try {
      return await this.#fetch(waitMs, maxBytes);
    } catch (error) {
      // The leader may be gone, so look it up again.
      this.#place = null;
      if (has(error, ['OFFSET_OUT_OF_RANGE'])) return await this.#skipDeleted();
      const what = `reading ${this.#topic} ${this.#partition}`;
      throw new ProcessError(PROCESS_CODES.REQUEST, `${what}: ${reasonOf(error)}`, { cause: error });
    }
  }

  close(): void {
    this.#connections.close();
  }

  async #fetch(waitMs: number, maxBytes: number): Promise<LogRecord[]> {
    const place = await this.#where();
    if (place === null) {
      if (this.isGone) await sleep(waitMs);
      return [];
    }
    const { id, leader } = place;
    const partition = {
      partition: this.#partition,
      currentLeaderEpoch: -1,
      fetchOffset: BigInt(this.position),
      lastFetchedEpoch: -1,
      partitionMaxBytes: maxBytes,
    };
    const topics = [{ topicId: id, partitions: [partition] }];
    const { ID, EPOCH } = NO_SESSION;
    const wait = Math.round(waitMs);
    const response = await this.#connections.ask(leader, 'fetching', wait + ANSWER_MS, (connection) =>
      fetchV13.api.async(connection, wait, 1, maxBytes, READ_COMMITTED, ID, EPOCH, topics, [], ''),
    );
    const answer = response.responses[0]?.partitions[0];
    const records: LogRecord[] = [];
    if (answer === undefined) return records;
    this.highWatermark = Number(answer.highWatermark);
    this.position = committedRecords(answer.records ?? [], answer.abortedTransactions, this.position, records);
    return records;
  }

  /** The topic's id and the partition's leader; null if there is none. */
  async #where(): Promise<{ readonly id: string; readonly leader: string } | null> {
    if (this.#place !== null) return this.#place;
    if (this.#goneSince !== null && performance.now() - this.#goneSince < GONE_LOOK_MS) return null;
    const layout = await this.#link.layout(this.#topic);
    if (layout !== null && this.#partition >= layout.leaders.length) {
      if (!this.isGone) this.#countLost();
      this.#goneSince = performance.now();
      this.isMoving = false;
      return null;
    }
    const leader = layout?.leaders[this.#partition];
    if (layout === null || leader === undefined) throw new Error('it has no leader');
    // The topic was made again: unread records of the old one are lost, and all of the new one are unread.
    if (this.topicId !== null && this.topicId !== layout.id) {
      this.isMoving = !this.isMoving;
      if (this.isMoving) return null;
      const first = await this.#link.offset(this.#topic, this.#partition, 'earliest');
      this.gaps++;
      this.#countLost();
      this.position = first;
    }
    this.topicId = layout.id;
    this.#goneSince = null;
    this.#place = { id: layout.id, leader };
    return this.#place;
  }

  /** Counts the unread records of a deleted topic. */
  #countLost(): void {
    this.lost += Math.max(0, this.highWatermark - this.position);
    this.highWatermark = -1;
  }

  async #skipDeleted(): Promise<LogRecord[]> {
    const earliest = await this.#link.offset(this.#topic, this.#partition, 'earliest');
    const latest = await this.#link.offset(this.#topic, this.#partition, 'latest');
    this.gaps++;
    if (earliest > this.position) this.lost += earliest - this.position;
    // A position after the end means that the topic was deleted and made again, so all its records are new.
    if (earliest > this.position || this.position > latest) this.position = earliest;
    return [];
  }
}
