import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addCommands, COMMANDS } from './commands/table.js';
import { CliError, EXIT, type Io, sayFailure } from './io.js';

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}

/** Runs the command with the caller's streams and signals. Returns the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
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
  // Subcommands copy exitOverride and configureOutput when they are made.
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

/** The words that may name a command. No option before a command takes a value, and `help` precedes all commands. */
function wordsOf(argv: readonly string[]): string[] {
  return argv.slice(2).filter((word) => !word.startsWith('-') && word !== 'help');
}

/** Adds a reference to the help after an error in the command line. */
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

/** Commander throws errors for help and version, too. A bare `int` prints help as an error. */
function isHelp(error: CommanderError): boolean {
  return error.exitCode === 0;
}
