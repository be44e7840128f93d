import type { TelemetryBatch } from '@int/codec';
import {
  BackOff,
  type FrameBatch,
  OutageLog,
  RECORD_KINDS,
  RecordIds,
  type RecordKind,
  type Sink,
  type SinkTotals,
} from '@int/collector';
import type { Detector, EventBatch } from '@int/detect';
import type { Geometry } from '@int/flowcache';
import { Brokers } from './client/brokers.js';
import { Producer, type ProducerTotals } from './client/producer.js';
import { Account, type DropReason } from './counts.js';
import { KafkaSinkError } from './errors.js';
import type { MessageEncoder } from './message/encoder.js';
import { makeEncoder } from './message/make-encoder.js';
import type { MessageSlab } from './message/slab.js';
import { type KafkaSinkOptions, type ResolvedOptions, resolveOptions } from './options.js';
import { MESSAGE_STATE, Parcel, perKind } from './parcel.js';
import { type Appended, Spool } from './spool/spool.js';

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
  /** Bytes of the spool that were no whole chunk. */
  readonly damagedBytes: number;
}

/** A parcel under way. */
interface Flight {
  readonly parcel: Parcel;
  /** Whether the parcel is one of those that are used again. */
  readonly isOwn: boolean;
  /** Whether the first chunk of the spool has the same messages. */
  isInSpool: boolean;
  /** While they are being copied there. */
  copying: Promise<void> | null;
}

