import { RECORD_KINDS } from '@int/collector';
import { type OutageLog, within } from '@int/collector/internals';
import type { Producer } from './client/producer.js';
import type { Account } from './counts.js';
import { KafkaSinkError } from './errors.js';
import { MESSAGE_STATE, type Parcel, perKind, WATERMARK_KIND } from './parcel.js';
import type { ParcelPool } from './parcel-pool.js';
import type { Spool } from './spool/spool.js';
import type { Watermarks } from './watermarks.js';

/** Why a spool takes nothing. */
export type SpoolTrouble = 'spool-full' | 'disk';

export interface DispatcherOptions {
  readonly pool: ParcelPool;
  readonly producer: Producer;
  readonly spool: Spool | null;
  readonly outages: OutageLog<KafkaSinkError>;
  readonly account: Account;
  /** null: the sink takes no reports, so it writes no watermarks. */
  readonly watermarks: Watermarks | null;
  /** Records without room are dropped. Messages then go to the spool even if the brokers are only slow. */
  readonly drops: boolean;
  /** Send only messages stored by {@link Dispatcher.store}, as long as the spool works. */
  readonly storesFirst: boolean;
  /** All parcels given have been sent. The sink may give the next one. */
  readonly onDrained: () => void;
  /** A parcel is settled, and no longer needed. */
  readonly onSettled: () => void;
  /** It is time to retry {@link Dispatcher.store}. */
  readonly onRetry: () => void;
  readonly onProblem: (problem: KafkaSinkError) => void;
}

/** A parcel under way. */
interface Flight {
  readonly parcel: Parcel;
  /** Whether the parcel is one of the pool. */
  readonly isOwn: boolean;
  /** Where in the spool its messages end, if they were read from there. */
  readonly end: number;
  readonly counts: Float64Array;
}

/** Time after which a failed or full spool is tried again, in ms. */
const SPOOL_RETRY_MS = 500;

