import { heartbeatV4, joinGroupV7, leaveGroupV4, syncGroupV5 } from '@platformatic/kafka';
import { reasonOf } from '../errors.js';
import { answerIn, BUSY, ELSEWHERE, has, isAnswer, OTHER_GENERATION } from './answers.js';
import {
  assign,
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
  type TopicPartition,
} from './assignment.js';
import type { Connections } from './connections.js';
import { pause } from './deadline.js';
import { COORDINATOR, type KafkaLink } from './link.js';

/** A member of a consumer group in one generation. */
export interface GroupMember {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
}

/** Numbers of partitions by topic. */
export type PartitionCounts = ReadonlyMap<string, number>;

export interface MembershipOptions {
  readonly group: string;
  readonly topics: readonly string[];
  /** A string that must be equal in all members; the broker refuses a member with another one. */
  readonly agreement: string;
  /** Time without heartbeats after which a member is removed, in milliseconds. */
  readonly sessionMs: number;
  readonly heartbeatMs: number;
  /**
   * Number of partitions of a topic to assign, given its present number. It is larger if deleted partitions still need
   * work.
   */
  readonly partitionsOf: (topic: string, count: number) => Promise<number>;
  /**
   * Called at each generation with all partitions now assigned to this member, and the topics' numbers of partitions.
   */
  readonly onAssigned: (partitions: readonly TopicPartition[], counts: PartitionCounts) => void;
  readonly onProblem: (reason: string) => void;
}

/**
 * The protocol of the group. Its name also contains the members' agreement: brokers refuse a member that supports none
 * of the group's protocols.
 */
const PROTOCOL = { TYPE: 'consumer', NAME: 'int-sticky' } as const;
/** Interval for checking whether the topics' numbers of partitions have changed since the assignment. */
const LOOK_MS = 5000;
const ASK_MS = 5000;
const SPARE_MS = 5000;
const LEAVE_MS = 3000;
const OTHER_OPTIONS = 'its members have other options than this one, which waits until they are gone';
/** Delay between two attempts; it grows. */
const WAIT_MS = { first: 50, most: 2000 };

type Joined = Awaited<ReturnType<typeof joinGroupV7.api.async>>;

/** Membership in a consumer group. It survives lost connections and moving coordinators. */
export class Membership {
  readonly #link: KafkaLink;
  readonly #options: MembershipOptions;
  readonly #connections: Connections;
  readonly #stopping = new AbortController();
  /** Address of the group's coordinator. */
  #coordinator: string | null = null;
  /** The member id from the coordinator; empty before. */
  #memberId = '';
  /** The present member; null before the first join, or if it was not confirmed for longer than a session. */
  member: GroupMember | null = null;
  #owned: readonly TopicPartition[] = [];
  /** Number of successful heartbeats and joins. */
  confirmations = 0;
  #confirmedAt = 0;
  /** Numbers of partitions when this member joined. */
  #counts: PartitionCounts = new Map();
  #lookedAt = 0;
  #running: Promise<void> | null = null;

