import { setTimeout as sleep } from 'node:timers/promises';
import type { BackOff, OutageLog } from '@int/collector/internals';
import { KafkaSinkError } from '../errors.js';
import { MESSAGE_HEADERS, type MessageFormat } from '../message/encoder.js';
import { MESSAGE_STATE, type Parcel } from '../parcel.js';
import type { Brokers, NewTopic, ProducerIdentity, TopicLayout } from './brokers.js';
import { LeaderMoved, OUTCOME, outcomeOf, protocolError, toSinkError } from './outcome.js';
import type { PartitionAnswer, PartitionBatch } from './produce.js';
import { type Compression, RecordBatchWriter, recordBytes, recordHeaders } from './record-batch.js';

export interface ProducerOptions {
  readonly brokers: Brokers;
  /** Names of topics, by number of the kind of message; two kinds may share one. */
  readonly topics: readonly string[];
  /** The value of the header `type`, by number of the kind. */
  readonly types: readonly string[];
  /** null: topics are not created. */
  readonly create: NewTopic | null;
  readonly format: MessageFormat;
  readonly compression: Compression;
  /** Bytes of a batch before compression, at most. A larger message is alone in its batch. */
  readonly batchBytes: number;
  readonly backOff: BackOff;
  readonly outages: OutageLog<KafkaSinkError>;
  readonly onProblem: (problem: KafkaSinkError) => void;
  /** An attempt failed. */
  readonly onFailure: () => void;
  /** Messages of a kind are stored by all replicas in sync. */
  readonly onStored: (kind: number, messages: number) => void;
  /** The brokers have refused messages of a kind, which are dropped. */
  readonly onRefused: (kind: number, messages: number, reason: RefusalReason) => void;
}

/** Why the brokers refuse a message: its size, or another reason. */
export type RefusalReason = 'too-large' | 'refused';

/** A batch whose outcome is not known yet. */
interface Batch extends PartitionBatch {
  readonly kind: number;
  readonly rows: Uint32Array;
  readonly leader: () => number;
}

/** Counts of what went over the wire. */
export interface ProducerTotals {
  readonly batches: number;
  /** Compressed bytes of record batches sent, retries included. */
  readonly bytes: number;
  /** Batches sent once more. */
  readonly resentBatches: number;
  /** Attempts of any kind that failed. */
  readonly failedAttempts: number;
  /** Requests of the brokers for another producer id. Records in flight may then be stored twice. */
  readonly newProducers: number;
}

/** Interval after which new partitions of a topic are noticed, in ms. */
const DESCRIBE_AGAIN_MS = 300_000;
/** Consecutive look-ups of a moved leader that count as no outage, and the time between them in ms. */
const MOVES = 5;
const MOVED_MS = 50;
/** Sequence numbers are those of Kafka: after 2^31 - 1 comes 0. */
const SEQUENCES = 2 ** 31;

/**
 * Sends the messages of parcels to the brokers, one parcel after the other. At most one batch per partition is under
 * way, so messages stay in order even if a batch is sent again.
 *
 * Batches have the sequence numbers of an idempotent producer. A batch without an answer is sent again with the same
 * bytes and numbers, and the broker stores it once.
 */
