import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RdmaTarget } from '../rdma/target.js';
import { DartStore } from '../store/dart-store.js';
import type { DartStoreOptions } from '../store/options.js';
import type { KeyRows } from '../store/rows.js';
import { setEpoch } from '../store/segment.js';
import { Checkpointer, type CheckpointSummary } from './checkpointer.js';
import { type DamagedFile, DamageLog, listSetAside } from './damage.js';
import {
  checkEpochOptions,
  type EpochAnswer,
  type EpochInfo,
  type EpochStatistics,
  type EpochStoreOptions,
  emptyStatistics,
  type HistoryQuery,
  type Rotation,
} from './epoch-options.js';
import { askFiles, askHeld, damageTo, type HeldEpoch, isAsked } from './epoch-query.js';
import { DartStoreError } from './errors.js';
import { Flusher } from './flusher.js';
import { History } from './history.js';
import type { UnsoundFile } from './history-file.js';
import { liveTarget } from './live-target.js';
import { lock } from './lock.js';
import { agree, makeFolders, storeSum } from './manifest.js';
import { findEpochs, type RecoveredEpoch, recoverHistory, removeUnfinished } from './recovery.js';
import { Saver } from './saver.js';

/** The clock's resolution is a microsecond. */
function systemTime(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

/** A finished epoch that is still in memory. */
interface Finished {
  readonly epoch: Checkpointer;
  readonly to: bigint;
}

/**
 * A store whose data is kept in a directory. Checkpoints keep the live epoch; a Parquet file keeps each finished epoch.
 * Queries can be for any time. Writers never wait: while one epoch is written to disk, the next is live in memory of
 * its own. The store therefore takes twice the memory of a `DartStore`.
 *
 * All work runs in slices on the thread that made the store; DuckDB has threads of its own. A thread that never returns
 * to its event loop gets no checkpoints.
 *
 * | In the directory | |
 * |---|---|
 * | `store.json` | geometry and hashes; opening the directory with others is refused |
 * | `live/` | checkpoints of the live epoch, and of one that is not in `history/` yet |
 * | `history/` | a Parquet file per finished epoch, and its length and CRCs |
 * | `lock` | the process that has it open |
 *
 * After a crash, the store recovers everything up to the last checkpoint, and every epoch whose
 * {@link Rotation.finished} had resolved.
 *
 * {@link EpochStore.damage} lists damaged files. The sound parts of a damaged checkpoint are used. The file is renamed
 * with the suffix `.damaged`, but never removed.
 *
 * @example
 * const store = await EpochStore.open('paths', { memoryBytes: 1 << 30, rotate: { everyMs: 60_000 } });
 * store.write(encodeFlowKey(flow), path);
 * const [then] = await store.query(encodeFlowKey(flow), { at: anHourAgo });
 * await store.close();
 */
export class EpochStore {
  /** The absolute path of the directory. */
  readonly directory: string;
  /** The memory of the live epoch, across rotations: the target for a region of a software RNIC. */
  readonly target: RdmaTarget;
  readonly #liveDirectory: string;
  readonly #historyDirectory: string;
  readonly #options: EpochStoreOptions;
  readonly #storeOptions: DartStoreOptions;
  readonly #clock: () => bigint;
  readonly #unlock: () => void;
  readonly #history: History;
  readonly #saver: Saver;
  readonly #flusher: Flusher;
  readonly #statistics: EpochStatistics = emptyStatistics();
  readonly #damage: DamageLog;
  readonly #closing = new AbortController();
  #store: DartStore;
  #live: Checkpointer;
  /** A finished epoch, which answers from memory until its file is durable. */
  #finished: Finished | null = null;
  /** Resolves when the finished epoch's memory is free; null if it is. */
  #finishing: Promise<void> | null = null;
  #spare: DartStore | null = null;
  /** Keys until the load is next checked. */
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
    this.#liveDirectory = join(directory, 'live');
    this.#historyDirectory = join(directory, 'history');
    this.#options = options;
    this.#storeOptions = storeOptions;
    this.#clock = options.clock ?? systemTime;
    this.#unlock = unlock;
    this.#store = new DartStore(storeOptions);
    this.#live = new Checkpointer(this.#liveDirectory, this.#store, 0n, 0n);
    this.#history = new History(this.#historyDirectory, this.#store, storeSum(storeOptions), options);
    const report = (error: unknown): void => this.#report(error);
    this.#damage = new DamageLog(this.#statistics, report);
    this.#saver = new Saver(this.#statistics, report, options.onCheckpoint);
    this.#flusher = new Flusher(this.#history, this.#statistics, report, this.#closing.signal);
    this.target = liveTarget(
      () => this.#store,
      () => this.#count(1),
    );
  }

  /**
   * Opens a directory, or makes it. Resolves when the live epoch is recovered. An epoch whose flush was interrupted is
   * meanwhile flushed again.
   *
   * @throws DartStoreError `ERR_DART_MISMATCH`, `ERR_DART_VERSION`, `ERR_DART_DAMAGED`, `ERR_DART_LOCKED`, `ERR_DART_NO_DUCKDB`
   * @throws RangeError for an option out of range
   */
  static async open(directory: string, options: EpochStoreOptions = {}): Promise<EpochStore> {
    checkEpochOptions(options);
    // An absolute path is independent of later changes of the working directory.
    const path = resolve(directory);
    await makeFolders(path);
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

  /** The store of the live epoch. Do not keep it: the next rotation replaces it. */
  get live(): DartStore {
    return this.#store;
  }

  /** Number of the live epoch. */
  get epoch(): bigint {
    return this.#live.epoch;
  }

  /** Writes into the live epoch, like `DartStore.write`. */
  write(key: Uint8Array, value: Uint8Array, copies?: number): void {
    this.#store.write(key, value, copies);
    this.#count(1);
  }

  /** Writes into the live epoch, like `DartStore.writeCopy`. */
  writeCopy(key: Uint8Array, value: Uint8Array, copy: number): void {
    this.#store.writeCopy(key, value, copy);
    this.#count(1);
  }

  /** Writes into the live epoch, like `DartStore.writeRows`. All rows go into the same epoch. */
  writeRows(keys: KeyRows, values: Uint8Array, from = 0, to: number = keys.offsets.length, copies?: number): void {
    this.#store.writeRows(keys, values, from, to, copies);
    this.#count(to - from);
  }

  /** Writes into the live epoch, like `DartStore.writeCopyRows`. All rows go into the same epoch. */
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
   * Ends the live epoch and begins the next one immediately.
   *
   * @returns null if the previous epoch is not yet on disk: there is no memory for a third one
   * @throws DartStoreError `ERR_DART_CLOSED`
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
   * Resolves when no epoch is being flushed, so that the next rotation is possible.
   *
   * @throws DartStoreError `ERR_DART_HISTORY` if the store is closed first
   */
  async flushed(): Promise<void> {
    await this.#finishing;
  }

  /**
   * Writes a checkpoint of all changes since the last one.
   *
   * @returns null if nothing has changed
   * @throws DartStoreError `ERR_DART_CHECKPOINT` or `ERR_DART_CLOSED`
   */
  checkpoint(): Promise<CheckpointSummary | null> {
    this.#assertOpen();
    return this.#checkpoint();
  }

  /**
   * Queries a key in the epochs of a time range. Returns one answer per epoch, oldest first.
   *
   * @throws DartStoreError `ERR_DART_HISTORY`, `ERR_DART_NO_DUCKDB` or `ERR_DART_CLOSED`
   * @throws RangeError for a key that is too long or a policy out of range
   */
  async query(key: Uint8Array, query: HistoryQuery = {}): Promise<EpochAnswer[]> {
    return (await this.queryMany([key], query))[0]!;
  }

  /** Like {@link EpochStore.query} for many keys; reads the history once for all keys. */
  async queryMany(keys: readonly Uint8Array[], query: HistoryQuery = {}): Promise<EpochAnswer[][]> {
    this.#assertOpen();
    const { policy = 'plurality' } = query;
    const inMemory = this.#inMemory().filter((epoch) => isAsked(query, epoch));
    const asked = this.#history.files.filter((file) => isAsked(query, file));
    const held = askHeld(inMemory, keys, policy);
    const judge = (unsound: readonly UnsoundFile[]): Promise<void> => this.#damage.unsound(this.#history, unsound);
    return askFiles(this.#history, asked, keys, policy, held, judge, () => this.damage);
  }

  /** Damaged files, including those set aside earlier. */
  get damage(): readonly DamagedFile[] {
    return this.#damage.files;
  }

  /** Damage that may make the answers to a query incomplete. */
  damageTo(query: HistoryQuery): DamagedFile[] {
    return damageTo(query, this.damage, this.epochs());
  }

  /** All epochs, oldest first. */
  epochs(): EpochInfo[] {
    const stored = this.#history.files.map((file): EpochInfo => {
      const { epoch, from, to, keyWrites, slotWrites, bytes, path } = file;
      return { epoch, from, to, source: 'disk', keyWrites, slotWrites, bytes, path };
    });
    const memory = this.#inMemory().map(({ store: { keyWrites, slotWrites }, ...epoch }): EpochInfo => {
      return { ...epoch, keyWrites, slotWrites, bytes: null, path: null };
    });
    return [...stored, ...memory];
  }

  /** A copy of the counters and times since opening. */
  get statistics(): EpochStatistics {
    return { ...this.#statistics, checkpointAgeMs: performance.now() - this.#saver.savedAt };
  }

  /**
   * Verifies every byte of the history.
   *
   * @returns the paths of damaged files
   */
  verifyHistory(): Promise<string[]> {
    this.#assertOpen();
    return this.#history.verify();
  }

  /**
   * Finishes a running flush, writes a last checkpoint, and unlocks the directory. The epoch continues when the
   * directory is opened again.
   *
   * @throws DartStoreError `ERR_DART_CHECKPOINT` or `ERR_DART_HISTORY` if that fails; the directory is unlocked
   *   nevertheless
   */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#saver.stop();
    clearTimeout(this.#rotationTimer);
    // Refuse further writes.
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

  #assertOpen(): void {
    if (this.#closing.signal.aborted)
      throw new DartStoreError('ERR_DART_CLOSED', 'the store is closed', this.directory);
  }

  #inMemory(): HeldEpoch[] {
    const { epoch, from, store } = this.#live;
    const live: HeldEpoch = { epoch, from, to: null, source: 'live', store };
    const finished = this.#finished;
    // Its file may be listed a moment before the epoch is dropped here.
    const isListed = this.#history.files.some((file) => file.epoch === finished?.epoch.epoch);
    if (finished === null || isListed) return [live];
    const { epoch: before, to } = finished;
    return [{ epoch: before.epoch, from: before.from, to, source: 'flushing', store: before.store }, live];
  }

  // Opening

  async #recover(): Promise<void> {
    const statistics = this.#statistics;
    const { files } = this.#damage;
    files.push(...(await listSetAside(this.#historyDirectory)), ...(await listSetAside(this.#liveDirectory)));
    await recoverHistory(this.#history, this.#liveDirectory, this.#options.verifyHistory === true, this.#damage);
    statistics.unfinishedFiles = await removeUnfinished(this.#liveDirectory);
    statistics.unfinishedFiles += await removeUnfinished(this.#historyDirectory);
    await this.#history.prune();
    const { rotate = {} } = this.#options;
    if (rotate.everyMs !== undefined || rotate.load !== undefined) await this.#history.ready();
    const found = await findEpochs(this.#liveDirectory, this.#store.geometry, this.#history.files);
    const { epochs, damaged, superfluous } = found;
    for (const { path } of superfluous) await rm(path, { force: true });
    for (const file of damaged) {
      // The sound parts of the others are saved first.
      if (!epochs.some(({ epoch }) => epoch === file.epoch)) await this.#damage.checkpoint(file);
    }
    statistics.epochsRecovered = epochs.length;
    const last = epochs.at(-1);
    const isLive = last !== undefined && last.to === null;
    if (epochs.some(({ to }) => to !== null)) await this.#history.ready();
    await this.#reviveLive(isLive ? last : undefined, epochs);
    for (const epoch of epochs) {
      if (epoch.to === null) continue;
      // One at a time, because there is memory for only one.
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
    // Remains of a lost epoch must not be taken for another epoch.
    const number = [...known, ...this.damage].reduce((next, { epoch }) => (epoch >= next ? epoch + 1n : next), 0n);
    const now = known.reduce((time, { to }) => later(time, to ?? time), this.#clock());
    setEpoch(this.#store.segments[0]!.header, number);
    this.#live = new Checkpointer(this.#liveDirectory, this.#store, number, now);
  }

  async #revive(found: RecoveredEpoch, store: DartStore): Promise<Checkpointer> {
    const epoch = new Checkpointer(this.#liveDirectory, store, found.epoch, found.from);
    await epoch.recover(found);
    setEpoch(store.segments[0]!.header, found.epoch, found.keyWrites, found.slotWrites);
    const damaged = found.all.filter(({ damage }) => damage !== null);
    if (damaged.length > 0) await epoch.repair(found.to ?? this.#clock(), found.to !== null);
    for (const file of damaged) await this.#damage.checkpoint(file);
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

  /** Keys may also be written in other ways, so the load is read from the store and not counted here. */
  #checkLoad(): void {
    this.#assertOpen();
    const most = this.#options.rotate?.load;
    if (most === undefined) {
      this.#countdown = Number.POSITIVE_INFINITY;
      return;
    }
    if (this.#store.load >= most) this.#rotationIsDue();
    const { load, geometry } = this.#store;
    // A key written into only one slot counts as a fraction.
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

  /** Rotates, or postpones the rotation until the previous epoch is on disk. */
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
    setEpoch(next.segments[0]!.header, number);
    this.#store = next;
    this.#live = new Checkpointer(this.#liveDirectory, next, number, to);
    this.#statistics.rotations++;
    this.#saver.savedAt = performance.now();
    if (this.#options.rotate?.load !== undefined) this.#countdown = 0;
    this.#scheduleRotation();
    const done = this.#finish({ epoch: finished, to }, false);
    // onError reports it to callers who do not wait.
    done.catch(() => undefined);
    return { epoch: finished.epoch, finished: done };
  }

  /** Writes a finished epoch to disk and frees its memory. */
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
    // A checkpoint makes the last writes safe sooner than the flush. If it fails, the flush may still succeed.
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
  return one < other ? other : one;
}
