import { readFile } from 'node:fs/promises';
import type { V1Switch } from '@int/p4vm';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';

/**
 * The text of a file, or of standard input for `-`.
 *
 * @throws CliError if it cannot be read
 */
export async function readText(path: string, io: Io): Promise<string> {
  try {
    if (path !== '-') return await readFile(path, 'utf8');
    const chunks: Uint8Array[] = [];
    for await (const chunk of io.stdin) chunks.push(chunk as Uint8Array);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
}

/**
 * The commands of a file, one a line, without blank lines and comments (`#`).
 *
 * @throws CliError if it cannot be read
 */
export async function readCommands(path: string, io: Io): Promise<string[]> {
  const lines = (await readText(path, io)).split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * Gives a switch the commands of a file. Those it refuses are told on standard error.
 *
 * @returns whether it took all of them
 * @throws CliError if the file cannot be read
 */
export async function runCommands(target: V1Switch, path: string, io: Io): Promise<boolean> {
  let isFine = true;
  for (const command of await readCommands(path, io)) {
    const { error } = target.command(command);
    if (error === undefined) continue;
    say(io, `${path}: ${command}: ${error.message}`);
    isFine = false;
  }
  return isFine;
}
