/** Reading text files of the user: rules, configurations, topologies, scripts. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CliError, EXIT, type Io, openFailure } from '../io.js';
import { interruptedCode } from '../stopping.js';

/** The kind of file expected. */
export interface TextKind {
  /** Name for messages, such as `rules file`. */
  readonly name: string;
  readonly mostBytes: number;
  /** Exit code if it is larger; default 1. */
  readonly tooLargeCode?: number;
}

const PIECE = 1 << 16;

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a pipe';
  return stats.isDirectory() ? 'a folder' : 'a device';
}

function tooLarge(path: string, { name, mostBytes, tooLargeCode = EXIT.INPUT }: TextKind): CliError {
  return new CliError(`${path}: more than ${mostBytes} bytes: this is no ${name}`, tooLargeCode);
}

/** Opens a regular file without waiting. @throws CliError */
async function openRegular(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined;
  let refusal = '';
  try {
    // Opening a pipe without a writer would block.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (stats.isFile()) return file;
    refusal = `it is ${kindOf(stats)}: give a regular file, or - for standard input`;
  } catch (error) {
    throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
  await file.close();
  throw new CliError(`cannot open ${path}: ${refusal}`, EXIT.OPEN);
}

/**
 * Reads a whole regular file, or less if a signal comes meanwhile.
 *
 * @throws CliError (rejects): 3 if it cannot be opened or read, or is not a regular file; 1 if it is too large
 */
export async function readRegular(path: string, kind: TextKind, signal?: AbortSignal): Promise<Buffer> {
  const file = await openRegular(path);
  try {
    const pieces: Buffer[] = [];
    let size = 0;
    // The system's size is not reliable: some files have more, and some grow.
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE);
      if (bytesRead === 0 || signal?.aborted === true) return Buffer.concat(pieces);
      size += bytesRead;
      if (size > kind.mostBytes) throw tooLarge(path, kind);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  } finally {
    await file.close();
  }
}

async function readInput(input: Readable, kind: TextKind, { signal }: Io): Promise<Buffer> {
  const stop = (): void => void input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of input as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > kind.mostBytes) throw tooLarge('standard input', kind);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    // A stream closed by a signal fails, too.
    if (!signal.aborted) throw new CliError(`cannot read standard input: ${openFailure(error)}`, EXIT.OPEN, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(pieces);
}

/**
 * Reads a whole regular file, or standard input for `-`, as UTF-8.
 *
 * @throws CliError (rejects) like {@link readRegular}; with the code of a signal if one came before the end
 */
export async function readText(path: string, kind: TextKind, io: Io): Promise<string> {
  const bytes = path === '-' ? await readInput(io.stdin, kind, io) : await readRegular(path, kind, io.signal);
  if (io.signal.aborted) throw new CliError(`interrupted before the ${kind.name} was read`, interruptedCode(io));
  return bytes.toString();
}
