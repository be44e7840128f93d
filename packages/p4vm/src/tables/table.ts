import type { Table } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';

/** The result of a lookup: the action to run, with its data as run-time values. */
export interface BoundAction {
  /** Position in `Table.actions`; -1: none (no default action). */
  readonly action: number;
  /** One per data parameter. */
  readonly data: readonly RuntimeValue[];
  /**
   * The same as numbers only, one after the other: values of up to 32 bits as in `data`, wider ones as signed 32-bit words,
   * least significant first, unused high bits 0.
   */
  readonly words: readonly number[];
  readonly isHit: boolean;
  /** Handle of the entry as the control plane knows it; -1 for the default action. */
  readonly handle: number;
}

/**
 * A table as generated code sees it. `lookup` takes one value per key, in order, selector keys included. Values are
 * unsigned bit patterns: numbers for keys up to 32 bits, bigints for wider ones. It counts direct counters and runs
 * direct meters. Its result belongs to the table: do not keep or change it.
 */
export interface TableRuntime {
  readonly declaration: Table;
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
