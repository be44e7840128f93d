import {
  type BuildResult,
  createSwitch,
  formatDiagnostic,
  type IrProgram,
  type SwitchEnvironment,
  type V1Switch,
} from '@int/p4vm';
import { checkProgramFile } from '@int/p4vm/node';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';

/** Values of the options that say how a program is read. */
export interface ProgramFlags {
  readonly include?: string[];
  readonly define?: Record<string, string>;
}

function folders(text: string, previous?: string[]): string[] {
  return [...(previous ?? []), text];
}

function macro(text: string, previous?: Record<string, string>): Record<string, string> {
  const match = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text);
  if (match === null) throw new InvalidArgumentError('Give NAME or NAME=VALUE.');
  return { ...previous, [match[1]!]: match[2] ?? '1' };
}

/** Adds the options that say how a program is read. */
export function addProgramOptions(command: Command): Command {
  return command
    .addOption(new Option('-I, --include <DIR>', 'look for includes here; repeat for more').argParser(folders))
    .addOption(new Option('-D, --define <NAME[=VALUE]>', 'define a macro; repeat for more').argParser(macro));
}

/**
 * Reads and checks a program.
 *
 * @throws CliError if the file cannot be read
 */
export function checkFile(path: string, flags: ProgramFlags): BuildResult {
  try {
    return checkProgramFile(path, {
      ...(flags.include !== undefined && { includePaths: flags.include }),
      ...(flags.define !== undefined && { defines: flags.define }),
    });
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) {
      throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
    throw error;
  }
}

/**
 * Reads a program that is to run. What is wrong with it is written to standard error.
 *
 * @returns undefined if it has errors
 * @throws CliError if the file cannot be read
 */
export function readProgram(path: string, flags: ProgramFlags, io: Io): IrProgram | undefined {
  const { program, diagnostics } = checkFile(path, flags);
  for (const diagnostic of diagnostics.list) {
    if (program === undefined && diagnostic.severity !== 'error') continue;
    io.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
  }
  if (program === undefined) say(io, `${path} cannot be run: ${errorCount(diagnostics.errors)}`);
  return program;
}

/** `1 error`, `2 errors`. */
export function errorCount(errors: number): string {
  return `${errors} error${errors === 1 ? '' : 's'}`;
}

/**
 * A switch with the program of a file; what `log_msg` says goes to standard error.
 *
 * @returns undefined if the program has errors
 * @throws CliError if the file cannot be read
 */
export function openSwitch(
  path: string,
  flags: ProgramFlags,
  io: Io,
  environment: SwitchEnvironment = {},
): V1Switch | undefined {
  const program = readProgram(path, flags, io);
  if (program === undefined) return undefined;
  return createSwitch(program, { onLog: (message) => void io.stderr.write(`${message}\n`), ...environment });
}
