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

/** How a sink fares, besides its counts of records. */
export interface KafkaSinkState extends ProducerTotals {
  /** Times that the brokers could not be reached or did not take anything, one that lasts included. */
  readonly outages: number;
  /** Bytes in the spool. */
  readonly spooledBytes: number;
  /** Records in the spool, of all kinds. */
  readonly spooledRecords: number;
  /** Records that an earlier process had left in the spool; they count as offered. */
  readonly foundRecords: number;
  /** Bytes of the spool that were passed over, as they are not what was written. */
  readonly damagedBytes: number;
  /** Records in them, as far as that is known; they count as dropped, `damaged`. */
  readonly damagedRecords: number;
}

const SPOOL_SEGMENT_BYTES = 16 * 1024 * 1024;
/** The longest time that a sink that drops has the pipeline wait for its disk. */
const COMMIT_LIMIT_MS = 1000;
const KIND = { REPORTS: 0, EVENTS: 1, FLOWS: 2 } as const;

/**
 * Carries reports with their hops, events, and entries of a flow cache to topics of Apache Kafka.
 *
 * Records are written as messages into memory of fixed size when they are offered, and sent in batches that all replicas
 * in sync must have (`acks=all`), by an idempotent producer. At most one batch per partition is under way, so messages
 * with the same key, which are those of one flow, are stored in the order in which they were offered, whatever has to be
 * sent again. While the brokers are away, messages go from memory to a spool on disk, if there is one, and from there
 * to the brokers, before any that are newer.
 *
 * A record counts as delivered when the brokers have acknowledged it. It is written once, except that it may be
 * written again, with the same id, if
 * - the sink was closed, or the process ended, after it was sent and before that was noted in the spool, or
 * - the brokers forgot the producer (`ERR_KAFKA_PRODUCER`) while it was under way.
 */
export class KafkaSink implements Sink {
  readonly name: string;
  /** What the ids of the records begin with. */
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
  /** Null: records need not be on disk. */
  readonly #committer: Committer | null;
  /** null: none are written. */
  readonly #watermarks: Watermarks | null;
  readonly #marking: NodeJS.Timeout | undefined;
  /** Being filled. */
  #current: Parcel | null = null;
  #lingering: NodeJS.Timeout | undefined;
  /** What is being filled has waited long enough. */
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
    this.#encoder = resolved.encoder ?? makeEncoder(resolved.format);
    this.#account = new Account(resolved.kinds);
    this.#outages = new OutageLog({
      onProblem: (problem) => this.#tell(problem),
      // What a callback throws must not leave the sink half way.
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
      // Room for what is not counted here: topics do not take batches of a megabyte.
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
      // Who only says the time keeps no process alive.
      this.#marking.unref();
    }
  }

  /** The pipeline's time, which the sink's watermarks say when nothing is pending. */
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

  /** How the sink fares besides that. */
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

  /** Sends what waits. Resolves when all that was offered before is delivered or dropped, or the sink is closed. */
  flush(): Promise<void> {
    this.#seal();
    return this.#dispatcher.idle();
  }

  /**
   * Sends what waits, as far as there is time, and moves the rest to the spool, where the next sink that opens it finds
   * it; without a spool, the rest is dropped. What is offered from now on is counted as dropped.
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
   * Takes records that cannot wait: if need be, into memory on top of what there is.
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

  /** Why a sink that drops takes nothing now: it could not be put on disk. */
  get #unsafe(): DropReason | null {
    if (this.#committer === null || this.#options.whenFull === 'wait') return null;
    return this.#committer.isStuck ? 'disk' : this.#dispatcher.refusal;
  }

  /** Has the pipeline wait until what was taken is on disk, if it has to be. @param room to be waited for before */
  #safely(room: Promise<void> | undefined): Promise<void> | undefined {
    const committer = this.#committer;
    if (committer === null) return room;
    return room === undefined ? committer.safe() : room.then(() => committer.safe());
  }

  /**
   * The parcel to fill.
   * @param mayExceed one more is made if there is none
   */
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
    if (before === 0 && messages > 0) this.#lingering = setTimeout(() => this.#onDue(), this.#options.lingerMs);
  }

  #onDue(): void {
    if (this.#dispatcher.isSending) this.#isDue = true;
    else this.#seal();
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
