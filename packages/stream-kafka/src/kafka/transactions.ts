import { setTimeout as sleep } from 'node:timers/promises';
import {
  addOffsetsToTxnV3,
  addPartitionsToTxnV3,
  type Connection,
  endTxnV3,
  initProducerIdV4,
  NumericMap,
  produceV9,
  txnOffsetCommitV3,
} from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError, Revoked, reasonOf } from '../errors.js';
import { BUSY, ELSEWHERE, FENCED, has, isAnswer, MOVED, OTHER_GENERATION } from './answers.js';
import { grouped } from './assignment.js';
import type { Connections } from './connections.js';
import { within } from './deadline.js';
import { COORDINATOR, type KafkaLink } from './link.js';
import type { GroupMember } from './membership.js';
import { Layouts, type OutgoingMessage, type PlacedRecord, placed, requests } from './outgoing.js';

/** The position in the input after a transaction: the first offset not taken; null to store none. */
export interface TakenInput {
  readonly topic: string;
  readonly partition: number;
  readonly next: number | null;
}

/** Returns the group's member in a generation other than the given one. */
export type MemberAfter = (generation: number | null) => Promise<GroupMember>;

const ASK_MS = 10_000;
/** Time limit for opening, and for a whole transaction. */
const WHOLE_MS = 30_000;
/**
 * The coordinator aborts a transaction left open by a killed process after this time, unless another process takes over
 * its transactional id.
 */
const TRANSACTION_MS = 30_000;
/**
 * The end of a transaction is written after its acknowledgement. The next transaction must wait for it, usually some
 * ms.
 */
const WAIT_MS = { first: 5, most: 250 };
const ALL_REPLICAS = -1;
/** Accepts any previous producer id and epoch of the transactional id. */
const ANY_PRODUCER = { ID: -1n, EPOCH: -1 } as const;
/** Sequence numbers have 31 bits. */
const SEQUENCES = 2 ** 31;

/**
 * Writes messages and the offset of the input in transactions, one after the other, under a transactional id.
 *
 * Opening takes over the id. Before `open` returns, a transaction still open under it is aborted, or completed if its
 * end was already decided. The previous owner of the id can then commit nothing more. After an error, close the object
 * and open another one; only then is it known whether the failed transaction was committed.
 */
export class Transactions {
  readonly #link: KafkaLink;
  readonly #id: string;
  readonly #connections: Connections;
  readonly #layouts: Layouts;
  readonly #sequences = new NumericMap();
  /** Addresses of coordinators, by kind. */
  readonly #coordinators = new Map<number, string>();
  #identity: { readonly id: bigint; readonly epoch: number } = { id: ANY_PRODUCER.ID, epoch: ANY_PRODUCER.EPOCH };
  /** Deadline of the current operation. */
  #due = 0;

  private constructor(link: KafkaLink, id: string) {
    this.#link = link;
    this.#id = id;
    this.#connections = link.connections();
    this.#layouts = new Layouts(link);
  }

  /** @throws ProcessError `ERR_PROCESS_REQUEST` or `ERR_PROCESS_FENCED` */
  static async open(link: KafkaLink, id: string): Promise<Transactions> {
    const opened = new Transactions(link, id);
    try {
      await within(WHOLE_MS + ASK_MS, 'taking a transactional id', opened.#identify());
      return opened;
    } catch (error) {
      opened.close();
      throw wrapped(`transactional id ${id}`, error);
    }
  }

  /**
   * Writes all messages and the offset, or nothing.
   *
   * @param memberAfter the member that stores the offset; if the broker refuses it because the group has a new
   *   generation, another is requested
   * @param limitMs time after which no new attempt is made, in milliseconds
   * @throws ProcessError `ERR_PROCESS_REQUEST` or `ERR_PROCESS_FENCED`, and Revoked if `memberAfter` does
   */
  async commit(
    messages: readonly OutgoingMessage[],
    taken: TakenInput,
    memberAfter: MemberAfter,
    limitMs: number = WHOLE_MS,
  ): Promise<void> {
    this.#due = performance.now() + limitMs;
    try {
      await within(limitMs + ASK_MS, 'a transaction', this.#commit(messages, taken, memberAfter));
    } catch (error) {
      if (error instanceof Revoked) throw error;
      throw wrapped(`transaction for ${taken.topic} ${taken.partition}`, error);
    }
  }

  close(): void {
    this.#connections.close();
  }

  async #commit(messages: readonly OutgoingMessage[], taken: TakenInput, memberAfter: MemberAfter): Promise<void> {
    const member = await memberAfter(null);
    if (messages.length > 0) {
      const records = await placed(messages, this.#layouts);
      await this.#announce(records);
      for (const part of requests(records)) await this.#write(part);
    }
    if (taken.next !== null) await this.#commitOffset(taken, taken.next, member, memberAfter);
    await this.#askOwn('ending a transaction', (connection) =>
      endTxnV3.api.async(connection, this.#id, this.#identity.id, this.#identity.epoch, true),
    );
  }

  async #identify(): Promise<void> {
    this.#due = performance.now() + WHOLE_MS;
    const { ID, EPOCH } = ANY_PRODUCER;
    const { producerId, producerEpoch } = await this.#askOwn('taking a transactional id', (connection) =>
      initProducerIdV4.api.async(connection, this.#id, TRANSACTION_MS, ID, EPOCH),
    );
    this.#identity = { id: producerId, epoch: producerEpoch };
  }

  /**
   * Registers the transaction's partitions with the coordinator, so that it can end the transaction there in any case.
   */
  async #announce(records: readonly PlacedRecord[]): Promise<void> {
    const topics = [...grouped(records, ({ topic }) => topic)].map(([name, list]) => ({
      name,
      partitions: [...new Set(list.map(({ partition }) => partition))],
    }));
    const transaction = { ...this.#producer, verifyOnly: false, topics };
    await this.#askOwn('beginning a transaction', (connection) =>
      addPartitionsToTxnV3.api.async(connection, [transaction]),
    );
  }

