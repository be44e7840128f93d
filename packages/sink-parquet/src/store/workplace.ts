import { mkdir, open, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning, startOf } from '@int/collector/internals';
import { remove } from './durable.js';
import { MAINTAINER, WRITING } from './layout.js';

/** `<process id>.<its start>-<instance>`. */
const CLAIM = /^(\d+)(?:\.(\d*))?-[0-9a-f]{16}$/;

/** Whether a claim, made at `madeMs`, belongs to a process that has ended. A text that is none does not. */
function isLeft(claim: string, madeMs: number): boolean {
  const [, digits, start = ''] = CLAIM.exec(claim) ?? [];
  if (digits === undefined) return false;
  const pid = Number(digits);
  if (!isRunning(pid)) return true;
  const now = startOf(pid) ?? '';
  if (start !== '' && now !== '') return start !== now;
  // Our own id, but from before our time: in a container every start has the same id. Clocks may have been set since.
  return pid === process.pid && madeMs < Date.now() - process.uptime() * 1000;
}

/** The folder in which one sink writes its files before they are seen, and its claim to be the one that maintains. */
export class Workplace {
  readonly path: string;
  readonly #directory: string;
  readonly #claim: string;
  #isMaintainer = false;

  private constructor(directory: string, path: string, claim: string) {
    this.#directory = directory;
    this.path = path;
    this.#claim = claim;
  }

  /** Makes the folder, and removes those of sinks whose process has ended. */
  static async open(directory: string, instance: string): Promise<Workplace> {
    const all = join(directory, WRITING);
    await mkdir(all, { recursive: true });
    for (const each of await readdir(all)) {
      const made = await stat(join(all, each)).catch(() => null);
      if (made !== null && isLeft(each, made.birthtimeMs)) await rm(join(all, each), { recursive: true, force: true });
    }
    const claim = `${process.pid}.${startOf(process.pid) ?? ''}-${instance}`;
    const path = join(all, claim);
    await mkdir(path);
    return new Workplace(directory, path, claim);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Whether this sink may merge and remove files: one at a time may, until it is closed or its process ends. */
  async maintains(): Promise<boolean> {
    if (this.#isMaintainer) return true;
    const path = join(this.#directory, MAINTAINER);
    for (let attempt = 0; attempt < 2 && !this.#isMaintainer; attempt++) {
      try {
        const handle = await open(path, 'wx');
        await handle.writeFile(this.#claim);
        await handle.close();
        this.#isMaintainer = true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        const made = await stat(path).catch(() => null);
        if (made === null) return false;
        const claim = await readFile(path, 'utf8').catch(() => '');
        // A claim that is none is being written, unless its writer ended in between; the clock may have been set.
        const isOld = Math.abs(Date.now() - made.mtimeMs) > 10_000;
        if (CLAIM.test(claim) ? !isLeft(claim, made.mtimeMs) : !isOld) return false;
        await remove(path);
      }
    }
    return this.#isMaintainer;
  }

  async close(): Promise<void> {
    if (this.#isMaintainer) await remove(join(this.#directory, MAINTAINER));
    this.#isMaintainer = false;
    await rm(this.path, { recursive: true, force: true });
    await rmdir(join(this.#directory, WRITING)).catch(() => undefined);
  }
}
