import { type OutageLog, RECORD_KINDS } from '@int/collector';
import type { Producer } from './client/producer.js';
import type { Account } from './counts.js';
import { KafkaSinkError } from './errors.js';
import { MESSAGE_STATE, type Parcel, perKind, WATERMARK_KIND } from './parcel.js';
import type { ParcelPool } from './parcel-pool.js';
import type { Appended, Spool } from './spool/spool.js';
import type { Watermarks } from './watermarks.js';

export interface DispatcherOptions {
  readonly pool: ParcelPool;
  readonly producer: Producer;
  readonly spool: Spool | null;
  readonly outages: OutageLog<KafkaSinkError>;
  readonly account: Account;
  /** null: reports are not taken, so there is nothing to say of them. */
  readonly watermarks: Watermarks | null;
  /** Also what the brokers are merely too slow for goes to the spool. */
  readonly spillsEarly: boolean;
  /** All that was given has been sent: now is the time to give what has waited long enough. */
  readonly onDrained: () => void;
  readonly onProblem: (problem: KafkaSinkError) => void;
}

/** A parcel under way. */
interface Flight {
  readonly parcel: Parcel;
  /** Whether the parcel is one of the pool. */
  readonly isOwn: boolean;
  /** Whether the first chunk of the spool has the same messages. */
  isInSpool: boolean;
  /** While they are being copied there. */
  copying: Promise<void> | null;
}

/** Time after which a spool that took no more is tried again, in ms. */
const SPOOL_RETRY_MS = 500;

