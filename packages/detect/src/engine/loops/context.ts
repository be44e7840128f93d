import type { BatchView } from '../batch-view.js';
import type { EventBatch } from '../event-batch.js';
import { EVENT_COLUMN } from '../event-columns.js';
import type { RunningRule } from '../running-rule.js';
import type { StatePool } from '../state.js';
import { BLOCK } from './program.js';

/** What the loops work on: set once a batch, read into locals by each loop. */
export class LoopContext {
  view!: BatchView;
  /** Watches: the stream's time at each row. */
  times: Float64Array = new Float64Array(0);
  /** Watches: what row 0 of the view is among them. */
  firstRow = 0;
  readonly words: Int32Array;
  readonly floats: Float64Array;
  /** Number of switch cells minus one if that is a mask; -1: ask {@link switchCell}. */
  readonly switchMask: number;
  readonly switchCell: (id: number) => number;
  readonly positions: number;
  /** Complex expressions: the reports of a block that may still raise an event. */
  readonly rows: Int32Array = new Int32Array(BLOCK);

  /** Columns of the event batch, {@link eventStride} apart. */
  events!: Int32Array;
  eventStride = 0;
  /** Events written so far. */
  count = 0;
  /** The most cells of evidence of an event of the batch. */
  evidenceSlots = 0;
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

  /** Sets where events go. */
  open(events: EventBatch): void {
    this.events = events.words;
    this.eventStride = events.stride;
    this.count = events.count;
    this.evidenceSlots = events.evidenceSlots;
  }
}

/*
 * What V8 makes of a loop decided how these are written:
 * - V8 looks at an array (its map, length and base) in each turn. So a loop is short, or does several hops a turn.
 * - `| 0` spares the overflow checks of additions that cannot overflow, and keeps parameters from being unpacked in the loop.
 * - A loop writes only what differs between events. What they have in common is written after it, and takes no registers.
 */

/** Looks at the reports `from` to `to - 1`, all of one rule. Their events fit. */
export type Loop = (context: LoopContext, rule: RunningRule, from: number, to: number) => void;

/** From so many words on, `fill` is faster than a loop. */
const MANY = 48;

/** Writes one number to the cells `from` to `to - 1`. */
function fill(events: Int32Array, value: number, from: number, to: number): void {
  if (to - from >= MANY) events.fill(value, from, to);
  else for (let at = from | 0; at < to; at = (at + 1) | 0) events[at] = value;
}

/**
 * Completes the events up to `to - 1` with the columns that are the same for all events of a rule.
 * @param survivors how many reports raised them. Default: one each
 */
export function closeEvents(
  context: LoopContext,
  rule: RunningRule,
  to: number,
  survivors: number = to - context.count,
): void {
  const from = context.count;
  if (from === to) return;
  const { events, eventStride } = context;
  const rules = eventStride * EVENT_COLUMN.RULE;
  const kinds = eventStride * EVENT_COLUMN.KIND;
  fill(events, rule.slot | 0, rules + from, rules + to);
  fill(events, rule.eventKind, kinds + from, kinds + to);
  context.survivors += survivors;
  context.count = to;
}

/** The same for events with a threshold. */
export function closeThreshold(context: LoopContext, rule: RunningRule, to: number, survivors?: number): void {
  if (context.count === to) return;
  const column = context.eventStride * EVENT_COLUMN.THRESHOLD;
  fill(context.events, rule.threshold, column + context.count, column + to);
  closeEvents(context, rule, to, survivors);
}
