/**
 * Files as streams, whatever they are. To open or to read a pipe with the calls for files keeps a thread of the process
 * waiting for the other side, and a process does not end before its threads; here nothing waits that cannot be ended.
 */
import { close, constants, createReadStream, fstat, open, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty, ReadStream as TerminalStream } from 'node:tty';
import { promisify } from 'node:util';

const READ_SIZE = 1 << 18;
/** Between two looks whether a pipe has got a reader, in milliseconds. */
const LOOK_MS = 20;

const openFile = promisify(open);
const statOf = promisify(fstat);
const closeFile = promisify(close);
/** Not there on Windows, whose pipes have names of their own. */
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
 * Opens a file, a pipe or a terminal for reading. A pipe is waited for by the stream: destroy it to stop that.
 *
 * @throws errors of the file system as Node gives them (rejects), `EISDIR` for a directory
 */
export async function openReadable(path: string): Promise<Readable> {
  const descriptor = await openFile(path, constants.O_RDONLY | NONBLOCK);
  const stats = await checked(descriptor);
  if (stats.isFIFO()) return new Socket({ fd: descriptor, readable: true, writable: false });
  if (isatty(descriptor)) return new TerminalStream(descriptor);
  return createReadStream(path, { fd: descriptor, highWaterMark: READ_SIZE });
}

/**
 * Opens a pipe for writing, and waits until somebody reads from it.
 *
 * @param signal ends the waiting
 * @returns null if the path is that of no pipe
 * @throws errors of the file system as Node gives them, an `AbortError` (rejects)
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
