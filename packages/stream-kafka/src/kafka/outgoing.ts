import { type MessageRecord, murmur2 } from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError } from '../errors.js';
import type { KafkaLink, TopicLayout } from './link.js';

/** A message to send. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly key: Uint8Array;
  /** null deletes the key from a compacted topic. */
  readonly value: Uint8Array | null;
  /** Partition. Default: by the key, with Kafka's default partitioner. */
  readonly partition?: number;
  /** Value of the header `type`. */
  readonly type?: string;
}

/** A message with its partition, in the client's form. */
export type PlacedRecord = MessageRecord & { readonly partition: number };

/** Most bytes of one request; the broker refuses a batch above 1 MiB. */
const MAX_BYTES = 512 * 1024;
const MAX_MESSAGES = 1000;
/** Approximate bytes of a record besides its key and value. */
const RECORD_BYTES = 32;
const TYPE = /* @__PURE__ */ Buffer.from('type');
/** Kafka's partitioner clears the sign bit of the hash. */
const WITHOUT_SIGN = 0x7fffffff;

/** A cache of the topics' layouts. */
export class Layouts {
  readonly #link: KafkaLink;
  readonly #known = new Map<string, TopicLayout>();

  constructor(link: KafkaLink) {
    this.#link = link;
  }

  async of(topic: string): Promise<TopicLayout> {
    const known = this.#known.get(topic);
    if (known !== undefined) return known;
    const found = await this.#link.layout(topic);
    if (found === null) throw new ProcessError(PROCESS_CODES.REQUEST, `there is no topic ${topic}`);
    this.#known.set(topic, found);
    return found;
  }

  /** Clears the cache, because leaders may have changed. */
  forget(): void {
    this.#known.clear();
  }
}

/** Assigns each message its partition. */
export async function placed(messages: readonly OutgoingMessage[], layouts: Layouts): Promise<PlacedRecord[]> {
  const counts = new Map<string, number>();
  for (const { topic } of messages) {
    if (!counts.has(topic)) counts.set(topic, (await layouts.of(topic)).leaders.length);
  }
  return messages.map(({ topic, key, value, partition, type }) => {
    const name = bufferOf(key);
    const record = {
      topic,
      key: name,
      partition: partition ?? (murmur2(name) & WITHOUT_SIGN) % counts.get(topic)!,
      headers: new Map(type === undefined ? [] : [[TYPE, Buffer.from(type)]]),
    };
    // The client's types lack deleted keys, but it writes one for an absent value.
    return value === null ? (record as PlacedRecord) : { ...record, value: bufferOf(value) };
  });
}

/** Splits messages into requests that a broker accepts. */
export function* requests(messages: readonly PlacedRecord[]): Generator<PlacedRecord[]> {
  let part: PlacedRecord[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = (message.key?.length ?? 0) + (message.value?.length ?? 0) + RECORD_BYTES;
    if (part.length > 0 && (part.length === MAX_MESSAGES || bytes + size > MAX_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
