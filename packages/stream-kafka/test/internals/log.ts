import { randomBytes } from 'node:crypto';
import { type MessageToProduce, Producer } from '@platformatic/kafka';
import { until as untilInTime } from '../../../../.ci/test/until.js';
import type { LogRecord } from '../../src/kafka/committed.js';
import { KafkaLink } from '../../src/kafka/link.js';
import { PartitionReader } from '../../src/kafka/reader.js';

/** fast-check's seed. */
export const SEED = Number(process.env.INT_SEED ?? 20_261_121);

/** A name that no other test has. */
export function newName(what: string): string {
  return `${what}-${randomBytes(5).toString('hex')}`;
}

export interface Written {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly partition?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes without transactions, as a sink does; when a broker goes away, messages may be there twice. */
export class Writer {
  readonly #bootstrap: readonly string[];
  #producer: Producer;

  constructor(bootstrap: readonly string[]) {
    this.#bootstrap = bootstrap;
    this.#producer = this.#make();
  }

  /** Each message goes to the partition that is named, or to that of its key. */
  async write(topic: string, messages: readonly Written[]): Promise<void> {
    for (let at = 0; at < messages.length; at += 500) await this.#send(topic, messages.slice(at, at + 500));
  }

  async close(): Promise<void> {
    await this.#producer.close();
  }

  async #send(topic: string, messages: readonly Written[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        // Of all replicas; the client takes this here only.
        await this.#producer.send({ messages: messages.map((message) => produced(topic, message)), acks: -1 });
        return;
      } catch (error) {
        if (attempt === 20) throw error;
        await this.#producer.close().catch(() => {});
        this.#producer = this.#make();
      }
    }
  }

  #make(): Producer {
    const bootstrapBrokers = [...this.#bootstrap];
    return new Producer({ clientId: 'writer', bootstrapBrokers, retries: 5, retryDelay: 200 });
  }
}

function produced(topic: string, { key, value, partition, headers = {} }: Written): MessageToProduce {
  const pairs = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
  return {
    topic,
    key: Buffer.from(key),
    value: Buffer.from(value),
    headers: new Map(pairs),
    ...(partition === undefined ? {} : { partition }),
  };
}

/** A link for asking and reading in tests. */
export function linkTo(bootstrap: readonly string[]): KafkaLink {
  return new KafkaLink({ bootstrap }, 'test');
}

/** All committed messages of a topic, by partition. */
export async function committedIn(link: KafkaLink, topic: string, partitions: number): Promise<LogRecord[][]> {
  const all: LogRecord[][] = [];
  for (let partition = 0; partition < partitions; partition++) {
    const end = await link.offset(topic, partition, 'latest');
    const reader = new PartitionReader(link, topic, partition, 0);
    const records: LogRecord[] = [];
    const readOn = async (): Promise<boolean> => {
      if (reader.position < end) records.push(...(await reader.read(200, 1 << 20)));
      return reader.position >= end;
    };
    await untilInTime(`record ${end} of ${topic}`, readOn, { everyMs: 0, found: () => reader.position });
    reader.close();
    all.push(records);
  }
  return all;
}

export function textOf(bytes: Uint8Array | null): string {
  return Buffer.from(bytes ?? []).toString();
}

/** Waits until something holds; asks again and again, with pauses. A group takes its time to share its partitions. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  pauseMs = 20,
  withinMs = 120_000,
  found?: () => unknown,
): Promise<void> {
  const patience = { withinMs, everyMs: pauseMs };
  await untilInTime(String(holds), holds, found === undefined ? patience : { ...patience, found });
}