export class Producer {
  readonly #options: ProducerOptions;
  readonly #writer: RecordBatchWriter;
  readonly #headers: readonly Uint8Array[];
  #batchBytes: number;
  /** By number of the kind; null: not asked for yet, or to be asked for again. */
  #layouts: (TopicLayout | null)[];
  /** Partitions by topic, as the brokers said last. */
  readonly #counts = new Map<string, number>();
  /** By topic, likewise. */
  readonly #ids = new Map<string, string>();
  #describedAt = 0;
  #identity: ProducerIdentity | null = null;
  /** The next sequence number, by `topic:partition`. */
  readonly #sequences = new Map<string, number>();
  /** Batches of the parcel under way that were made and are not settled. */
  #batches: Batch[] = [];
  readonly #sent = new WeakSet<Batch>();
  readonly #abort = new AbortController();
  #targets = { of: new Int32Array(0), rows: new Uint32Array(0) };
  readonly #totals = { batches: 0, bytes: 0, resentBatches: 0, failedAttempts: 0, newProducers: 0 };

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#writer = new RecordBatchWriter(options.compression);
    this.#batchBytes = options.batchBytes;
    this.#layouts = options.topics.map(() => null);
    this.#headers = options.types.map((type) =>
      recordHeaders([
        [MESSAGE_HEADERS.TYPE, type],
        [MESSAGE_HEADERS.FORMAT, options.format],
      ]),
    );
  }

  get totals(): ProducerTotals {
    return { ...this.#totals };
  }

  /**
   * The last known number of partitions of a kind's topic. Asks the brokers once if it is not known.
   * @returns null if they do not answer
   */
  async partitions(kind: number): Promise<number | null> {
    const topic = this.#options.topics[kind]!;
    const known = this.#counts.get(topic);
    if (known !== undefined) return known;
    try {
      await this.#describe([topic]);
    } catch (error) {
      this.#totals.failedAttempts += 1;
      if (!this.#abort.signal.aborted) this.#options.outages.fail(toSinkError(error));
    }
    return this.#counts.get(topic) ?? null;
  }

  /** Ends {@link deliver} at once. Messages without an answer remain `SENT` in the parcel. */
  abort(): void {
    this.#abort.abort();
    this.#options.brokers.close();
  }

  /**
   * Delivers a parcel: resolves when each of its messages is settled, or after {@link abort}. There is no time limit.
   * Calls must not overlap.
   */
  async deliver(parcel: Parcel): Promise<void> {
    const { backOff, onFailure, outages } = this.#options;
    this.#batches = [];
    let moves = 0;
    while (parcel.remaining > 0 && !this.#abort.signal.aborted) {
      try {
        await this.#prepare(parcel);
        if (this.#batches.length === 0) this.#fill(parcel);
        const problem = await this.#send(parcel);
        if (problem !== null) throw problem;
        moves = 0;
        backOff.reset();
        outages.succeed();
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        this.#totals.failedAttempts += 1;
        this.#layouts.fill(null);
        if (error instanceof LeaderMoved && ++moves <= MOVES && !outages.isOutage) {
          await this.#wait(MOVED_MS);
          continue;
        }
        outages.fail(toSinkError(error));
        onFailure();
        await this.#wait(backOff.next());
      }
    }
  }

  /** Ends early with {@link abort}. */
  async #wait(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#abort.signal }).catch(() => undefined);
  }

  /** Looks up the leaders of the partitions that the parcel needs, and gets a producer id. */
  async #prepare({ slab, state }: Parcel): Promise<void> {
    const { brokers, topics } = this.#options;
    if (performance.now() - this.#describedAt > DESCRIBE_AGAIN_MS) this.#layouts.fill(null);
    const needed = new Set<string>();
    for (let row = 0; row < slab.count && this.#layouts.includes(null); row++) {
      const kind = slab.kind[row]!;
      if (this.#layouts[kind] === null && state[row] !== MESSAGE_STATE.SETTLED) needed.add(topics[kind]!);
    }
    if (needed.size > 0) await this.#describe([...needed]);
    if (this.#identity === null) {
      this.#identity = await brokers.identify();
      this.#sequences.clear();
    }
  }

  async #describe(names: readonly string[]): Promise<void> {
    const { brokers, create, topics } = this.#options;
    const layouts = await brokers.describe(names, create);
    this.#describedAt = performance.now();
    for (const [topic, { id }] of layouts) {
      // The topic was deleted and its partitions may differ: assign the messages anew, in order.
      if (this.#ids.get(topic) !== id) this.#batches = this.#batches.filter((batch) => batch.topic !== topic);
      this.#ids.set(topic, id);
    }
    topics.forEach((topic, kind) => {
      this.#layouts[kind] = layouts.get(topic) ?? this.#layouts[kind]!;
    });
    for (const [topic, { leaders }] of layouts) this.#counts.set(topic, leaders.length);
  }

  /** Makes a batch for each partition with unsettled messages. Messages without room wait for the next call. */
  #fill(parcel: Parcel): void {
    const { slab, state } = parcel;
    const partitions = this.#layouts.map((layout) => layout?.leaders.length ?? 0);
    const bases: number[] = [];
    let targets = 0;
    for (const ofKind of partitions) {
      bases.push(targets);
      targets += ofKind;
    }
    if (this.#targets.of.length < slab.count) {
      this.#targets = { of: new Int32Array(slab.count), rows: new Uint32Array(slab.count) };
    }
    const { of, rows } = this.#targets;
    const counts = new Uint32Array(targets + 1);
    const bytes = new Float64Array(targets);
    for (let row = 0; row < slab.count; row++) {
      of[row] = -1;
      if (state[row] === MESSAGE_STATE.SETTLED) continue;
      const kind = slab.kind[row]!;
      const target = bases[kind]! + (slab.partitionHash[row]! % partitions[kind]!);
      if (bytes[target]! > this.#batchBytes) continue;
      // Later messages of the partition wait too, which keeps their order.
      bytes[target]! += recordBytes(slab, row, this.#headers);
      if (bytes[target]! > this.#batchBytes && counts[target + 1]! > 0) continue;
      of[row] = target;
      counts[target + 1]!++;
    }
    for (let target = 0; target < targets; target++) counts[target + 1]! += counts[target]!;
    const next = counts.slice();
    for (let row = 0; row < slab.count; row++) if (of[row]! >= 0) rows[next[of[row]!]!++] = row;
    for (let kind = 0; kind < partitions.length; kind++) {
      for (let partition = 0; partition < partitions[kind]!; partition++) {
        const target = bases[kind]! + partition;
        const [from, to] = [counts[target]!, counts[target + 1]!];
        if (from < to) this.#make(parcel, kind, partition, from, to);
      }
    }
  }

  #make({ slab }: Parcel, kind: number, partition: number, from: number, to: number): void {
    const { rows } = this.#targets;
    const topic = this.#options.topics[kind]!;
    const bytes = this.#writer.write(slab, rows, from, to, this.#headers, {
      producerId: this.#identity!.id,
      producerEpoch: this.#identity!.epoch,
      sequence: this.#sequences.get(`${topic}:${partition}`) ?? 0,
      timeMs: Date.now(),
    });
    const leader = (): number => this.#layouts[kind]?.leaders[partition] ?? -1;
    this.#batches.push({ topic, partition, bytes, kind, rows: rows.slice(from, to), leader });
  }

  /** Sends the batches to all leaders at once. @returns why not all of them are settled; null if they are */
  async #send(parcel: Parcel): Promise<KafkaSinkError | null> {
    const byLeader = new Map<number, Batch[]>();
    for (const batch of this.#batches) {
      const leader = batch.leader();
      const others = byLeader.get(leader);
      if (others === undefined) byLeader.set(leader, [batch]);
      else others.push(batch);
    }
    const problems = await Promise.all([...byLeader].map(([leader, batches]) => this.#sendTo(leader, batches, parcel)));
    // Report a moved leader only if nothing worse happened.
    const failures = problems.filter((problem) => problem !== null);
    return failures.find((problem) => !(problem instanceof LeaderMoved)) ?? failures[0] ?? null;
  }

  async #sendTo(leader: number, batches: readonly Batch[], parcel: Parcel): Promise<KafkaSinkError | null> {
    const [first] = batches;
    if (leader < 0) {
      return new KafkaSinkError(
        'ERR_KAFKA_UNAVAILABLE',
        `topic ${first?.topic}: partition ${first?.partition} has no leader`,
      );
    }
    for (const batch of batches) {
      if (this.#sent.has(batch)) this.#totals.resentBatches += 1;
      this.#sent.add(batch);
      this.#totals.bytes += batch.bytes.length;
      for (const row of batch.rows) parcel.state[row] = MESSAGE_STATE.SENT;
    }
    let answers: readonly PartitionAnswer[];
    try {
      answers = await this.#options.brokers.produce(leader, batches);
    } catch (error) {
      return toSinkError(error);
    }
    if (this.#abort.signal.aborted) return null;
    let problem: KafkaSinkError | null = null;
    for (const batch of batches) {
      const answer = answers.find(({ topic, partition }) => topic === batch.topic && partition === batch.partition);
      problem = this.#onAnswer(batch, answer, parcel) ?? problem;
    }
    return problem;
  }

  /** @returns why the batch must be sent again; null if it is settled, or must be made anew at once */
  #onAnswer(batch: Batch, answer: PartitionAnswer | undefined, parcel: Parcel): KafkaSinkError | null {
    const what = `topic ${batch.topic}, partition ${batch.partition}`;
    if (answer === undefined) return new KafkaSinkError('ERR_KAFKA_UNEXPECTED', `${what}: no answer for a batch`);
    const problem = protocolError(answer.code, answer.message === null ? what : `${what}: ${answer.message}`);
    switch (outcomeOf(answer.code)) {
      case OUTCOME.STORED:
        this.#totals.batches += 1;
        this.#advance(batch);
        this.#settle(batch, parcel);
        this.#options.onStored(batch.kind, batch.rows.length);
        return null;
      case OUTCOME.NEW_PRODUCER:
        this.#totals.newProducers += 1;
        this.#identity = null;
        // All batches have numbers of the old producer id.
        this.#batches = [];
        return new KafkaSinkError('ERR_KAFKA_PRODUCER', problem.message);
      case OUTCOME.TOO_LARGE:
        this.#batches = this.#batches.filter((other) => other !== batch);
        if (batch.rows.length === 1) this.#refuse(batch, parcel, 'too-large', problem);
        else {
          let bytes = 0;
          for (const row of batch.rows) {
            bytes += recordBytes(parcel.slab, row, this.#headers);
            parcel.state[row] = MESSAGE_STATE.WAITING;
          }
          this.#batchBytes = Math.floor(bytes / 2);
        }
        return null;
      case OUTCOME.REFUSED:
        this.#refuse(batch, parcel, 'refused', problem);
        return null;
      default:
        return problem;
    }
  }

  #advance({ partition, rows, topic }: Batch): void {
    const key = `${topic}:${partition}`;
    this.#sequences.set(key, ((this.#sequences.get(key) ?? 0) + rows.length) % SEQUENCES);
  }

  #refuse(batch: Batch, parcel: Parcel, reason: RefusalReason, { message }: KafkaSinkError): void {
    this.#settle(batch, parcel);
    this.#options.onRefused(batch.kind, batch.rows.length, reason);
    this.#options.onProblem(new KafkaSinkError('ERR_KAFKA_REFUSED', message));
  }

  #settle(batch: Batch, parcel: Parcel): void {
    for (const row of batch.rows) parcel.state[row] = MESSAGE_STATE.SETTLED;
    parcel.remaining -= batch.rows.length;
    this.#batches = this.#batches.filter((other) => other !== batch);
  }
}
