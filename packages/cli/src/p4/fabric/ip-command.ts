/** Runs the commands that set up networks: `ip`, `ethtool`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CliError, EXIT } from '../../io.js';

const run = promisify(execFile);
const PATIENCE_MS = 30_000;
const MOST_OUTPUT = 64 << 20;

/** Runs a command. @returns its output @throws CliError (rejects) with what the command says */
export async function ask(program: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], { timeout: PATIENCE_MS, maxBuffer: MOST_OUTPUT });
    return stdout;
  } catch (error) {
    const { code, stderr = '', message } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    const text = `${program} ${args.join(' ')}`;
    if (code === 'ENOENT') {
      throw new CliError(
        `${program} is not installed: hosts in namespaces need the packages iproute2 and ethtool`,
        EXIT.OPEN,
      );
    }
    throw new CliError(`${text}: ${stderr.trim().split('\n')[0] || message}`, EXIT.OPEN, error);
  }
}

/** Runs a command for its effect. @throws CliError (rejects) with what the command says */
export async function command(program: string, ...args: readonly string[]): Promise<void> {
  await ask(program, ...args);
}
