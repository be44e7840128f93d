import { FLAG, type TelemetryBatch } from '@int/codec';
import { frameTimeMs } from '../frames.js';
import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { Stage } from '../stage.js';
import { type SequenceCounts, SequenceTracker, type SequenceTrackerOptions } from './sequence-tracker.js';

/** Bits of a sequence number by report version, as in `FLAG.REPORT_SHIFT`; 0: no report. */
const SEQUENCE_BITS = [0, 32, 32, 22] as const;
/** Bit of a key's second word: sequence numbers have 22 bits. */
const IS_SHORT = 1 << 8;

const COUNT_NAMES = ['inOrder', 'reordered', 'duplicates', 'late', 'restarts', 'lost', 'missing'] as const;

/** Sums over all reporters, including those no longer followed. Only `missing` can decrease. */
export interface LossTotals extends SequenceCounts {
  /** Reporters followed. */
  readonly reporters: number;
  /** Report packets of further reporters, for which there was no room. */
  readonly untracked: number;
  /** How often a reporter has taken the row of another one. */
  readonly replaced: number;
}

/** The counters of the reporters as columns: a row for each, and a last row for all those no longer followed. */
export interface LossColumns {
  /** All ones in versions whose header does not name it: reporters are then told apart by `hwId` alone. */
  readonly nodeId: Uint32Array;
  /** Parts of a node with sequence numbers of their own. */
  readonly hwId: Uint32Array;
  readonly counts: Readonly<Record<keyof SequenceCounts, Float64Array>>;
}

/**
 * Counts report packets that did not arrive, by their sequence numbers: per node and hardware id, wrapping around at
 * 2^22 in reports v2.0 and at 2^32 before. Reordered packets are no loss, nor is the restart of a switch.
 *
 * A packet that cannot be decoded is a gap here as well as a drop in the collector's counters. When there are more
 * reporters than rows, the busiest are followed, see {@link SequenceTracker}.
 *
 * Source: Telemetry Report Format Specification 2.0, section 3.1; 1.0, section 3.1.
 */
export class ReportLossStage implements Stage {
  readonly name = 'report loss';
  readonly #tracker: SequenceTracker;
  readonly #states = new DegradedStates();
  #untracked = 0;

  /** @throws RangeError for an option out of range */
  constructor(options: SequenceTrackerOptions = {}) {
    this.#tracker = new SequenceTracker(options);
    this.#states.watch(
      DEGRADED.UNTRACKED,
      () => this.#untracked,
      (packets) =>
        `${packets} report packets of reporters that are not followed: ids are forged, or 'reporters' is too low`,
    );
  }

  process(batch: TelemetryBatch): void {
    const { frame, flags, nodeId, sequence, code, reports } = batch;
    const tracker = this.#tracker;
    if (batch.frames > 0) tracker.elect(frameTimeMs(batch, 0));
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

  /** `untracked`, while report packets come from reporters that are not followed. */
  degraded(): readonly DegradedState[] {
    return this.#states.list();
  }

  /** The counters of every reporter that is followed: copies, for a page of metrics. */
  columns(): LossColumns {
    const tracker = this.#tracker;
    const { size } = tracker;
    const keys = Array.from({ length: size }, (_, row) => tracker.key(row));
    const rows = [...keys.map((_, row) => tracker.counts(row)), tracker.left];
    const counts = COUNT_NAMES.map((name) => [name, Float64Array.from(rows, (row) => row[name])] as const);
    return {
      nodeId: Uint32Array.from(keys, ([node]) => node),
      hwId: Uint32Array.from(keys, ([, second]) => second & FLAG.HW_ID_MASK),
      counts: Object.fromEntries(counts) as LossColumns['counts'],
    };
  }

  totals(): LossTotals {
    const { size, replaced, left } = this.#tracker;
    const sums = { ...left } as { -readonly [Name in keyof SequenceCounts]: number };
    for (let row = 0; row < size; row++) {
      const counts = this.#tracker.counts(row);
      for (const name of COUNT_NAMES) sums[name] += counts[name];
    }
    return { reporters: size, untracked: this.#untracked, replaced, ...sums };
  }
}
