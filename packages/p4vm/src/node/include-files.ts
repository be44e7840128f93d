import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { SourceFile } from '../source/position.js';
import type { IncludeRefusal, IncludeResolver } from '../syntax/preprocessor.js';
import { readRegularFile, UnreadableFile } from './regular-file.js';

export interface FileResolverOptions {
  /** Folders in which includes are looked for, in order. Default: none but that of the file that includes. */
  readonly searched?: readonly string[];
  /** Bytes of one file. Default: 16 MiB. */
  readonly mostBytes?: number;
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Where a path leads to, symbolic links followed; undefined if there is nothing. */
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
 * Finds includes among the files below some folders: `"name"` beside the file that includes it, then in the folders that are
 * searched; `<name>` in these. Whatever a program writes, nothing but regular files below `allowed` is read: symbolic links
 * that lead elsewhere, devices and pipes are refused. core.p4 and v1model.p4 are built in.
 *
 * @param allowed folders: as a rule that of the program, and those that are searched
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
    // What lies elsewhere is not looked at: even whether it is there is nobody's business.
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
