/** Which files of a store are as they were written. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { faultOf, sumInName } from '../store/checksum.js';

/** A file that contributes nothing to the answers. */
export interface LeftOutFile {
  readonly path: string;
  /** Why, in words. */
  readonly reason: string;
}

/**
 * Remembers files that were as they were written, by path: which content, as `stat` tells it, that was. A `Map` does for
 * the time of a process.
 */
export interface CheckedFiles {
  get(path: string): string | undefined;
  set(path: string, content: string): unknown;
}

/** What is changed so shortly before it is looked at may be changed once more without another time. */
const SETTLED_MS = 2000;

/** What came of looking at files. */
export interface Verified {
  readonly damaged: readonly LeftOutFile[];
  /** Files that have no checksum. */
  readonly unchecked: number;
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** Holds files against their checksums. */
export class Verification {
  readonly #checked: CheckedFiles;
  readonly #isTrusting: boolean;
  readonly #onProgress: (done: number, total: number) => void;

  /**
   * @param isTrusting whether files are left alone that were checked before and have not changed since
   * @param onProgress told bytes; may throw, which ends it
   */
  constructor(checked: CheckedFiles, isTrusting: boolean, onProgress: (done: number, total: number) => void) {
    this.#checked = checked;
    this.#isTrusting = isTrusting;
    this.#onProgress = onProgress;
  }

  /** @throws errors of the file system, as Node gives them; not for files that are gone meanwhile */
  async run(paths: readonly string[]): Promise<Verified> {
    const due: { readonly path: string; readonly content: string; readonly isSettled: boolean }[] = [];
    let unchecked = 0;
    let total = 0;
    for (const path of paths) {
      const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
        if (isGone(error)) return null;
        throw error;
      });
      if (stats === null) continue;
      const { dev, ino, size, mtimeNs, ctimeNs } = stats;
      if (sumInName(basename(path)) === null) unchecked++;
      const content = `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
      if (this.#isTrusting && this.#checked.get(path) === content) continue;
      const isSettled = Math.abs(Date.now() - Number(ctimeNs / 1_000_000n)) > SETTLED_MS;
      due.push({ path, content, isSettled });
      total += Number(size);
    }
    const damaged: LeftOutFile[] = [];
    let done = 0;
    const onBytes = (bytes: number): void => {
      done += bytes;
      this.#onProgress(done, total);
    };
    for (const { path, content, isSettled } of due) {
      const reason = await faultOf(path, sumInName(basename(path)), onBytes).catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
      if (reason === undefined) continue;
      if (reason !== null) damaged.push({ path, reason });
      else if (isSettled) this.#checked.set(path, content);
    }
    return { damaged, unchecked };
  }
}
