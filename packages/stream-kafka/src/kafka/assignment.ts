/** The assignment of partitions to members of a group, and the messages for it. */
import { Reader, Writer } from '@platformatic/kafka';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** A member's message to the leader of its group. */
export interface Subscription {
  readonly topics: readonly string[];
  /** The partitions that it owns and can continue without restoring their state. */
  readonly owned: readonly TopicPartition[];
}

interface TopicPartitions {
  readonly topic: string;
  readonly partitions: number[];
}

/** The layout of version 1 of Kafka's ConsumerProtocolSubscription: topics, user data (none), partitions owned. */
const SUBSCRIPTION_VERSION = 1;
const ASSIGNMENT_VERSION = 0;
const VERSION_BYTES = 2;

export function encodeSubscription({ topics, owned }: Subscription): Buffer {
  const writer = Writer.create()
    .appendInt16(SUBSCRIPTION_VERSION)
    .appendArray([...topics], (w, topic) => w.appendString(topic, false), false, false)
    .appendInt32(-1);
  return appendPartitions(writer, byTopic(owned)).buffer;
}

export function decodeSubscription(bytes: Buffer): Subscription {
  const reader = Reader.from(bytes);
  const version = reader.readInt16();
  const topics = reader.readArray((r) => r.readString(false), false, false) ?? [];
  if (version < SUBSCRIPTION_VERSION || reader.remaining < 4) return { topics, owned: [] };
  const userData = reader.readInt32();
  if (userData > 0) reader.skip(userData);
  return { topics, owned: flat(readPartitions(reader)) };
}

export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  return appendPartitions(Writer.create().appendInt16(ASSIGNMENT_VERSION), byTopic(partitions)).appendInt32(-1).buffer;
}

export function decodeAssignment(bytes: Buffer): TopicPartition[] {
  const reader = Reader.from(bytes);
  if (reader.remaining < VERSION_BYTES + 4) return [];
  reader.skip(VERSION_BYTES);
  return flat(readPartitions(reader));
}

function appendPartitions(writer: Writer, all: TopicPartitions[]): Writer {
  const one = (w: Writer, { topic, partitions }: TopicPartitions): Writer =>
    w
      .appendString(topic, false)
      .appendArray(partitions, (inner, partition) => inner.appendInt32(partition), false, false);
  return writer.appendArray(all, one, false, false);
}

function readPartitions(reader: Reader): TopicPartitions[] {
  return (
    reader.readArray(
      (r) => ({
        topic: r.readString(false),
        partitions: r.readArray((inner) => inner.readInt32(), false, false) ?? [],
      }),
      false,
      false,
    ) ?? []
  );
}

function byTopic(all: readonly TopicPartition[]): TopicPartitions[] {
  const topics = grouped(all, ({ topic }) => topic);
  return [...topics].map(([topic, list]) => ({ topic, partitions: list.map(({ partition }) => partition) }));
}

/** The entries of each key, in their order. */
export function grouped<T>(all: Iterable<T>, keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}

function flat(all: readonly TopicPartitions[]): TopicPartition[] {
  return all.flatMap(({ topic, partitions }) => partitions.map((partition) => ({ topic, partition })));
}

/**
 * Assigns partitions. The members' numbers of partitions differ by at most one, and each member keeps as many of its
 * partitions as possible.
 *
 * @param owned partitions by member
 * @param all every partition, once
 * @returns partitions by member; independent of the order of the input
 */
export function assign(
  owned: ReadonlyMap<string, readonly TopicPartition[]>,
  all: readonly TopicPartition[],
): Map<string, TopicPartition[]> {
  const members = [...owned.keys()].sort();
  const free = new Map([...all].sort(inOrder).map((one) => [nameOf(one), one]));
  const least = Math.floor(all.length / members.length);
  // Number of members with one partition more.
  let larger = all.length - least * members.length;
  const dealt = new Map<string, TopicPartition[]>();
  for (const member of members) {
    const kept: TopicPartition[] = [];
    for (const one of [...owned.get(member)!].sort(inOrder)) {
      // A partition claimed by two members goes to the first.
      if (!free.has(nameOf(one)) || kept.length > least || (kept.length === least && larger === 0)) continue;
      if (kept.length === least) larger--;
      free.delete(nameOf(one));
      kept.push(one);
    }
    dealt.set(member, kept);
  }
  const rest = [...free.values()];
  for (const list of dealt.values()) while (list.length < least && rest.length > 0) list.push(rest.shift()!);
  for (const list of dealt.values()) if (list.length === least && rest.length > 0) list.push(rest.shift()!);
  for (const list of dealt.values()) list.sort(inOrder);
  return dealt;
}

function inOrder(a: TopicPartition, b: TopicPartition): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  return a.partition - b.partition;
}

export function nameOf({ topic, partition }: TopicPartition): string {
  return `${topic} ${partition}`;
}
