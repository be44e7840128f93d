import type { FlowWindow, ImmediateEvent, NetworkWindow, StateChange, WindowCorrection } from '@int/stream';
import type { LogRecord } from './kafka/committed.js';
import type { OutgoingMessage } from './kafka/outgoing.js';

/** What a unit has found since it was last asked, in order. */
export interface Findings {
  readonly windowCount: number;
  readonly eventCount: number;
  /** Empty if nobody asks for objects. */
  readonly windows: (FlowWindow | NetworkWindow)[];
  readonly corrections: WindowCorrection[];
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
  /** What came too late for its window, and is in none but as `late`: reports, or hop records of the network. */
  readonly late: number;
  /** Reports whose window was given out again with them. */
  readonly corrected: number;
  /** Reports of flows or windows without room. */
  readonly untracked: number;
  /** Reports without a flow. */
  readonly withoutFlow: number;
  /** Windows that were not `complete`. */
  readonly incomplete: number;
}

export const NO_COUNTS: UnitCounts = {
  taken: 0,
  repeated: 0,
  bad: 0,
  late: 0,
  corrected: 0,
  untracked: 0,
  withoutFlow: 0,
  incomplete: 0,
};

/** Adds up all counts of two objects with the same names. */
export function added<T extends { readonly [K in keyof T]: number }>(a: T, b: T): T {
  const names = Object.keys(a) as (keyof T)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as T;
}

/** How far a unit is. */
export interface UnitProgress {
  /** How far its time is behind the furthest that was heard of, milliseconds. */
  readonly behindMs: number;
  /** What it waits for, or goes on without, for people; `null`: nothing. */
  readonly trouble: string | null;
}

/** What is computed from one partition of the input: a side of the stream processor with its messages in and out. */
export interface Unit {
  /** Takes `records[from]` to `records[to - 1]`. Never throws for what they hold. */
  take(records: readonly LogRecord[], from: number, to: number): void;
  /** The time it has reached, milliseconds; -Infinity before. */
  readonly timeMs: number;
  /** Tells that the partition is read to its end, and that nothing has come for so long, milliseconds. */
  quiet(elapsedMs: number): void;
  /** Tells that records were deleted before they were read. */
  gap(): void;
  /** Tells that there is nothing to read any more, unless it is told of records again: what is open is given out. */
  end(): void;
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
  progress(): UnitProgress;
}

export interface UnitChange {
  readonly kind: 'side' | 'repeats' | 'writers';
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export interface UnitState {
  readonly side: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  readonly repeats: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  /** null: there are none. */
  readonly writers: Uint8Array | null;
}

/** A change of a side, as a unit gives it. */
export function sideChange(change: StateChange): UnitChange {
  return { kind: 'side', key: change.key, value: change.value };
}
