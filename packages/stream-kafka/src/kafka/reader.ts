import { setTimeout as sleep } from 'node:timers/promises';
import { fetchV13 } from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError, reasonOf } from '../errors.js';
import { has } from './answers.js';
import { committedRecords, type LogRecord } from './committed.js';
import type { Connections } from './connections.js';
import type { KafkaLink } from './link.js';

const READ_COMMITTED = 1;
/** Time for the answer beyond what the broker may wait for messages. */
const ANSWER_MS = 10_000;
/** How often to look whether a partition that is gone is there again. */
const GONE_LOOK_MS = 1000;
/** No session: each fetch says all that it wants. */
const NO_SESSION = { ID: 0, EPOCH: -1 } as const;

/** Reads a partition in order, and only what is committed. */
export class PartitionReader {
  readonly #link: KafkaLink;
  readonly #topic: string;
  readonly #partition: number;
  readonly #connections: Connections;
  #place: { readonly id: string; readonly leader: string } | null = null;
  #position: number;
  #highWatermark = -1;
  #lost = 0;
  #gaps = 0;
  #topicId: string | null;
  /** When it was last seen that the topic does not have the partition any more; null: it has. */
  #goneSince: number | null = null;
  #isMoving = false;

  /**
   * @param position offset of the first record wanted
   * @param topicId of the topic that the offset is of; null: of whichever there is
   */
  constructor(link: KafkaLink, topic: string, partition: number, position: number, topicId: string | null = null) {
    this.#link = link;
    this.#topic = topic;
    this.#partition = partition;
    this.#position = position;
    this.#topicId = topicId;
    this.#connections = link.connections();
  }

  /** Offset of the next record. */
  get position(): number {
    return this.#position;
  }

  /** Offset behind the last record when the broker last answered; -1 before. */
  get highWatermark(): number {
    return this.#highWatermark;
  }

  /** Messages that the broker had deleted before they were read, as far as they can be counted. */
  get lost(): number {
    return this.#lost;
  }

  /** How often messages may have been deleted before they were read. */
  get gaps(): number {
    return this.#gaps;
  }

  /** The topic has fewer partitions: it was deleted and made again. There is nothing to read. */
  get isGone(): boolean {
    return this.#goneSince !== null;
  }

  /** The topic was made again, and the next call begins with that: {@link position} is still of the one before. */
  get isMoving(): boolean {
    return this.#isMoving;
  }

  /** Id of the topic that {@link position} is of; null: it was not asked for yet. */
  get topicId(): string | null {
    return this.#topicId;
  }

  /**
   * Waits at most `waitMs` for records and gives what there is, in order; none if none came.
   *
   * @param maxBytes about how much at most; a single batch that is larger is given whole
   * @throws ProcessError `ERR_PROCESS_REQUEST`; the next call tries again from the same place
   */
  async read(waitMs: number, maxBytes: number): Promise<LogRecord[]> {
    try {
      return await this.#fetch(waitMs, maxBytes);
    } catch (error) {
      // Whoever led the partition may be gone: ask again.
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
      fetchOffset: BigInt(this.#position),
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
    this.#highWatermark = Number(answer.highWatermark);
    this.#position = committedRecords(answer.records ?? [], answer.abortedTransactions, this.#position, records);
    return records;
  }

  /** null: nowhere. */
  async #where(): Promise<{ readonly id: string; readonly leader: string } | null> {
    if (this.#place !== null) return this.#place;
    if (this.#goneSince !== null && performance.now() - this.#goneSince < GONE_LOOK_MS) return null;
    const layout = await this.#link.layout(this.#topic);
    if (layout !== null && this.#partition >= layout.leaders.length) {
      if (!this.isGone) this.#countLost();
      this.#goneSince = performance.now();
      this.#isMoving = false;
      return null;
    }
    const leader = layout?.leaders[this.#partition];
    if (layout === null || leader === undefined) throw new Error('it has no leader');
    // Made again: what was not read of the one before is gone, and all of this one is new.
    if (this.#topicId !== null && this.#topicId !== layout.id) {
      this.#isMoving = !this.#isMoving;
      if (this.#isMoving) return null;
      const first = await this.#link.offset(this.#topic, this.#partition, 'earliest');
      this.#gaps++;
      this.#countLost();
      this.#position = first;
    }
    this.#topicId = layout.id;
    this.#goneSince = null;
    this.#place = { id: layout.id, leader };
    return this.#place;
  }

  /** The topic was deleted, with what was not read of it. */
  #countLost(): void {
    this.#lost += Math.max(0, this.#highWatermark - this.#position);
    this.#highWatermark = -1;
  }

  async #skipDeleted(): Promise<LogRecord[]> {
    const earliest = await this.#link.offset(this.#topic, this.#partition, 'earliest');
    const latest = await this.#link.offset(this.#topic, this.#partition, 'latest');
    this.#gaps++;
    if (earliest > this.#position) this.#lost += earliest - this.#position;
    // Behind the end: the topic was deleted and made again, so all that it holds is new.
    if (earliest > this.#position || this.#position > latest) this.#position = earliest;
    return [];
  }
}
