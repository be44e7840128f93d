import type { TelemetryBatch } from '@int/codec';
import { RECORD_KINDS, RecordIds, type RecordKind, type Sink, type SinkTotals } from '@int/collector';
import { BackOff, frameTimeMs, OutageLog } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import { Brokers } from './client/brokers.js';
import { Producer, type ProducerTotals } from './client/producer.js';
import { Committer } from './committer.js';
import { Account, type DropReason } from './counts.js';
import { Dispatcher } from './dispatcher.js';
import type { KafkaSinkError } from './errors.js';
import { MESSAGE_TYPES, type MessageEncoder } from './message/encoder.js';
import { makeEncoder } from './message/make-encoder.js';
import type { MessageSlab } from './message/slab.js';
import { WATERMARK_TYPE } from './message/watermark.js';
import { type KafkaSinkOptions, type ResolvedOptions, resolveOptions } from './options.js';
import { type Parcel, WATERMARK_KIND } from './parcel.js';
import { ParcelPool } from './parcel-pool.js';
import { Spool } from './spool/spool.js';
import { Watermarks } from './watermarks.js';

/** The state of a sink, besides its counts of records. */
export interface KafkaSinkState extends ProducerTotals {
  /** Outages so far, including the current one: the brokers were unreachable or took nothing. */
  readonly outages: number;
  /** Bytes in the spool. */
  readonly spooledBytes: number;
  /** Records in the spool, of all kinds. */
  readonly spooledRecords: number;
  /** Records that an earlier process had left in the spool; they count as offered. */
  readonly foundRecords: number;
  /** Damaged bytes of the spool, which were skipped. */
  readonly damagedBytes: number;
  /** Known records in the damaged bytes; they count as dropped, `damaged`. */
  readonly damagedRecords: number;
}

const SPOOL_SEGMENT_BYTES = 16 * 1024 * 1024;
/** Longest time that a sink with `whenFull: 'drop'` makes the pipeline wait for its disk. */
const COMMIT_LIMIT_MS = 1000;
const KIND = { REPORTS: 0, EVENTS: 1, FLOWS: 2 } as const;

/**
 * Carries reports with their hops, events, and entries of a flow cache to topics of Apache Kafka.
 *
 * The sink encodes offered records as messages in memory of fixed size. An idempotent producer sends them in batches to
 * all replicas in sync (`acks=all`). At most one batch per partition is under way, so the messages of a flow, which
 * share a key, are stored in the order offered, even after retries. During an outage, messages move to a spool on disk,
 * if there is one. The spool's messages are sent before newer ones.
 *
 * A record counts as delivered when the brokers have acknowledged it. It is written once, except that it may be written
 * again, with the same id, if
 * - the sink was closed, or the process ended, after it was sent and before that was noted in the spool, or
 * - the brokers forgot the producer (`ERR_KAFKA_PRODUCER`) while it was under way.
 */
export class KafkaSink implements Sink {
  readonly name: string;
  /** The prefix of the record ids. */
  readonly instance: string;
  readonly #options: ResolvedOptions;
  readonly #takes: Readonly<Record<RecordKind, boolean>>;
  readonly #encoder: MessageEncoder;
  readonly #ids: RecordIds;
  readonly #account: Account;
  readonly #outages: OutageLog<KafkaSinkError>;
  readonly #producer: Producer;
  readonly #spool: Spool | null;
  readonly #pool: ParcelPool;
  readonly #dispatcher: Dispatcher;
  /** null: records need not be on disk. */
  readonly #committer: Committer | null;
  /** null: none are written. */
  readonly #watermarks: Watermarks | null;
  readonly #marking: NodeJS.Timeout | undefined;
  /** Being filled. */
  #current: Parcel | null = null;
  #lingering: NodeJS.Timeout | undefined;
  /** The parcel being filled has waited long enough. */
  #isDue = false;
  #isClosed = false;
  #closing: Promise<void> | null = null;

