/**
 * The `int` command.
 *
 * @packageDocumentation
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addCommands, COMMANDS } from './commands/table.js';
import { CliError, EXIT, type Io, sayFailure } from './io.js';

export { EXIT, type Io, type Terminal } from './io.js';

/** Exit code of a process that a second signal ends at once: 128 + SIGINT. */
const KILLED = 130;

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}

/**
 * Runs the command.
 *
 * @param argv as `process.argv`: two entries, then the arguments
 * @param io what to read from and write to; default: the process's own streams and signals
 * @returns the exit code: 0 done, 1 something in the input was wrong, 2 the command line was wrong, 3 a file, port or
 *   peer could not be opened or reached
 */
export async function main(argv: readonly string[], io?: Io): Promise<number> {
  if (io !== undefined) return run(argv, io);
  const stopping = new AbortController();
  const stop = (): void => {
    if (stopping.signal.aborted) process.exit(KILLED);
    stopping.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const { stdin, stdout, stderr, env } = process;
  // Messages have nowhere to go when standard error is closed.
  stderr.on('error', () => {});
  try {
    return await run(argv, { stdin, stdout, stderr, env, signal: stopping.signal, onHangup });
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

function onHangup(listener: () => void): () => void {
  process.on('SIGHUP', listener);
  return () => process.off('SIGHUP', listener);
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.OK;
  const done = (code: number): void => {
    exitCode = code;
  };
  const program = new Command('int');
  program
    .description(
      'In-band Network Telemetry: decode, encode, generate, replay, collect and bridge it, detect events in it, follow its flows, store it, plan its probes, and run the P4 programs that make it',
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'int: ')),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  // Subcommands take over exitOverride and configureOutput at the time they are made.
  await addCommands(program, COMMANDS, wordsOf(argv), io, done);
  hintAtHelp(program, 'int');
  try {
    await program.parseAsync(argv as string[]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return isHelp(error) ? EXIT.OK : EXIT.USAGE;
    if (error instanceof CliError) {
      sayFailure(io, error);
      return error.exitCode;
    }
    throw error;
  }
}

/** The words that may name a command. No option before a command takes a value, and `help` stands before any of them. */
function wordsOf(argv: readonly string[]): string[] {
  return argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'help');
}

/** Tells, after what is wrong with a command line, where to read how it is done. */
function hintAtHelp(command: Command, name: string): void {
  const isGroup = command.commands.length > 0;
  command.showHelpAfterError(
    isGroup ? `(\`${helpOf(name)}\` lists the commands)` : `(\`${name} --help\` lists the options)`,
  );
  for (const each of command.commands) hintAtHelp(each, `${name} ${each.name()}`);
}

/** `int dart` to `int help dart`. */
function helpOf(name: string): string {
  return name.replace(/^int\b/, 'int help');
}

/** Help and version leave commander by an error as well. A bare `int` prints help as an error. */
function isHelp(error: CommanderError): boolean {
  return error.exitCode === 0;
}
