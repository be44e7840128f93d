import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Push, type Source, SourceError } from '@int/collector';
import { BackOff, OutageLog, within } from '@int/collector/internals';
import { Consumer, type Message, type MessagesStream } from '@platformatic/kafka';
import { isStarting, toSinkError } from '../client/outcome.js';
import { KafkaSinkError } from '../errors.js';
import { MESSAGE_CODE } from '../message/decoder.js';
import { MessageReader } from '../message/reader.js';
import { messageKind, WATERMARK_TYPE } from '../message/watermark.js';
import { type KafkaSourceOptions, type ResolvedSourceOptions, resolveSource } from './options.js';
import { RepeatFilter } from './repeats.js';

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** Signs of life in the time after which a member is taken for dead. */
const HEARTBEATS = 5;
/** Longest time that a broker delays an answer while there is nothing to read. */
const FETCH_WAIT_MS = 250;

/** The counters of a source. */
export interface KafkaSourceTotals {
  /** Messages taken from the topic. */
  readonly messages: number;
  /** Messages left out because their id had come before. */
  readonly repeats: number;
}

/**
 * Reads reports from a topic of Apache Kafka, as a member of a consumer group. Reports written by a `KafkaSink` keep
 * their decoded columns and first arrival times. A message is a frame; an invalid one is counted by its problem.
 *
 * An offset is committed only after the pipeline has taken all messages before it. After a crash, other members read
 * the last `commitMs` again. Within one process, repeats are skipped by id.
 */
export class KafkaSource implements Source {
  readonly name: string;
  readonly finished: Promise<void>;
  /** Always 0: messages that the pipeline cannot take stay in Kafka. */
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly #options: ResolvedSourceOptions;
  readonly #reader: MessageReader;
  readonly #filter = new RepeatFilter();
  readonly #log: OutageLog<KafkaSinkError>;
  readonly #backOff: BackOff;
  /** The offset to go on from, by partition, of what the pipeline has taken and is not committed. */
  readonly #taken = new Map<number, bigint>();
  /** The same of what is in the reader. */
  readonly #read = new Map<number, bigint>();
  #push: Push = () => undefined;
  #consumer: Consumer | null = null;
  #stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | null = null;
  #running: Promise<void> | null = null;
  #committedAt = 0;
  #messages = 0;
  #repeats = 0;
  #isStopping = false;
  readonly #stopped = new AbortController();
  #finish: () => void = () => {};

