import type { BatchView } from '../batch-view.js';
import type { EventBatch } from '../event-batch.js';
import type { RunningRule } from '../running-rule.js';
import type { StatePool } from '../state.js';

/** What the loops work on: set once a batch, read into locals by each loop. */
export class LoopContext {
  view!: BatchView;
  readonly words: Int32Array;
  readonly floats: Float64Array;
  /** Number of switch cells minus one if that is a mask, -1 if {@link switchCell} has to be asked. */
  readonly switchMask: number;
  readonly switchCell: (id: number) => number;
  readonly positions: number;

  /** Columns of the event batch, {@link eventStride} apart. */
  events!: Int32Array;
  eventStride = 0;
  /** Events written so far. */
  count = 0;
  /** Events written since construction. */
  written = 0;
  /** Reports with at least one event. */
  survivors = 0;
  /** Reports of unknown flow that a detector with flow state could not look at. */
  withoutFlow = 0;
  /** Hops beyond the positions that a change detector follows. */
  beyondPositions = 0;

  constructor(pool: StatePool, switchMask: number, switchCell: (id: number) => number, positions: number) {
    this.words = pool.words;
    this.floats = pool.floats;
    this.switchMask = switchMask;
    this.switchCell = switchCell;
    this.positions = positions;
  }

  /** Takes over where events go. */
  open(events: EventBatch): void {
    this.events = events.words;
    this.eventStride = events.stride;
    this.count = events.count;
  }
}

/** Looks at the reports `from` to `to - 1`, all of one rule. The caller has made sure that their events fit. */
export type Loop = (context: LoopContext, rule: RunningRule, from: number, to: number) => void;

/** Writes event `at`; all numbers are signed words. */
export function writeEvent(
  events: Int32Array,
  stride: number,
  at: number,
  row: number,
  rule: RunningRule,
  hop: number,
  node: number,
  value: number,
  previous: number,
  threshold: number,
): void {
  // In the order of EVENT. Plain numbers: a lookup in a constant object costs more than the store.
  events[at] = row;
  events[at + stride] = rule.slot;
  events[at + 2 * stride] = rule.eventKind;
  events[at + 3 * stride] = hop;
  events[at + 4 * stride] = node;
  events[at + 5 * stride] = value;
  events[at + 6 * stride] = previous;
  events[at + 7 * stride] = threshold;
}
