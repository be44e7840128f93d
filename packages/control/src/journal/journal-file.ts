import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { entryOf, type JournalEntry, lineOf } from './journal-entry.js';

export interface JournalFileOptions {
  /** Size at which the file is put aside, as `<path>.1` and so on. 16 MiB by default. */
  readonly maxBytes?: number;
  /** Files that are kept, the one that is written to included. 4 by default. */
  readonly files?: number;
}

/** What became of entries that a file was given, and what was found in it. */
export interface JournalFileStatistics {
  readonly written: number;
  /** Entries that wait for the disk. */
  readonly pending: number;
  readonly dropped: {
    /** The disk is too slow: more waits than memory is meant for. */
    readonly full: number;
    /** The file could not be written; see `error`. */
    readonly failed: number;
  };
  /** Lines that could not be read when it was opened: cut off, or changed. */
  readonly damaged: number;
  readonly error: string | undefined;
}

/** Bytes that wait for the disk, at most. */
const PENDING_BYTES = 8 << 20;
/** Longest line that is read. */
const LINE_BYTES = 1 << 20;

/** Lines of JSON in files of bounded size. Lines are only ever appended; a line that a kill has cut off stays alone. */
export class JournalFile {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #files: number;
  #handle: FileHandle;
  #bytes: number;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  readonly #counts = { written: 0, full: 0, failed: 0, damaged: 0 };
  #error: string | undefined;

  private constructor(
    path: string,
    handle: FileHandle,
    bytes: number,
    { maxBytes = 16 << 20, files = 4 }: JournalFileOptions,
  ) {
    this.#path = path;
    this.#handle = handle;
    this.#bytes = bytes;
    this.#maxBytes = maxBytes;
    this.#files = files;
  }

  /**
   * Opens a journal, and tells each entry that is in its files, oldest first.
   *
   * @throws RangeError for options out of range; the system's error if a file cannot be read or written
   */
  static async open(
    path: string,
    options: JournalFileOptions,
    onEntry: (entry: JournalEntry) => void,
  ): Promise<JournalFile> {
    const { maxBytes = 16 << 20, files = 4 } = options;
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 4096)
      throw new RangeError(`maxBytes is ${maxBytes}, and 4096 is the least`);
    if (!Number.isSafeInteger(files) || files < 1) throw new RangeError(`files is ${files}, and 1 is the least`);
    let damaged = 0;
    let isCut = false;
    for (let number = files - 1; number >= 0; number--) {
      isCut = false;
      for await (const { text, isWhole } of linesOf(nameOf(path, number))) {
        const entry = isWhole ? entryOf(text) : null;
        if (entry === null) damaged++;
        else onEntry(entry);
        isCut = !isWhole;
      }
    }
    const handle = await open(path, 'a', 0o640);
    const { size } = await handle.stat();
    const file = new JournalFile(path, handle, size, options);
    file.#counts.damaged = damaged;
    if (isCut) file.#push('');
    return file;
  }

  get statistics(): JournalFileStatistics {
    const { written, full, failed, damaged } = this.#counts;
    return { written, pending: this.#waiting.length, dropped: { full, failed }, damaged, error: this.#error };
  }

  append(entry: JournalEntry): void {
    const line = lineOf(entry);
    if (this.#waitingBytes + line.length > PENDING_BYTES) {
      this.#counts.full++;
      return;
    }
    this.#push(line);
  }

  /** After all that was given is on its way to the disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#handle.sync().catch(() => {});
    await this.#handle.close();
  }

  #push(line: string): void {
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#writing ??= this.#write();
  }

  async #write(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#waitingBytes = 0;
      const entries = lines.filter((line) => line !== '').length;
      try {
        const text = Buffer.from(`${lines.join('\n')}\n`);
        if (this.#bytes > 0 && this.#bytes + text.length > this.#maxBytes) await this.#putAside();
        await this.#handle.appendFile(text);
        this.#bytes += text.length;
        this.#counts.written += entries;
        this.#error = undefined;
      } catch (error) {
        // Part of it may be in the file: what comes next begins with a line of its own.
        this.#counts.failed += entries;
        this.#error = error instanceof Error ? error.message : String(error);
        this.#waiting.unshift('');
        if (this.#waiting.length === 1) break;
      }
    }
    this.#writing = undefined;
  }

  async #putAside(): Promise<void> {
    await this.#handle.close();
    await rm(nameOf(this.#path, this.#files - 1), { force: true });
    for (let number = this.#files - 2; number >= 0; number--) {
      await rename(nameOf(this.#path, number), nameOf(this.#path, number + 1)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
    this.#handle = await open(this.#path, 'a', 0o640);
    this.#bytes = (await stat(this.#path)).size;
  }
}

const nameOf = (path: string, number: number): string => (number === 0 ? path : `${path}.${number}`);

/** Lines of a file, of bounded length; none if it does not exist. The last one is not whole if it has no end. */
async function* linesOf(path: string): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found?.isFile() !== true) return;
  let rest = Buffer.alloc(0);
  let isTooLong = false;
  for await (const chunk of createReadStream(path)) {
    let data = Buffer.concat([rest, chunk as Buffer]);
    for (let end = data.indexOf(10); end !== -1; end = data.indexOf(10)) {
      // An empty line ends one that was cut off.
      if (isTooLong || end > 0) yield { text: data.toString('utf8', 0, isTooLong ? 0 : end), isWhole: true };
      isTooLong = false;
      data = data.subarray(end + 1);
    }
    if (data.length > LINE_BYTES) isTooLong = true;
    rest = isTooLong ? Buffer.alloc(0) : data;
  }
  if (rest.length > 0 || isTooLong) yield { text: '', isWhole: false };
}
