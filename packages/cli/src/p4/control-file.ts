import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import type { V1Switch } from '@int/p4vm';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';

/** Bytes of a file of commands, a script or a packet test. */
const MAX_BYTES = 1 << 23;
/** Characters of a command that a message repeats, and messages about commands. */
const MAX_SHOWN = 200;
const MAX_MESSAGES = 1000;
const LINES_AT_ONCE = 256;

/**
 * The text of a file, or of standard input for `-`. A signal ends it where it is.
 *
 * @throws CliError if it cannot be read, or is too long
 */
export async function readText(path: string, io: Io): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const input: Readable = path === '-' ? io.stdin : createReadStream(path);
    for await (const chunk of addAbortSignal(io.signal, input)) {
      chunks.push(chunk as Uint8Array);
      length += (chunk as Uint8Array).length;
      if (length > MAX_BYTES) throw new CliError(`${path}: it is longer than ${MAX_BYTES} bytes`, EXIT.INPUT);
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (!io.signal.aborted) throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The lines of a text, one at a time. */
export function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? undefined : end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (end === -1) return;
    from = end + 1;
  }
}

/**
 * The commands of a file, one a line, without blank lines and comments (`#`).
 *
 * @throws CliError if it cannot be read
 */
export async function* readCommands(path: string, io: Io): AsyncGenerator<string> {
  let count = 0;
  for (const line of linesOf(await readText(path, io))) {
    const command = line.trim();
    if (command !== '' && !command.startsWith('#')) yield command;
    // Signals are seen between commands.
    if (++count % LINES_AT_ONCE === 0) await new Promise(setImmediate);
    if (io.signal.aborted) return;
  }
}

/**
 * Gives a switch the commands of a file. Those it refuses are told on standard error.
 *
 * @returns whether it took all of them
 * @throws CliError if the file cannot be read
 */
export async function runCommands(target: V1Switch, path: string, io: Io): Promise<boolean> {
  let refused = 0;
  for await (const command of readCommands(path, io)) {
    const { error } = target.command(command);
    if (error === undefined || ++refused > MAX_MESSAGES) continue;
    const shown = command.length <= MAX_SHOWN ? command : `${command.slice(0, MAX_SHOWN)}...`;
    say(io, `${path}: ${shown}: ${error.message}`);
  }
  if (refused > MAX_MESSAGES) say(io, `${path}: ${refused - MAX_MESSAGES} more were refused`);
  return refused === 0;
}