  constructor(link: KafkaLink, options: MembershipOptions) {
    this.#link = link;
    this.#options = options;
    this.#connections = link.connections();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Leaves the group, so that the others need not wait for the end of its session. */
  async close(): Promise<void> {
    this.#stopping.abort();
    // A pending join may wait for other members; closing the connection ends it.
    if (this.member === null) this.#connections.close();
    await this.#running;
    const { group } = this.#options;
    if (this.#memberId !== '' && this.#coordinator !== null) {
      const members = [{ memberId: this.#memberId }];
      await this.#connections
        .ask(this.#coordinator, 'leaving', LEAVE_MS, (connection) => leaveGroupV4.api.async(connection, group, members))
        .catch(() => {
          // Otherwise the group removes this member when its session ends.
        });
    }
    this.#connections.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { heartbeatMs, group, onProblem } = this.#options;
    let wait: number = WAIT_MS.first;
    let isTold = false;
    while (!signal.aborted) {
      try {
        await this.#join();
        isTold = false;
        wait = WAIT_MS.first;
        for (;;) {
          await pause(heartbeatMs, signal);
          if (signal.aborted) return;
          await this.#heartbeat();
          if (await this.#hasGrown()) break;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#take(error);
        // A new generation is not a problem, nor is a broker that is starting or stopping.
        const isUsual = has(error, [...OTHER_GENERATION, ...BUSY, ...ELSEWHERE, 'MEMBER_ID_REQUIRED']);
        if (!isUsual && !isTold) {
          isTold = true;
          const isOther = has(error, ['INCONSISTENT_GROUP_PROTOCOL']);
          onProblem(`group ${group}: ${isOther ? OTHER_OPTIONS : reasonOf(error)}`);
        }
        if (isUsual && has(error, [...OTHER_GENERATION, 'MEMBER_ID_REQUIRED'])) continue;
        await pause(wait, signal);
        wait = Math.min(wait * 2, WAIT_MS.most);
      }
    }
  }

  /** Updates coordinator and member id from an error. */
  #take(error: unknown): void {
    if (!isAnswer(error) || has(error, ELSEWHERE)) this.#coordinator = null;
    if (has(error, ['MEMBER_ID_REQUIRED'])) {
      const answer = answerIn(error) as Joined | null;
      this.#memberId = answer?.memberId ?? '';
    }
    if (has(error, ['UNKNOWN_MEMBER_ID'])) this.#memberId = '';
    if (performance.now() - this.#confirmedAt > this.#options.sessionMs) this.member = null;
  }

  #confirm(): void {
    this.confirmations++;
    this.#confirmedAt = performance.now();
  }

  async #found(): Promise<string> {
    this.#coordinator ??= await this.#link.coordinator(COORDINATOR.GROUP, this.#options.group);
    return this.#coordinator;
  }

  async #heartbeat(): Promise<void> {
    const { group } = this.#options;
    const { generationId, memberId } = this.member ?? { generationId: -1, memberId: this.#memberId };
    await this.#connections.ask(await this.#found(), 'heartbeat', ASK_MS, (connection) =>
      heartbeatV4.api.async(connection, group, generationId, memberId, null),
    );
    this.#confirm();
  }

  /** Joins, assigns partitions if this member is the leader, and receives its own. */
  async #join(): Promise<void> {
    const { group, topics, sessionMs } = this.#options;
    const coordinator = await this.#found();
    this.#counts = await this.#countPartitions();
    this.#lookedAt = performance.now();
    const name = this.#protocol;
    const protocols = [{ name, metadata: encodeSubscription({ topics, owned: this.#owned }) }];
    // A join takes as long as the slowest other member, at most a session.
    const joined = await this.#connections.ask(coordinator, 'joining', 2 * sessionMs + SPARE_MS, (connection) =>
      joinGroupV7.api.async(connection, group, sessionMs, sessionMs, this.#memberId, null, PROTOCOL.TYPE, protocols),
    );
    this.#memberId = joined.memberId ?? '';
    const { memberId, generationId } = { memberId: this.#memberId, generationId: joined.generationId };
    const dealt = joined.leader === memberId ? await this.#deal(joined) : [];
    const { assignment } = await this.#connections.ask(coordinator, 'joining', sessionMs + SPARE_MS, (connection) =>
      syncGroupV5.api.async(connection, group, generationId, memberId, null, PROTOCOL.TYPE, name, dealt),
    );
    if (this.#stopping.signal.aborted) return;
    this.member = { groupId: group, generationId, memberId };
    this.#confirm();
    this.#owned = decodeAssignment(assignment);
    this.#options.onAssigned(this.#owned, this.#counts);
  }

  get #protocol(): string {
    return `${PROTOCOL.NAME}-${this.#options.agreement}`;
  }

  /** Whether a topic's number of partitions has changed since this member joined. */
  async #hasGrown(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    const counts = await this.#countPartitions();
    return [...counts].some(([topic, count]) => count > 0 && count !== this.#counts.get(topic));
  }

  async #countPartitions(): Promise<PartitionCounts> {
    const counts = new Map<string, number>();
    for (const topic of this.#options.topics) {
      counts.set(topic, (await this.#link.layout(topic))?.leaders.length ?? 0);
    }
    return counts;
  }

  async #deal(joined: Joined): Promise<{ memberId: string; assignment: Buffer }[]> {
    const owned = new Map<string, readonly TopicPartition[]>();
    const topics = new Set<string>();
    for (const { memberId, metadata } of joined.members) {
      const subscription = decodeSubscription(metadata ?? Buffer.alloc(0));
      owned.set(memberId, subscription.owned);
      for (const topic of subscription.topics) topics.add(topic);
    }
    const all: TopicPartition[] = [];
    for (const topic of topics) {
      const count = await this.#options.partitionsOf(topic, (await this.#link.layout(topic))?.leaders.length ?? 0);
      for (let partition = 0; partition < count; partition++) all.push({ topic, partition });
    }
    return [...assign(owned, all)].map(([memberId, partitions]) => ({
      memberId,
      assignment: encodeAssignment(partitions),
    }));
  }
}