/**
 * Sends filled parcels to the brokers, oldest first, one at a time. When the brokers are away and memory gets short, it
 * moves parcels to the spool. The spool's messages go to the brokers before any newer ones.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Filled, oldest first. */
  readonly #sealed: Parcel[] = [];
  #flight: Flight | null = null;
  /** Messages of the spool before this place are no longer in memory, except those in flight. They are sent first. */
  #parkedEnd = 0;
  /** The write to the spool that is under way. Parcels must not be reused until it ends. */
  #storing: Promise<unknown> = Promise.resolve();
  #isSending = false;
  /** The parcel being sent holds only watermarks. */
  #isMarking = false;
  #sending: Promise<void> = Promise.resolve();
  #isSpilling = false;
  #spilling: Promise<void> = Promise.resolve();
  #spoolTrouble: SpoolTrouble | null = null;
  #spoolTimer: NodeJS.Timeout | undefined;
  /** The last write to the spool failed. */
  #isWaiting = false;
  #idleWaiters: (() => void)[] = [];
  #isClosed = false;
  #isAborted = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { spool } = options;
    if (spool === null || spool.isEmpty) return;
    this.#parkedEnd = spool.end;
    this.#send();
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  /** Why the spool takes nothing; null if it works or there is none. */
  get spoolTrouble(): SpoolTrouble | null {
    return this.#spoolTrouble;
  }

  /** The same, until the spool is tried again. */
  get refusal(): SpoolTrouble | null {
    return this.#isWaiting ? this.#spoolTrouble : null;
  }

  /** Parcels that were given and are not settled, oldest first. */
  *parcels(): Generator<Parcel> {
    if (this.#flight?.isOwn === true && this.#flight.parcel.remaining > 0) yield this.#flight.parcel;
    yield* this.#sealed;
  }

  /** Time of the earliest report that is not settled, of the parcels that were given and of the spool. */
  get earliestPending(): number {
    // Messages that are also in the spool are counted there.
    let earliest = this.#hasParked ? this.#options.spool!.earliestMs : Number.POSITIVE_INFINITY;
    if (this.#flight !== null) earliest = Math.min(earliest, this.#flight.parcel.earliestMs);
    for (const { earliestMs } of this.#sealed) earliest = Math.min(earliest, earliestMs);
    return earliest;
  }

  /** Writes watermarks, if they are due. */
  mark(): void {
    if (this.#options.watermarks?.isDue === true && !this.#isClosed) this.#send();
  }

  push(parcel: Parcel): void {
    this.#sealed.push(parcel);
    this.#send();
    this.spill();
  }

  /**
   * Stores all parcels given on disk, and the messages of the parcel being filled.
   * @returns whether all of it is stored; if not, `onRetry` tells when to call again
   */
  async store(current: Parcel | null): Promise<boolean> {
    if (this.#isAborted) return false;
    const isStored = await this.#store([...this.parcels(), ...(current === null ? [] : [current])]);
    if (!isStored && this.#options.drops) this.#shed(current);
    this.#send();
    this.spill();
    return isStored;
  }

  /** Moves messages to the spool, if memory is short. */
  spill(): void {
    if (this.#options.spool === null || this.#isSpilling || this.#isClosed || !this.#mustSpill) return;
    this.#isSpilling = true;
    this.#spilling = this.#spillAll().finally(() => {
      this.#isSpilling = false;
      this.#send();
      this.#onIdle();
    });
  }

  /** Resolves when all that was given is delivered or dropped, or {@link close} has given up. */
  idle(): Promise<void> {
    if (this.#isIdle || this.#isAborted) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /**
   * Sends the remaining messages within the time limit, then moves the rest to the spool. Without a spool it drops
   * them.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    const { outages, producer, spool } = this.#options;
    clearTimeout(this.#spoolTimer);
    await this.#spilling;
    // In an outage, do not wait if the spool can keep the rest.
    const began = performance.now();
    if (!(outages.isOutage && spool !== null)) await within(timeoutMs, this.idle());
    if (this.#isIdle && !outages.isOutage) {
      // Writes the last watermarks.
      const said = this.#sending.then(() => this.#sendMark(true));
      await within(Math.max(0, timeoutMs - (performance.now() - began)), said);
    }
    this.#isAborted = true;
    producer.abort();
    await this.#sending;
    await this.#storing;
    let isSpoolUsable = spool !== null;
    for (const parcel of [...this.parcels()]) {
      // After a dropped one, drop all later ones: this keeps the order, with a counted gap.
      if (isSpoolUsable) isSpoolUsable = await this.#store([parcel]);
      if (!isSpoolUsable) this.#giveUp(parcel);
    }
    this.#sealed.length = 0;
    await spool?.close();
    this.#onIdle();
  }

  async #sendMark(isEnd: boolean): Promise<void> {
    const { producer, watermarks } = this.#options;
    if (watermarks?.hasTime !== true) return;
    this.#isMarking = true;
    // Nobody who waits for earlier messages waits for this one.
    this.#onIdle();
    const partitions = await producer.partitions(WATERMARK_KIND);
    if (partitions !== null && !this.#isAborted) await producer.deliver(watermarks.parcel(partitions, isEnd));
    this.#isMarking = false;
  }

  #release(parcel: Parcel): void {
    const { pool } = this.#options;
    pool.give(parcel);
    // The spool is empty. The next use tries it again.
    if (pool.vacant > pool.limit / 2 && !this.#options.storesFirst) this.#spoolTrouble = null;
  }

  get #hasParked(): boolean {
    const { spool } = this.#options;
    return spool !== null && spool.start < this.#parkedEnd;
  }

  get #isIdle(): boolean {
    if (this.#isSending && !this.#isMarking) return false;
    return !this.#isSpilling && this.#sealed.length === 0 && !this.#hasParked;
  }

  #onIdle(): void {
    if (this.#isIdle || this.#isAborted) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #send(): void {
    if (this.#isSending || this.#isAborted) return;
    this.#isSending = true;
    this.#sending = this.#sendAll().finally(() => {
      this.#isSending = false;
      // Messages may have arrived after the last check.
      this.#options.onDrained();
      if (this.#maySend && !this.#isSpilling) this.#send();
      this.#onIdle();
    });
  }

  async #sendAll(): Promise<void> {
    while (!this.#isAborted) {
      if (this.#options.watermarks?.isDue === true && !this.#isClosed) await this.#sendMark(false);
      if (this.#isAborted || !(await this.#next())) return;
      const flight = this.#flight!;
      const { parcel } = flight;
      await this.#options.producer.deliver(parcel);
      if (parcel.remaining > 0) return;
      await this.#storing;
      if (flight.isOwn && parcel.stored.end > 0) await this.#consume(parcel.stored.end, parcel.stored.counts);
      else if (!flight.isOwn) await this.#consume(flight.end, flight.counts);
      this.#flight = null;
      if (flight.isOwn) this.#release(parcel);
      this.#options.onSettled();
      if (this.#sealed.length === 0) this.#options.onDrained();
    }
  }

  /** Takes the oldest messages into flight. @returns false if there are none, or the spool is just storing them */
  async #next(): Promise<boolean> {
    const { spool } = this.#options;
    while (this.#hasParked && !this.#isAborted) {
      try {
        const batch = await spool!.head(this.#parkedEnd);
        if (batch === null) continue;
        this.#flight = { ...batch, isOwn: false };
        return true;
      } catch (error) {
        this.#onSpoolError(error);
        await new Promise((resolve) => setTimeout(resolve, SPOOL_RETRY_MS));
      }
    }
    // While messages move to the spool, later ones must not overtake them.
    if (this.#isSpilling || !this.#maySend) return false;
    this.#flight = { parcel: this.#sealed.shift()!, isOwn: true, end: 0, counts: perKind() };
    return true;
  }

  /** Whether the oldest parcel in memory may be sent. */
  get #maySend(): boolean {
    const parcel = this.#sealed[0];
    if (parcel === undefined) return false;
    return !this.#options.storesFirst || this.#spoolTrouble !== null || isWhole(parcel);
  }

  async #consume(end: number, counts: Float64Array): Promise<void> {
    try {
      await this.#options.spool!.consume(end, counts);
      if (this.#spoolTrouble === 'spool-full') this.#spoolTrouble = null;
    } catch (error) {
      this.#onSpoolError(error);
    }
  }

  get #mustSpill(): boolean {
    const { drops, outages, pool } = this.#options;
    return (drops || outages.isOutage) && pool.vacant <= Math.floor(pool.limit / 4);
  }

  async #spillAll(): Promise<void> {
    const { pool, storesFirst } = this.#options;
    while (pool.vacant < pool.limit / 2 && !this.#isClosed) {
      const parcel = this.#sealed[0];
      // Messages in flight are older than those moved to the spool, and must be stored first.
      const flight = this.#flight?.isOwn === true && this.#flight.parcel.remaining > 0 ? [this.#flight.parcel] : [];
      if (parcel === undefined) return;
      // With commits, only they write: a commit may drop messages that it failed to write, and these must not be on
      // disk.
      const older = [...flight, parcel];
      const isStored = storesFirst ? older.every(isWhole) : await this.#store(older);
      if (!isStored) return;
      // A later call may still use it.
      await this.#storing;
      this.#sealed.shift();
      this.#parkedEnd = Math.max(this.#parkedEnd, parcel.stored.end);
      this.#release(parcel);
    }
  }

  /** Stores what is not stored yet. @returns whether all of it is stored */
  async #store(parcels: readonly Parcel[]): Promise<boolean> {
    const { spool, onProblem } = this.#options;
    const missing = parcels.filter(({ slab, stored }) => stored.rows < slab.count);
    if (spool === null || missing.length === 0) return spool !== null;
    const storing = spool.append(...missing);
    this.#storing = storing.catch(() => undefined);
    try {
      if ((await storing) === 'stored') {
        this.#spoolTrouble = null;
        return true;
      }
      if (this.#spoolTrouble !== 'spool-full') {
        this.#spoolTrouble = 'spool-full';
        onProblem(spool.fullError);
      }
    } catch (error) {
      this.#onSpoolError(error);
    }
    this.#trySpoolLater();
    return false;
  }

  #onSpoolError(error: unknown): void {
    const problem = KafkaSinkError.is(error) ? error : new KafkaSinkError('ERR_KAFKA_UNEXPECTED', String(error), error);
    if (this.#spoolTrouble !== 'disk') this.#options.onProblem(problem);
    this.#spoolTrouble = 'disk';
  }

  #trySpoolLater(): void {
    clearTimeout(this.#spoolTimer);
    if (this.#isClosed) return;
    this.#isWaiting = true;
    this.#spoolTimer = setTimeout(() => {
      this.#isWaiting = false;
      this.#options.onRetry();
      this.spill();
    }, SPOOL_RETRY_MS);
  }

  /** Drops what was not sent and could not be stored. */
  #shed(current: Parcel | null): void {
    const { account } = this.#options;
    const reason = this.#spoolTrouble ?? 'disk';
    for (const parcel of [...this.#sealed, ...(current === null ? [] : [current])]) {
      const lost = perKind();
      parcel.countUnsettled(lost, parcel.stored.rows);
      parcel.first += parcel.slab.count - parcel.stored.rows;
      parcel.cut(parcel.stored.rows);
      for (let kind = 0; kind < lost.length; kind++) account.drop(kind, lost[kind]!, reason);
      if (parcel === current) continue;
      parcel.remaining = parcel.slab.count;
      if (parcel.slab.count > 0) continue;
      this.#sealed.splice(this.#sealed.indexOf(parcel), 1);
      this.#release(parcel);
    }
  }

  /** Counts what is neither settled nor in the spool as dropped. */
  #giveUp({ slab, state, stored }: Parcel): void {
    const waiting = perKind();
    const sent = perKind();
    for (let row = stored.rows; row < slab.count; row++) {
      if (state[row] === MESSAGE_STATE.WAITING) waiting[slab.kind[row]!]!++;
      else if (state[row] === MESSAGE_STATE.SENT) sent[slab.kind[row]!]!++;
    }
    const reason = this.#spoolTrouble ?? 'closed';
    for (let kind = 0; kind < RECORD_KINDS.length; kind++) {
      this.#options.account.drop(kind, waiting[kind]!, reason);
      this.#options.account.drop(kind, sent[kind]!, 'unconfirmed');
    }
  }
}

/** Whether all of it is on disk. */
function isWhole({ slab, stored }: Parcel): boolean {
  return stored.rows >= slab.count;
}
