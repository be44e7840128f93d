import { basename, join } from 'node:path';
import { Candidates } from '../store/answer.js';
import type { DartStore } from '../store/dart-store.js';
import { STATUS_NAMES } from '../store/rows.js';
import type { Answer } from '../store/single.js';
import type { Checkpointer } from './checkpointer.js';
import { DuckDb } from './duckdb.js';
import { publish, syncFile, UNFINISHED, writeDurably } from './durable.js';
import type { EpochStoreOptions } from './epoch-options.js';
import { DartStoreError } from './errors.js';
import {
  encodeSidecar,
  faultOf,
  type HistoryFile,
  historyName,
  type Listing,
  listHistory,
  removeHistoryFile,
  sidecarOf,
  sumsOf,
  type UnsoundFile,
} from './history-file.js';
import { PageRows } from './page-rows.js';

const CHUNK_ROWS = 2048;
/** Keys of one statement. */
const KEYS_AT_ONCE = 1 << 16;

/** The result of a flush. */
interface FlushSummary {
  readonly file: HistoryFile;
  readonly milliseconds: number;
  /** Longest time for which it blocked the thread, in milliseconds. */
  readonly longestSlice: number;
}

/** The finished epochs of a store, one Parquet file each. */
export class History {
  readonly #directory: string;
  readonly #store: DartStore;
  readonly #storeCrc: number;
  readonly #options: Pick<EpochStoreOptions, 'duckdb' | 'keepEpochs' | 'keepBytes'>;
  readonly #candidates: Candidates;
  #files: HistoryFile[] = [];
  /** Paths of files whose every byte has been verified. */
  readonly #sound = new Set<string>();
  /** Files no longer listed that a running query may still read. */
  #leaving: HistoryFile[] = [];
  #queries = 0;
  #duckdb: Promise<DuckDb> | null = null;

  /**
   * @param store computes the slots of keys; its slots are not read
   * @param storeCrc CRC-32 over geometry and hashes
   */
  constructor(
    directory: string,
    store: DartStore,
    storeCrc: number,
    options: Pick<EpochStoreOptions, 'duckdb' | 'keepEpochs' | 'keepBytes'>,
  ) {
    this.#directory = directory;
    this.#store = store;
    this.#storeCrc = storeCrc;
    this.#options = options;
    this.#candidates = new Candidates(store.geometry.copies, store.geometry.valueBytes);
  }

