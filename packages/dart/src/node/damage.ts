/**
 * Damaged files of a store. The writer of the store renames them. They are then no longer part of the store, but people
 * can still examine them.
 */
import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ScannedCheckpoint } from './checkpoint-reader.js';
import { syncDirectory } from './durable.js';
import type { EpochStatistics } from './epoch-options.js';
import { DartStoreError } from './errors.js';
import type { History } from './history.js';
import { sidecarOf, type UnsoundFile } from './history-file.js';

/** Suffix of a file that was set aside; a number follows if the name was taken. */
const SET_ASIDE = '.damaged';
const SET_ASIDE_NAME = /^(\d{20})(?:-\d{10})?\.(ckpt|parquet|json)\.damaged(?:\.\d+)?$/;

/** A damaged file of a store. */
export interface DamagedFile {
  /** Its present path. */
  readonly path: string;
  /** The epoch in its name. */
  readonly epoch: bigint;
  readonly kind: 'checkpoint' | 'history';
  /** A description of the damage. */
  readonly reason: string;
  /** Slots in its sound parts; these have been read. */
  readonly soundSlots: number;
  /** Whether it has been renamed and is no longer part of the store. */
  readonly isSetAside: boolean;
}

/** The files of a directory that were set aside. */
export async function listSetAside(directory: string): Promise<DamagedFile[]> {
  const names = (await readdir(directory)).sort();
  return names.flatMap((name): DamagedFile[] => {
    const [, epoch, ending] = SET_ASIDE_NAME.exec(name) ?? [];
    if (epoch === undefined) return [];
    // A description counts only if its Parquet file is gone.
    if (ending === 'json' && names.some((other) => other.startsWith(`${epoch}.parquet.damaged`))) return [];
    const kind = ending === 'ckpt' ? 'checkpoint' : 'history';
    const reason = 'it was found damaged, and set aside';
    return [{ path: join(directory, name), epoch: BigInt(epoch), kind, reason, soundSlots: 0, isSetAside: true }];
  });
}

/**
 * Renames a file so that it is no longer part of the store. Nobody else may write the directory.
 * @returns its new path
 */
async function setAside(path: string): Promise<string> {
  const directory = dirname(path);
  const taken = new Set(await readdir(directory));
  const free = (tries: number): string => {
    const name = `${basename(path)}${SET_ASIDE}${tries === 0 ? '' : `.${tries}`}`;
    return taken.has(name) ? free(tries + 1) : name;
  };
  const aside = join(directory, free(0));
  await rename(path, aside);
  await syncDirectory(directory);
  return aside;
}

/** Renames damaged files and lists them. */
export class DamageLog {
  /** The damaged files. Those set aside before come first. */
  readonly files: DamagedFile[] = [];
  readonly #statistics: EpochStatistics;
  readonly #report: (error: Error) => void;

  constructor(statistics: EpochStatistics, report: (error: Error) => void) {
    this.#statistics = statistics;
    this.#report = report;
  }

  async checkpoint({ path, epoch, damage, slots }: ScannedCheckpoint): Promise<void> {
    const moved = await setAside(path);
    this.#statistics.damagedCheckpoints++;
    this.#add(path, {
      path: moved,
      epoch,
      kind: 'checkpoint',
      reason: damage ?? '',
      soundSlots: slots,
      isSetAside: true,
    });
  }

  /** Sets aside both files of an epoch. */
  async history({ path, epoch, reason }: UnsoundFile): Promise<void> {
    const moved: string[] = [];
    for (const each of [path, sidecarOf(path)]) {
      try {
        moved.push(await setAside(each));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    this.#statistics.damagedHistory++;
    this.#add(path, { path: moved[0] ?? path, epoch, kind: 'history', reason, soundSlots: 0, isSetAside: true });
  }

  /** Sets aside files that a query has found damaged. Another query may have found them, too. */
  async unsound(history: History, files: readonly UnsoundFile[]): Promise<void> {
    for (const file of files) if (history.forget(file.path)) await this.history(file);
  }

  #add(path: string, file: DamagedFile): void {
    this.files.push(file);
    const { kind, reason, soundSlots } = file;
    const kept = kind === 'checkpoint' ? `; ${soundSlots} slots of it are sound, and kept` : '';
    const message = `${path} is damaged: ${reason}${kept}. The file is ${file.path} now`;
    this.#report(new DartStoreError('ERR_DART_DAMAGED', message, file.path));
  }
}
