import { RECORD_KINDS, type RecordCounts, type RecordKind, type SinkTotals } from '@int/collector';
import { perKind } from './parcel.js';

/** Why records are given up. */
export const DROP_REASONS = [
  /** Memory is full, and there is no spool or it is too slow. */
  'overflow',
  /** The spool has reached its limit, and memory is full, or records have to be on disk. */
  'spool-full',
  /** The spool's disk is full or fails, and memory is full, or records have to be on disk. */
  'disk',
  /** The brokers refuse messages of this size. */
  'too-large',
  /** The brokers refuse the message for another reason. */
  'refused',
  /** The spool's copy is damaged or gone. */
  'damaged',
  /** Not sent when the sink was closed, or offered after that. */
  'closed',
  /** Sent, and not acknowledged when the sink was closed: the brokers may have it. */
  'unconfirmed',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Counts the records of each kind. A record offered is pending until it is delivered or dropped. */
export class Account {
  readonly #kinds: readonly RecordKind[];
  readonly #offered = perKind();
  readonly #delivered = perKind();
  readonly #pending = perKind();
  readonly #dropped = new Map<DropReason, Float64Array>(DROP_REASONS.map((reason) => [reason, perKind()]));

  /** @param kinds shown even if their counts are 0 */
  constructor(kinds: readonly RecordKind[]) {
    this.#kinds = kinds;
  }

  take(kind: number, records: number): void {
    this.#offered[kind]! += records;
    this.#pending[kind]! += records;
  }

  /** Records were offered and not taken. */
  shed(kind: number, records: number, reason: DropReason): void {
    this.#offered[kind]! += records;
    this.#dropped.get(reason)![kind]! += records;
  }

  deliver(kind: number, records: number): void {
    this.#pending[kind]! -= records;
    this.#delivered[kind]! += records;
  }

  /** Pending records are given up. */
  drop(kind: number, records: number, reason: DropReason): void {
    this.#pending[kind]! -= records;
    this.#dropped.get(reason)![kind]! += records;
  }

  droppedOf(kind: number): number {
    let sum = 0;
    for (const counts of this.#dropped.values()) sum += counts[kind]!;
    return sum;
  }

  totals(): SinkTotals {
    const totals: Partial<Record<RecordKind, RecordCounts>> = {};
    RECORD_KINDS.forEach((name, kind) => {
      if (!this.#kinds.includes(name) && this.#offered[kind] === 0) return;
      totals[name] = {
        offered: this.#offered[kind]!,
        delivered: this.#delivered[kind]!,
        pending: this.#pending[kind]!,
        dropped: Object.fromEntries(DROP_REASONS.map((reason) => [reason, this.#dropped.get(reason)![kind]!])),
      };
    });
    return totals;
  }
}
