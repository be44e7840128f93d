import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DartStore } from '../store/dart-store.js';
import {
  COMMIT_LENGTH,
  chainPage,
  encodeCommit,
  encodeHeader,
  HEADER_LENGTH,
  PAGE_HEADER_LENGTH,
  sealPage,
} from './checkpoint-format.js';
import { checkpointName, readCheckpoint } from './checkpoint-reader.js';
import { publish, UNFINISHED } from './durable.js';
import { DartStoreError } from './errors.js';
import { breathe, Pages } from './pages.js';
import type { RecoveredEpoch } from './recovery.js';

/** Bytes copied per turn of the event loop. This bounds the wait of a writer. */
const SLICE_BYTES = 256 * 1024;
/** Most files of an epoch, because recovery reads all of them. */
const MOST_FILES = 128;
/** Attempts to copy a page that another thread keeps writing. */
const MOST_ROUNDS = 1000;

/** A durable checkpoint. */
export interface CheckpointSummary {
  readonly epoch: bigint;
  readonly sequence: number;
  /** A `base` needs no earlier checkpoints; an `increment` adds to them. */
  readonly kind: 'base' | 'increment';
  readonly pages: number;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Longest time for which it blocked the thread, in milliseconds. */
  readonly longestSlice: number;
  /** Keys and slots written before it began. All of these writes are in it. */
  readonly keyWrites: number;
  readonly slotWrites: number;
}

/** Saves one epoch of one store: a base, then increments, then a new base when the increments outgrow it. */
export class Checkpointer {
  readonly pages: Pages;
  readonly store: DartStore;
  readonly epoch: bigint;
  readonly from: bigint;
  readonly #directory: string;
  /** The `begun` mark of each page when it was last saved; initially, when it was empty. */
  readonly #saved: Int32Array;
  /** Pages that may not be empty. */
  readonly #touched: Uint8Array;
  #files: string[] = [];
  #sequence = 0;
  #baseBytes = -1;
  #incrementBytes = 0;
  #tail: Promise<unknown> = Promise.resolve();

  /** @param store an empty store */
  constructor(directory: string, store: DartStore, epoch: bigint, from: bigint) {
    this.#directory = directory;
    this.store = store;
    this.epoch = epoch;
    this.from = from;
    this.pages = new Pages(store);
    this.#saved = Int32Array.from({ length: this.pages.count }, (_, page) => this.pages.begun(page));
    this.#touched = new Uint8Array(this.pages.count);
  }

  /** Fills the store from the sound parts of its files, oldest first. New files continue their sequence. */
  async recover({ parts, all }: RecoveredEpoch): Promise<void> {
    const { pages, store } = this;
    for (const file of parts) {
      await readCheckpoint(file, store.geometry, (firstSlot, slots, bytes) => {
        pages.restore(firstSlot, bytes ?? new Uint8Array(slots * pages.slotBytes));
        const { from, to } = pages.pagesOf(firstSlot, slots);
        this.#touched.fill(1, from, to + 1);
      });
      if (file.header?.isBase === true) {
        this.#baseBytes = file.bytes;
        this.#incrementBytes = 0;
      } else this.#incrementBytes += file.bytes;
    }
    // The next base must not remove damaged files.
    this.#files = all.filter(({ damage }) => damage === null).map(({ path }) => path);
    this.#sequence = all.reduce((next, { sequence }) => Math.max(next, sequence + 1), 0);
  }

  /** Whether a page may not be empty. */
  isTouched(page: number): boolean {
    return this.#touched[page] === 1 || this.pages.begun(page) !== this.#saved[page];
  }

  /**
   * Writes a checkpoint of all changes since the last one. Only one may run at a time.
   *
   * @param taken the time, ns
   * @param isFinal whether the epoch ends with it; a final checkpoint is written even if nothing has changed
   * @returns null if nothing has changed
   * @throws DartStoreError `ERR_DART_CHECKPOINT`; the next checkpoint then saves the same changes
   */
  run(taken: bigint, isFinal = false): Promise<CheckpointSummary | null> {
    return this.#next(() => this.#write(taken, isFinal, false));
  }

  /** Writes a base, so that nothing depends on a damaged file. @throws DartStoreError `ERR_DART_CHECKPOINT` */
  async repair(taken: bigint, isFinal: boolean): Promise<void> {
    await this.#next(() => this.#write(taken, isFinal, true));
  }

