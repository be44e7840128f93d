/** One process at a time writes a directory: two would take each other's files for their own. */
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DartStoreError } from './errors.js';

/** Directories that this process has open; the file cannot tell, its process lives. */
const ours = /* @__PURE__ */ new Set<string>();

/** A number that tells a process from a later one with the same id, where the system has one; else empty. */
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

/** Whether the process that a lock names still runs. */
function isHeld(contents: string): boolean {
  const [pid, start] = contents.split(' ');
  const id = Number(pid);
  if (!(Number.isInteger(id) && id > 0) || id === process.pid || !isAlive(id)) return false;
  return start === startOf(id);
}

/** What the lock says; empty if there is none. */
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

/** @throws DartStoreError `ERR_DART_LOCKED` if somebody writes the directory now */
export function assertUnlocked(directory: string): void {
  const path = join(resolve(directory), 'lock');
  const holder = holderOf(path);
  if (ours.has(path)) throw lockedBy(directory, path, String(process.pid));
  if (isHeld(holder)) throw lockedBy(directory, path, holder);
}

/**
 * Takes a directory.
 *
 * @returns what gives it back
 * @throws DartStoreError `ERR_DART_LOCKED`
 */
export function lock(directory: string): () => void {
  const path = join(resolve(directory), 'lock');
  const own = `${process.pid} ${startOf(process.pid)}`;
  if (ours.has(path)) throw new DartStoreError('ERR_DART_LOCKED', `${directory} is open in this process already`, path);
  // A process that was killed leaves its lock; it is taken over at the second try.
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
