import { dirname } from 'node:path';
import { withDefaults } from '../budget/limits.js';
import type { IrProgram } from '../ir/program.js';
import { type BuildOptions, type BuildResult, buildProgram } from '../lower/front-end.js';
import { P4Error } from '../source/diagnostics.js';
import { fileResolver } from './include-files.js';
import { readRegularFile } from './regular-file.js';

export interface LoadOptions {
  /** Folders in which includes are looked for, in order. */
  readonly includePaths?: readonly string[];
  /** Macros by name, as with `-D`. */
  readonly defines?: BuildOptions['defines'];
  /** What the program may use; the defaults where nothing is said. */
  readonly limits?: BuildOptions['limits'];
}

/**
 * Reads, checks and specialises a program, without throwing for what is wrong with it.
 *
 * @throws the file system's error if the file cannot be read, UnreadableFile if it is no regular file or too long
 */
export function checkProgramFile(path: string, options: LoadOptions = {}): BuildResult {
  const { includePaths = [], defines, limits } = options;
  const { characters } = withDefaults(limits);
  const file = { name: path, text: readRegularFile(path, characters) };
  const resolve = fileResolver([dirname(path), ...includePaths], { searched: includePaths, mostBytes: characters });
  return buildProgram(file, { resolve, defines, limits });
}

/**
 * Reads a program with its includes from files.
 *
 * @returns what `createSwitch` takes
 * @throws P4Error if something is wrong with the program; otherwise as `checkProgramFile`
 */
export function loadProgram(path: string, options: LoadOptions = {}): IrProgram {
  const { program, diagnostics } = checkProgramFile(path, options);
  if (program === undefined) throw new P4Error(diagnostics.list);
  return program;
}
