import { randomBytes } from 'node:crypto';
import { BackOff, within } from '@int/collector/internals';
import type { CacheGeometry, FlowEntry, FlowEvent, RecordConsumer } from '@int/flowcache';
import { connect } from './client/connection.js';
import { Pipeline, type PipelineTotals } from './client/pipeline.js';
import { RedisKeys } from './keys.js';
import { type RedisWriterOptions, type ResolvedOptions, resolveOptions } from './options.js';
import type { KindTotals } from './outlet/counters.js';
import { EntryOutlet } from './outlet/entry-outlet.js';
import { EventOutlet } from './outlet/event-outlet.js';
import type { KindName, Outlet } from './outlet/outlet.js';
import type { RecordOutlet } from './outlet/record-outlet.js';
import { TextOutlet } from './outlet/text-outlet.js';
import { entryRecord, eventRecord } from './record/from-object.js';
import { encodeValues } from './record/values.js';

/** The fates of all records so far, by kind. */
export interface RedisWriterTotals extends PipelineTotals {
  readonly events: KindTotals;
  readonly entries: KindTotals;
  readonly values: KindTotals;
  /** Events of detectors, which a `RedisSink` writes. */
  readonly detected: KindTotals;
}

/** Takes records from memory, such as those of a flow cache, or of a ring by {@link carry}. */
export interface RecordTaker extends RecordConsumer {
  /** Words of a record. */
  readonly recordWords: number;
  /**
   * Copies records.
   * @param words contains the records, one after the other
   * @param at word index of the first record
   * @returns number of records taken, from the first on; the caller keeps the others
   * @throws RangeError if the records are not inside `words`
   */
  push(words: Int32Array | Uint32Array, at: number, records: number): number;
  /**
   * Resolves when there is room again, or when the writer is closed; a closed writer takes all records and counts them
   * as dropped.
   */
  ready(): Promise<void>;
}

/**
 * Writes events and entries of a flow cache, and named values, to Redis.
 *
 * Records wait in memory of fixed size and go to the server in batches. Each is written exactly once, even if
 * connections break or the server restarts: a batch is one call of a script with a number, and the script applies it
 * only if that number is the next. At any time, every record offered is delivered, pending, or dropped for a counted
 * reason.
 */
export class RedisWriter {
  /** Names of the keys. */
  readonly keys: RedisKeys;
  /** Name of this writer, see {@link RedisWriterOptions.writer}. */
  readonly writer: string;
  readonly geometry: CacheGeometry;
  /** Takes event records: 16 words each. */
  readonly events: RecordTaker;
  /** Takes entries: buckets of `geometry.bucketStride` words. */
  readonly entries: RecordTaker;
  readonly #options: ResolvedOptions;
  readonly #events: EventOutlet;
  readonly #entries: EntryOutlet;
  readonly #values: TextOutlet;
  readonly #detected: TextOutlet;
  readonly #outlets: readonly Outlet[];
  readonly #pipeline: Pipeline;
  #lingering: NodeJS.Timeout | undefined;
  #isPumping = false;
  /** The reason why the writer takes no more records. */
  #ended: 'closed' | 'fenced' | null = null;
  #flushes: { readonly targets: readonly number[]; resolve(): void }[] = [];
  #closing: Promise<void> | null = null;
  #opened: Promise<void> | null = null;
  #onOpened: () => void = () => undefined;