  /** Removes all files of the epoch. */
  async remove(): Promise<void> {
    await this.#tail;
    for (const path of this.#files) await rm(path, { force: true });
    this.#files = [];
  }

  #next<T>(write: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(write);
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #write(taken: bigint, isFinal: boolean, isRepair: boolean): Promise<CheckpointSummary | null> {
    const { pages } = this;
    const changed: number[] = [];
    let held = 0;
    for (let page = 0; page < pages.count; page++) {
      const isChanged = pages.begun(page) !== this.#saved[page];
      if (isChanged) changed.push(page);
      if (isChanged || this.#touched[page] === 1) held++;
    }
    if (changed.length === 0 && !isFinal && !isRepair) return null;
    // Once increments are larger than the base, reading them back costs as much as writing a base.
    const outgrown = this.#incrementBytes + changed.length * pages.pageBytes > this.#baseBytes;
    const isWorthIt = changed.length > 0 && (outgrown || this.#files.length >= MOST_FILES);
    const isBase = isRepair || this.#baseBytes < 0 || changed.length * 2 > held || isWorthIt;
    const selected = isBase ? this.#held() : changed;
    const sequence = this.#sequence++;
    const path = join(this.#directory, checkpointName(this.epoch, sequence));
    try {
      return await this.#save(path, selected, sequence, taken, isBase, isFinal);
    } catch (error) {
      await rm(`${path}${UNFINISHED}`, { force: true });
      const reason = error instanceof Error ? error.message : String(error);
      throw new DartStoreError('ERR_DART_CHECKPOINT', `the checkpoint ${path} was not written: ${reason}`, path, error);
    }
  }

  #held(): number[] {
    const held: number[] = [];
    for (let page = 0; page < this.pages.count; page++) if (this.isTouched(page)) held.push(page);
    return held;
  }

  async #save(
    path: string,
    selected: readonly number[],
    sequence: number,
    taken: bigint,
    isBase: boolean,
    isFinal: boolean,
  ): Promise<CheckpointSummary> {
    const { store, epoch, from, pages } = this;
    const started = performance.now();
    const { keyWrites, slotWrites } = store;
    const { slotBytes, slots } = store.geometry;
    const head = { isBase, isFinal, epoch, sequence, slotBytes, slots, from, taken, keyWrites, slotWrites };
    const file = await open(`${path}${UNFINISHED}`, 'w');
    let body: { pages: number; bytes: number; longestSlice: number };
    const marks = new Int32Array(pages.count);
    try {
      await writeAll(file, encodeHeader(head));
      body = await this.#savePages(file, selected, sequence, isBase, marks);
      await file.sync();
    } finally {
      await file.close();
    }
    await publish(`${path}${UNFINISHED}`, path);
    for (const page of selected) {
      this.#saved[page] = marks[page]!;
      this.#touched[page] = 1;
    }
    await this.#account(path, body.bytes, isBase);
    const milliseconds = performance.now() - started;
    return { epoch, sequence, kind: isBase ? 'base' : 'increment', ...body, milliseconds, keyWrites, slotWrites };
  }

  async #savePages(
    file: FileHandle,
    selected: readonly number[],
    sequence: number,
    isBase: boolean,
    marks: Int32Array,
  ): Promise<{ pages: number; bytes: number; longestSlice: number }> {
    const { pages } = this;
    const recordBytes = PAGE_HEADER_LENGTH + pages.pageBytes;
    const most = Math.max(SLICE_BYTES, recordBytes);
    const buffer = Buffer.allocUnsafe(most);
    const zeros = Buffer.alloc(pages.pageBytes);
    let left: number[] = [...selected];
    let written = 0;
    let bytes = HEADER_LENGTH;
    let chain = 0;
    let longestSlice = 0;
    for (let round = 0; left.length > 0; round++) {
      if (round === MOST_ROUNDS) throw new Error('another thread writes a page without a pause');
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const busy: number[] = [];
      for (let next = 0; next < left.length; ) {
        const begun = performance.now();
        let filled = 0;
        let copied = 0;
        for (; next < left.length && copied + recordBytes <= most; next++) {
          const page = left[next]!;
          const length = pages.copy(page, buffer, filled + PAGE_HEADER_LENGTH);
          copied += recordBytes;
          if (length < 0) {
            busy.push(page);
            continue;
          }
          marks[page] = pages.mark;
          const at = filled + PAGE_HEADER_LENGTH;
          const isEmpty = buffer.compare(zeros, 0, length, at, at + length) === 0;
          // Pages that a base lacks are empty.
          if (isEmpty && isBase) continue;
          const kept = isEmpty ? 0 : length;
          sealPage(buffer, filled, pages.firstSlot(page), pages.slotsOf(page), kept);
          chain = chainPage(chain, buffer, filled);
          filled += PAGE_HEADER_LENGTH + kept;
          written++;
        }
        longestSlice = Math.max(longestSlice, performance.now() - begun);
        if (filled > 0) await writeAll(file, buffer.subarray(0, filled));
        else await breathe();
        bytes += filled;
      }
      left = busy;
    }
    bytes += COMMIT_LENGTH;
    await writeAll(file, encodeCommit(written, chain, bytes, sequence));
    return { pages: written, bytes, longestSlice };
  }

  /** Removes the earlier files after a base, which replaces them. */
  async #account(path: string, bytes: number, isBase: boolean): Promise<void> {
    const superfluous = isBase ? this.#files : [];
    this.#files = isBase ? [path] : [...this.#files, path];
    this.#baseBytes = isBase ? bytes : this.#baseBytes;
    this.#incrementBytes = isBase ? 0 : this.#incrementBytes + bytes;
    for (const old of superfluous) await rm(old, { force: true });
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}
