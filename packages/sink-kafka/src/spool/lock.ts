import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { KafkaSinkError } from '../errors.js';

/** Folders that this process uses. */
const held = /* @__PURE__ */ new Set<string>();

/**
 * Makes sure that nobody else uses a folder. A lock whose process is gone is taken over.
 * @returns gives the folder free
 * @throws KafkaSinkError ERR_KAFKA_SPOOL_IN_USE
 */
export function lockFolder(folder: string): () => void {
  const path = join(resolve(folder), 'lock');
  if (held.has(path)) throw inUse(folder, process.pid);
  for (let tries = 0; ; tries++) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx' });
      break;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || tries > 2) throw error;
    }
    const owner = ownerOf(path);
    // In a container, this process may have the number of the one before it.
    if (owner !== null && owner !== process.pid && isAlive(owner)) throw inUse(folder, owner);
    unlinkSync(path);
  }
  held.add(path);
  return () => {
    held.delete(path);
    try {
      unlinkSync(path);
    } catch {
      // The folder is gone.
    }
  };
}

function inUse(folder: string, owner: number): KafkaSinkError {
  return new KafkaSinkError('ERR_KAFKA_SPOOL_IN_USE', `process ${owner} uses ${folder}`);
}

function ownerOf(path: string): number | null {
  try {
    const owner = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return owner > 0 ? owner : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** The system's name of an error, such as ENOSPC. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
