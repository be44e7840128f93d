import type { Flow, TelemetryBatch } from '@int/codec';
import { EntryReader, type FlowEntry } from '../cache/entry.js';
import { FlowKey } from '../cache/flow-index.js';
import { totalsOf } from '../cache/reader.js';
import type { Thresholds } from '../cache/thresholds.js';
import { Distributions } from '../distribution/distributions.js';
import type { CacheGeometry, HashName } from '../layout.js';
import type { ShardError } from './errors.js';
import {
  type ResolvedShardOptions,
  resolveShardOptions,
  type ShardedFlowCacheOptions,
  snapshotFiles,
} from './options.js';
import { SCATTER_BLOCK, Scatter, shardOf } from './scatter.js';
import { Shard, type ShardOutput } from './shard.js';
import { figuresOfFailed, mergeTotals, type ShardedTotals, sum } from './totals.js';

/** Entries asked of a worker at once: it copies them in about a millisecond. */
const PAGE = 1024;
/** Rows that a worker looks at for ageing between two slots. */
const AGE_ROWS = 4096;

/**
 * A flow cache spread over worker threads, each with a cache and rings of its own. The upper bits of a flow's hash choose
 * the shard, the lower bits the row. So a flow stays with one worker, whose cache treats it as a single cache would.
 *
 * The main thread decodes and calls {@link dispatch}, which copies what a cache reads of each report into batches in
 * shared memory. A worker without work sleeps.
 *
 * @example
 * const cache = await ShardedFlowCache.open({ rows: 65_536, shards: 2 });
 * await cache.dispatch(batch);
 * cache.flush();
 * console.log(await cache.totals());
 * await cache.stop();
 */
export class ShardedFlowCache {
  /** The layout of each shard's cache. */
  readonly geometry: CacheGeometry;
  readonly hash: HashName;
  readonly seed: number;
  /** What is an event. All workers follow a change at once, and none of them stops. */
  readonly thresholds: Thresholds;
  readonly #options: ResolvedShardOptions;
  readonly #shards: readonly Shard[];
  readonly #scatter: Scatter;
  readonly #key = new FlowKey();
  /** Reports of the block at hand that each shard has taken, or lost. */
  readonly #placed: Int32Array;
  /** The batch at hand; rows up to `#row` have been sorted. */
  #source: TelemetryBatch | null = null;
  #row = 0;
  #to = 0;
  /** Set while {@link dispatch} waits. */
  #waiting: Promise<void> | null = null;
  #stopping: Promise<ShardedTotals> | null = null;
  /** The counters at the end. */
  #last: ShardedTotals | null = null;

  private constructor(resolved: ResolvedShardOptions, shards: readonly Shard[]) {
    const { geometry, seed, hash, thresholds, distributions } = resolved;
    this.geometry = geometry;
    this.hash = hash;
    this.seed = seed;
    this.thresholds = thresholds;
    this.#options = resolved;
    this.#shards = shards;
    this.#placed = new Int32Array(shards.length);
    const metrics = new Set([...geometry.metrics, ...(shards[0]!.distributions?.metrics ?? [])]);
    this.#scatter = new Scatter(shards.length, [...metrics], seed, distributions !== null);
  }

  /**
   * Starts the workers, and resolves when all have their caches.
   *
   * @throws RangeError for an option out of range; DistributionError for one of the distributions
   * @throws ShardError `ERR_SHARD_START` if a worker cannot start; the others have ended then
   */
  static async open(options: ShardedFlowCacheOptions = {}): Promise<ShardedFlowCache> {
    const resolved = resolveShardOptions(options);
    const shards: Shard[] = [];
    try {
      for (let index = 0; index < resolved.shards; index++) shards.push(new Shard(index, resolved));
      await Promise.all(shards.map(({ ready }) => ready));
      return new ShardedFlowCache(resolved, shards);
    } catch (error) {
      await Promise.all(shards.map((shard) => shard.terminate()));
      throw error;
    }
  }

  /** What each worker gives: rings of entries and events, and its memory. */
  get shards(): readonly ShardOutput[] {
    return this.#shards;
  }

  /** Why workers have ended by themselves; empty if none has. */
  get failures(): readonly ShardError[] {
    return this.#shards.flatMap(({ failure }) => failure ?? []);
  }