  /**
   * Writes records, and repeats this until all leaders have them for certain. Each partition's records have sequence
   * numbers, by which a leader recognises repeats.
   */
  async #write(records: readonly PlacedRecord[]): Promise<void> {
    await this.#repeated([...MOVED, 'CONCURRENT_TRANSACTIONS'], async () => {
      try {
        await this.#writeOnce(records);
      } catch (error) {
        this.#layouts.forget();
        throw error;
      }
    });
    for (const [name, { length }] of grouped(records, ({ topic, partition }) => `${topic}:${partition}`)) {
      this.#sequences.set(name, (this.#sequences.getWithDefault(name, 0) + length) % SEQUENCES);
    }
  }

  async #writeOnce(records: readonly PlacedRecord[]): Promise<void> {
    const leaders = new Map<PlacedRecord, string>();
    for (const record of records) {
      const leader = (await this.#layouts.of(record.topic)).leaders[record.partition];
      if (leader === undefined) throw new Error(`${record.topic} ${record.partition} has no leader`);
      leaders.set(record, leader);
    }
    const options = { ...this.#producer, sequences: this.#sequences };
    for (const [leader, list] of grouped(records, (record) => leaders.get(record)!)) {
      await this.#connections.ask(leader, 'writing', ASK_MS, (connection) =>
        produceV9.api.async(connection, ALL_REPLICAS, ASK_MS, list, options),
      );
    }
  }

  async #commitOffset(taken: TakenInput, next: number, first: GroupMember, memberAfter: MemberAfter): Promise<void> {
    const { id, epoch } = this.#identity;
    await this.#askOwn('adding an offset', (connection) =>
      addOffsetsToTxnV3.api.async(connection, this.#id, id, epoch, first.groupId),
    );
    const committedOffset = BigInt(next);
    const partitions = [{ partitionIndex: taken.partition, committedOffset, committedLeaderEpoch: -1 }];
    const topics = [{ name: taken.topic, partitions }];
    let member = first;
    for (;;) {
      const { groupId, generationId, memberId } = member;
      try {
        await this.#ask(COORDINATOR.GROUP, groupId, 'storing an offset', (connection) =>
          txnOffsetCommitV3.api.async(connection, this.#id, groupId, id, epoch, generationId, memberId, null, topics),
        );
        return;
      } catch (error) {
        // The group has begun a new generation, or is about to. If the partition stays here, nothing is lost.
        if (!has(error, OTHER_GENERATION) || this.#isLate()) throw error;
        member = await memberAfter(generationId);
      }
    }
  }

  get #producer() {
    return { transactionalId: this.#id, producerId: this.#identity.id, producerEpoch: this.#identity.epoch };
  }

  /** Sends a request to the coordinator of the transactional id. */
  #askOwn<T>(what: string, question: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#ask(COORDINATOR.TRANSACTION, this.#id, what, question);
  }

  /**
   * Sends a request to a coordinator. Repeats it until the deadline while the coordinator is busy, moves or does not
   * answer.
   */
  async #ask<T>(
    kind: (typeof COORDINATOR)[keyof typeof COORDINATOR],
    key: string,
    what: string,
    question: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    return await this.#repeated([...BUSY, ...ELSEWHERE], async () => {
      try {
        const address = this.#coordinators.get(kind) ?? (await this.#link.coordinator(kind, key));
        this.#coordinators.set(kind, address);
        return await this.#connections.ask(address, what, ASK_MS, question);
      } catch (error) {
        if (!isAnswer(error) || has(error, ELSEWHERE)) this.#coordinators.delete(kind);
        throw error;
      }
    });
  }

  /** Repeats an attempt until the deadline, while there is no answer or it is one of `again`. */
  async #repeated<T>(again: readonly string[], attempt: () => Promise<T>): Promise<T> {
    for (let wait: number = WAIT_MS.first; ; wait = Math.min(wait * 2, WAIT_MS.most)) {
      try {
        return await attempt();
      } catch (error) {
        if ((isAnswer(error) && !has(error, again)) || this.#isLate()) throw error;
        await sleep(wait);
      }
    }
  }

  #isLate(): boolean {
    return performance.now() > this.#due;
  }
}

function wrapped(what: string, error: unknown): ProcessError {
  const code = has(error, [...FENCED, ...OTHER_GENERATION]) ? PROCESS_CODES.FENCED : PROCESS_CODES.REQUEST;
  return new ProcessError(code, `${what}: ${reasonOf(error)}`, { cause: error });
}
