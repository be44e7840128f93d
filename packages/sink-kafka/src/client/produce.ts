import { createAPI, type Reader, Writer } from '@platformatic/kafka';

export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  /** A complete record batch of format 2. */
  readonly bytes: Buffer;
}

export interface PartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  /** Number in the protocol; 0: stored. */
  readonly code: number;
  readonly message: string | null;
}

const ACKS_ALL = -1;

/** Produce request of version 9, with encoded batches. At most one batch per partition. */
function createRequest(batches: readonly PartitionBatch[], timeoutMs: number): Writer {
  const topics = new Map<string, PartitionBatch[]>();
  for (const batch of batches) {
    const ofTopic = topics.get(batch.topic);
    if (ofTopic === undefined) topics.set(batch.topic, [batch]);
    else ofTopic.push(batch);
  }
  return Writer.create()
    .appendString(null)
    .appendInt16(ACKS_ALL)
    .appendInt32(timeoutMs)
    .appendArray([...topics], (topicWriter, [topic, ofTopic]) => {
      topicWriter.appendString(topic).appendArray(ofTopic, (writer, { partition, bytes }) => {
        writer
          .appendInt32(partition)
          .appendUnsignedVarInt(bytes.length + 1)
          .append(bytes);
      });
    })
    .appendTaggedFields();
}

/** Errors of partitions are in the answer; none is thrown. */
function parseResponse(_correlation: number, _key: number, _version: number, reader: Reader): PartitionAnswer[] {
  const answers: PartitionAnswer[] = [];
  reader.readArray((topicReader) => {
    const topic = topicReader.readString();
    topicReader.readArray((partitionReader) => {
      const partition = partitionReader.readInt32();
      const code = partitionReader.readInt16();
      // Base offset, time of appending, start of the log.
      partitionReader.skip(24);
      partitionReader.readArray((recordReader) => {
        recordReader.readInt32();
        recordReader.readNullableString();
      });
      const message = partitionReader.readNullableString();
      answers.push({ topic, partition, code, message });
    });
  });
  return answers;
}

/** Asks a leader to store batches. It answers when all replicas in sync have them, or at the time limit. */
export const produce = /* @__PURE__ */ createAPI<
  [batches: readonly PartitionBatch[], timeoutMs: number],
  readonly PartitionAnswer[]
>(0, 9, createRequest, parseResponse);
