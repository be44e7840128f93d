import { FLAG, type TelemetryBatch } from '@int/codec';
import type { Stage } from '../stage.js';
import { type SequenceCounts, SequenceTracker, type SequenceTrackerOptions } from './sequence-tracker.js';

/** Bits of a sequence number by report version, as in `FLAG.REPORT_SHIFT`; 0: no report. */
const SEQUENCE_BITS = [0, 32, 32, 22] as const;
/** Bit of a key's second word that says that numbers have 22 bits. */
const IS_SHORT = 1 << 8;

/** What is known of one reporter. */
export interface ReporterLoss extends SequenceCounts {
  /** The node; all ones in versions whose header does not name it: reporters are then told apart by `hwId` alone. */
  readonly nodeId: number;
  /** Part of the node with sequence numbers of its own. */
  readonly hwId: number;
}

/** Sums over all reporters. */
export interface LossTotals extends SequenceCounts {
  /** Reporters followed. */
  readonly reporters: number;
  /** Report packets of further reporters, for which there was no room. */
  readonly untracked: number;
}

/**
 * Counts report packets that did not arrive, by their sequence numbers: per node and hardware id, wrapping around at 2^22
 * in reports v2.0 and at 2^32 before. Packets that overtake each other are no loss, a switch that starts anew is none.
 *
 * A packet that cannot be decoded is a gap here as well as a drop in the collector's counters.
 *
 * Source: Telemetry Report Format Specification 2.0, section 3.1; 1.0, section 3.1.
 */
export class ReportLossStage implements Stage {
  readonly name = 'report loss';
  readonly #tracker: SequenceTracker;
  #untracked = 0;

  /** @throws RangeError for an option out of range */
  constructor(options: SequenceTrackerOptions = {}) {
    this.#tracker = new SequenceTracker(options);
  }

  process(batch: TelemetryBatch): void {
    const { frame, flags, nodeId, sequence, code, reports } = batch;
    const tracker = this.#tracker;
    let last = -1;
    for (let row = 0; row < reports; row++) {
      // The individual reports of one packet share its number.
      if (code[row] !== 0 || frame[row] === last) continue;
      last = frame[row]!;
      const bits = SEQUENCE_BITS[(flags[row]! >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK]!;
      if (bits === 0) continue;
      const hwId = (flags[row]! >>> FLAG.HW_ID_SHIFT) & FLAG.HW_ID_MASK;
      const second = bits === 22 ? hwId | IS_SHORT : hwId;
      if (tracker.note(nodeId[row]!, second, sequence[row]!, bits) < 0) this.#untracked++;
    }
  }

  /** As {@link totals}. */
  counters(): Readonly<Record<string, number>> {
    return { ...this.totals() };
  }

  /** Every reporter, in the order in which they were first heard of. */
  reporters(): ReporterLoss[] {
    return Array.from({ length: this.#tracker.size }, (_, row) => {
      const [nodeId, second] = this.#tracker.key(row);
      return { nodeId, hwId: second & FLAG.HW_ID_MASK, ...this.#tracker.counts(row) };
    });
  }

  totals(): LossTotals {
    const sums = { inOrder: 0, reordered: 0, duplicates: 0, late: 0, restarts: 0, lost: 0, missing: 0 };
    const { size } = this.#tracker;
    for (let row = 0; row < size; row++) {
      const counts = this.#tracker.counts(row);
      for (const name of Object.keys(sums) as (keyof SequenceCounts)[]) sums[name] += counts[name];
    }
    return { reporters: size, untracked: this.#untracked, ...sums };
  }
}
