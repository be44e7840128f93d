import type { Table } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';

/** The result of a lookup: the action to run, with its data as run-time values. */
export interface BoundAction {
  /** Position in `Table.actions`; -1: none (no default action). */
  readonly action: number;
  /** One per data parameter, made when they are asked for. */
  readonly data: readonly RuntimeValue[];
  /**
   * The same one after the other as signed 32-bit words, least significant first. Unused high bits are 0, but for signed values of up
   * to 32 bits, which keep their sign. There may be more words than the action has.
   */
  readonly words: Int32Array;
  readonly isHit: boolean;
  /** Handle of the entry as the control plane knows it; -1 for the default action. */
  readonly handle: number;
  /** A result that the next lookup does not change. */
  copy(): BoundAction;
}

/**
 * A table as generated code sees it. `lookup` takes one value per key, in order, selector keys included. Values are
 * unsigned bit patterns: numbers for keys up to 32 bits, bigints for wider ones. It counts direct counters and runs
 * direct meters. Its result belongs to the table: do not keep or change it.
 */
export interface TableRuntime {
  readonly declaration: Table;
  /**
   * The result of every lookup as long as there are no entries, nothing is counted and the default action is the table's own; undefined
   * otherwise. Who has it need not look up, nor make the keys.
   */
  readonly empty: BoundAction | undefined;
  /** Whether every lookup is a miss, whatever the keys: then {@link miss} does the same as a lookup. */
  readonly isEmpty: boolean;
  /** A lookup of a table that `isEmpty`: it counts and runs meters as one. */
  miss(): BoundAction;
  lookup(...keys: readonly RuntimeValue[]): BoundAction;
  /**
   * As `lookup`, but takes keys as 32-bit words (signed or unsigned numbers) to avoid bigints: least significant first,
   * one word per 32 bits begun, unused high bits 0. Undefined for tables with selector keys.
   */
  readonly lookupWords?: ((...words: readonly number[]) => BoundAction) | undefined;
}

/** A parser value set as generated code sees it. */
export interface ValueSetRuntime {
  matches(...keys: readonly RuntimeValue[]): boolean;
}