/**
 * Brings filled parcels to the brokers, oldest first, one at a time. When they cannot be reached and memory gets short,
 * parcels go to the spool instead, and from there to the brokers before any that are newer.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Filled, oldest first. */
  readonly #sealed: Parcel[] = [];
  #flight: Flight | null = null;
  #isSending = false;
  /** What is being sent is only how far the sink is. */
  #isMarking = false;
  #sending: Promise<void> = Promise.resolve();
  #isSpilling = false;
  #spilling: Promise<void> = Promise.resolve();
  #spoolTrouble: 'spool-full' | 'disk' | null = null;
  #spoolTimer: NodeJS.Timeout | undefined;
  #idleWaiters: (() => void)[] = [];
  #isClosed = false;
  #isAborted = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    if (options.spool?.isEmpty === false) this.#send();
  }

  get isSending(): boolean {
    return this.#isSending;
  }

  /** Why the spool takes nothing; null: it does, or there is none. */
  get spoolTrouble(): 'spool-full' | 'disk' | null {
    return this.#spoolTrouble;
  }

  /** Time of the earliest report that is not settled, of the parcels that were given and of the spool. */
  get earliestPending(): number {
    const { spool } = this.#options;
    let earliest = spool?.earliestMs ?? Number.POSITIVE_INFINITY;
    if (this.#flight !== null) earliest = Math.min(earliest, this.#flight.parcel.earliestMs);
    for (const { earliestMs } of this.#sealed) earliest = Math.min(earliest, earliestMs);
    return earliest;
  }

  /** Says how far the sink is, if it is time to. */
  mark(): void {
    if (this.#options.watermarks?.isDue === true && !this.#isClosed) this.#send();
  }

  /** Takes a filled parcel. */
  push(parcel: Parcel): void {
    this.#sealed.push(parcel);
    this.#send();
    this.spill();
  }

  /** Moves messages to the spool, if memory is short. */
  spill(): void {
    const { spool } = this.#options;
    if (spool === null || this.#isSpilling || this.#isClosed || !this.#mustSpill) return;
    this.#isSpilling = true;
    this.#spilling = this.#spillAll(spool).finally(() => {
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

  /** Sends the rest, as far as there is time; what remains goes to the spool, or is dropped without one. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    const { outages, producer, spool } = this.#options;
    clearTimeout(this.#spoolTimer);
    await this.#spilling;
    // In an outage, there is no point in waiting if the rest can be kept.
    const began = performance.now();
    if (!(outages.isOutage && spool !== null)) await this.#drained(timeoutMs);
    if (this.#isIdle && !outages.isOutage) await this.#sayEnd(timeoutMs - (performance.now() - began));
    this.#isAborted = true;
    producer.abort();
    await this.#sending;
    const flight = this.#flight;
    const rest = flight === null || flight.isInSpool || flight.parcel.remaining === 0 ? [] : [flight.parcel];
    let isSpoolUsable = spool !== null;
    for (const parcel of [...rest, ...this.#sealed.splice(0)]) {
      // Once one is lost, those after it still go there: order is kept, with a gap that is counted.
      if (isSpoolUsable) isSpoolUsable = (await this.#store(spool!, parcel)) !== 'full';
      if (!isSpoolUsable) this.#giveUp(parcel);
    }
    await spool?.close();
    this.#onIdle();
  }

  /** Says that nothing comes any more, as far as there is time. */
  async #sayEnd(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.max(0, timeoutMs));
    });
    const said = this.#sending.then(() => this.#sendMark(true));
    await Promise.race([said, limit]);
    clearTimeout(timer);
  }

  async #sendMark(isEnd: boolean): Promise<void> {
    const { producer, watermarks } = this.#options;
    if (watermarks?.hasTime !== true) return;
    this.#isMarking = true;
    // Whoever waits for what was given need not wait for this.
    this.#onIdle();
    const partitions = await producer.partitions(WATERMARK_KIND);
    if (partitions !== null && !this.#isAborted) await producer.deliver(watermarks.parcel(partitions, isEnd));
    this.#isMarking = false;
  }

  #release(parcel: Parcel): void {
    const { pool } = this.#options;
    pool.give(parcel);
    // The spool is not needed any more; if it is again, it is tried again.
    if (pool.vacant > pool.limit / 2) this.#spoolTrouble = null;
  }

  get #isIdle(): boolean {
    const isEmpty = this.#options.spool?.isEmpty ?? true;
    return (!this.#isSending || this.#isMarking) && !this.#isSpilling && this.#sealed.length === 0 && isEmpty;
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
      this.#options.onDrained();
      if (this.#sealed.length > 0 && !this.#isSpilling) this.#send();
      this.#onIdle();
    });
  }

  async #sendAll(): Promise<void> {
    while (!this.#isAborted) {
      if (this.#options.watermarks?.isDue === true && !this.#isClosed) await this.#sendMark(false);
      if (this.#isAborted || !(await this.#next())) return;
      const flight = this.#flight!;
      await this.#options.producer.deliver(flight.parcel);
      if (flight.parcel.remaining > 0) return;
      await flight.copying;
      if (flight.isInSpool) await this.#consume();
      this.#flight = null;
      if (flight.isOwn) this.#release(flight.parcel);
      if (this.#sealed.length === 0) this.#options.onDrained();
    }
  }

  /** Takes the oldest messages there are into flight. @returns false if there are none, or they are on their way to the spool */
  async #next(): Promise<boolean> {
    const { spool } = this.#options;
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
      await this.#options.spool!.consume();
      this.#spoolTrouble = null;
    } catch (error) {
      this.#onSpoolError(error);
    }
  }

  get #mustSpill(): boolean {
    const { outages, pool, spillsEarly } = this.#options;
    return (spillsEarly || outages.isOutage) && pool.vacant <= Math.floor(pool.limit / 4);
  }

  async #spillAll(spool: Spool): Promise<void> {
    const { pool } = this.#options;
    while (pool.vacant < pool.limit / 2 && !this.#isClosed) {
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
        this.#options.onProblem(spool.fullError);
      }
    } catch (error) {
      this.#onSpoolError(error);
    }
    this.#trySpoolLater();
    return 'full';
  }

  #onSpoolError(error: unknown): void {
    const problem = KafkaSinkError.is(error) ? error : new KafkaSinkError('ERR_KAFKA_UNEXPECTED', String(error), error);
    if (this.#spoolTrouble !== 'disk') this.#options.onProblem(problem);
    this.#spoolTrouble = 'disk';
  }

  #trySpoolLater(): void {
    clearTimeout(this.#spoolTimer);
    if (!this.#isClosed) this.#spoolTimer = setTimeout(() => this.spill(), SPOOL_RETRY_MS);
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
      this.#options.account.drop(kind, waiting[kind]!, reason);
      this.#options.account.drop(kind, sent[kind]!, 'unconfirmed');
    }
  }
}
