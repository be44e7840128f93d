import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { isRunning, startOf } from './processes.js';

/**
 * Who holds a folder: a file for each process that does or wants to. Of a process that can be asked for here, the system
 * says whether it is alive. One of another container or machine writes its file anew every second.
 */
interface Holder {
  readonly pid: number;
  /** When the process began, in ticks since the machine did: numbers of processes are used again. Null: not known. */
  readonly started: string | null;
  /** The machine's start and the process's namespace: where the number means this process. Null: not known. */
  readonly where: string | null;
  /** Its machine or container, for people. */
  readonly host: string;
}

const NAME = /^lock\.[0-9a-f-]{36}$/;
const BEAT_MS = 1000;
/** A holder elsewhere counts as gone after this silence. */
const SILENT_MS = 10_000;
/** Others may want the folder at the same moment: all of them step back, and try again at different times. */
const TRIES = 5;
const PAUSE_MS = 20;

/** Folders that this process uses. */
const held = /* @__PURE__ */ new Set<string>();

/**
 * Locks a folder for this process. The lock of a process that has ended is taken over.
 * @param inUse makes the error that is thrown if it is in use: `process 17`, with the machine if that is another
 * @returns a function that releases the folder
 * @throws the system's errors, too
 */
export function lockFolder(directory: string, inUse: (who: string, folder: string) => Error): () => void {
  const folder = resolve(directory);
  if (held.has(folder)) throw inUse(`this process (${process.pid})`, folder);
  const path = join(folder, `lock.${randomUUID()}`);
  for (let tries = 1; ; tries++) {
    writeFileSync(path, JSON.stringify(self()), { flag: 'wx' });
    // Mine is there before I look for others: of two that do so, at least one sees the other.
    const other = otherHolder(folder, path);
    if (other === null) break;
    rmSync(path, { force: true });
    if (tries === TRIES) throw inUse(other, folder);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS * (1 + Math.random()));
  }
  held.add(folder);
  const beat = setInterval(() => {
    try {
      utimesSync(path, new Date(), new Date());
    } catch {
      // The folder is gone, or cannot be written: others will see to that.
    }
  }, BEAT_MS);
  beat.unref();
  return () => {
    clearInterval(beat);
    held.delete(folder);
    rmSync(path, { force: true });
  };
}

/** Somebody else who holds the folder, in words; what those have left who are gone is removed. */
function otherHolder(folder: string, own: string): string | null {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!NAME.test(name) || path === own) continue;
    const holder = read(path);
    // Not yet written: its writer checks ours afterwards.
    if (holder === null && !isSilent(path)) continue;
    if (holder !== null && isAlive(holder, path)) {
      return holder.where === self().where
        ? `process ${holder.pid}`
        : `process ${holder.pid} of another container or machine${holder.host === '' ? '' : `, ${holder.host},`}`;
    }
    // Somebody else may be faster.
    rmSync(path, { force: true });
  }
  return null;
}

/** @returns null: it is gone, or not written as a whole */
function read(path: string): Holder | null {
  try {
    const { pid, started, where, host } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof pid === 'number' && pid > 0
      ? { pid, started: started ?? null, where: where ?? null, host: String(host ?? '').replace(/[^\w.-]/g, '') }
      : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, started, where }: Holder, path: string): boolean {
  if (where !== self().where) return !isSilent(path);
  return started === null ? isRunning(pid) : startOf(pid) === started;
}

/** Whether nobody has written a file for long, or it is gone. */
function isSilent(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs >= SILENT_MS;
  } catch {
    return true;
  }
}

function self(): Holder {
  return { pid: process.pid, started: startOf('self'), where: whereOf(), host: hostname() };
}

function whereOf(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}
