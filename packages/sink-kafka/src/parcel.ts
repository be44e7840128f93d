import { RECORD_KINDS } from '@int/collector';
import { MessageSlab, type MessageSlabCapacity } from './message/slab.js';

export const MESSAGE_STATE = {
  /** It was not sent. */
  WAITING: 0,
  /** It was sent, and there is no answer. */
  SENT: 1,
  /** It is stored, or refused for good. */
  SETTLED: 2,
} as const;

/** The kind of watermarks: not in RECORD_KINDS, and not counted as records. */
export const WATERMARK_KIND: number = RECORD_KINDS.length;
/** The number of the kind `reports`. */
export const REPORTS: number = /* @__PURE__ */ RECORD_KINDS.indexOf('reports');

/** The part of a parcel that is in the spool. */
export interface Stored {
  /** Rows from the first one on that are there, as far as they were not settled. */
  rows: number;
  /** Place behind them in the spool; 0: there are none. */
  end: number;
  /** How many there are, by number of the kind. */
  readonly counts: Float64Array;
}

export class Parcel {
  readonly slab: MessageSlab;
  /** Row by row, a {@link MESSAGE_STATE}. */
  readonly state: Uint8Array;
  /** Messages that are not settled. */
  remaining = 0;
  /** Messages that the sink had taken before the first one. */
  first = 0;
  readonly stored: Stored = { rows: 0, end: 0, counts: perKind() };
  /** Time of the earliest report, settled or not, in milliseconds; infinity: there is none. Valid from {@link begin} on. */
  earliestMs: number = Number.POSITIVE_INFINITY;

  /** @throws RangeError for a capacity out of range */
  constructor(capacity: MessageSlabCapacity) {
    this.slab = new MessageSlab(capacity);
    this.state = new Uint8Array(capacity.messages);
  }

  /** Call when the slab has its messages: none of them is settled. */
  begin(): void {
    this.state.fill(MESSAGE_STATE.WAITING, 0, this.slab.count);
    this.remaining = this.slab.count;
    this.earliestMs = this.earliest();
  }

  /** Time of the earliest report that the slab has now. */
  earliest(): number {
    const { count, kind, timeMs } = this.slab;
    let earliest = Number.POSITIVE_INFINITY;
    for (let row = 0; row < count; row++) {
      if (kind[row] === REPORTS && timeMs[row]! < earliest) earliest = timeMs[row]!;
    }
    return earliest;
  }

  clear(): void {
    // A parcel is checked before it is filled again.
    this.state.fill(MESSAGE_STATE.WAITING, 0, this.slab.count);
    this.slab.clear();
    this.remaining = 0;
    this.stored.rows = 0;
    this.stored.end = 0;
    this.stored.counts.fill(0);
  }

  /**
   * Rows were appended to the spool.
   * @param rows rows from the first one on that are there now
   * @param end place behind them; null: there was nothing to append
   * @param counts of those that were appended, by number of the kind
   */
  noteStored(rows: number, end: number | null, counts: ArrayLike<number> | null): void {
    const { stored } = this;
    stored.rows = Math.max(stored.rows, rows);
    if (end !== null) stored.end = end;
    if (counts !== null) for (let kind = 0; kind < stored.counts.length; kind++) stored.counts[kind]! += counts[kind]!;
  }

  /** Forgets the rows from one on. */
  cut(rows: number): void {
    const { slab } = this;
    slab.used = rows === 0 ? 0 : slab.valueEnd[rows - 1]!;
    slab.count = rows;
  }

  /** Adds the number of messages that are not settled, from a row on, to `counts`, by kind. */
  countUnsettled(counts: Float64Array, from = 0): void {
    const { count, kind } = this.slab;
    for (let row = from; row < count; row++) if (this.state[row] !== MESSAGE_STATE.SETTLED) counts[kind[row]!]!++;
  }
}

/** Zeros, one for each kind of record. */
export function perKind(): Float64Array {
  return new Float64Array(RECORD_KINDS.length);
}
