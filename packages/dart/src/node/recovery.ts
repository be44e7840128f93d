/** Recovery of epochs that were never flushed. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreGeometry } from '../layout.js';
import { type CheckpointFile, listCheckpoints, readCheckpoint, type ScannedCheckpoint } from './checkpoint-reader.js';
import type { DamageLog } from './damage.js';
import { UNFINISHED } from './durable.js';
import type { History } from './history.js';

/** The checkpoints of an epoch. */
export interface RecoveredEpoch {
  readonly epoch: bigint;
  readonly from: bigint;
  /** End of the epoch, ns; null if it has not ended. */
  readonly to: bigint | null;
  /** Start of its newest checkpoint, ns. */
  readonly taken: bigint;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** The checkpoints to read, in this order, from the last whole base on. Damaged ones among them have sound pages. */
  readonly parts: readonly ScannedCheckpoint[];
  readonly all: readonly ScannedCheckpoint[];
}

interface Findings {
  /** The epochs, oldest first. */
  readonly epochs: readonly RecoveredEpoch[];
  /** Damaged checkpoints. Some have no usable pages. */
  readonly damaged: readonly ScannedCheckpoint[];
  /** Checkpoints of epochs that are already in the history. */
  readonly superfluous: readonly CheckpointFile[];
}

/** Removes unfinished files of a crash, which never were part of the store. @returns the number of files */
export async function removeUnfinished(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(UNFINISHED));
  for (const name of names) await rm(join(directory, name), { force: true });
  return names.length;
}

/**
 * Finds the files of the history, and sets aside those that are damaged.
 *
 * @param live the directory of the checkpoints
 * @param isThorough whether to read every byte of every file
 */
export async function recoverHistory(
  history: History,
  live: string,
  isThorough: boolean,
  damage: DamageLog,
): Promise<void> {
  const held = new Set((await listCheckpoints(live)).map(({ epoch }) => epoch));
  const { damaged, unfinished } = await history.list(isThorough, (epoch) => held.has(epoch));
  for (const file of damaged) await damage.history(file);
  // A file replaces the checkpoints of its epoch only if every byte of it is verified.
  const twice = history.files.filter(({ epoch }) => held.has(epoch));
  await damage.unsound(history, await history.unsound(twice));
  for (const path of unfinished) await rm(path, { force: true });
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
 * @param before the end of the previous epoch, used if all headers of this one are damaged
 * @returns null if none of the files belongs to the epoch
 */
function epochOf(all: readonly ScannedCheckpoint[], before: bigint): RecoveredEpoch | null {
  if (all.every(({ isForeign }) => isForeign)) return null;
  const base = all.findLastIndex(({ header, damage }) => header?.isBase === true && damage === null);
  const parts = all.slice(Math.max(base, 0)).filter(({ slots, damage }) => damage === null || slots > 0);
  const newest = all.findLast(({ header }) => header !== null)?.header;
  const { from = before, keyWrites = 0, slotWrites = 0 } = newest ?? {};
  const { taken = from } = newest ?? {};
  const to = newest?.isFinal === true ? taken : null;
  return { epoch: all[0]!.epoch, from, to, taken, keyWrites, slotWrites, parts, all };
}

/**
 * Reads all checkpoints. Changes nothing.
 *
 * The sound pages of a damaged checkpoint are used, and so are later checkpoints: each of their pages is newer than the
 * lost one, and pages do not depend on each other.
 *
 * @param flushed epochs of the history, oldest first
 */
export async function findEpochs(
  directory: string,
  geometry: StoreGeometry,
  flushed: readonly { readonly epoch: bigint; readonly to: bigint }[],
): Promise<Findings> {
  const epochs: RecoveredEpoch[] = [];
  const damaged: ScannedCheckpoint[] = [];
  const superfluous: CheckpointFile[] = [];
  for (const files of group(await listCheckpoints(directory))) {
    if (flushed.some(({ epoch }) => epoch === files[0]!.epoch)) {
      superfluous.push(...files);
      continue;
    }
    const all: ScannedCheckpoint[] = [];
    for (const file of files) all.push(await readCheckpoint(file, geometry, () => {}));
    damaged.push(...all.filter(({ damage }) => damage !== null));
    const before = epochs.at(-1);
    const epoch = epochOf(all, before?.taken ?? flushed.at(-1)?.to ?? 0n);
    if (epoch !== null) epochs.push(epoch);
  }
  // An epoch that has a successor is over, even if its last checkpoint is not final.
  const ended = epochs.map((epoch, at) => ({ ...epoch, to: epoch.to ?? epochs[at + 1]?.from ?? null }));
  return { epochs: ended, damaged, superfluous };
}
