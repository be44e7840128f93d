import type { WrittenChanges } from '../reconcile/reconciler-state.js';
import type { JournalEntry } from './journal-entry.js';
import { JournalFile, type JournalFileOptions, type JournalFileStatistics } from './journal-file.js';
import { type Undo, undoOf } from './undo.js';

export interface JournalOptions {
  /** Entries that are kept in memory, the last ones. 10,000 by default. */
  readonly entries?: number;
  /** Hears of each new entry. */
  readonly onEntry?: (entry: JournalEntry) => void;
}

/** Every change of switches: who wanted it and why, when it was, what was there before and after, and what became of it. */
export class Journal {
  readonly #most: number;
  readonly #onEntry: ((entry: JournalEntry) => void) | undefined;
  #entries: JournalEntry[] = [];
  #nextId = 1;
  #file: JournalFile | undefined;

  /** A journal in memory alone; see {@link Journal.open}. @throws RangeError */
  constructor({ entries = 10_000, onEntry }: JournalOptions = {}) {
    if (!Number.isSafeInteger(entries) || entries < 1)
      throw new RangeError(`entries is ${entries}, and 1 is the least`);
    this.#most = entries;
    this.#onEntry = onEntry;
  }

  /**
   * A journal in files, with what they hold: lines of JSON, one for each entry.
   *
   * @throws RangeError; the system's error if a file cannot be read or written
   */
  static async open(path: string, options: JournalOptions & JournalFileOptions = {}): Promise<Journal> {
    const journal = new Journal(options);
    journal.#file = await JournalFile.open(path, options, (entry) => {
      journal.#nextId = Math.max(journal.#nextId, entry.id + 1);
      journal.#remember(entry);
    });
    return journal;
  }

  /** The last entries, oldest first. */
  get entries(): readonly JournalEntry[] {
    return this.#entries.slice(-this.#most);
  }

  /** What became of entries on their way to the file, and how many lines of it are damaged; undefined without one. */
  get file(): JournalFileStatistics | undefined {
    return this.#file?.statistics;
  }

  /** Writes down what `onWritten` of a Reconciler tells. */
  record({ switchId, atMs, cause, results }: WrittenChanges): readonly JournalEntry[] {
    const request = this.#nextId;
    return results.map(({ change, place, result, message }) => {
      const { type, before, after, intents } = change;
      const id = this.#nextId++;
      const entry: JournalEntry = {
        id,
        request,
        atMs,
        cause,
        intents,
        switchId,
        place,
        type,
        before,
        after,
        result,
        message,
      };
      this.#remember(entry);
      this.#file?.append(entry);
      this.#onEntry?.(entry);
      return entry;
    });
  }

  /**
   * The changes that restore what was before some entries, the last one first. They are refused where a later change has touched
   * the same entity, unless what stands there is the same again.
   */
  undo(...ids: readonly number[]): Undo {
    return undoOf(this.entries, ids);
  }

  /** After all entries are on their way to the disk. */
  async flush(): Promise<void> {
    await this.#file?.flush();
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #remember(entry: JournalEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#most) this.#entries = this.#entries.slice(-this.#most);
  }
}
