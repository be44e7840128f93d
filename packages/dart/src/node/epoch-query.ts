/** Questions to epochs, some of them in memory and the others in files. */
import type { DartStore } from '../store/dart-store.js';
import { type Policy, policyNumber } from '../store/policy.js';
import type { Answer } from '../store/single.js';
import type { DamagedFile } from './damage.js';
import type { EpochAnswer, EpochSource, HistoryQuery } from './epoch-options.js';
import type { History } from './history.js';
import type { HistoryFile, UnsoundFile } from './history-file.js';

/** The time of an epoch: `from` is in it, `to` is not; null while it is live. */
interface EpochSpan {
  readonly epoch: bigint;
  readonly from: bigint;
  readonly to: bigint | null;
}

/** An epoch in memory. */
export interface HeldEpoch extends EpochSpan {
  readonly source: EpochSource;
  readonly store: DartStore;
}

/** Whether a question is for an epoch. */
export function isAsked({ at, from, to }: HistoryQuery, { from: start, to: end }: Omit<EpochSpan, 'epoch'>): boolean {
  if (at !== undefined) return start <= at && (end === null || at < end);
  if (from === undefined && to === undefined) return end === null;
  return (to === undefined || start < to) && (from === undefined || end === null || end > from);
}

/**
 * Damage that may have taken something from the answers to a question.
 *
 * @param epochs that are known, oldest first
 */
export function damageTo(
  query: HistoryQuery,
  damage: readonly DamagedFile[],
  epochs: readonly EpochSpan[],
): DamagedFile[] {
  return damage.filter(({ epoch }) => {
    const known = epochs.find((one) => one.epoch === epoch);
    if (known !== undefined) return isAsked(query, known);
    // Nothing else is left of it: it lay between its neighbours.
    const before = epochs.findLast((one) => one.epoch < epoch);
    const after = epochs.find((one) => one.epoch > epoch);
    return isAsked(query, { from: before?.to ?? before?.from ?? 0n, to: after?.from ?? null });
  });
}

/** What an epoch in memory knows of keys. */
export interface HeldAnswers extends EpochSpan {
  readonly source: EpochSource;
  readonly answers: readonly Answer[];
}

/** Asks epochs in memory, in this turn: a rotation would make their memory another epoch's. */
export function askHeld(held: readonly HeldEpoch[], keys: readonly Uint8Array[], policy: Policy): HeldAnswers[] {
  return held.map(({ store, ...span }) => ({ ...span, answers: keys.map((key) => store.query(key, policy)) }));
}

/**
 * Asks files, and puts their answers in front of those from memory.
 *
 * @param judge told files that are not as they were written, which are left out then
 * @param damage what makes an epoch incomplete; it may have become more by `judge`
 * @returns for each key an answer of each epoch, oldest first
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
