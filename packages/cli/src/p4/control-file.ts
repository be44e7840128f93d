import type { V1Switch } from '@int/p4vm';
import { readText } from '../input/text-file.js';
import { CliError, EXIT, type Io, say } from '../io.js';

const CONTROL_FILE = { name: 'file of commands', mostBytes: 1 << 23 } as const;
/** Most lines. The cost of a line hardly depends on its length, and a limit of bytes alone would allow millions. */
const MOST_LINES = 200_000;
/** Most characters of a command repeated in a message, and most messages about commands. */
const MAX_SHOWN = 200;
const MAX_MESSAGES = 1000;
const LINES_AT_ONCE = 256;

/**
 * The text of a script, a packet test or a file of commands, or of standard input for `-`.
 *
 * @throws CliError if it cannot be read, or is too long
 */
export async function readControlText(path: string, io: Io): Promise<string> {
  const text = await readText(path, CONTROL_FILE, io);
  let lines = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines++;
  if (lines <= MOST_LINES) return text;
  const name = path === '-' ? 'standard input' : path;
  throw new CliError(`${name}: more than ${MOST_LINES} lines: this is no ${CONTROL_FILE.name}`, EXIT.INPUT);
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
  for (const line of linesOf(await readControlText(path, io))) {
    const command = line.trim();
    if (command !== '' && !command.startsWith('#')) yield command;
    // Let signals be handled between commands.
    if (++count % LINES_AT_ONCE === 0) await new Promise(setImmediate);
    if (io.signal.aborted) return;
  }
}

/**
 * Runs the commands of a file on a switch. Reports refused commands on standard error.
 *
 * @returns whether all commands succeeded
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