  /**
   * Opens the spool, synchronously; does not wait for a connection.
   * @throws TypeError or RangeError that names a wrong option; KafkaSinkError ERR_KAFKA_SPOOL_IN_USE, ERR_KAFKA_DISK
   */
  constructor(options: KafkaSinkOptions) {
    const resolved = resolveOptions(options);
    this.#options = resolved;
    this.name = resolved.name;
    this.#ids = new RecordIds(resolved.instance);
    this.instance = this.#ids.instance;
    this.#takes = {
      reports: resolved.kinds.includes('reports'),
      events: resolved.kinds.includes('events'),
      flows: resolved.kinds.includes('flows'),
    };
    this.#encoder = resolved.encoder ?? makeEncoder(resolved.format, options.names);
    this.#account = new Account(resolved.kinds);
    this.#outages = new OutageLog({
      onProblem: (problem) => this.#tell(problem),
      // An error of a callback must not interrupt the sink.
      onRecovered: (outage) => queueMicrotask(() => resolved.onRecovered(outage)),
    });
    this.#producer = new Producer({
      brokers: new Brokers(resolved.access),
      // Watermarks travel with the reports.
      topics: [...resolved.topics, resolved.topics[KIND.REPORTS]!],
      types: [...RECORD_KINDS.map((kind) => MESSAGE_TYPES[kind]), WATERMARK_TYPE],
      create: resolved.create,
      format: resolved.format,
      compression: resolved.compression,
      // Leave room for overhead: topics refuse batches of a megabyte.
      batchBytes: 900_000,
      backOff: new BackOff(resolved.retryFirstMs, resolved.retryMaxMs, resolved.random),
      outages: this.#outages,
      onFailure: () => this.#dispatcher.spill(),
      onProblem: (problem) => this.#tell(problem),
      onStored: (kind, messages) => {
        if (kind !== WATERMARK_KIND) this.#account.deliver(kind, messages);
      },
      onRefused: (kind, messages, reason) => {
        if (kind !== WATERMARK_KIND) this.#account.drop(kind, messages, reason);
      },
    });
    this.#spool = this.#openSpool();
    this.#pool = new ParcelPool(resolved.parcels, { messages: resolved.batchMessages, bytes: resolved.batchBytes });
    this.#watermarks = this.#makeWatermarks();
    this.#dispatcher = new Dispatcher({
      watermarks: this.#watermarks,
      pool: this.#pool,
      producer: this.#producer,
      spool: this.#spool,
      outages: this.#outages,
      account: this.#account,
      drops: resolved.whenFull === 'drop',
      storesFirst: resolved.durability === 'spool',
      onDrained: () => {
        if (this.#isDue) this.#seal();
      },
      onSettled: () => this.#committer?.settle(),
      onRetry: () => this.#committer?.commit(),
      onProblem: (problem) => this.#tell(problem),
    });
    this.#committer =
      resolved.durability === 'memory'
        ? null
        : new Committer({
            dispatcher: this.#dispatcher,
            current: () => this.#current,
            everyMs: resolved.spool!.commitMs,
            limitMs: resolved.whenFull === 'drop' ? COMMIT_LIMIT_MS : null,
          });
    if (this.#watermarks !== null) {
      this.#marking = setInterval(() => this.#dispatcher.mark(), resolved.watermarkMs);
      // The timer of watermarks alone must not keep the process alive.
      this.#marking.unref();
    }
  }

  /**
   * Checks options as the constructor does, and opens nothing.
   * @throws TypeError or RangeError that names a wrong option
   */
  static check(options: KafkaSinkOptions): void {
    resolveOptions(options);
  }

  /** Takes the pipeline's time, which is the watermark when nothing is pending. */
  advance(timeMs: number): void {
    this.#watermarks?.advance(timeMs);
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    return this.#takes.reports ? this.#safely(this.#writeReports(batch, 0)) : undefined;
  }

  writeEvents(events: EventBatch): Promise<void> | undefined {
    if (!this.#takes.events) return undefined;
    const written = this.#writeNow(KIND.EVENTS, events.count, (from, slab) =>
      this.#encoder.events(events, from, slab, this.#ids),
    );
    return this.#safely(written);
  }

  writeFlows(words: Int32Array, at: number, records: number, geometry: CacheGeometry): Promise<void> | undefined {
    if (!this.#takes.flows) return undefined;
    const written = this.#writeNow(KIND.FLOWS, records, (from, slab) =>
      this.#encoder.flows(words, at, records, geometry, from, slab, this.#ids),
    );
    return this.#safely(written);
  }

  totals(): SinkTotals {
    return this.#account.totals();
  }

  /** The other counters of the sink. */
  state(): KafkaSinkState {
    const spool = this.#spool;
    const sum = (counts: Float64Array | undefined): number => counts?.reduce((a, b) => a + b, 0) ?? 0;
    return {
      ...this.#producer.totals,
      outages: this.#outages.count,
      spooledBytes: spool?.bytes ?? 0,
      spooledRecords: sum(spool?.counts),
      foundRecords: sum(spool?.foundCounts),
      damagedBytes: spool?.damagedBytes ?? 0,
      damagedRecords: spool?.damagedMessages ?? 0,
    };
  }

  health(): string | null {
    const { problem } = this.#outages;
    if (problem !== null) return `Kafka: ${problem.message}`;
    const { spoolTrouble } = this.#dispatcher;
    if (this.#committer?.isStuck === true) return 'Kafka: the spool takes too long to write';
    if (spoolTrouble === 'spool-full') return 'Kafka: the spool is full';
    return spoolTrouble === 'disk' ? 'Kafka: the spool cannot be written' : null;
  }

  /**
   * Sends the waiting records. Resolves when all records offered before are delivered or dropped, or the sink is
   * closed.
   */
  flush(): Promise<void> {
    this.#seal();
    return this.#dispatcher.idle();
  }

  /**
   * Sends the waiting records within the time limit and moves the rest to the spool, for the next sink that opens it.
   * Without a spool, the rest is dropped. Records offered from now on are dropped and counted.
   */
  close(timeoutMs: number = this.#options.closeTimeoutMs): Promise<void> {
    if (this.#closing === null) {
      this.#seal();
      this.#isClosed = true;
      clearInterval(this.#marking);
      this.#pool.close();
      this.#closing = this.#dispatcher.close(timeoutMs).finally(() => this.#committer?.close());
    }
    return this.#closing;
  }

  #makeWatermarks(): Watermarks | null {
    const { encoder, format, watermarkMs } = this.#options;
    if (!this.#takes.reports || watermarkMs === 0) return null;
    return new Watermarks({
      ids: this.#ids,
      format: encoder?.format ?? format,
      intervalMs: watermarkMs,
      earliestPending: () =>
        Math.min(this.#dispatcher.earliestPending, this.#current?.earliest() ?? Number.POSITIVE_INFINITY),
      dropped: () => this.#account.droppedOf(KIND.REPORTS),
    });
  }

  #openSpool(): Spool | null {
    const { batchBytes, batchMessages, durability, spool } = this.#options;
    if (spool === null) return null;
    const opened = new Spool({
      ...spool,
      segmentBytes: Math.min(SPOOL_SEGMENT_BYTES, Math.ceil(spool.limitBytes / 4)),
      batch: { messages: batchMessages, bytes: batchBytes },
      keepsSegment: durability === 'spool',
      onLost: (counts) => {
        for (let kind = 0; kind < counts.length; kind++) this.#account.drop(kind, counts[kind]!, 'damaged');
      },
      onProblem: (problem) => this.#tell(problem),
    });
    opened.foundCounts.forEach((records, kind) => {
      this.#account.take(kind, records);
    });
    return opened;
  }

  #tell(problem: KafkaSinkError): void {
    queueMicrotask(() => this.#options.onProblem(problem));
  }

  #writeReports(batch: TelemetryBatch, from: number): Promise<void> | undefined {
    let row = from;
    for (let parcel = this.#open(false); parcel !== null; parcel = this.#open(false)) {
      const { slab } = parcel;
      const before = slab.count;
      row = this.#encoder.reports(batch, row, slab, this.#ids);
      for (let at = before; at < slab.count; at++) this.#watermarks?.offered(slab.timeMs[at]!);
      this.#onWritten(KIND.REPORTS, parcel, before);
      if (row >= batch.reports) return undefined;
      this.#seal();
    }
    if (this.#options.whenFull === 'wait' && !this.#isClosed) {
      return this.#pool.room().then(() => this.#writeReports(batch, row));
    }
    let shed = 0;
    for (; row < batch.reports; row++) {
      if (batch.code[row] !== 0) continue;
      shed += 1;
      this.#watermarks?.offered(frameTimeMs(batch, batch.frame[row]!));
    }
    this.#account.shed(KIND.REPORTS, shed, this.#shedReason());
    return undefined;
  }

  /**
   * Takes records that cannot wait, if need be into additional memory.
   * @param encode writes records from a number on, and returns the number of the next
   */
  #writeNow(
    kind: number,
    records: number,
    encode: (from: number, slab: MessageSlab) => number,
  ): Promise<void> | undefined {
    const mayExceed = this.#options.whenFull === 'wait' && !this.#isClosed;
    let next = 0;
    while (next < records) {
      const parcel = this.#open(mayExceed);
      if (parcel === null) {
        this.#account.shed(kind, records - next, this.#shedReason());
        return undefined;
      }
      const before = parcel.slab.count;
      next = encode(next, parcel.slab);
      this.#onWritten(kind, parcel, before);
      if (next < records) this.#seal();
    }
    return mayExceed && this.#pool.isExceeded ? this.#pool.room() : undefined;
  }

  #shedReason(): DropReason {
    return this.#isClosed ? 'closed' : (this.#unsafe ?? this.#dispatcher.spoolTrouble ?? 'overflow');
  }

  /** Why a sink with `whenFull: 'drop'` takes nothing now: the disk refuses records. */
  get #unsafe(): DropReason | null {
    if (this.#committer === null || this.#options.whenFull === 'wait') return null;
    return this.#committer.isStuck ? 'disk' : this.#dispatcher.refusal;
  }

  /** Makes the pipeline wait until the records taken are on disk, if required. @param room promise to wait for first */
  #safely(room: Promise<void> | undefined): Promise<void> | undefined {
    const committer = this.#committer;
    if (committer === null) return room;
    return room === undefined ? committer.safe() : room.then(() => committer.safe());
  }

  /** The parcel to fill. @param mayExceed one more is made if there is none */
  #open(mayExceed: boolean): Parcel | null {
    if (this.#unsafe !== null) return null;
    if (this.#current !== null) return this.#current;
    if (this.#isClosed) return null;
    this.#current = this.#pool.take(mayExceed);
    if (this.#current !== null && this.#committer !== null) this.#current.first = this.#committer.taken;
    return this.#current;
  }

  /** Messages were written into the parcel. @param before how many it had */
  #onWritten(kind: number, { slab }: Parcel, before: number): void {
    const messages = slab.count - before;
    this.#account.take(kind, messages);
    this.#committer?.take(messages);
    if (before > 0 || messages === 0) return;
    this.#lingering = setTimeout(() => {
      if (this.#dispatcher.isSending) this.#isDue = true;
      else this.#seal();
    }, this.#options.lingerMs);
  }

  /** The parcel being filled is to be sent. */
  #seal(): void {
    const parcel = this.#current;
    if (parcel === null || parcel.slab.count === 0) return;
    clearTimeout(this.#lingering);
    this.#isDue = false;
    this.#current = null;
    parcel.begin();
    this.#dispatcher.push(parcel);
  }
}
