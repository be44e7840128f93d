import { execFileSync } from 'node:child_process';
import { limit } from './requires.js';

/**
 * Mounts a small file system, of memory, on a folder, so that a test can fill it. Call it inside a test: without the right to mount,
 * that is skipped.
 *
 * @param size such as `1m`
 * @returns unmounts it
 */
export function smallDisk(folder: string, size: string): () => void {
  return trySmallDisk(folder, size) ?? limit('a small file system cannot be mounted here, to be filled');
}

/** The same, inside a test or not. @returns null if it cannot be mounted */
export function trySmallDisk(folder: string, size: string): (() => void) | null {
  const options = { stdio: 'ignore', timeout: 20_000 } as const;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], options);
  } catch {
    return null;
  }
  return () => void execFileSync('umount', [folder], options);
}
