/** A lock that lets only one process write a directory. */
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DartStoreError } from './errors.js';

/** Directories that this process has open. The lock file cannot show this, because its process is alive. */
const ours = /* @__PURE__ */ new Set<string>();

/** The start time of a process, which tells it from a later process with the same id; empty if the system has none. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process named in a lock is still running. */
function isHeld(contents: string): boolean {
  const [pid, start] = contents.split(' ');
  const id = Number(pid);
  if (!(Number.isInteger(id) && id > 0) || id === process.pid || !isAlive(id)) return false;
  return start === startOf(id);
}

/** The contents of the lock; empty if there is none. */
function holderOf(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    return fstatSync(file).isFile() ? readFileSync(file, 'latin1').slice(0, 64) : '';
  } finally {
    closeSync(file);
  }
}

function lockedBy(directory: string, path: string, holder: string): DartStoreError {
  return new DartStoreError('ERR_DART_LOCKED', `${directory} is open in process ${holder.split(' ')[0]}`, path);
}

/** @throws DartStoreError `ERR_DART_LOCKED` if a process has the directory open */
export function assertUnlocked(directory: string): void {
  const path = join(resolve(directory), 'lock');
  const holder = holderOf(path);
  if (ours.has(path)) throw lockedBy(directory, path, String(process.pid));
  if (isHeld(holder)) throw lockedBy(directory, path, holder);
}

/**
 * Locks a directory.
 *
 * @returns a function that unlocks it
 * @throws DartStoreError `ERR_DART_LOCKED`
 */
export function lock(directory: string): () => void {
  const path = join(resolve(directory), 'lock');
  const own = `${process.pid} ${startOf(process.pid)}`;
  if (ours.has(path)) throw new DartStoreError('ERR_DART_LOCKED', `${directory} is open in this process already`, path);
  // A killed process leaves its lock; the second try takes it over.
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(path, own, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || tries > 2) throw error;
    }
    const holder = holderOf(path);
    if (isHeld(holder)) throw lockedBy(directory, path, holder);
    rmSync(path, { force: true });
  }
  ours.add(path);
  return () => {
    ours.delete(path);
    rmSync(path, { force: true });
  };
}
