import { randomUUID } from 'node:crypto';
import { WATERMARK_TYPE } from '@int/sink-kafka';
import { Admin, Consumer, ListOffsetTimestamps, MessagesStreamModes } from '@platformatic/kafka';

/** A message that a reader of the topic gets. */
export interface Stored {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** A name that no other test uses. */
export function newName(what: string): string {
  return `${what}-${randomUUID()}`;
}

/** The records of a topic, in the order of each partition: what a sink says of itself is left out. */
export async function readTopic(bootstrap: readonly string[], topic: string): Promise<Stored[]> {
  return (await readMessages(bootstrap, topic)).filter(({ headers }) => headers.type !== WATERMARK_TYPE);
}

/** All messages of a topic, in the order of each partition. */
export async function readMessages(bootstrap: readonly string[], topic: string): Promise<Stored[]> {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...bootstrap], timeout: 20_000 });
  const ends = new Map<number, bigint>();
  try {
    const metadata = await admin.metadata({ topics: [topic] });
    const partitions = Array.from({ length: metadata.topics.get(topic)!.partitionsCount }, (_, index) => index);
    const listed = await admin.listOffsets({
      topics: [
        {
          name: topic,
          partitions: partitions.map((partitionIndex) => ({
            partitionIndex,
            timestamp: ListOffsetTimestamps.LATEST,
          })),
        },
      ],
    });
    for (const { partitions: ofTopic } of listed) {
      for (const { offset, partitionIndex } of ofTopic) if (offset > 0n) ends.set(partitionIndex, offset);
    }
  } finally {
    await admin.close();
  }
  const stored: Stored[] = [];
  if (ends.size === 0) return stored;
  const consumer = new Consumer({ clientId: 'test', groupId: randomUUID(), bootstrapBrokers: [...bootstrap] });
  try {
    const stream = await consumer.consume({
      topics: [topic],
      mode: MessagesStreamModes.EARLIEST,
      autocommit: false,
      maxWaitTime: 100,
    });
    // It gives nothing for ever if a record is missing.
    const inVain = new Error(`waited in vain for the end of ${topic}`);
    const giveUp = setTimeout(() => stream.destroy(inVain), 60_000);
    for await (const { headers, key, offset, partition, value } of stream) {
      stored.push({
        partition,
        offset,
        key: key as Buffer,
        value: value as Buffer,
        headers: Object.fromEntries([...headers].map(([name, text]) => [String(name), String(text)])),
      });
      if (offset + 1n >= ends.get(partition)!) ends.delete(partition);
      if (ends.size === 0) break;
    }
    clearTimeout(giveUp);
  } finally {
    await consumer.close(true);
  }
  return stored;
}
