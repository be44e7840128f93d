import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RecordKind } from '@int/collector';
import { BackOff, type Deferred, deferred, OutageLog } from '@int/collector/internals';
import { OpenSearchSinkError, toSinkError } from '../errors.js';
import { ITEM, type LineBatch } from '../lines/batch.js';
import type { ResolvedOptions } from '../options.js';
import { type ItemOutcome, readBulkAnswer } from './answer.js';
import type { KindCounts } from './counts.js';
import { type Answer, HttpClient, type NoAnswer } from './http.js';
import { Preparation } from './preparation.js';

const compress = promisify(gzip);

/** Answers that name only what is read; with all else they are longer than the request. */
const BULK_PATH = '/_bulk?filter_path=items.*.status,items.*.error.type,items.*.error.reason,error.type,error.reason';
/** Server failures at one record after which the record counts as the reason. */
const MAX_FAILURES = 8;
/** Most kinds of refusal that are reported. Further ones are only counted. */
const MAX_TOLD = 32;

export interface ShipperTotals {
  /** Bulk requests that were answered record by record. */
  readonly requests: number;
  /** Records sent once more. */
  readonly retried: number;
  /** Records that turned out to be there, though their acknowledgement never came. */
  readonly repeated: number;
  /** Bytes of bulk requests, as they were sent, each time. */
  readonly bytes: number;
  /** Attempts that failed as a whole. */
  readonly failedAttempts: number;
  readonly outages: number;
}

/**
 * Sends batches to the server, several at a time. A batch is settled when each of its records is stored, refused or
 * dropped. Until then its remaining records are sent again.
 *
 * In an outage one batch retries, with growing pauses, and the others wait.
 */
export class Shipper {
  readonly #options: ResolvedOptions;
  readonly #counts: ReadonlyMap<RecordKind, KindCounts>;
  readonly #onFree: (batch: LineBatch) => void;
  readonly #client: HttpClient;
  readonly #preparation: Preparation;
  readonly #outages: OutageLog<OpenSearchSinkError>;
  readonly #abort = new AbortController();
  readonly #queue: LineBatch[] = [];
  readonly #told = new Set<string>();
  #active = 0;
  /** While a batch is in trouble: resolves when the server answers again. */
  #trouble: Deferred<void> | null = null;
  #onIdle: (() => void)[] = [];
  readonly #totals = { requests: 0, retried: 0, repeated: 0, bytes: 0, failedAttempts: 0 };

  /** @param onFree called with a batch that is settled, and its memory free */
  constructor(
    options: ResolvedOptions,
    counts: ReadonlyMap<RecordKind, KindCounts>,
    onFree: (batch: LineBatch) => void,
  ) {
    this.#options = options;
    this.#counts = counts;
    this.#onFree = onFree;
    this.#client = new HttpClient(options);
    this.#preparation = new Preparation(options, this.#client);
    this.#outages = new OutageLog(options);
  }

  get totals(): ShipperTotals {
    return { ...this.#totals, outages: this.#outages.count };
  }

  /** What is wrong now; `null`: nothing. */
  get trouble(): string | null {
    return this.#outages.reason;
  }

  /** Takes a batch; its memory comes back by `onFree`. */
  add(batch: LineBatch): void {
    this.#queue.push(batch);
    this.#pump();
  }

  /** Resolves when there is nothing left to send. */
  async idle(): Promise<void> {
    if (this.#active > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends at once: the remaining records are dropped and counted. Resolves when that is done. */
  async end(): Promise<void> {
    this.#abort.abort();
    await this.idle();
    this.#client.close();
  }

  #pump(): void {
    while (this.#active < this.#options.inFlight) {
      const batch = this.#queue.shift();
      if (batch === undefined) return;
      this.#active += 1;
      void this.#ship(batch).then(() => {
        this.#onFree(batch);
        this.#active -= 1;
        this.#pump();
        if (this.#active > 0) return;
        for (const resolve of this.#onIdle.splice(0)) resolve();
      });
    }
  }

  /** Never rejects. */
  async #ship(batch: LineBatch): Promise<void> {
    const { retryFirstMs, retryMaxMs, random } = this.#options;
    const backOff = new BackOff(retryFirstMs, retryMaxMs, random);
    const { signal } = this.#abort;
    let left = Array.from({ length: batch.count }, (_, row) => row);
    /** Records of a request at most, after one was too long for the server, or for its time. */
    let most = left.length;
    let isProbe = false;
    while (left.length > 0 && !signal.aborted) {
      if (this.#trouble !== null && !isProbe) {
        await this.#trouble.promise;
        continue;
      }
      const rows = left.slice(0, most);
      const result = await this.#attempt(batch, rows).catch(
        // No memory to compress in, say.
        (error: unknown): Result => ({ kind: 'trouble', problem: toSinkError(error) }),
      );
      if (result.kind === 'trouble') {
        this.#totals.failedAttempts += 1;
        if (signal.aborted) break;
        // A slow server would never be done in time with the same again.
        if (result.problem.code === 'ERR_OPENSEARCH_TIMEOUT') most = Math.ceil(rows.length / 2);
        this.#client.rotate();
        this.#outages.fail(result.problem);
        if (this.#trouble === null) {
          this.#trouble = deferred();
          isProbe = true;
        }
        if (isProbe) await this.#sleep(backOff.next());
        continue;
      }
      if (isProbe) {
        isProbe = false;
        this.#outages.succeed();
        this.#endTrouble();
      }
      if (result.kind === 'split') {
        if (rows.length > 1) most = Math.ceil(rows.length / 2);
        else {
          this.#reject(batch, rows[0]!, 'request', result.why);
          left = left.slice(1);
        }
        continue;
      }
      // After the recovery: a batch of which the server takes nothing is a problem, too.
      left = [...result.left, ...left.slice(rows.length)];
      if (result.left.length > 0) await this.#sleep(backOff.next());
      else backOff.reset();
    }
    // Closed in an outage: the others need not wait for its end.
    if (isProbe) this.#endTrouble();
    for (const row of left) {
      this.#countsOf(batch, row).drop(batch.state[row] === ITEM.UNCERTAIN ? 'unconfirmed' : 'closed');
    }
  }

