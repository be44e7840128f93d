import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { SourceFile } from '../source/position.js';
import type { IncludeRefusal, IncludeResolver } from '../syntax/preprocessor.js';
import { readRegularFile, UnreadableFile } from './regular-file.js';

export interface FileResolverOptions {
  /** Folders to search for includes, in order. Default: only the folder of the including file. */
  readonly searched?: readonly string[];
  /** Largest file in bytes. Default: 16 MiB. */
  readonly mostBytes?: number;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path after all symbolic links; undefined if nothing is there. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(code)) return undefined;
    throw error;
  }
}

/**
 * Makes a resolver that finds includes in folders: `"name"` beside the including file, then in the searched folders;
 * `<name>` only in these. It reads only regular files below `allowed`, whatever a program writes: it refuses devices,
 * pipes, and symbolic links that lead elsewhere. core.p4 and v1model.p4 are built in.
 *
 * @param allowed folders with readable files: usually that of the program, and the searched ones
 */
export function fileResolver(allowed: readonly string[], options: FileResolverOptions = {}): IncludeResolver {
  const { searched = [], mostBytes = 1 << 24 } = options;
  const named = allowed.map((folder) => resolve(folder));
  const real = named.flatMap((folder) => realPath(folder) ?? []);
  const isAllowed = (path: string, folders: readonly string[]): boolean =>
    folders.some((folder) => isBelow(path, folder));
  const find = (candidate: string): SourceFile | IncludeRefusal | undefined => {
    const outside = { refused: "it lies outside of the program's folder and the include paths" };
    const path = resolve(candidate);
    // Never touch other files: a program must not even learn whether they exist.
    if (!isAllowed(path, named) && !isAllowed(path, real)) return outside;
    const target = realPath(path);
    if (target === undefined) return undefined;
    return isAllowed(target, real) ? { name: candidate, text: readRegularFile(target, mostBytes) } : outside;
  };
  return (path, { isSystem, from }) => {
    if (path === '' || path.includes('\0')) return { refused: 'that is no name of a file' };
    const folders = isSystem ? searched : [dirname(from.name), ...searched];
    let refusal: IncludeRefusal | undefined;
    for (const candidate of isAbsolute(path) ? [path] : folders.map((folder) => join(folder, path))) {
      try {
        const found = find(candidate);
        if (found !== undefined && !('refused' in found)) return found;
        refusal ??= found;
      } catch (error) {
        refusal ??= { refused: UnreadableFile.is(error) ? error.reason : (error as Error).message };
      }
    }
    return refusal;
  };
}
