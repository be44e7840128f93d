/** Snapshots in files. The thread that owns the cache reads and writes them synchronously, as it can do nothing else. */
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { FlowCache } from '../cache/flow-cache.js';
import { type RestoreOptions, SnapshotReader, writeSnapshot } from '../cache/snapshot.js';

const READ_BYTES = 1 << 20;

/**
 * Writes a snapshot to a file beside its place and moves it there, so that the file is whole or does not exist.
 * @returns bytes written
 * @throws the platform's errors
 */
export function writeSnapshotFile(cache: FlowCache, file: string): number {
  const part = `${file}.part`;
  const descriptor = openSync(part, 'w');
  let bytes = 0;
  try {
    try {
      for (const chunk of writeSnapshot(cache)) {
        for (let at = 0; at < chunk.length; ) at += writeSync(descriptor, chunk, at);
        bytes += chunk.length;
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return bytes;
}

/**
 * Makes a cache of a file.
 * @throws the platform's errors; FlowCacheError if the file holds no whole snapshot
 */
export function readSnapshotFile(file: string, options: RestoreOptions): FlowCache {
  const reader = new SnapshotReader(options);
  const descriptor = openSync(file, 'r');
  try {
    const chunk = new Uint8Array(READ_BYTES);
    for (;;) {
      const bytes = readSync(descriptor, chunk);
      if (bytes === 0) return reader.end();
      reader.push(chunk.subarray(0, bytes));
    }
  } finally {
    closeSync(descriptor);
  }
}
