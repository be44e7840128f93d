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

/** How a directory is read. */
export interface EpochReaderOptions {
  /**
   * Whether questions are answered from what is sound where files are damaged; {@link EpochReader.damageTo} says which.
   * Default false: then they are a DartStoreError `ERR_DART_DAMAGED`.
   */
  salvage?: boolean;
  /** Settings of DuckDB, over `threads` 2 and `memory_limit` 512MB. */
  duckdb?: Readonly<Record<string, string>>;
}

const KEEP_ALL = { keepEpochs: Number.POSITIVE_INFINITY, keepBytes: Number.POSITIVE_INFINITY };
/** How often the directory is looked at anew because a writer has changed it meanwhile. */
const ATTEMPTS = 3;

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ENOENT';
}

/**
 * Answers questions to a directory of an {@link EpochStore} that nobody has open. It never writes: the directory may be
 * read-only, and what is damaged stays as it is.
 */
export class EpochReader {
  /** The directory, from the root. */
  readonly directory: string;
  readonly #options: EpochReaderOptions;
  readonly #storeOptions: DartStoreOptions;
  readonly #geometry: StoreGeometry;
  readonly #history: History;
  #damage: DamagedFile[] = [];
  /** Those that are not in the history. */
  #epochs: readonly RecoveredEpoch[] = [];
  /** The one that was asked last, in memory. */
  #held: { readonly epoch: bigint; readonly store: DartStore } | null = null;

  private constructor(directory: string, options: EpochReaderOptions, storeOptions: DartStoreOptions) {
    this.directory = directory;
    this.#options = options;
    this.#storeOptions = storeOptions;
    // Nothing is ever written into this one: it knows the hashes, and needs no accelerator for them.
    const store = new DartStore({ ...storeOptions, engine: 'plain' });
    this.#geometry = store.geometry;
    const sum = storeSum(storeOptions);
    this.#history = new History(join(directory, 'history'), store, sum, options.duckdb ?? {}, KEEP_ALL);
  }

  /**
   * Reads what is in a directory.
   *
   * @throws DartStoreError `ERR_DART_NO_STORE`, `ERR_DART_VERSION`, `ERR_DART_LOCKED`; `ERR_DART_DAMAGED` if what describes the store is
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

  /** Files that are not as they were written, those that were set aside among them. */
  get damage(): readonly DamagedFile[] {
    return this.#damage;
  }

  /** Damage that may have taken something from the answers to a question. */
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
   * What the epochs of a time know of a key: one answer each, oldest first.
   *
   * @throws DartStoreError `ERR_DART_DAMAGED`, `ERR_DART_HISTORY`, `ERR_DART_NO_DUCKDB`; `ERR_DART_LOCKED` if somebody has begun to write meanwhile
   * @throws RangeError for a key that is too long or a policy out of range
   */
  async query(key: Uint8Array, query: HistoryQuery = {}): Promise<EpochAnswer[]> {
    return (await this.queryMany([key], query))[0]!;
  }

  /** {@link EpochReader.query} for many keys, with one reading of the files for all of them. */
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
      // Another question may have found it, too.
      this.#unsound(unsound.filter(({ path }) => this.#history.forget(path)));
      this.#refuse(query);
    };
    return askFiles(this.#history, asked, keys, policy, held, judge, () => this.#damage);
  }

  /** Lets go of the engine. */
  close(): Promise<void> {
    return this.#history.close();
  }

  /** Sees what is there now. */
  async #look(): Promise<void> {
    const [live, old] = [join(this.directory, 'live'), join(this.directory, 'history')];
    const history = this.#history;
    this.#damage = [...(await listSetAside(old)), ...(await listSetAside(live))];
    const held = new Set((await listCheckpoints(live)).map(({ epoch }) => epoch));
    this.#unsound((await history.list(false, (epoch) => held.has(epoch))).damaged);
    // The checkpoints of an epoch are left out only for a file of which every byte is right.
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

  /** @throws DartStoreError `ERR_DART_DAMAGED` if a question cannot be answered without the files that are damaged */
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
      // Whoever has the store open has written newer ones.
      assertUnlocked(this.directory);
      throw new DartStoreError('ERR_DART_HISTORY', 'a checkpoint went away while it was read', this.directory, error);
    }
    this.#held = { epoch, store };
    return store;
  }
}