  /** The shard of a flow. @throws AddressError if an address is none; RangeError if they are of different versions */
  shardOf(flow: Flow): number {
    this.#key.set(flow);
    return shardOf(this.#key.hash('xxh32', this.seed), this.#shards.length);
  }

  /**
   * Hands the reports of a batch to the workers: the hot path. A full slot goes at once, the rest with the next {@link
   * flush}. Rows that are no report, or name no flow, are counted here and go nowhere.
   *
   * @param batch decoded reports, of any decoder; without times of its frames, entries have no times and never age. Do
   *   not change it before the promise, if any, has resolved
   * @param from first row
   * @param to the row behind the last one
   * @returns `undefined` if all reports have been copied, and always with `whenFull: 'lose'`; else, because the workers
   *   are behind, a promise that resolves when they have been copied
   * @throws RangeError for rows that the batch does not have
   * @throws Error if the promise of the last call has not resolved, or the cache has been stopped
   */
  dispatch(batch: TelemetryBatch, from = 0, to: number = batch.reports): Promise<void> | undefined {
    if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch has ${batch.reports}`);
    }
    if (this.#stopping !== null) throw new Error('the cache has been stopped');
    if (this.#waiting !== null) throw new Error('the last dispatch has not finished');
    this.#source = batch;
    this.#row = from;
    this.#to = to;
    const blocked = this.#proceed();
    if (blocked === null) return undefined;
    this.#waiting = this.#finish(blocked);
    return this.#waiting;
  }

  /** Gives the workers all reports that {@link dispatch} has copied, without waiting for full slots. */
  flush(): void {
    for (const shard of this.#shards) shard.publish();
  }

  /**
   * The counters, once all that was dispatched before has been looked at. A shard whose worker has ended counts with
   * what it had handed on.
   */
  async totals(): Promise<ShardedTotals> {
    if (this.#stopping === null) return this.#totals('totals');
    // Failures concern whoever called `stop`, not the counters.
    await this.#stopping.catch(() => null);
    return this.#last!;
  }

  /**
   * The entry of a flow, once all that was dispatched before has been looked at; or `undefined`.
   * @throws AddressError if an address is none; RangeError if they are of different versions
   * @throws ShardError if the worker of the flow has ended
   */
  async get(flow: Flow): Promise<FlowEntry | undefined> {
    return this.#shards[this.shardOf(flow)]!.ask('get', { flow });
  }

  /**
   * All entries, shard by shard, a page at a time, in no particular order. The workers go on meanwhile: a flow that
   * stays is given exactly once, as it is when it is reached.
   * @throws ShardError if a worker has ended
   */
  async *entries(): AsyncGenerator<FlowEntry, void, undefined> {
    const reader = new EntryReader(this.geometry);
    for (const shard of this.#shards) {
      for (let row = 0; row >= 0; ) {
        const { words, records, next } = await shard.ask('entries', { row, most: PAGE });
        for (let record = 0; record < records; record++) yield reader.read(words, record * this.geometry.bucketStride);
        row = next;
      }
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<FlowEntry, void, undefined> {
    return this.entries();
  }

  /**
   * Hands on idle entries, as FlowCache.age does, in every shard: for times without reports, when
   * {@link ShardedFlowCacheOptions.idleNs} has no effect.
   *
   * @param nowNs nanoseconds since the epoch
   * @param idleNs an entry goes if its last report is older than this
   * @param maxRows rows to look at in each shard. Default: all
   * @returns entries handed on
   * @throws ShardError if a worker has ended
   */
  async age(nowNs: bigint, idleNs: bigint, maxRows: number = this.geometry.rows): Promise<number> {
    const ageOne = async (shard: Shard): Promise<number> => {
      let aged = 0;
      for (let left = Math.min(maxRows, this.geometry.rows); left > 0; left -= AGE_ROWS) {
        aged += await shard.ask('age', { nowNs, idleNs, maxRows: Math.min(AGE_ROWS, left) });
      }
      return aged;
    };
    return sum(await Promise.all(this.#shards.map(ageOne)));
  }

  /**
   * Hands on as many entries as there are now, as reason `removed`; reports are looked at meanwhile. Waits for room in
   * the rings of entries, which somebody has to read, and loses nothing.
   *
   * @returns entries handed on
   * @throws ShardError if a worker has ended, or was stopped before it was done
   */
  async drain(): Promise<number> {
    return sum(await Promise.all(this.#shards.map((shard) => shard.ask('drain', {}))));
  }

  /**
   * Writes a snapshot, one file for each shard: `name.0-of-2`, `name.1-of-2`. Its worker writes each file, looks at no
   * reports meanwhile, and leaves it whole or not at all.
   *
   * @returns the files
   * @throws ShardError `ERR_SHARD_REQUEST`, with the platform's error as cause, if a file cannot be written
   */
  async snapshot(name: string): Promise<string[]> {
    const files = snapshotFiles(name, this.#shards.length);
    await settled(this.#shards.map((shard, index) => shard.ask('snapshot', { file: files[index]! })));
    return files;
  }

  /**
   * The merged distributions of all workers, once all that was dispatched before has been counted.
   * @throws Error if the cache was opened without; ShardError if a worker has ended
   */
  async distributions(): Promise<Distributions> {
    if (this.#options.distributions === null) throw new Error('the cache has been opened without distributions');
    const copies = await Promise.all(this.#shards.map((shard) => shard.ask('distributions', {})));
    return Distributions.merged(copies.map((copy) => Distributions.attach(copy)));
  }

  /**
   * Ends the workers when they have looked at all that was dispatched. The rings can still be read, as can the caches
   * with {@link ShardOutput.view}. Another call gives the same promise.
   *
   * @returns the counters at the end
   * @throws ShardError if a worker has ended by itself and there is no `onFailure`; the others have then ended too
   */
  stop(): Promise<ShardedTotals> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<ShardedTotals> {
    await this.#waiting;
    this.#last = await this.#totals('stop');
    await Promise.all(this.#shards.map((shard) => shard.exited()));
    const [failure] = this.failures;
    if (failure !== undefined && this.#options.onFailure === null) throw failure;
    return this.#last;
  }

  /** Dispatches as far as there are slots. @returns the shard to wait for, or `null` if all is done */
  #proceed(): Shard | null {
    const scatter = this.#scatter;
    const placed = this.#placed;
    for (;;) {
      let blocked: Shard | null = null;
      for (const shard of this.#shards) {
        if (placed[shard.index]! < scatter.counts[shard.index]! && !this.#place(shard)) blocked = shard;
      }
      if (blocked !== null) return blocked;
      if (this.#row === this.#to) break;
      const end = Math.min(this.#row + SCATTER_BLOCK, this.#to);
      scatter.sort(this.#source!, this.#row, end);
      placed.fill(0);
      this.#row = end;
    }
    this.#source = null;
    return null;
  }

  async #finish(first: Shard): Promise<void> {
    for (let blocked: Shard | null = first; blocked !== null; blocked = this.#proceed()) await blocked.freed();
    this.#waiting = null;
  }

  /**
   * Copies the shard's reports of the block at hand. @returns false if its slots are full, and the caller has to wait
   * for it
   */
  #place(shard: Shard): boolean {
    const placed = this.#placed;
    const { index } = shard;
    const count = this.#scatter.counts[index]!;
    while (placed[index]! < count) {
      const left = count - placed[index]!;
      const slot = shard.failure === null ? shard.slot() : null;
      if (slot === null) {
        if (shard.failure !== null) shard.lostFailed += left;
        else if (this.#options.whenFull === 'lose') shard.lostFull += left;
        else return false;
        placed[index] = count;
        break;
      }
      const copied = this.#scatter.copy(this.#source!, index, placed[index]!, slot);
      placed[index] = placed[index]! + copied;
      shard.placed += copied;
      if (copied === 0 || slot.reports === slot.capacity.reports) shard.publish();
    }
    return true;
  }

  async #totals(name: 'totals' | 'stop'): Promise<ShardedTotals> {
    this.flush();
    // All of one moment: the workers' answers leave out what is dispatched until they come.
    const { notOk, noFlow } = this.#scatter;
    const shards = this.#shards.map(({ placed, lostFull, lostFailed }) => ({ placed, lostFull, lostFailed }));
    const answers = this.#shards.map((shard) => shard.ask(name, {}).catch((error) => missing(shard, error)));
    const figures = await Promise.all(
      answers.map(async (answer, index) => {
        const header = await answer;
        if (header !== null) return { totals: totalsOf(header), failed: 0 };
        return figuresOfFailed(shards[index]!.placed, this.#shards[index]!.remains());
      }),
    );
    return mergeTotals({ notOk, noFlow, shards }, figures);
  }
}

/** No answer, if the worker has failed. */
function missing({ failure }: Shard, error: unknown): null {
  if (failure === null) throw error;
  return null;
}

/** Waits for all before it throws the error of the first that failed. */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(promises)) if (result.status === 'rejected') throw result.reason;
}