  /** @throws TypeError or RangeError for an invalid option */
  constructor(options: KafkaSourceOptions) {
    this.#options = resolveSource(options);
    const { bootstrap, topic, onProblem, onRecovered, firstMs, maxMs } = this.#options;
    this.name = `kafka://${bootstrap.join(',')}/${topic}`;
    this.#reader = new MessageReader({ frames: 1024, ...options.capacity });
    this.#log = new OutageLog({ onProblem, onRecovered });
    this.#backOff = new BackOff(firstMs, maxMs, Math.random);
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get outages(): number {
    return this.#log.count;
  }

  health(): string | null {
    return this.#log.reason;
  }

  totals(): KafkaSourceTotals {
    return { messages: this.#messages, repeats: this.#repeats };
  }

  async start(push: Push): Promise<void> {
    if (this.#running !== null) throw new Error(`${this.name} is already started`);
    this.#push = push;
    try {
      await this.#openAtStart();
    } catch (error) {
      await this.#close();
      const cause = toSinkError(error);
      throw new SourceError('ERR_SOURCE_OPEN', this.name, cause.message, cause);
    }
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopped.abort();
    // Ends the loop that reads it; what is in the reader is pushed then.
    this.#stream?.destroy();
    await this.#running;
    await this.#commit();
    await this.#close();
    this.#finish();
  }

  /** Opens it, and asks again as long as brokers that have just begun do not know who coordinates the group. */
  async #openAtStart(): Promise<void> {
    const { connectTimeoutMs, requestTimeoutMs, sessionMs } = this.#options;
    const until = performance.now() + sessionMs + connectTimeoutMs + requestTimeoutMs;
    for (;;) {
      try {
        await this.#open();
        return;
      } catch (error) {
        if (!isStarting(error) || this.#isStopping || performance.now() >= until) throw error;
        await this.#close();
        await sleep(this.#backOff.next(), undefined, { signal: this.#stopped.signal }).catch(() => {});
      }
    }
  }

  async #open(): Promise<void> {
    const { bootstrap, clientId, connectTimeoutMs, from, group, requestTimeoutMs, sasl, sessionMs, tls, topic } =
      this.#options;
    const consumer = new Consumer({
      clientId,
      groupId: group,
      bootstrapBrokers: [...bootstrap],
      connectTimeout: connectTimeoutMs,
      // The answer to joining comes only when the group no longer waits for members that have died.
      requestTimeout: sessionMs + requestTimeoutMs,
      timeout: sessionMs + requestTimeoutMs,
      retries: 2,
      sessionTimeout: sessionMs,
      rebalanceTimeout: sessionMs,
      heartbeatInterval: Math.floor(sessionMs / HEARTBEATS),
      ...(tls === undefined ? {} : { tls, tlsServerName: tls.servername ?? hasNames(bootstrap) }),
      ...(sasl === undefined ? {} : { sasl }),
    });
    this.#consumer = consumer;
    // Without a listener an error event would end the process; the stream tells of it, too.
    consumer.on('error', () => {});
    const limitMs = sessionMs + 2 * (connectTimeoutMs + requestTimeoutMs);
    const opening = consumer.consume({
      topics: [topic],
      autocommit: false,
      mode: 'committed',
      fallbackMode: from,
      maxWaitTime: FETCH_WAIT_MS,
      highWaterMark: 4096,
    });
    const stream = await withLimit(opening, limitMs);
    stream.on('error', () => {});
    this.#stream = stream;
  }

  /** Leaves the group and closes all connections. What fails then is of no importance. */
  async #close(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = null;
    this.#stream = null;
    if (consumer === null) return;
    const closing = new Promise<void>((resolve) => consumer.close(true, () => resolve()));
    await withLimit(closing, this.#options.connectTimeoutMs).catch(() => {});
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        if (this.#stream === null) await this.#open();
        this.#log.succeed();
        await this.#drain(this.#stream!);
        if (!this.#isStopping) throw new KafkaSinkError('ERR_KAFKA_CONNECTION', 'the stream of messages ended');
      } catch (error) {
        await this.#flush();
        if (this.#isStopping) break;
        this.#log.fail(toSinkError(error));
        await this.#close();
        await sleep(this.#backOff.next(), undefined, { signal: this.#stopped.signal }).catch(() => {});
      }
    }
    await this.#flush();
  }

  async #drain(stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    for await (const message of stream) {
      this.#backOff.reset();
      if (this.#take(message) === MESSAGE_CODE.FULL) {
        await this.#flush();
        this.#take(message);
      }
      this.#read.set(message.partition, message.offset + 1n);
      // All that has arrived goes on together.
      if (stream.readableLength === 0) await this.#flush();
    }
  }

  #take(message: Message<Buffer, Buffer, Buffer, Buffer>): number {
    const reader = this.#reader;
    // A watermark is no report.
    if (messageKind(message.headers).type === WATERMARK_TYPE) return MESSAGE_CODE.OK;
    this.#messages++;
    const frame = reader.batch.frames;
    // A message without a value is a deletion in a compacted topic.
    const code = reader.read(message.value ?? NO_BYTES, this.#options.format);
    if (code === MESSAGE_CODE.FULL) this.#messages--;
    if (code !== MESSAGE_CODE.OK || !this.#options.dropRepeats) return code;
    const { instanceHigh, instanceLow, number } = reader;
    if (this.#filter.isRepeat(message.partition, instanceHigh[frame]!, instanceLow[frame]!, number[frame]!)) {
      reader.unread();
      this.#repeats++;
    }
    return code;
  }

  /** Pushes what has been read, waits until it is taken, and commits from time to time. */
  async #flush(): Promise<void> {
    if (this.#reader.batch.frames > 0) {
      await this.#push(this.#reader.batch);
      this.#reader.clear();
    }
    for (const [partition, offset] of this.#read) this.#taken.set(partition, offset);
    this.#read.clear();
    if (performance.now() - this.#committedAt >= this.#options.commitMs) await this.#commit();
  }

  /** Commits what the pipeline has taken. If that fails, it is part of the next commit, or read again. */
  async #commit(): Promise<void> {
    const consumer = this.#consumer;
    this.#committedAt = performance.now();
    if (consumer === null || this.#taken.size === 0) return;
    const { requestTimeoutMs, topic } = this.#options;
    const taken = [...this.#taken];
    try {
      const offsets = taken.map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: -1 }));
      await withLimit(consumer.commit({ offsets }), requestTimeoutMs);
    } catch (error) {
      this.#log.fail(toSinkError(error));
      return;
    }
    this.#log.succeed();
    for (const [partition, offset] of taken) {
      if (this.#taken.get(partition) === offset) this.#taken.delete(partition);
    }
  }
}

/** Whatever the client does or forgets to do, there is an end to waiting. */
async function withLimit<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  if (await within(limitMs, promise)) return promise;
  throw new KafkaSinkError('ERR_KAFKA_TIMEOUT', `the brokers have not answered after ${limitMs} ms`);
}

/** Whether the brokers have names: TLS verifies names, not addresses. */
function hasNames(bootstrap: readonly string[]): boolean {
  return bootstrap.some(
    (address) => isIP(address.slice(0, address.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')) === 0,
  );
}
