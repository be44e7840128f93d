import type { FlowWindow, ImmediateEvent, NetworkWindow, StateChange } from '@int/stream';
import type { LogRecord } from './kafka/committed.js';
import type { OutgoingMessage } from './kafka/outgoing.js';

/** What a unit has found since it was last asked, in order. */
export interface Findings {
  readonly windowCount: number;
  readonly eventCount: number;
  /** Empty if nobody asks for objects. */
  readonly windows: (FlowWindow | NetworkWindow)[];
  readonly events: ImmediateEvent[];
}

/** What became of the messages that a unit was given. */
export interface UnitCounts {
  /** Messages whose content was taken. */
  readonly taken: number;
  /** Messages that were there already. */
  readonly repeated: number;
  /** Messages that are not what they should be. */
  readonly bad: number;
}

/** What is computed from one partition of the input: a side of the stream processor with its messages in and out. */
export interface Unit {
  /** Takes `records[from]` to `records[to - 1]`. Never throws for what they hold. */
  take(records: readonly LogRecord[], from: number, to: number): void;
  /** Time of the latest record taken or told, milliseconds; -Infinity before. */
  readonly timeMs: number;
  /** Tells that time goes on without records. Time that is not later than {@link timeMs} is nothing. */
  advance(timeMs: number): void;
  /** Messages for the topics of results since the last call, and what they say for people. */
  results(): { readonly messages: OutgoingMessage[]; readonly findings: Findings };
  /** About how many bytes `results` would give now. */
  readonly waitingBytes: number;
  /** Changes of state since the last call, under the kinds and names of the state topic. */
  changes(): UnitChange[];
  /**
   * Puts back what was stored, into a unit that has taken nothing yet.
   * @throws Error if it is not what a unit like this one writes
   */
  restore(state: UnitState): void;
  counts(): UnitCounts;
}

export interface UnitChange {
  readonly kind: 'side' | 'repeats';
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export interface UnitState {
  readonly side: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  readonly repeats: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
}

/** A change of a side, as a unit gives it. */
export function sideChange(change: StateChange): UnitChange {
  return { kind: 'side', key: change.key, value: change.value };
}
