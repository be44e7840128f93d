/** Queries of epochs, some in memory, the others in files. */
import type { DartStore } from '../store/dart-store.js';
import { type Policy, policyNumber } from '../store/policy.js';
import type { Answer } from '../store/single.js';
import type { DamagedFile } from './damage.js';
import type { EpochAnswer, EpochInfo, EpochSource, HistoryQuery } from './epoch-options.js';
import type { History } from './history.js';
import type { HistoryFile, UnsoundFile } from './history-file.js';

type EpochSpan = Pick<EpochInfo, 'epoch' | 'from' | 'to'>;

/** An epoch in memory. */
export interface HeldEpoch extends Pick<EpochInfo, 'epoch' | 'from' | 'to' | 'source'> {
  readonly store: DartStore;
}

/** Whether a query covers an epoch. */
export function isAsked({ at, from, to }: HistoryQuery, { from: start, to: end }: Omit<EpochSpan, 'epoch'>): boolean {
  if (at !== undefined) return start <= at && (end === null || at < end);
  if (from === undefined && to === undefined) return end === null;
  return (to === undefined || start < to) && (from === undefined || end === null || end > from);
}

/**
 * Damage that may make the answers to a query incomplete.
 *
 * @param epochs known epochs, oldest first
 */
export function damageTo(
  query: HistoryQuery,
  damage: readonly DamagedFile[],
  epochs: readonly EpochSpan[],
): DamagedFile[] {
  return damage.filter(({ epoch }) => {
    const known = epochs.find((one) => one.epoch === epoch);
    if (known !== undefined) return isAsked(query, known);
    // Nothing else of this epoch remains: it lay between its neighbours.
    const before = epochs.findLast((one) => one.epoch < epoch);
    const after = epochs.find((one) => one.epoch > epoch);
    return isAsked(query, { from: before?.to ?? before?.from ?? 0n, to: after?.from ?? null });
  });
}

/** The answers of an epoch in memory. */
export interface HeldAnswers extends Omit<HeldEpoch, 'store'> {
  readonly answers: readonly Answer[];
}

/** Queries epochs in memory. It is synchronous: after a rotation their memory belongs to another epoch. */
export function askHeld(held: readonly HeldEpoch[], keys: readonly Uint8Array[], policy: Policy): HeldAnswers[] {
  return held.map(({ store, ...span }) => ({ ...span, answers: keys.map((key) => store.query(key, policy)) }));
}

/**
 * Queries files, and puts their answers before those from memory.
 *
 * @param judge receives damaged files, which do not answer
 * @param damage returns the damage that makes epochs incomplete; `judge` may have added to it
 * @returns for each key one answer per epoch, oldest first
 * @throws DartStoreError `ERR_DART_HISTORY` or `ERR_DART_NO_DUCKDB`
 */
export async function askFiles(
  history: History,
  asked: readonly HistoryFile[],
  keys: readonly Uint8Array[],
  policy: Policy,
  held: readonly HeldAnswers[],
  judge: (unsound: readonly UnsoundFile[]) => Promise<void>,
  damage: () => readonly DamagedFile[],
): Promise<EpochAnswer[][]> {
  const { files, answers } = await history.query(asked, keys, policyNumber(policy), judge);
  const isIncomplete = new Set(damage().map(({ epoch }) => epoch));
  const answerOf = ({ epoch, from, to }: EpochSpan, source: EpochSource, answer: Answer): EpochAnswer => {
    return { epoch, from, to, source, incomplete: isIncomplete.has(epoch), answer };
  };
  return keys.map((_, row) => [
    ...files.map((file, at) => answerOf(file, 'disk', answers[row]![at]!)),
    ...held.map((epoch) => answerOf(epoch, epoch.source, epoch.answers[row]!)),
  ]);
}
