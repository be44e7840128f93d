import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { IrProgram } from '../ir/program.js';
import { type BuildResult, buildProgram } from '../lower/front-end.js';
import { P4Error } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import type { IncludeResolver } from '../syntax/preprocessor.js';

export interface LoadOptions {
  /** Folders in which includes are looked for, in order. */
  readonly includePaths?: readonly string[];
  /** Macros by name, as with `-D`. */
  readonly defines?: Readonly<Record<string, string>>;
}

function readIfThere(path: string): SourceFile | undefined {
  try {
    return { name: path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * Finds includes among files: `"name"` beside the file that includes it, then in `includePaths`; `<name>` in
 * `includePaths`. core.p4 and v1model.p4 are built in.
 */
export function fileResolver(includePaths: readonly string[] = []): IncludeResolver {
  return (path, { isSystem, from }) => {
    if (isAbsolute(path)) return readIfThere(path);
    const folders = isSystem ? includePaths : [dirname(from.name), ...includePaths];
    for (const folder of folders) {
      const file = readIfThere(join(folder, path));
      if (file !== undefined) return file;
    }
    return undefined;
  };
}

/**
 * Reads, checks and specialises a program, without throwing for what is wrong with it.
 *
 * @throws the file system's error if the file cannot be read
 */
export function checkProgramFile(path: string, options: LoadOptions = {}): BuildResult {
  const file = { name: path, text: readFileSync(path, 'utf8') };
  return buildProgram(file, {
    resolve: fileResolver(options.includePaths),
    ...(options.defines !== undefined && { defines: options.defines }),
  });
}

/**
 * Reads a program with its includes from files.
 *
 * @returns what `createSwitch` takes
 * @throws P4Error if something is wrong with the program; the file system's error if the file cannot be read
 */
export function loadProgram(path: string, options: LoadOptions = {}): IrProgram {
  const { program, diagnostics } = checkProgramFile(path, options);
  if (program === undefined) throw new P4Error(diagnostics.list);
  return program;
}
