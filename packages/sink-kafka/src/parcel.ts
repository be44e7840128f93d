import { RECORD_KINDS } from '@int/collector';
import { MessageSlab, type MessageSlabCapacity } from './message/slab.js';

/** What is known of a message. */
export const MESSAGE_STATE = {
  /** It was not sent. */
  WAITING: 0,
  /** It was sent, and there is no answer. */
  SENT: 1,
  /** It is stored, or refused for good. */
  SETTLED: 2,
} as const;

/** The kind of messages that say how far the sink is: none of RECORD_KINDS, and in no account. */
export const WATERMARK_KIND: number = RECORD_KINDS.length;
const REPORTS = /* @__PURE__ */ RECORD_KINDS.indexOf('reports');

/** Messages that travel together, and what became of each. */
export class Parcel {
  readonly slab: MessageSlab;
  /** Row by row, a {@link MESSAGE_STATE}. */
  readonly state: Uint8Array;
  /** Messages that are not settled. */
  remaining = 0;
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
    this.slab.clear();
    this.remaining = 0;
  }

  /** Adds the number of messages that are not settled to `counts`, by kind. */
  countUnsettled(counts: Float64Array): void {
    const { count, kind } = this.slab;
    for (let row = 0; row < count; row++) if (this.state[row] !== MESSAGE_STATE.SETTLED) counts[kind[row]!]!++;
  }
}

/** Zeros, one for each kind of record. */
export function perKind(): Float64Array {
  return new Float64Array(RECORD_KINDS.length);
}
