import {
  type BuildResult,
  createSwitch,
  formatDiagnostic,
  type IrProgram,
  P4Error,
  type SwitchEnvironment,
  type V1Switch,
} from '@int/p4vm';
import { checkProgramFile, type LoadOptions, UnreadableFile } from '@int/p4vm/node';
import { type Command, InvalidArgumentError } from 'commander';
import { given } from '../given.js';
import { CliError, EXIT, type Io, openFailure, say } from '../io.js';
import { printable } from '../output/printable.js';
import { type LimitFlags, limitOption } from './limits.js';

export interface ProgramFlags {
  readonly include?: string[];
  readonly define?: Record<string, string>;
  readonly limit?: LimitFlags;
}

function folders(text: string, previous?: string[]): string[] {
  return [...(previous ?? []), text];
}

function macro(text: string, previous?: Record<string, string>): Record<string, string> {
  const match = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text);
  if (match === null) throw new InvalidArgumentError('Give NAME or NAME=VALUE.');
  return { ...previous, [match[1]!]: match[2] ?? '1' };
}

export function addProgramOptions(command: Command): Command {
  return command
    .option('-I, --include <DIR>', 'look for includes here; repeat for more', folders)
    .option('-D, --define <NAME[=VALUE]>', 'define a macro; repeat for more', macro)
    .addOption(limitOption());
}

/**
 * Reads and checks a program.
 *
 * @param onFile called with each file that is read
 * @throws CliError if the file cannot be read
 */
export function checkFile(path: string, flags: ProgramFlags, onFile?: LoadOptions['onFile']): BuildResult {
  try {
    return checkProgramFile(path, {
      ...given({ includePaths: flags.include, defines: flags.define, onFile }),
      limits: flags.limit,
    });
  } catch (error) {
    if (UnreadableFile.is(error)) throw new CliError(`cannot open ${path}: ${error.reason}`, EXIT.OPEN, error);
    if (error instanceof Error && 'syscall' in error) {
      throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
    throw error;
  }
}

/**
 * Reads a program to run. Writes its errors to standard error.
 *
 * @returns undefined if it has errors
 * @throws CliError if the file cannot be read
 */
export function readProgram(
  path: string,
  flags: ProgramFlags,
  io: Io,
  onFile?: LoadOptions['onFile'],
): IrProgram | undefined {
  const { program, diagnostics } = checkFile(path, flags, onFile);
  for (const diagnostic of diagnostics.list) {
    if (program === undefined && diagnostic.severity !== 'error') continue;
    io.stderr.write(`${formatDiagnostic(diagnostic)}\n`);
  }
  if (program === undefined) {
    if (diagnostics.suppressed > 0) say(io, `${diagnostics.suppressed} more are not shown`);
    say(io, `${path} cannot be run: ${counted(diagnostics.errors, 'error')}`);
  }
  return program;
}

/** Calls `compile`. Writes compile errors to standard error and then returns undefined. */
export function compiled<T>(path: string, io: Io, compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (!P4Error.is(error)) throw error;
    io.stderr.write(`${error.message}\n`);
    say(io, `${path} cannot be run: ${counted(error.diagnostics.length, 'error')}`);
    return undefined;
  }
}

/** `1 error`, `2 errors`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/**
 * Makes a switch with the program of a file. Messages of `log_msg` go to standard error.
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
  const onLog = (message: string): void => void io.stderr.write(`${printable(message)}\n`);
  return compiled(path, io, () => createSwitch(program, { onLog, limits: flags.limit, ...environment }));
}
