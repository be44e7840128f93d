import { join, resolve } from 'node:path';
import type { StoreGeometry } from '../layout.js';
import { DartStore } from '../store/dart-store.js';
import type { DartStoreOptions } from '../store/options.js';
import { listCheckpoints } from './checkpoint-reader.js';
import { Checkpointer } from './checkpointer.js';
import { type DamagedFile, listSetAside } from './damage.js';
import type { EpochAnswer, EpochInfo, HistoryQuery } from './epoch-options.js';
import { askFiles, askHeld, damageTo, type HeldAnswers, isAsked } from './epoch-query.js';
import { DartStoreError } from './errors.js';
import { History } from './history.js';
import type { UnsoundFile } from './history-file.js';
import { assertUnlocked } from './lock.js';
import { madeFor, storeSum } from './manifest.js';
import { findEpochs, type RecoveredEpoch } from './recovery.js';

/** Options for reading a directory. */
export interface EpochReaderOptions {
  /**
   * Whether to answer queries from the sound parts of damaged files; {@link EpochReader.damageTo} lists these files.
   * Default false: such queries throw DartStoreError `ERR_DART_DAMAGED`.
   */
  salvage?: boolean;
  /** Settings of DuckDB. Default: `threads` 2 and `memory_limit` 512MB. */
  duckdb?: Readonly<Record<string, string>>;
}

/** Attempts to read a directory that a writer changes meanwhile. */
const ATTEMPTS = 3;

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';
}

/**
 * Queries a directory of an {@link EpochStore} that no process has open. It never writes: the directory may be
 * read-only, and damaged files stay unchanged.
 */
export class EpochReader {
  /** The absolute path of the directory. */
  readonly directory: string;
  readonly #options: EpochReaderOptions;
  readonly #storeOptions: DartStoreOptions;
  readonly #geometry: StoreGeometry;
  readonly #history: History;
  #damage: DamagedFile[] = [];
  /** The epochs that are not in the history. */
  #epochs: readonly RecoveredEpoch[] = [];
  /** The epoch queried last, in memory. */
  #held: { readonly epoch: bigint; readonly store: DartStore } | null = null;

  private constructor(directory: string, options: EpochReaderOptions, storeOptions: DartStoreOptions) {
    this.directory = directory;
    this.#options = options;
    this.#storeOptions = storeOptions;
    // This store only computes hashes and is never written, so it needs no accelerator.
    const store = new DartStore({ ...storeOptions, engine: 'plain' });
    this.#geometry = store.geometry;
    this.#history = new History(join(directory, 'history'), store, storeSum(storeOptions), options);
  }

  /**
   * Opens a directory for reading.
   *
   * @throws DartStoreError `ERR_DART_NO_STORE`, `ERR_DART_VERSION`, `ERR_DART_LOCKED`; `ERR_DART_DAMAGED` if the
   *   store's description is damaged
   */
  static async open(directory: string, options: EpochReaderOptions = {}): Promise<EpochReader> {
    const path = resolve(directory);
    const reader = new EpochReader(path, options, await madeFor(path));
    for (let attempt = 1; ; attempt++) {
      assertUnlocked(path);
      try {
        await reader.#look();
        assertUnlocked(path);
        return reader;
      } catch (error) {
        if (attempt >= ATTEMPTS || !isGone(error)) throw error;
      }
    }
  }

  /** Damaged files, including those set aside. */
  get damage(): readonly DamagedFile[] {
    return this.#damage;
  }

