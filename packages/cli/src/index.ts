/**
 * The `int` command.
 *
 * @packageDocumentation
 */
import { EXIT, type Io } from './io.js';
import { needsOwnThread, runAside } from './p4/command-aside.js';
import { Stopping } from './stopping.js';

export type { Io, Terminal } from './io.js';

/**
 * Runs the command.
 *
 * @param argv in the form of `process.argv`: two entries, then the arguments
 * @param io streams and signals; default: those of the process
 * @returns the exit code: 0 done, 1 errors in the input, 2 an error in the command line, 3 a file, port or peer could
 *   not be opened or reached; 128 + n if signal n came before there was any result
 */
export async function main(argv: readonly string[], io?: Io): Promise<number> {
  if (io === undefined && needsOwnThread(argv)) return runAside(argv);
  const { run } = await import('./run.js');
  if (io !== undefined) return run(argv, io);
  const { stdin, stdout, stderr, env } = process;
  // If standard error is closed, messages are lost.
  stderr.on('error', () => {});
  const stopping = new Stopping((message) => stderr.write(`int: ${message}\n`));
  const { signal, within: drainWithin } = stopping;
  let exitCode: number = EXIT.INPUT;
  try {
    exitCode = await run(argv, { stdin, stdout, stderr, env, signal, drainWithin, onHangup, quit, raise });
    return exitCode;
  } finally {
    stopping.done(exitCode);
  }
}

function quit(): void {
  process.kill(process.pid, 'SIGINT');
}

/** For all processes of the group, as a terminal does. */
function raise(signal: NodeJS.Signals): void {
  process.kill(0, signal);
}

function onHangup(listener: () => void): () => void {
  process.on('SIGHUP', listener);
  return () => process.off('SIGHUP', listener);
}
