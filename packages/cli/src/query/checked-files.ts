/**
 * A cache of the history files that were verified, kept between commands: one file per history in the user's cache
 * folder. Without it, every command reads all files.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { crc32 } from 'node:zlib';
import { readRegular } from '../input/text-file.js';
import type { Io } from '../io.js';

const KIND = { name: 'cache', mostBytes: 1 << 28 } as const;
const VERSION = 1;

/** The system's folder for caches; null if the environment names none. */
function cacheFolder({ XDG_CACHE_HOME, LOCALAPPDATA, HOME }: Io['env']): string | null {
  if ((XDG_CACHE_HOME ?? '') !== '') return XDG_CACHE_HOME!;
  if (process.platform === 'win32') return LOCALAPPDATA ?? null;
  if ((HOME ?? '') === '') return null;
  return join(HOME!, process.platform === 'darwin' ? join('Library', 'Caches') : '.cache');
}

interface Contents {
  readonly version: number;
  readonly directory: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Verified files by path, with a signature of their content. */
export class CheckedFiles {
  readonly #directory: string;
  readonly #path: string | null;
  readonly #before: ReadonlyMap<string, string>;
  readonly #now = new Map<string, string>();
  /** Tables whose files were all checked; other files of these tables are gone. */
  readonly #tables = new Set<string>();
  #isChanged = false;

  private constructor(directory: string, path: string | null, before: ReadonlyMap<string, string>) {
    this.#directory = directory;
    this.#path = path;
    this.#before = before;
  }

  static async open(directory: string, io: Io): Promise<CheckedFiles> {
    const full = resolve(directory);
    const folder = cacheFolder(io.env);
    if (folder === null) return new CheckedFiles(full, null, new Map());
    const name = `${crc32(full).toString(16).padStart(8, '0')}.json`;
    const path = join(folder, 'int', 'checked', name);
    try {
      const contents = JSON.parse(String(await readRegular(path, KIND))) as Contents;
      const isOurs = contents.version === VERSION && contents.directory === full;
      return new CheckedFiles(full, path, new Map(isOurs ? Object.entries(contents.files) : []));
    } catch {
      // A missing or invalid cache counts as empty.
      return new CheckedFiles(full, path, new Map());
    }
  }

  get(path: string): string | undefined {
    this.#tables.add(this.#tableOf(path));
    const known = this.#before.get(path);
    if (known !== undefined) this.#now.set(path, known);
    return known;
  }

  set(path: string, content: string): void {
    this.#tables.add(this.#tableOf(path));
    this.#now.set(path, content);
    this.#isChanged = true;
  }

  #tableOf(path: string): string {
    return relative(this.#directory, path).split(sep)[0]!;
  }

  /** Saves the cache, if possible. */
  async save(): Promise<void> {
    if (this.#path === null || !this.#isChanged) return;
    const others = [...this.#before].filter(([path]) => !this.#tables.has(this.#tableOf(path)));
    const files = Object.fromEntries([...others, ...this.#now]);
    const contents: Contents = { version: VERSION, directory: this.#directory, files };
    const unfinished = `${this.#path}.${process.pid}`;
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFile(unfinished, JSON.stringify(contents));
      await rename(unfinished, this.#path);
    } catch {
      await rm(unfinished, { force: true }).catch(() => {});
    }
  }
}
