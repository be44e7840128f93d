import type { ActionCall, KeyMatch, Table } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';

/** What a lookup found: the action to run, with its data in the representation of run-time values. */
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
 * A table as generated code sees it. `lookup` takes one value per key, in order (selector keys too): bit patterns, so
 * unsigned: numbers for keys up to 32 bits, bigints for wider ones. It counts direct counters and runs direct meters.
 * It returns an object that belongs to the table: not to be kept or changed.
 */
export interface TableRuntime {
  readonly declaration: Table;
  lookup(...keys: readonly RuntimeValue[]): BoundAction;
  /**
   * As `lookup`, but keys are given in 32-bit words (signed or unsigned numbers), least significant first, one word per 32
   * bits begun, unused high bits 0: no bigints. Undefined for tables with selector keys.
   */
  readonly lookupWords?: ((...words: readonly number[]) => BoundAction) | undefined;
}

/** A parser value set as generated code sees it. */
export interface ValueSetRuntime {
  matches(...keys: readonly RuntimeValue[]): boolean;
}

/** An entry as the control plane gives it. `priority`: smaller wins; only for tables with ternary, range or optional keys. */
export interface TableEntrySpec {
  readonly keys: readonly KeyMatch[];
  readonly call: ActionCall;
  readonly priority: number;
}