  /**
   * Finds the whole files. Changes nothing.
   *
   * @param isThorough whether to read every byte of them
   * @param isHeld tells whether checkpoints hold an epoch
   */
  async list(isThorough: boolean, isHeld: (epoch: bigint) => boolean): Promise<Omit<Listing, 'files'>> {
    const { files, ...others } = await listHistory(this.#directory, isThorough, this.#storeCrc, isHeld);
    this.#files = files;
    if (isThorough) for (const { path } of files) this.#sound.add(path);
    return others;
  }

  /**
   * Verifies every byte of files that have not been verified yet.
   *
   * @returns the damaged files
   * @throws DartStoreError `ERR_DART_HISTORY`
   */
  async unsound(files: readonly HistoryFile[]): Promise<UnsoundFile[]> {
    const found: UnsoundFile[] = [];
    for (const file of files) {
      const { path, epoch } = file;
      if (this.#sound.has(path)) continue;
      let reason: string | null;
      try {
        reason = await faultOf(file);
      } catch (error) {
        throw this.#unreadable(error);
      }
      if (reason === null) this.#sound.add(path);
      else found.push({ path, epoch, reason });
    }
    return found;
  }

  /** Excludes a file from queries. @returns whether it was listed */
  forget(path: string): boolean {
    const before = this.#files.length;
    this.#sound.delete(path);
    this.#files = this.#files.filter((file) => file.path !== path);
    return this.#files.length < before;
  }

  /** Loads DuckDB. @throws DartStoreError `ERR_DART_NO_DUCKDB` */
  async ready(): Promise<void> {
    await this.#engine();
  }

  /** The files, oldest first. */
  get files(): readonly HistoryFile[] {
    return this.#files;
  }

  /** Verifies all bytes of all files. @returns the paths of damaged files */
  async verify(): Promise<string[]> {
    const wrong: string[] = [];
    for (const file of this.#files) {
      const isSound = await faultOf(file).then(
        (fault) => fault === null,
        () => false,
      );
      if (!isSound) wrong.push(file.path);
    }
    return wrong;
  }

  /**
   * Writes a finished epoch. When this resolves, the epoch is durable and listed.
   *
   * @throws DartStoreError `ERR_DART_HISTORY` or `ERR_DART_NO_DUCKDB`
   */
  async flush(epoch: Checkpointer, to: bigint): Promise<FlushSummary> {
    const started = performance.now();
    const path = join(this.#directory, `${historyName(epoch.epoch)}.parquet`);
    const unfinished = `${path}${UNFINISHED}`;
    const rows = new PageRows(epoch, CHUNK_ROWS);
    const duckdb = await this.#engine();
    try {
      await duckdb.write(unfinished, rows, this.#metadata(epoch, to));
      await syncFile(unfinished);
      const sums = await sumsOf(unfinished);
      if (sums === null) throw new Error('the engine wrote no Parquet file');
      const { keyWrites, slotWrites } = epoch.store;
      const range = { epoch: epoch.epoch, from: epoch.from, to };
      const file = { ...range, keyWrites, slotWrites, rows: rows.total, ...sums, storeCrc: this.#storeCrc, path };
      // The description comes first: without it, the Parquet file does not count.
      await writeDurably(sidecarOf(path), encodeSidecar(file));
      await publish(unfinished, path);
      this.#sound.add(path);
      const files = [...this.#files.filter((other) => other.epoch !== file.epoch), file];
      this.#files = files.sort((one, other) => (one.epoch < other.epoch ? -1 : 1));
      return { file, milliseconds: performance.now() - started, longestSlice: rows.longest };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new DartStoreError(
        'ERR_DART_HISTORY',
        `epoch ${epoch.epoch} was not written to ${path}: ${reason}`,
        path,
        error,
      );
    }
  }

  /**
   * Queries files for keys. Each file is verified before its first answer.
   *
   * @param policy a number from `policyNumber`
   * @param judge receives damaged files, which do not answer; an error that it throws ends the query
   * @returns the files that answered, and for each key their answers in the same order
   * @throws DartStoreError `ERR_DART_HISTORY` or `ERR_DART_NO_DUCKDB`
   */
  async query(
    files: readonly HistoryFile[],
    keys: readonly Uint8Array[],
    policy: number,
    judge: (unsound: readonly UnsoundFile[]) => Promise<void>,
  ): Promise<{ readonly files: readonly HistoryFile[]; readonly answers: Answer[][] }> {
    if (files.length === 0 || keys.length === 0) return { files, answers: keys.map(() => []) };
    this.#queries++;
    try {
      const unsound = await this.unsound(files);
      if (unsound.length > 0) await judge(unsound);
      const sound = files.filter(({ path }) => !unsound.some((file) => file.path === path));
      const answers: Answer[][] = [];
      const duckdb = sound.length === 0 ? null : await this.#engine();
      for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
        const some = keys.slice(from, from + KEYS_AT_ONCE);
        answers.push(...(duckdb === null ? some.map(() => []) : await this.#queryBatch(duckdb, sound, some, policy)));
      }
      return { files: sound, answers };
    } catch (error) {
      throw this.#unreadable(error);
    } finally {
      this.#queries--;
      await this.#removeLeaving();
    }
  }

  async close(): Promise<void> {
    const opened = this.#duckdb;
    this.#duckdb = null;
    // A database that could not be opened needs no closing.
    (await opened?.catch(() => null))?.close();
  }

  async #queryBatch(
    duckdb: DuckDb,
    files: readonly HistoryFile[],
    keys: readonly Uint8Array[],
    policy: number,
  ): Promise<Answer[][]> {
    const { copies } = this.#store.geometry;
    const slotsOf = keys.map((key) => [
      ...new Set(Array.from({ length: copies }, (_, copy) => this.#store.slotOf(key, copy))),
    ]);
    const paths = files.map(({ path }) => path);
    const asked = [...new Set(slotsOf.flat())];
    const found = new Map(
      paths.map((path) => [basename(path), new Map<number, { checksum: number; value: Uint8Array }>()]),
    );
    await duckdb.read(paths, asked, (path, slot, checksum, value) => {
      // DuckDB may write the directory in another form.
      found.get(basename(path))!.set(slot, { checksum, value: value.slice() });
    });
    return keys.map((key, row) => {
      const checksum = this.#store.checksumOf(key);
      return paths.map((path) => this.#decide(found.get(basename(path))!, slotsOf[row]!, checksum, policy));
    });
  }

  #decide(
    rows: ReadonlyMap<number, { checksum: number; value: Uint8Array }>,
    slots: readonly number[],
    checksum: number,
    policy: number,
  ): Answer {
    const candidates = this.#candidates;
    candidates.clear();
    for (const slot of slots) {
      const row = rows.get(slot);
      if (row?.checksum === checksum) candidates.add(row.value, 0);
    }
    const { status, chosen, matching, agreeing } = candidates.decide(policy);
    const { valueBytes, values } = candidates;
    const value = chosen < 0 ? null : values.slice(chosen * valueBytes, (chosen + 1) * valueBytes);
    return { status: STATUS_NAMES[status]!, value, matching, agreeing };
  }

  /** Removes files beyond the retention, once no query reads them. */
  async prune(): Promise<void> {
    const { keepEpochs = Number.POSITIVE_INFINITY, keepBytes = Number.POSITIVE_INFINITY } = this.#options;
    const files = this.#files;
    let first = files.length;
    for (let bytes = 0; first > 0; first--) {
      bytes += files[first - 1]!.bytes;
      const kept = files.length - first;
      if (kept > 0 && (kept >= keepEpochs || bytes > keepBytes)) break;
    }
    this.#leaving.push(...files.slice(0, first));
    this.#files = files.slice(first);
    await this.#removeLeaving();
  }

  async #removeLeaving(): Promise<void> {
    while (this.#queries === 0 && this.#leaving.length > 0) {
      const file = this.#leaving.shift()!;
      this.#sound.delete(file.path);
      await removeHistoryFile(file);
    }
  }

  #unreadable(error: unknown): DartStoreError {
    if (error instanceof DartStoreError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new DartStoreError('ERR_DART_HISTORY', `the history could not be read: ${reason}`, this.#directory, error);
  }

  #engine(): Promise<DuckDb> {
    this.#duckdb ??= DuckDb.open(this.#store.geometry, this.#options.duckdb ?? {}).catch((error: unknown) => {
      this.#duckdb = null;
      throw error;
    });
    return this.#duckdb;
  }

  #metadata(epoch: Checkpointer, to: bigint): Record<string, string> {
    const { geometry, hashes, keyWrites, slotWrites } = epoch.store;
    const { family, slots, checksum, collector } = hashes.parameters;
    return {
      dart_epoch: String(epoch.epoch),
      dart_from_ns: String(epoch.from),
      dart_to_ns: String(to),
      dart_slots: String(geometry.slots),
      dart_value_bytes: String(geometry.valueBytes),
      dart_checksum_bits: String(geometry.checksumBits),
      dart_copies: String(geometry.copies),
      dart_hash_family: family,
      dart_hash_slots: slots.join(' '),
      dart_hash_checksum: String(checksum),
      dart_hash_collector: String(collector),
      dart_key_writes: String(keyWrites),
      dart_slot_writes: String(slotWrites),
    };
  }
}
