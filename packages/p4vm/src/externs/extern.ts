import type { ExternInstance } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';

/** An extern object at run time. Generated code calls these methods; indices out of bounds are counted as faults. */
export type ExternRuntime =
  | CounterRuntime
  | DirectCounterRuntime
  | MeterRuntime
  | DirectMeterRuntime
  | RegisterRuntime
  | ActionProfileRuntime
  | Checksum16Runtime;

export interface CounterRuntime {
  readonly kind: 'counter';
  readonly declaration: ExternInstance;
  count(index: number): void;
}

/** The table's lookup counts: `count()` in an action does nothing more. */
export interface DirectCounterRuntime {
  readonly kind: 'direct_counter';
  readonly declaration: ExternInstance;
}

export interface MeterRuntime {
  readonly kind: 'meter';
  readonly declaration: ExternInstance;
  /** 0 green, 1 yellow, 2 red; -1 for an index out of bounds (then the result is not written). */
  execute(index: number): number;
}

export interface DirectMeterRuntime {
  readonly kind: 'direct_meter';
  readonly declaration: ExternInstance;
  /** Colour from the last lookup of its table; -1 after a miss. */
  color: number;
}

export interface RegisterRuntime {
  readonly kind: 'register';
  readonly declaration: ExternInstance;
  readonly size: number;
  /**
   * The cells, in the representation of run-time values. Code may read and write them directly for indices below `size`;
   * the array is never replaced.
   */
  readonly cells: RuntimeValue[] | Uint32Array | Int32Array | Uint8Array | Uint16Array | BigUint64Array;
  /** Reads a cell. An index out of bounds gives 0 and counts as a fault. */
  read(index: number): RuntimeValue;
  /** Writes a cell. An index out of bounds does nothing and counts as a fault. */
  write(index: number, value: RuntimeValue): void;
}

/** action_profile and action_selector: their tables use them. */
export interface ActionProfileRuntime {
  readonly kind: 'action_profile';
  readonly declaration: ExternInstance;
}

/** The deprecated Checksum16: `get(data)` is a csum16 over the data. */
export interface Checksum16Runtime {
  readonly kind: 'checksum16';
  readonly declaration: ExternInstance;
}