/** Time after which a spool that took no more is tried again, in ms. */
const SPOOL_RETRY_MS = 500;
const SPOOL_SEGMENT_BYTES = 16 * 1024 * 1024;
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
  readonly #free: Parcel[] = [];
  #parcels = 0;
  /** Being filled. */
  #current: Parcel | null = null;
  /** Filled, oldest first. */
  readonly #sealed: Parcel[] = [];
  #flight: Flight | null = null;
  #lingering: NodeJS.Timeout | undefined;
  /** What is being filled has waited long enough. */
  #isDue = false;
  #isSending = false;
  #sending: Promise<void> = Promise.resolve();
  #isSpilling = false;
  #spilling: Promise<void> = Promise.resolve();
  #spoolTrouble: 'spool-full' | 'disk' | null = null;
  #spoolTimer: NodeJS.Timeout | undefined;
  #roomWaiters: (() => void)[] = [];
  #idleWaiters: (() => void)[] = [];
  #isClosed = false;
  #isAborted = false;
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
      topics: resolved.topics,
      create: resolved.create,
      format: resolved.format,
      compression: resolved.compression,
      // Room for what is not counted here: topics do not take batches of a megabyte.
      batchBytes: 900_000,
      backOff: new BackOff(resolved.retryFirstMs, resolved.retryLongestMs, resolved.random),
      outages: this.#outages,
      onFailure: () => this.#spill(),
      onProblem: (problem) => this.#tell(problem),
      onStored: (kind, messages) => this.#account.deliver(kind, messages),
      onRefused: (kind, messages, reason) => this.#account.drop(kind, messages, reason),
    });
    this.#spool = this.#openSpool();
    if (this.#spool?.isEmpty === false) this.#send();
  }

  write(batch: TelemetryBatch, frames: FrameBatch, first: number): Promise<void> | undefined {
    return this.#takes.reports ? this.#writeReports(batch, frames, first, 0) : undefined;
  }

  writeEvents(
    events: EventBatch,
    batch: TelemetryBatch,
    frames: FrameBatch,
    first: number,
    detector: Detector,
  ): Promise<void> | undefined {
    if (!this.#takes.events) return undefined;
    return this.#writeNow(KIND.EVENTS, events.count, (from, slab) =>
      this.#encoder.events(events, batch, frames, first, detector, from, slab, this.#ids),
    );
  }

  writeFlows(words: Int32Array, at: number, records: number, geometry: Geometry): Promise<void> | undefined {
    if (!this.#takes.flows) return undefined;
    return this.#writeNow(KIND.FLOWS, records, (from, slab) =>
      this.#encoder.flows(words, at, records, geometry, from, slab, this.#ids),
    );
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
    };
  }

  health(): string | null {
    const { problem } = this.#outages;
    if (problem !== null) return `Kafka: ${problem.message}`;
    if (this.#spoolTrouble === 'spool-full') return 'Kafka: the spool is full';
    return this.#spoolTrouble === 'disk' ? 'Kafka: the spool cannot be written' : null;
  }

  /** Sends what waits. Resolves when all that was offered before is delivered or dropped, or the sink is closed. */
  flush(): Promise<void> {
    this.#seal();
    if (this.#isIdle || this.#isAborted) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /**
   * Sends what waits, as far as there is time, and moves the rest to the spool, where the next sink that opens it finds
   * it; without a spool, the rest is dropped. What is offered from now on is counted as dropped.
   */
  close(timeoutMs: number = this.#options.closeTimeoutMs): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  #openSpool(): Spool | null {
    const { spool } = this.#options;
    if (spool === null) return null;
    const opened = new Spool({
      ...spool,
      segmentBytes: Math.min(SPOOL_SEGMENT_BYTES, Math.ceil(spool.limitBytes / 4)),
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

  #writeReports(batch: TelemetryBatch, frames: FrameBatch, first: number, from: number): Promise<void> | undefined {
    let row = from;
    for (let parcel = this.#open(false); parcel !== null; parcel = this.#open(false)) {
      const { slab } = parcel;
      const before = slab.count;
      row = this.#encoder.reports(batch, frames, first, row, slab, this.#ids);
      this.#onWritten(KIND.REPORTS, parcel, before);
      if (row >= batch.reports) return undefined;
      this.#seal();
    }
    if (this.#options.whenFull === 'wait' && !this.#isClosed) {
      return this.#room().then(() => this.#writeReports(batch, frames, first, row));
    }
    let shed = 0;
    for (; row < batch.reports; row++) if (batch.code[row] === 0) shed += 1;
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
    return mayExceed && this.#parcels > this.#options.parcels ? this.#room() : undefined;
  }

  #shedReason(): DropReason {
    return this.#isClosed ? 'closed' : (this.#spoolTrouble ?? 'overflow');
  }

  /**
   * The parcel to fill.
   * @param mayExceed one more is made if there is none
   */
  #open(mayExceed: boolean): Parcel | null {
    if (this.#current !== null) return this.#current;
    if (this.#isClosed) return null;
    const { batchBytes, batchMessages, parcels } = this.#options;
    let parcel = this.#free.pop();
    if (parcel === undefined) {
      if (this.#parcels >= parcels && !mayExceed) return null;
      parcel = new Parcel({ messages: batchMessages, bytes: batchBytes });
      this.#parcels += 1;
    }
    this.#current = parcel;
    return parcel;
  }

  /** Messages were written into the parcel. @param before how many it had */
  #onWritten(kind: number, { slab }: Parcel, before: number): void {
    const messages = slab.count - before;
    this.#account.take(kind, messages);
    if (before === 0 && messages > 0) this.#lingering = setTimeout(() => this.#onDue(), this.#options.lingerMs);
  }

  #onDue(): void {
    if (this.#isSending) this.#isDue = true;
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
    this.#sealed.push(parcel);
    this.#send();
    this.#spill();
  }

  #release(parcel: Parcel): void {
    parcel.clear();
    if (this.#parcels > this.#options.parcels) this.#parcels -= 1;
    else this.#free.push(parcel);
    // It is not needed any more; if it is again, it is tried again.
    if (this.#vacant > this.#options.parcels / 2) this.#spoolTrouble = null;
    if (this.#hasRoom) for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }

  get #hasRoom(): boolean {
    return this.#isClosed || this.#vacant > 0;
  }

  /** Parcels that could be filled. */
  get #vacant(): number {
    return this.#free.length + Math.max(0, this.#options.parcels - this.#parcels);
  }

  #room(): Promise<void> {
    if (this.#hasRoom) return Promise.resolve();
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  get #isIdle(): boolean {
    const { isEmpty } = this.#spool ?? { isEmpty: true };
    return !this.#isSending && !this.#isSpilling && this.#sealed.length === 0 && isEmpty;
  }

  #onIdle(): void {
    if (this.#isIdle || this.#isAborted) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Begins to send, if there is something and it has not begun. */
  #send(): void {
    if (this.#isSending || this.#isAborted) return;
    this.#isSending = true;
    this.#sending = this.#sendAll().finally(() => {
      this.#isSending = false;
      // Something may have come after the last look.
      if (this.#isDue) this.#seal();
      else if (this.#sealed.length > 0 && !this.#isSpilling) this.#send();
      this.#onIdle();
    });
  }

  async #sendAll(): Promise<void> {
    while (!this.#isAborted && (await this.#next())) {
      const flight = this.#flight!;
      await this.#producer.deliver(flight.parcel);
      if (flight.parcel.remaining > 0) return;
      await flight.copying;
      if (flight.isInSpool) await this.#consume();
      this.#flight = null;
      if (flight.isOwn) this.#release(flight.parcel);
      if (this.#isDue && this.#sealed.length === 0) this.#seal();
    }
  }

  /** Takes the oldest messages there are into flight. @returns false if there are none, or they are on their way to the spool */
  async #next(): Promise<boolean> {
    const spool = this.#spool;
    while (spool !== null && !spool.isEmpty && !this.#isAborted) {
      try {
        const parcel = await spool.head();
        if (parcel === null) continue;
        this.#flight = { parcel, isOwn: false, isInSpool: true, copying: null };
        return true;
      } catch (error) {
        this.#onSpoolError(error);
        await new Promise((resolve) => setTimeout(resolve, SPOOL_RETRY_MS));
      }
    }
    // While messages are moved to the spool, what comes after them must not overtake them.
    if (this.#isSpilling) return false;
    const parcel = this.#sealed.shift();
    if (parcel === undefined) return false;
    this.#flight = { parcel, isOwn: true, isInSpool: false, copying: null };
    return true;
  }

  async #consume(): Promise<void> {
    try {
      await this.#spool!.consume();
      this.#spoolTrouble = null;
    } catch (error) {
      this.#onSpoolError(error);
    }
  }

  /** Moves messages to the spool, if memory is short. */
  #spill(): void {
    if (this.#spool === null || this.#isSpilling || this.#isClosed || !this.#mustSpill) return;
    this.#isSpilling = true;
    this.#spilling = this.#spillAll(this.#spool).finally(() => {
      this.#isSpilling = false;
      this.#send();
      this.#onIdle();
    });
  }

  get #mustSpill(): boolean {
    const isWanted = this.#options.whenFull === 'drop' || this.#outages.isOutage;
    return isWanted && this.#vacant <= Math.floor(this.#options.parcels / 4);
  }

  async #spillAll(spool: Spool): Promise<void> {
    while (this.#vacant < this.#options.parcels / 2 && !this.#isClosed) {
      const parcel = this.#sealed[0];
      if (parcel === undefined || !(await this.#copyFlight(spool))) return;
      if ((await this.#store(spool, parcel)) === 'full') return;
      this.#sealed.shift();
      this.#release(parcel);
    }
  }

  /** What is under way is older than what goes to the spool, and must be there before it. @returns false if it cannot */
  async #copyFlight(spool: Spool): Promise<boolean> {
    const flight = this.#flight;
    if (flight === null || flight.isInSpool || flight.parcel.remaining === 0) return true;
    let hasRoom = false;
    flight.copying = this.#store(spool, flight.parcel).then((appended) => {
      hasRoom = appended !== 'full';
      flight.isInSpool = appended === 'stored';
    });
    await flight.copying;
    return hasRoom;
  }

  /** @returns `full` also if the disk fails */
  async #store(spool: Spool, parcel: Parcel): Promise<Appended> {
    try {
      const appended = await spool.append(parcel);
      if (appended !== 'full') {
        this.#spoolTrouble = null;
        return appended;
      }
      if (this.#spoolTrouble !== 'spool-full') {
        this.#spoolTrouble = 'spool-full';
        const { directory, limitBytes } = this.#options.spool!;
        this.#tell(new KafkaSinkError('ERR_KAFKA_SPOOL_FULL', `${directory} has reached its ${limitBytes} bytes`));
      }
    } catch (error) {
      this.#onSpoolError(error);
    }
    this.#trySpoolLater();
    return 'full';
  }

  #onSpoolError(error: unknown): void {
    const problem = KafkaSinkError.is(error) ? error : new KafkaSinkError('ERR_KAFKA_UNEXPECTED', String(error), error);
    if (this.#spoolTrouble !== 'disk') this.#tell(problem);
    this.#spoolTrouble = 'disk';
  }

  #trySpoolLater(): void {
    clearTimeout(this.#spoolTimer);
    if (!this.#isClosed) this.#spoolTimer = setTimeout(() => this.#spill(), SPOOL_RETRY_MS);
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#seal();
    this.#isClosed = true;
    clearTimeout(this.#spoolTimer);
    for (const resolve of this.#roomWaiters.splice(0)) resolve();
    await this.#spilling;
    // In an outage, there is no point in waiting if the rest can be kept.
    if (!(this.#outages.isOutage && this.#spool !== null)) await this.#drained(timeoutMs);
    this.#isAborted = true;
    this.#producer.abort();
    await this.#sending;
    const flight = this.#flight;
    const rest = flight === null || flight.isInSpool || flight.parcel.remaining === 0 ? [] : [flight.parcel];
    let isSpoolUsable = this.#spool !== null;
    for (const parcel of [...rest, ...this.#sealed.splice(0)]) {
      // Once one is lost, those after it still go there: order is kept, with a gap that is counted.
      if (isSpoolUsable) isSpoolUsable = (await this.#store(this.#spool!, parcel)) !== 'full';
      if (!isSpoolUsable) this.#giveUp(parcel);
    }
    await this.#spool?.close();
    this.#onIdle();
  }

  /** Resolves when nothing is left, or after a time. */
  #drained(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#isIdle) done();
      else this.#idleWaiters.push(done);
    });
  }

  /** Counts what is not settled as dropped. */
  #giveUp({ slab, state }: Parcel): void {
    const waiting = perKind();
    const sent = perKind();
    for (let row = 0; row < slab.count; row++) {
      if (state[row] === MESSAGE_STATE.WAITING) waiting[slab.kind[row]!]!++;
      else if (state[row] === MESSAGE_STATE.SENT) sent[slab.kind[row]!]!++;
    }
    const reason = this.#spoolTrouble ?? 'closed';
    for (let kind = 0; kind < RECORD_KINDS.length; kind++) {
      this.#account.drop(kind, waiting[kind]!, reason);
      this.#account.drop(kind, sent[kind]!, 'unconfirmed');
    }
  }
}
