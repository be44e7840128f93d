/** What the tests of this folder share: directories, keys, and values that say whether they are in one piece. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SEED: number = Number(process.env.INT_SEED ?? 20_261_121);

const directories: string[] = [];

/** A directory that {@link removeDirectories} removes. */
export function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'int-dart-'));
  directories.push(path);
  return path;
}

export function removeDirectories(): void {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true });
}