  /** Damage that may make the answers to a query incomplete. */
  damageTo(query: HistoryQuery): DamagedFile[] {
    return damageTo(query, this.#damage, this.epochs());
  }

  /** All epochs, oldest first. The last one is live if it has no end. */
  epochs(): EpochInfo[] {
    const files = this.#history.files.map(({ epoch, from, to, keyWrites, slotWrites, bytes, path }): EpochInfo => {
      return { epoch, from, to, source: 'disk', keyWrites, slotWrites, bytes, path };
    });
    const others = this.#epochs.map(({ epoch, from, to, keyWrites, slotWrites }): EpochInfo => {
      const source = to === null ? 'live' : 'flushing';
      return { epoch, from, to, source, keyWrites, slotWrites, bytes: null, path: null };
    });
    return [...files, ...others];
  }

  /**
   * Queries a key in the epochs of a time range. Returns one answer per epoch, oldest first.
   *
   * @throws DartStoreError `ERR_DART_DAMAGED`, `ERR_DART_HISTORY`, `ERR_DART_NO_DUCKDB`; `ERR_DART_LOCKED` if a process
   *   has opened the store meanwhile
   * @throws RangeError for a key that is too long or a policy out of range
   */
  async query(key: Uint8Array, query: HistoryQuery = {}): Promise<EpochAnswer[]> {
    return (await this.queryMany([key], query))[0]!;
  }

  /** Like {@link EpochReader.query} for many keys; reads the files once for all keys. */
  async queryMany(keys: readonly Uint8Array[], query: HistoryQuery = {}): Promise<EpochAnswer[][]> {
    const { policy = 'plurality' } = query;
    this.#refuse(query);
    const asked = this.#history.files.filter((file) => isAsked(query, file));
    const held: HeldAnswers[] = [];
    for (const found of this.#epochs) {
      if (!isAsked(query, found)) continue;
      const { epoch, from, to } = found;
      const source = to === null ? 'live' : 'flushing';
      const store = await this.#load(found);
      held.push(...askHeld([{ epoch, from, to, source, store }], keys, policy));
    }
    const judge = async (unsound: readonly UnsoundFile[]): Promise<void> => {
      // Another query may have found it, too.
      this.#unsound(unsound.filter(({ path }) => this.#history.forget(path)));
      this.#refuse(query);
    };
    return askFiles(this.#history, asked, keys, policy, held, judge, () => this.#damage);
  }

  /** Closes DuckDB. */
  close(): Promise<void> {
    return this.#history.close();
  }

  /** Reads the current state of the directory. */
  async #look(): Promise<void> {
    const [live, old] = [join(this.directory, 'live'), join(this.directory, 'history')];
    const history = this.#history;
    this.#damage = [...(await listSetAside(old)), ...(await listSetAside(live))];
    const held = new Set((await listCheckpoints(live)).map(({ epoch }) => epoch));
    this.#unsound((await history.list(false, (epoch) => held.has(epoch))).damaged);
    // A file replaces the checkpoints of its epoch only if every byte of it is verified.
    const twice = await history.unsound(history.files.filter(({ epoch }) => held.has(epoch)));
    this.#unsound(twice.filter(({ path }) => history.forget(path)));
    const { epochs, damaged } = await findEpochs(live, this.#geometry, history.files);
    this.#epochs = epochs;
    this.#held = null;
    for (const { path, epoch, damage, slots } of damaged) {
      const reason = damage ?? '';
      this.#damage.push({ path, epoch, kind: 'checkpoint', reason, soundSlots: slots, isSetAside: false });
    }
  }

  #unsound(files: readonly UnsoundFile[]): void {
    for (const { path, epoch, reason } of files) {
      this.#damage.push({ path, epoch, kind: 'history', reason, soundSlots: 0, isSetAside: false });
    }
  }

  /** @throws DartStoreError `ERR_DART_DAMAGED` if the query needs a damaged file */
  #refuse(query: HistoryQuery): void {
    if (this.#options.salvage === true) return;
    const [first, ...others] = this.damageTo(query).filter(({ isSetAside }) => !isSetAside);
    if (first === undefined) return;
    const more = others.length === 0 ? '' : `; so are ${others.length} others`;
    throw new DartStoreError('ERR_DART_DAMAGED', `${first.path} is damaged: ${first.reason}${more}`, first.path);
  }

  async #load(found: RecoveredEpoch): Promise<DartStore> {
    const { epoch, from } = found;
    if (this.#held?.epoch === epoch) return this.#held.store;
    const store = new DartStore(this.#storeOptions);
    try {
      await new Checkpointer(join(this.directory, 'live'), store, epoch, from).recover(found);
    } catch (error) {
      if (!isGone(error)) throw error;
      // If a process has the store open, it has written newer ones.
      assertUnlocked(this.directory);
      throw new DartStoreError('ERR_DART_HISTORY', 'a checkpoint went away while it was read', this.directory, error);
    }
    this.#held = { epoch, store };
    return store;
  }
}
