import { mkdir, open, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { remove } from './durable.js';
import { MAINTAINER, WRITING } from './layout.js';

/** Whether a process with this id runs now. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether what bears this process id and was made at `madeMs` belongs to a process that has ended. */
function isLeft(pid: number, madeMs: number): boolean {
  if (!isAlive(pid)) return true;
  // Our own id, but from before our time: in a container every start has the same id.
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
      const pid = Number(/^(\d+)-[0-9a-f]{16}$/.exec(each)?.[1]);
      const made = await stat(join(all, each)).catch(() => null);
      if (made !== null && isLeft(pid, made.birthtimeMs)) await rm(join(all, each), { recursive: true, force: true });
    }
    const claim = `${process.pid}-${instance}`;
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
        const pid = Number((await readFile(path, 'utf8').catch(() => '')).split('-')[0]);
        // An empty claim is being written, unless its writer ended in between.
        const isOld = made !== null && Date.now() - made.mtimeMs > 10_000;
        if (made === null || (pid > 0 ? !isLeft(pid, made.mtimeMs) : !isOld)) return false;
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
