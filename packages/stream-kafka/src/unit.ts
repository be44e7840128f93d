import type { FlowWindow, ImmediateEvent, NetworkWindow, StateChange, WindowCorrection } from '@int/stream';
import type { LogRecord } from './kafka/committed.js';
import type { OutgoingMessage } from './kafka/outgoing.js';

/** The findings of a unit since the last call, in order. */
export interface Findings {
  readonly windowCount: number;
  readonly eventCount: number;
  /** Windows; empty if objects are not needed. */
  readonly windows: (FlowWindow | NetworkWindow)[];
  readonly corrections: WindowCorrection[];
  readonly events: ImmediateEvent[];
}

/** Counts of a unit's messages, by outcome. */
export interface UnitCounts {
  /** Messages taken. */
  readonly taken: number;
  /** Repeated messages. */
  readonly repeated: number;
  /** Invalid messages. */
  readonly bad: number;
  /** Reports that name a switch that there is not. */
  readonly unknownSwitch: number;
  /**
   * Reports, or hop records of the network side, that came too late for their window; windows only count them as
   * `late`.
   */
  readonly late: number;
  /** Reports that came after their window was emitted, and caused a corrected window. */
  readonly corrected: number;
  /** Reports of flows or windows for which there was no room. */
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
  unknownSwitch: 0,
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

/** The progress of a unit. */
export interface UnitProgress {
  /** Lag of its time behind the latest time known, in milliseconds. */
  readonly behindMs: number;
  /** A text about a writer that it waits for, or continues without; `null` if there is none. */
  readonly trouble: string | null;
}

/**
 * The computation for one partition of the input: a side of the stream processor with its input and output messages.
 */
export interface Unit {
  /** Takes `records[from]` to `records[to - 1]`. Never throws for invalid contents. */
  take(records: readonly LogRecord[], from: number, to: number): void;
  /** The time reached, in milliseconds; initially -Infinity. */
  readonly timeMs: number;
  /** Call it if the partition is read to its end and nothing has come for `elapsedMs` milliseconds. */
  quiet(elapsedMs: number): void;
  /** Call it if records were deleted before they were read. */
  gap(): void;
  /** Call it when the partition has ended: open windows are emitted. Later records are still taken. */
  end(): void;
  /** Messages for the topics of results since the last call, and the findings in them. */
  results(): { readonly messages: OutgoingMessage[]; readonly findings: Findings };
  /** Approximate bytes that `results` would return now. */
  readonly waitingBytes: number;
  /** Changes of state since the last call, under the kinds and names of the state topic. */
  changes(): UnitChange[];
  /**
   * Restores stored state. Call it before the unit takes anything.
   * @throws Error if a unit of this kind has not written it
   */
  restore(state: UnitState): void;
  counts(): UnitCounts;
  progress(): UnitProgress;
}

export interface UnitChange extends StateChange {
  readonly kind: keyof UnitState;
}

export interface StatePiece {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export interface UnitState {
  /** All pieces of the side. */
  readonly side: readonly StatePiece[];
  /** Largest record number seen, by instance. */
  readonly repeats: readonly StatePiece[];
  /** State of the writers; null if there is none. */
  readonly writers: Uint8Array | null;
}

/** Converts a change of a side into a change of a unit. */
export function sideChange(change: StateChange): UnitChange {
  return { kind: 'side', ...change };
}
