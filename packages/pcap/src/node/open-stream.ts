/**
 * Opens files, pipes and terminals as streams. The calls for files would block a thread until the other side of a pipe
 * opens, and a process does not end before its threads. Here every wait can be aborted.
 */
import { close, constants, createReadStream, fstat, open, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty, ReadStream as TerminalStream } from 'node:tty';
import { promisify } from 'node:util';

const READ_SIZE = 1 << 18;
/** Interval of checks whether a pipe has a reader, in milliseconds. */
const LOOK_MS = 20;

const openFile = promisify(open);
const statOf = promisify(fstat);
const closeFile = promisify(close);
/** Absent on Windows, which has a separate namespace for pipes. */
const NONBLOCK = constants.O_NONBLOCK ?? 0;

async function checked(descriptor: number): Promise<Stats> {
  try {
    const stats = await statOf(descriptor);
    if (!stats.isDirectory()) return stats;
    throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  } catch (error) {
    await closeFile(descriptor);
    throw error;
  }
}

/**
 * Opens a file, a pipe or a terminal for reading. The stream waits for a pipe's writer; destroy it to stop the wait.
 *
 * @throws Node's errors of the file system (as a rejection), `EISDIR` for a directory
 */
export async function openReadable(path: string): Promise<Readable> {
  const descriptor = await openFile(path, constants.O_RDONLY | NONBLOCK);
  const stats = await checked(descriptor);
  if (stats.isFIFO()) return new Socket({ fd: descriptor, readable: true, writable: false });
  if (isatty(descriptor)) return new TerminalStream(descriptor);
  return createReadStream(path, { fd: descriptor, highWaterMark: READ_SIZE });
}

/**
 * Opens a pipe for writing, and waits for a reader.
 *
 * @param signal aborts the wait
 * @returns null if the path is not a pipe
 * @throws Node's errors of the file system, or an `AbortError` (as a rejection)
 */
export async function openWritablePipe(path: string, signal?: AbortSignal): Promise<Writable | null> {
  for (;;) {
    let descriptor: number;
    try {
      descriptor = await openFile(path, constants.O_WRONLY | NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      // No reader yet.
      if (code !== 'ENXIO') throw error;
      await sleep(LOOK_MS, undefined, signal === undefined ? {} : { signal });
      continue;
    }
    const stats = await checked(descriptor);
    if (stats.isFIFO()) return new Socket({ fd: descriptor, readable: false, writable: true });
    await closeFile(descriptor);
    return null;
  }
}