  #endTrouble(): void {
    this.#trouble?.resolve();
    this.#trouble = null;
  }

  /** One request with some of a batch's records. */
  async #attempt(batch: LineBatch, rows: readonly number[]): Promise<Result> {
    const { signal } = this.#abort;
    const unready = await this.#preparation.run(signal);
    if (unready !== null) return { kind: 'trouble', problem: unready };
    const answer = await this.#send(batch.lines(rows), signal);
    if ('problem' in answer) {
      if (!answer.isUnsent) this.#markUncertain(batch, rows);
      return { kind: 'trouble', problem: answer.problem };
    }
    const outcome = readBulkAnswer(answer, rows.length);
    if ('split' in outcome) return { kind: 'split', why: outcome.split };
    if ('problem' in outcome) {
      if (!outcome.isRefused) this.#markUncertain(batch, rows);
      return { kind: 'trouble', problem: outcome.problem };
    }
    this.#totals.requests += 1;
    return this.#settle(batch, rows, outcome.items);
  }

  async #send(lines: Uint8Array, signal: AbortSignal): Promise<Answer | NoAnswer> {
    const { gzip: level } = this.#options;
    const body = level === 0 ? lines : await compress(lines, { level });
    this.#totals.bytes += body.length;
    const headers = {
      'content-type': 'application/x-ndjson',
      ...(level === 0 ? {} : { 'content-encoding': 'gzip' }),
    };
    return this.#client.send({ method: 'POST', path: BULK_PATH, body, headers }, signal);
  }

  #markUncertain(batch: LineBatch, rows: readonly number[]): void {
    for (const row of rows) batch.state[row] = ITEM.UNCERTAIN;
  }

  #settle(batch: LineBatch, rows: readonly number[], items: readonly ItemOutcome[]): Result {
    const left: number[] = [];
    let again: ItemOutcome | null = null;
    rows.forEach((row, index) => {
      const item = items[index]!;
      switch (item.outcome) {
        case 'stored':
          this.#countsOf(batch, row).delivered += 1;
          if (item.isRepeat) this.#totals.repeated += 1;
          break;
        case 'rejected':
          this.#reject(batch, row, item.type, item.reason);
          break;
        default:
          if (item.outcome === 'failed') {
            const failures = batch.failures[row]! + 1;
            batch.failures[row] = failures;
            if (failures >= MAX_FAILURES) {
              this.#reject(batch, row, item.type, item.reason);
              break;
            }
          }
          again = item;
          left.push(row);
      }
    });
    this.#totals.retried += left.length;
    if (left.length === rows.length && again !== null) {
      const { code, type, reason }: ItemOutcome = again;
      return { kind: 'trouble', problem: new OpenSearchSinkError(code, `${type}: ${reason}`) };
    }
    return { kind: 'settled', left };
  }

  #reject(batch: LineBatch, row: number, type: string, reason: string): void {
    this.#countsOf(batch, row).drop('rejected');
    const kind = batch.kind[row]!;
    const key = `${kind} ${type}`;
    if (this.#told.has(key) || this.#told.size === MAX_TOLD) return;
    this.#told.add(key);
    const message = `refused, and not sent again: ${kind}: ${type}: ${reason}`;
    this.#options.onProblem(new OpenSearchSinkError('ERR_OPENSEARCH_REJECTED', message));
  }

  #countsOf(batch: LineBatch, row: number): KindCounts {
    return this.#counts.get(batch.kind[row]!)!;
  }

  /** Ends early when the shipper is ended. */
  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#abort.signal }).catch(() => undefined);
  }
}

type Result =
  /** Nothing was stored; all is to be sent again. */
  | { readonly kind: 'trouble'; readonly problem: OpenSearchSinkError }
  /** The request as a whole is wrong for the server. */
  | { readonly kind: 'split'; readonly why: string }
  /** The rows that are to be sent again. */
  | { readonly kind: 'settled'; readonly left: readonly number[] };
