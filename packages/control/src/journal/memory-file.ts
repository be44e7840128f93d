import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ControllerMemory, MemoryKeeper } from '../controller/controller-memory.js';
import { ControllerMemoryError } from '../errors.js';
import { sealed, unsealed } from './sealed-text.js';

const VERSION = 1;
const SOON_MS = 1000;

/**
 * What a controller knows, in a file that is replaced as a whole: a kill leaves the one before. It is on the disk before switches are
 * told. What is damaged is an error and never taken as empty, for then all that the loop has made would be removed.
 */
export class ControllerMemoryFile implements MemoryKeeper {
  /** What was there when it was opened; `null`: there was no file. */
  readonly memory: ControllerMemory | null;
  /** Why it could not be written the last time; `null`: it was. */
  error: Error | null = null;
  readonly #path: string;
  #timer: NodeJS.Timeout | null = null;
  #next: (() => ControllerMemory) | null = null;

  /** @throws ControllerMemoryError if it is damaged or of another version; the system's error if it cannot be read */
  constructor(path: string) {
    this.#path = path;
    this.memory = existsSync(path) ? memoryOf(path, readFileSync(path, 'utf8')) : null;
  }

  now(memory: ControllerMemory): void {
    this.#forget();
    const part = `${this.#path}.part`;
    try {
      const file = openSync(part, 'w', 0o640);
      try {
        writeSync(file, `${sealed({ version: VERSION, ...memory })}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(part, this.#path);
      syncFolder(dirname(this.#path));
      this.error = null;
    } catch (error) {
      this.error = error as Error;
    }
  }

  soon(memory: () => ControllerMemory): void {
    this.#next = memory;
    this.#timer ??= setTimeout(() => this.close(), SOON_MS).unref();
  }

  /** Writes what waits. */
  close(): void {
    const next = this.#next;
    this.#forget();
    if (next !== null) this.now(next());
  }

  #forget(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#next = null;
  }
}

/** Makes the name durable as well. Some platforms cannot open a folder; they order the names themselves. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    // Some file systems know no sync of folders.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    closeSync(folder);
  }
}

function memoryOf(path: string, text: string): ControllerMemory {
  const found = unsealed(text.trimEnd()) as (ControllerMemory & { readonly version: number }) | null;
  if (found === null) {
    throw new ControllerMemoryError('ERR_MEMORY_DAMAGED', `${path}: damaged, its checksum does not agree`);
  }
  if (found.version !== VERSION) {
    throw new ControllerMemoryError('ERR_MEMORY_VERSION', `${path}: version ${found.version}, expected ${VERSION}`);
  }
  const { version: _, ...memory } = found;
  return memory;
}
