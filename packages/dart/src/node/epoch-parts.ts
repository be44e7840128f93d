/** Small parts of an epoch: whether a question is for it, and what its store's header says. */
import { HEADER } from '../layout.js';
import type { DartStore } from '../store/dart-store.js';
import type { Answer } from '../store/single.js';
import type { EpochAnswer, EpochSource, HistoryQuery } from './epoch-options.js';

/** Whether a question is for an epoch; `end` is null while it is live. */
export function isAsked({ at, from, to }: HistoryQuery, start: bigint, end: bigint | null, isLive: boolean): boolean {
  if (at !== undefined) return start <= at && (end === null || at < end);
  if (from === undefined && to === undefined) return isLive;
  return (to === undefined || start < to) && (from === undefined || end === null || end > from);
}

export function answerOf(
  { epoch, from, to }: { epoch: bigint; from: bigint; to: bigint | null },
  source: EpochSource,
  answer: Answer,
): EpochAnswer {
  return { epoch, from, to, source, answer };
}

/** Says in the header which epoch a store holds, and what was written in it. */
export function setEpoch(store: DartStore, epoch: bigint, keyWrites: number, slotWrites: number): void {
  const { header } = store.segments[0]!;
  const words = (at: number, value: bigint): void => {
    header[at] = Number(value & 0xffffffffn);
    header[at + 1] = Number(value >> 32n);
  };
  words(HEADER.EPOCH, epoch);
  words(HEADER.KEY_WRITES, BigInt(keyWrites));
  words(HEADER.SLOT_WRITES, BigInt(slotWrites));
}
