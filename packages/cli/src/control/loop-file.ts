/** A file of lines that does not grow without end, on the disk or in memory. */
import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';

/** Size at which the file is put aside as `<path>.1`, in place of the one before. */
const MOST_BYTES = 64 << 20;
/** Bytes that wait for a slow disk. */
const MOST_WAITING = 8 << 20;

export class LoopFile {
  /** Lines that a slow disk had no time for. */
  dropped = 0;
  /** Why it cannot be written; `null`: it can. */
  failure: Error | null = null;
  readonly #path: string;
  readonly #mostBytes: number;
  #file: WriteStream;
  #bytes: number;

  private constructor(path: string, file: WriteStream, bytes: number, mostBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#bytes = bytes;
    this.#mostBytes = mostBytes;
    this.#watch(file);
  }

  /** @throws the system's error (rejects) */
  static async open(path: string, mostBytes = MOST_BYTES): Promise<LoopFile> {
    const file = createWriteStream(path, { flags: 'a' });
    await new Promise<void>((resolve, reject) => {
      file.once('open', () => resolve());
      file.once('error', reject);
    });
    return new LoopFile(path, file, statSync(path).size, mostBytes);
  }

  write(line: string): void {
    if (this.failure !== null || this.#file.writableLength > MOST_WAITING) {
      this.dropped++;
      return;
    }
    if (this.#bytes >= this.#mostBytes) this.#putAside();
    this.#bytes += Buffer.byteLength(line) + 1;
    this.#file.write(`${line}\n`);
  }

  /** After what was written. */
  async close(): Promise<void> {
    if (this.failure !== null) return;
    await new Promise<void>((resolve) => {
      this.#file.once('error', () => resolve());
      this.#file.end(() => resolve());
    });
  }

  #putAside(): void {
    try {
      // What waits goes to the file that is put aside, whatever its name.
      renameSync(this.#path, `${this.#path}.1`);
      this.#file.end();
      this.#file = createWriteStream(this.#path, { flags: 'a' });
      this.#watch(this.#file);
      this.#bytes = 0;
    } catch (error) {
      this.failure = error as Error;
    }
  }

  #watch(file: WriteStream): void {
    file.on('error', (error) => {
      this.failure = error;
    });
  }
}
