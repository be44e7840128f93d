import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RdmaTarget } from '../rdma/target.js';
import { DartStore } from '../store/dart-store.js';
import type { DartStoreOptions } from '../store/options.js';
import { policyNumber } from '../store/policy.js';
import type { KeyRows } from '../store/rows.js';
import { Checkpointer, type CheckpointSummary } from './checkpointer.js';
import {
  checkEpochOptions,
  type EpochAnswer,
  type EpochInfo,
  type EpochSource,
  type EpochStatistics,
  type EpochStoreOptions,
  emptyStatistics,
  type HistoryQuery,
  type Rotation,
} from './epoch-options.js';
import { answerOf, isAsked, setEpoch } from './epoch-parts.js';
import { DartStoreError } from './errors.js';
import { Flusher } from './flusher.js';
import { History } from './history.js';
import { LiveTarget } from './live-target.js';
import { lock } from './lock.js';
import { agree } from './manifest.js';
import { findEpochs, type RecoveredEpoch, removeUnfinished } from './recovery.js';
import { Saver } from './saver.js';

/** Microseconds are as exact as the clock is. */
function systemTime(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

/** A finished epoch that is still in memory. */
interface Finished {
  readonly epoch: Checkpointer;
  readonly to: bigint;
}

/**
 * A store with a memory: a directory keeps what is live by checkpoints, and each finished epoch as a Parquet file, so that
 * a question can be for any time. Writers are never stopped; while one epoch is written to disk, the next one is live, in
 * memory of its own (twice that of a `DartStore`).
 *
 * Everything runs on the thread that made it, in slices; DuckDB brings threads of its own. A thread that writes without
 * ever returning to its event loop gets no checkpoints.
 *
 * | In the directory | |
 * |---|---|
 * | `store.json` | geometry and hashes; opening it for others is refused |
 * | `live/` | checkpoints of the live epoch, and of one that is not in `history/` yet |
 * | `history/` | a Parquet file per finished epoch, and what its bytes add up to |
 * | `lock` | the process that has it open |
 *
 * After a crash, everything up to the last checkpoint is there again, and every epoch whose {@link Rotation.finished} had
 * resolved. A file that is not whole is never read.
 *
 * @example
 * const store = await EpochStore.open('paths', { memory: 1 << 30, rotate: { everyMs: 60_000 } });
 * store.write(encodeFlowKey(flow), path);
 * const [then] = await store.query(encodeFlowKey(flow), { at: anHourAgo });
 * await store.close();
 */
export class EpochStore {
  /** The directory, from the root. */
  readonly directory: string;
  /** Always means the live epoch: for the memory region of a software RNIC. */
  readonly target: RdmaTarget;
  readonly #options: EpochStoreOptions;
  readonly #storeOptions: DartStoreOptions;
  readonly #clock: () => bigint;
  readonly #unlock: () => void;
  readonly #history: History;
  readonly #saver: Saver;
  readonly #flusher: Flusher;
  readonly #statistics: EpochStatistics = emptyStatistics();
  readonly #closing = new AbortController();
  #store: DartStore;
  #live: Checkpointer;
  /** Answers from memory until its file is durable. */
  #finished: Finished | null = null;
  /** Until the finished epoch's memory is free; null if it is. */
  #finishing: Promise<void> | null = null;
  #spare: DartStore | null = null;
  /** Keys until the load is looked at. */
  #countdown = Number.POSITIVE_INFINITY;
  #isRotationDue = false;
  #rotationTimer: NodeJS.Timeout | undefined;

  private constructor(
    directory: string,
    options: EpochStoreOptions,
    storeOptions: DartStoreOptions,
    unlock: () => void,
  ) {
    this.directory = directory;
    this.#options = options;
    this.#storeOptions = storeOptions;
    this.#clock = options.clock ?? systemTime;
    this.#unlock = unlock;
    this.#store = new DartStore(storeOptions);
    this.#live = new Checkpointer(this.#liveDirectory, this.#store, 0n, 0n);
    const { keepEpochs = Number.POSITIVE_INFINITY, keepBytes = Number.POSITIVE_INFINITY } = options;
    const settings = options.duckdb ?? {};
    this.#history = new History(this.#historyDirectory, this.#store, settings, { keepEpochs, keepBytes });
    const report = (error: unknown): void => this.#report(error);
    this.#saver = new Saver(this.#statistics, report, options.onCheckpoint);
    this.#flusher = new Flusher(this.#history, this.#statistics, report, this.#closing.signal);
    this.target = new LiveTarget(
      () => this.#store,
      () => this.#count(1),
    );
  }

  /**
   * Opens a directory, or makes it. Resolves when the live epoch is there again; one that was being flushed when the
   * process ended is flushed again meanwhile.
   *
   * @throws DartStoreError `MISMATCH`, `VERSION`, `DAMAGED`, `LOCKED`, `NO_DUCKDB`
   * @throws RangeError for an option out of range
   */
  static async open(directory: string, options: EpochStoreOptions = {}): Promise<EpochStore> {
    checkEpochOptions(options);
    // A later change of the working directory is not to matter.
    const path = resolve(directory);
    await mkdir(join(path, 'live'), { recursive: true });
    await mkdir(join(path, 'history'), { recursive: true });
    const unlock = lock(path);
    let opened: EpochStore | undefined;
    try {
      opened = new EpochStore(path, options, await agree(path, options), unlock);
      await opened.#recover();
      opened.#start();
      return opened;
    } catch (error) {
      if (opened !== undefined) await opened.#abandon();
      unlock();
      throw error;
    }
  }

  /** The store of the live epoch. Another one from the next rotation on: do not keep it. */
  get live(): DartStore {
    return this.#store;
  }

  /** Number of the live epoch. */
  get epoch(): bigint {
    return this.#live.epoch;
  }

  /** Writes as `DartStore.write` does, into the live epoch. */
  write(key: Uint8Array, value: Uint8Array, copies?: number): void {
    this.#store.write(key, value, copies);
    this.#count(1);
  }

  /** Writes as `DartStore.writeCopy` does, into the live epoch. */
  writeCopy(key: Uint8Array, value: Uint8Array, copy: number): void {
    this.#store.writeCopy(key, value, copy);
    this.#count(1);
  }

  /** Writes as `DartStore.writeRows` does, into the live epoch. All rows go into the same one. */
  writeRows(keys: KeyRows, values: Uint8Array, from = 0, to: number = keys.offsets.length, copies?: number): void {
    this.#store.writeRows(keys, values, from, to, copies);
    this.#count(to - from);
  }

  /** Writes as `DartStore.writeCopyRows` does, into the live epoch. All rows go into the same one. */
  writeCopyRows(
    keys: KeyRows,
    values: Uint8Array,
    which: Uint8Array,
    from = 0,
    to: number = keys.offsets.length,
  ): void {
    this.#store.writeCopyRows(keys, values, which, from, to);
    this.#count(to - from);
  }

  /**
   * Ends the live epoch and begins the next one, at once.
   *
   * @returns null if the epoch before is not on disk yet: there is no memory for a third
   * @throws DartStoreError `CLOSED`
   */
  rotate(): Rotation | null {
    this.#assertOpen();
    if (this.#finishing !== null) {
      this.#statistics.rotationsPostponed++;
      return null;
    }
    return this.#rotate();
  }

  /**
   * Resolves when no epoch is on its way to disk, so that the next rotation can be done.
   *
   * @throws DartStoreError `HISTORY` if the store is closed before
   */
  async flushed(): Promise<void> {
    await this.#finishing;
  }

  /**
   * Writes a checkpoint of what has changed.
   *
   * @returns null if nothing has
   * @throws DartStoreError `CHECKPOINT` or `CLOSED`
   */
  checkpoint(): Promise<CheckpointSummary | null> {
    this.#assertOpen();
    return this.#checkpoint();
  }

  /**
   * What the epochs of a time know of a key: one answer each, oldest first.
   *
   * @throws DartStoreError `HISTORY`, `NO_DUCKDB` or `CLOSED`
   * @throws RangeError for a key that is too long or a policy out of range
   */
  async query(key: Uint8Array, query: HistoryQuery = {}): Promise<EpochAnswer[]> {
    return (await this.queryMany([key], query))[0]!;
  }

  /** {@link EpochStore.query} for many keys, with one reading of the history for all of them. */
  async queryMany(keys: readonly Uint8Array[], query: HistoryQuery = {}): Promise<EpochAnswer[][]> {
    this.#assertOpen();
    const policy = query.policy ?? 'plurality';
    const number = policyNumber(policy);
    const files = this.#history.files.filter(({ from, to }) => isAsked(query, from, to, false));
    // Memory first, in this turn: a rotation meanwhile would make it another epoch's.
    const inMemory = this.#inMemory().filter(({ epoch, to }) => isAsked(query, epoch.from, to, to === null));
    const live = keys.map((key) =>
      inMemory.map(({ epoch, to }) => {
        const source: EpochSource = to === null ? 'live' : 'flushing';
        return answerOf({ epoch: epoch.epoch, from: epoch.from, to }, source, epoch.store.query(key, policy));
      }),
    );
    const stored = await this.#history.query(files, keys, number);
    return keys.map((_, row) => [...files.map((file, at) => answerOf(file, 'disk', stored[row]![at]!)), ...live[row]!]);
  }

  /** All epochs, oldest first. */
  epochs(): EpochInfo[] {
    const stored = this.#history.files.map((file): EpochInfo => {
      const { epoch, from, to, keyWrites, slotWrites, bytes, path } = file;
      return { epoch, from, to, source: 'disk', keyWrites, slotWrites, bytes, path };
    });
    const memory = this.#inMemory().map(({ epoch: { epoch, from, store }, to }): EpochInfo => {
      const { keyWrites, slotWrites } = store;
      const source = to === null ? 'live' : 'flushing';
      return { epoch, from, to, source, keyWrites, slotWrites, bytes: null, path: null };
    });
    return [...stored, ...memory];
  }

  /** What has been done since it was opened; a copy. */
  get statistics(): EpochStatistics {
    return { ...this.#statistics, checkpointAgeMs: performance.now() - this.#saver.savedAt };
  }

  /**
   * Reads every byte of the history.
   *
   * @returns the paths of files that are not as they were written
   */
  verifyHistory(): Promise<string[]> {
    this.#assertOpen();
    return this.#history.verify();
  }

  /**
   * Ends the flush that runs, writes a last checkpoint, and gives the directory back. The epoch goes on when it is opened
   * again.
   *
   * @throws DartStoreError `CHECKPOINT` or `HISTORY` if that fails; the directory is given back all the same
   */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#saver.stop();
    clearTimeout(this.#rotationTimer);
    // Writes from now on are refused.
    this.#countdown = 0;
    const results = await Promise.allSettled([this.#finishing, this.#checkpoint()]);
    await this.#history.close();
    this.#unlock();
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  async #abandon(): Promise<void> {
    this.#closing.abort();
    await this.#finishing?.catch(() => undefined);
    await this.#history.close();
  }

  get #liveDirectory(): string {
    return join(this.directory, 'live');
  }

  get #historyDirectory(): string {
    return join(this.directory, 'history');
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new DartStoreError('CLOSED', 'the store is closed', this.directory);
  }

  #inMemory(): { epoch: Checkpointer; to: bigint | null }[] {
    const live = { epoch: this.#live, to: null };
    const finished = this.#finished;
    // Its file may be listed a moment before it is dropped here.
    const isListed = this.#history.files.some(({ epoch }) => epoch === finished?.epoch.epoch);
    return finished === null || isListed ? [live] : [finished, live];
  }

  // Opening

  async #recover(): Promise<void> {
    const statistics = this.#statistics;
    statistics.unfinishedFiles = await removeUnfinished(this.#liveDirectory);
    statistics.unfinishedFiles += await removeUnfinished(this.#historyDirectory);
    statistics.damagedHistory = (await this.#history.open(this.#options.verifyHistory === true)).length;
    const { rotate = {} } = this.#options;
    if (rotate.everyMs !== undefined || rotate.load !== undefined) await this.#history.ready();
    const flushed = new Set(this.#history.files.map(({ epoch }) => epoch));
    const { epochs, damaged } = await findEpochs(this.#liveDirectory, this.#store.geometry, flushed);
    statistics.damagedCheckpoints = damaged;
    statistics.epochsRecovered = epochs.length;
    const last = epochs.at(-1);
    const isLive = last !== undefined && last.to === null;
    if (epochs.some(({ to }) => to !== null)) await this.#history.ready();
    await this.#reviveLive(isLive ? last : undefined, epochs);
    for (const epoch of epochs) {
      if (epoch.to === null) continue;
      // One at a time: there is memory for one.
      await this.#finishing;
      await this.#reviveFinished(epoch, epoch.to);
    }
  }

  async #reviveLive(found: RecoveredEpoch | undefined, epochs: readonly RecoveredEpoch[]): Promise<void> {
    if (found !== undefined) {
      this.#live = await this.#revive(found, this.#store);
      this.#saver.savedAt = performance.now();
      return;
    }
    const known = [...this.#history.files, ...epochs];
    const number = known.reduce((next, { epoch }) => (epoch >= next ? epoch + 1n : next), 0n);
    const now = known.reduce((time, { to }) => later(time, to ?? time), this.#clock());
    setEpoch(this.#store, number, 0, 0);
    this.#live = new Checkpointer(this.#liveDirectory, this.#store, number, now);
  }

  async #revive(found: RecoveredEpoch, store: DartStore): Promise<Checkpointer> {
    const epoch = new Checkpointer(this.#liveDirectory, store, found.epoch, found.from);
    await epoch.recover(found.whole, found.all);
    setEpoch(store, found.epoch, found.keyWrites, found.slotWrites);
    return epoch;
  }

  async #reviveFinished(found: RecoveredEpoch, to: bigint): Promise<void> {
    const store = this.#spare ?? new DartStore(this.#storeOptions);
    this.#spare = null;
    this.#finish({ epoch: await this.#revive(found, store), to }, true).catch(() => undefined);
  }

  #start(): void {
    const { rotate = {}, checkpointMs = 1000 } = this.#options;
    const isRotating = rotate.everyMs !== undefined || rotate.load !== undefined;
    if (isRotating && this.#finishing === null) this.#spare ??= new DartStore(this.#storeOptions);
    if (checkpointMs > 0) this.#saver.start(checkpointMs, () => this.#checkpoint());
    this.#scheduleRotation();
    this.#countdown = rotate.load === undefined ? Number.POSITIVE_INFINITY : 0;
  }

  // Checkpoints

  async #checkpoint(): Promise<CheckpointSummary | null> {
    const started = performance.now();
    const live = this.#live;
    const summary = await this.#saver.save(live, this.#clock(), false);
    if (this.#live === live) this.#saver.savedAt = started;
    return summary;
  }

  #report(error: unknown): void {
    this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
  }

  // Rotation

  #count(keys: number): void {
    this.#countdown -= keys;
    if (this.#countdown <= 0) this.#checkLoad();
  }

  /** Keys can have been written by other ways, so that the load is looked at, not counted here. */
  #checkLoad(): void {
    this.#assertOpen();
    const most = this.#options.rotate?.load;
    if (most === undefined) {
      this.#countdown = Number.POSITIVE_INFINITY;
      return;
    }
    if (this.#store.load >= most) this.#rotationIsDue();
    const { load, geometry } = this.#store;
    // A key that is written into one slot only counts as a part of one.
    this.#countdown = Math.max(1, Math.ceil((load < most ? most - load : most) * geometry.slots));
  }

  #scheduleRotation(): void {
    const { everyMs } = this.#options.rotate ?? {};
    clearTimeout(this.#rotationTimer);
    if (everyMs === undefined) return;
    const age = Number(this.#clock() - this.#live.from) / 1e6;
    const delay = Math.max(0, Math.min(everyMs, everyMs - age));
    this.#rotationTimer = setTimeout(() => this.#rotationIsDue(), delay).unref();
  }

  /** Rotates, or remembers that it has to be done when the epoch before is on disk. */
  #rotationIsDue(): void {
    if (this.#closing.signal.aborted) return;
    if (this.#finishing === null) {
      this.#rotate();
    } else if (!this.#isRotationDue) {
      this.#isRotationDue = true;
      this.#statistics.rotationsPostponed++;
    }
  }

  #rotate(): Rotation {
    const finished = this.#live;
    const now = this.#clock();
    const to = later(now, finished.from);
    const next = this.#spare ?? new DartStore(this.#storeOptions);
    this.#spare = null;
    this.#isRotationDue = false;
    const number = finished.epoch + 1n;
    setEpoch(next, number, 0, 0);
    this.#store = next;
    this.#live = new Checkpointer(this.#liveDirectory, next, number, to);
    this.#statistics.rotations++;
    this.#saver.savedAt = performance.now();
    if (this.#options.rotate?.load !== undefined) this.#countdown = 0;
    this.#scheduleRotation();
    const done = this.#finish({ epoch: finished, to }, false);
    // Whoever does not wait for it is told by onError.
    done.catch(() => undefined);
    return { epoch: finished.epoch, finished: done };
  }

  /** Brings a finished epoch to disk and frees its memory. */
  #finish(finished: Finished, isSaved: boolean): Promise<void> {
    this.#finished = finished;
    const done = this.#flush(finished, isSaved).finally(() => {
      this.#finishing = null;
      if (this.#isRotationDue) this.#rotationIsDue();
    });
    this.#finishing = done;
    return done;
  }

  async #flush(finished: Finished, isSaved: boolean): Promise<void> {
    const { epoch, to } = finished;
    // What was written since the last checkpoint is safe sooner this way; if it fails, the flush may succeed.
    if (!isSaved) await this.#saver.save(epoch, to, true).catch((error: unknown) => this.#report(error));
    await this.#flusher.flush(epoch, to);
    this.#finished = null;
    await epoch.remove().catch((error: unknown) => this.#report(error));
    await this.#history.prune().catch((error: unknown) => this.#report(error));
    await this.#flusher.sweep(epoch);
    this.#spare = epoch.store;
  }
}

function later(one: bigint, other: bigint): bigint {
  if (one < other) return other;
  return one;
}