  /** Does not connect yet; see {@link RedisWriter.open}. @throws TypeError or RangeError that names a wrong option */
  constructor(options: RedisWriterOptions) {
    this.#options = resolveOptions(options);
    const { address, batch, geometry, maxPending, prefix, writer } = this.#options;
    this.keys = new RedisKeys(prefix);
    this.writer = writer;
    this.geometry = geometry;
    this.#events = new EventOutlet(this.#options, this.keys);
    this.#entries = new EntryOutlet(this.#options, this.keys);
    const { keepDetected } = this.#options;
    this.#values = new TextOutlet(
      'values',
      (records, payload) => [prefix, String(records), payload],
      maxPending.values,
      batch.values,
    );
    this.#detected = new TextOutlet(
      'detected',
      (records, payload) => [this.keys.detected, String(records), String(keepDetected), payload],
      maxPending.detected,
      batch.detected,
    );
    this.#outlets = [this.#events, this.#entries, this.#values, this.#detected];
    this.events = this.#taker(this.#events);
    this.entries = this.#taker(this.#entries);
    const { connectTimeoutMs, inFlight, onProblem, onRecovered, random, replyTimeoutMs } = this.#options;
    this.#pipeline = new Pipeline({
      connect: (onEnd, signal) => connect(address, connectTimeoutMs, onEnd, signal),
      outlets: this.#outlets,
      prefix,
      writerKey: this.keys.writer(writer),
      session: randomBytes(12).toString('hex'),
      inFlight,
      replyTimeoutMs,
      backOff: new BackOff(this.#options.retryFirstMs, this.#options.retryMaxMs, random),
      // An error thrown by a callback must not interrupt the pipeline.
      onProblem: (problem) => queueMicrotask(() => onProblem(problem)),
      onRecovered: (outage) => queueMicrotask(() => onRecovered(outage)),
      onProgress: () => this.#onProgress(),
      onFenced: () => this.#end('fenced'),
    });
  }

  /**
   * Connects, and retries until {@link RedisWriter.close}. The writer takes records before it is connected.
   * @returns a promise that resolves when the server has answered, or the writer has ended
   */
  open(): Promise<void> {
    this.#opened ??= new Promise((resolve) => {
      this.#onOpened = resolve;
      if (this.#ended === null) this.#pipeline.start();
      else resolve();
    });
    return this.#opened;
  }

  /** Whether the server has answered and there is no outage now. */
  get isConnected(): boolean {
    return this.#pipeline.isOpen;
  }

  /** Takes event records from memory: `events.push`. */
  writeEvents(words: Int32Array | Uint32Array, at: number, records: number): number {
    return this.events.push(words, at, records);
  }

  /** Takes entries from memory: `entries.push`. */
  writeEntries(words: Int32Array | Uint32Array, at: number, records: number): number {
    return this.entries.push(words, at, records);
  }

  /**
   * Takes an event.
   * @returns false if there is no room; see {@link RedisWriter.ready}
   * @throws TypeError, RangeError, or AddressError of the codec if it cannot be an event of a cache of this geometry
   */
  event(event: FlowEvent): boolean {
    return this.events.push(eventRecord(event, this.geometry.metrics), 0, 1) === 1;
  }

  /**
   * Takes an entry.
   * @returns false if there is no room; see {@link RedisWriter.ready}
   * @throws TypeError, RangeError, or AddressError of the codec if a cache of this geometry cannot hold it
   */
  entry(entry: FlowEntry): boolean {
    return this.entries.push(entryRecord(entry, this.geometry), 0, 1) === 1;
  }

  /**
   * Takes named values, such as counters or a histogram. They replace earlier values of this name.
   * @returns false if there is no room; see {@link RedisWriter.ready}
   * @throws RangeError for no fields, more than 1000, or more than 256 KiB; TypeError for a value that is neither a
   *   text nor a finite number
   */
  values(name: string, fields: Readonly<Record<string, string | number | bigint>>): boolean {
    return this.#putTexts(this.#values, [encodeValues(name, fields)]) === 1;
  }

  /** @internal Takes encoded events of detectors. @returns number of records taken, from the first on; the caller keeps the others */
  detected(records: readonly Buffer[]): number {
    return this.#putTexts(this.#detected, records);
  }

  #putTexts(outlet: TextOutlet, records: readonly Buffer[]): number {
    return this.#accept(outlet, records.length, () => {
      const taken = Math.min(outlet.room, records.length);
      for (const record of records.slice(0, taken)) outlet.put(record);
      return taken;
    });
  }

  /** Resolves when there is room for records of this kind, or when the writer has ended. */
  ready(kind: KindName): Promise<void> {
    const outlet = this.#outlets.find(({ name }) => name === kind);
    if (outlet === undefined) throw new TypeError(`no kind of records: ${String(kind)}`);
    return this.#ended === null ? outlet.whenRoom() : Promise.resolve();
  }

  /**
   * Sends without waiting for full batches. Resolves when all records taken so far are written or counted as dropped.
   */
  flush(): Promise<void> {
    const targets = this.#outlets.map(({ counters }) => counters.accepted);
    for (const outlet of this.#outlets) outlet.isDue = outlet.counters.waiting > 0;
    this.#pump();
    if (this.#isSettled(targets)) return Promise.resolve();
    return new Promise((resolve) => this.#flushes.push({ targets, resolve }));
  }

  totals(): RedisWriterTotals {
    return {
      events: this.#events.counters.totals(),
      entries: this.#entries.counters.totals(),
      values: this.#values.counters.totals(),
      detected: this.#detected.counters.totals(),
      ...this.#pipeline.totals,
    };
  }

  /**
   * Writes pending records, and disconnects. Records not written in time are counted as dropped: `unconfirmed` if they
   * were sent, else `closed`.
   *
   * @param timeoutMs longest wait for the server, in ms; may be Infinity. Default 5000
   * @returns the final totals, with nothing pending
   */
  close(timeoutMs = 5000): Promise<RedisWriterTotals> {
    if (Number.isNaN(timeoutMs) || timeoutMs < 0) throw new RangeError(`timeoutMs must not be ${timeoutMs}`);
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing.then(() => this.totals());
  }

  async #close(timeoutMs: number): Promise<void> {
    const flushed = this.flush();
    if (this.#ended === null) this.#ended = 'closed';
    for (const outlet of this.#outlets) outlet.wake(true);
    // Without open() nothing is ever written.
    if (this.#opened !== null) await within(timeoutMs, flushed);
    const connection = this.#end('closed');
    if (connection !== null) {
      const { writerKeepMs } = this.#options;
      const expiry = connection.send(['PEXPIRE', this.keys.writer(this.writer), String(writerKeepMs)]);
      // Optional: if it fails, the key stays.
      await within(1000, expiry).catch(() => undefined);
      connection.destroy();
    }
  }

  #taker(outlet: RecordOutlet): RecordTaker {
    return {
      recordWords: outlet.recordWords,
      push: (words, at, records) => {
        const end = at + records * outlet.recordWords;
        if (!(Number.isInteger(at) && Number.isInteger(records) && at >= 0 && records >= 0 && end <= words.length)) {
          throw new RangeError(
            `${records} records of ${outlet.recordWords} words at ${at} exceed ${words.length} words`,
          );
        }
        return this.#accept(outlet, records, () => outlet.take(words, at, records));
      },
      ready: () => this.ready(outlet.name),
    };
  }

  /** Takes records with `take` and counts them. @returns number of records that the writer has taken over */
  #accept(outlet: Outlet, records: number, take: () => number): number {
    const { counters } = outlet;
    if (this.#ended !== null) {
      counters.offered += records;
      counters.dropped[this.#ended] += records;
      return records;
    }
    const taken = take();
    const isDropping = this.#options.whenFull === 'drop';
    if (isDropping) counters.dropped.overflow += records - taken;
    counters.offered += isDropping ? records : taken;
    if (taken > 0 && outlet.isReady) this.#pumpSoon();
    else if (taken > 0) this.#linger();
    return isDropping ? records : taken;
  }

  /** Sends after the current call: otherwise a caller that pushes record by record would send small batches. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #linger(): void {
    this.#lingering ??= setTimeout(() => {
      this.#lingering = undefined;
      for (const outlet of this.#outlets) outlet.isDue = outlet.counters.waiting > 0;
      this.#pump();
    }, this.#options.lingerMs);
  }

  #pump(): void {
    this.#pipeline.pump();
    // Records that do not fill a batch wait for more.
    if (this.#ended === null && this.#outlets.some(({ counters, isDue }) => counters.waiting > 0 && !isDue))
      this.#linger();
  }

  #onProgress(): void {
    this.#onOpened();
    for (const outlet of this.#outlets) outlet.wake(false);
    if (this.#flushes.length === 0) return;
    const done = this.#flushes.filter(({ targets }) => this.#isSettled(targets));
    this.#flushes = this.#flushes.filter((flush) => !done.includes(flush));
    for (const { resolve } of done) resolve();
  }

  #isSettled(targets: readonly number[]): boolean {
    return this.#outlets.every(({ counters }, outlet) => counters.settled >= targets[outlet]!);
  }

  /** Counts the remaining records, wakes all waiting callers, and stops timers. */
  #end(reason: 'closed' | 'fenced'): ReturnType<Pipeline['end']> {
    this.#ended = reason;
    const connection = this.#pipeline.end(reason);
    clearTimeout(this.#lingering);
    for (const outlet of this.#outlets) {
      outlet.counters.dropped[reason] += outlet.counters.waiting;
      outlet.clear();
      outlet.wake(true);
    }
    this.#onProgress();
    return connection;
  }
}
