import { dirname } from 'node:path';
import { withDefaults } from '../budget/limits.js';
import type { IrProgram } from '../ir/program.js';
import { type BuildOptions, type BuildResult, buildProgram } from '../lower/front-end.js';
import { P4Error } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import type { IncludeResolver } from '../syntax/preprocessor.js';
import { fileResolver } from './include-files.js';
import { readRegularFile } from './regular-file.js';

export interface LoadOptions {
  /** Folders to search for includes, in order. */
  readonly includePaths?: readonly string[];
  /** Macros by name, as with the option `-D` of compilers. */
  readonly defines?: BuildOptions['defines'];
  /** Limits of the program, with defaults for those that are not given. */
  readonly limits?: BuildOptions['limits'];
  readonly onWork?: BuildOptions['onWork'];
  /**
   * Called with each file that is read: the program's own first, then for each `#include` the file, with its path as
   * written and the including file.
   */
  readonly onFile?: (file: SourceFile, include?: { readonly path: string; readonly from: SourceFile }) => void;
}

/**
 * Reads, checks and specialises a program. Errors of the program become diagnostics and are not thrown.
 *
 * @throws the file system's error if the file cannot be read; UnreadableFile if it is not a regular file or too long
 */
export function checkProgramFile(path: string, options: LoadOptions = {}): BuildResult {
  const { includePaths = [], defines, limits, onFile, onWork } = options;
  const { characters } = withDefaults(limits);
  const file = { name: path, text: readRegularFile(path, characters) };
  const find = fileResolver([dirname(path), ...includePaths], { searched: includePaths, mostBytes: characters });
  onFile?.(file);
  const resolve: IncludeResolver = (included, request) => {
    const found = find(included, request);
    if (found !== undefined && !('refused' in found)) onFile?.(found, { path: included, from: request.from });
    return found;
  };
  return buildProgram(file, { resolve, defines, limits, onWork });
}

/**
 * Reads a program with its includes from files.
 *
 * @returns the program for `createSwitch`
 * @throws P4Error if the program has errors; otherwise as `checkProgramFile`
 */
export function loadProgram(path: string, options: LoadOptions = {}): IrProgram {
  const { program, diagnostics } = checkProgramFile(path, options);
  if (program === undefined) throw new P4Error(diagnostics.list);
  return program;
}
