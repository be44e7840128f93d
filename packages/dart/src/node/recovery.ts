/** What a directory still holds of epochs that were never flushed. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Geometry } from '../layout.js';
import { type CheckpointFile, listCheckpoints, verifyCheckpoint, type WholeCheckpoint } from './checkpoint-reader.js';
import { UNFINISHED } from './durable.js';

/** The checkpoints of an epoch. */
export interface RecoveredEpoch {
  readonly epoch: bigint;
  readonly from: bigint;
  /** When it ended, ns; null if it did not. */
  readonly to: bigint | null;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** From the last whole base on: to be read in this order. */
  readonly whole: readonly WholeCheckpoint[];
  readonly all: readonly CheckpointFile[];
}

interface Findings {
  /** Oldest first. */
  readonly epochs: readonly RecoveredEpoch[];
  /** Checkpoints that are not whole. */
  readonly damaged: number;
}

/** Removes what a crash left half-written. @returns how many files */
export async function removeUnfinished(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(UNFINISHED));
  for (const name of names) await rm(join(directory, name), { force: true });
  return names.length;
}

function group(files: readonly CheckpointFile[]): CheckpointFile[][] {
  const groups = new Map<bigint, CheckpointFile[]>();
  for (const file of files) {
    const others = groups.get(file.epoch);
    if (others === undefined) groups.set(file.epoch, [file]);
    else others.push(file);
  }
  return [...groups.values()];
}

/**
 * Reads all checkpoints through. Files of epochs that are in the history are removed.
 *
 * A checkpoint that is not whole is left out; those after it are used all the same: each page they have is newer than
 * what was lost, and pages do not depend on each other.
 */
export async function findEpochs(
  directory: string,
  geometry: Geometry,
  flushed: ReadonlySet<bigint>,
): Promise<Findings> {
  const epochs: RecoveredEpoch[] = [];
  let damaged = 0;
  for (const all of group(await listCheckpoints(directory))) {
    const { epoch } = all[0]!;
    if (flushed.has(epoch)) {
      for (const { path } of all) await rm(path, { force: true });
      continue;
    }
    const whole: WholeCheckpoint[] = [];
    for (const file of all) {
      const found = await verifyCheckpoint(file, geometry.slots, geometry.slotBytes);
      if (found !== null) whole.push(found);
    }
    damaged += all.length - whole.length;
    const newest = whole.at(-1)?.header;
    if (newest === undefined) {
      for (const { path } of all) await rm(path, { force: true });
      continue;
    }
    const base = whole.findLastIndex(({ header }) => header.isBase);
    const { from, keyWrites, slotWrites } = newest;
    const to = newest.isFinal ? newest.taken : null;
    epochs.push({ epoch, from, to, keyWrites, slotWrites, whole: whole.slice(Math.max(base, 0)), all });
  }
  // An epoch with a later one behind it is over, whether or not its last checkpoint says so.
  const ended = epochs.map((epoch, at) => ({ ...epoch, to: epoch.to ?? epochs[at + 1]?.from ?? null }));
  return { epochs: ended, damaged };
}
