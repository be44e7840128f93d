import { type MessageRecord, murmur2 } from '@platformatic/kafka';
import { PROCESS_CODES, ProcessError } from '../errors.js';
import type { KafkaLink, TopicLayout } from './link.js';

/** A message on its way out. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly key: Uint8Array;
  /** null deletes the key from a compacted topic. */
  readonly value: Uint8Array | null;
  /** By the key, as Kafka's default partitioner has it, unless given. */
  readonly partition?: number;
  /** What the header `type` says. */
  readonly type?: string;
}

/** A message with its partition, in the form the client takes. */
export type PlacedRecord = MessageRecord & { readonly partition: number };

/** Of one request; the broker refuses a batch above 1 MiB. */
const MAX_BYTES = 512 * 1024;
const MAX_MESSAGES = 1000;
/** About what a record costs besides its key and value. */
const RECORD_BYTES = 32;
const TYPE = /* @__PURE__ */ Buffer.from('type');
/** Kafka's partitioner takes the hash without its sign. */
const WITHOUT_SIGN = 0x7fffffff;

/** Where the topics' partitions are, asked for once until it is forgotten. */
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

  /** Leaders may have changed. */
  forget(): void {
    this.#known.clear();
  }
}

/** Gives each message its partition. */
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
    // The client's types have no deleted keys; what it writes for an absent value is one.
    return value === null ? (record as PlacedRecord) : { ...record, value: bufferOf(value) };
  });
}

/** Cuts messages into requests that a broker takes. */
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
