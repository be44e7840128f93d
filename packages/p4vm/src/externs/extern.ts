import type { ExternInstance } from '../ir/program.js';
import type { ActionProfile } from './action-profile.js';
import type { Counter, DirectCounter } from './counter.js';
import type { DirectMeter, Meter } from './meter.js';
import type { Register } from './register.js';

/**
 * An extern object at run time. Generated code calls `count` of counters, `execute` of meters, and reads `color` of direct
 * meters and `cells` and `size` of registers. Indices out of bounds are counted as faults.
 */
export type ExternRuntime =
  | Counter
  | DirectCounter
  | Meter
  | DirectMeter
  | Register
  | ActionProfile
  /** The deprecated Checksum16: `get(data)` is a csum16 over the data, which generated code computes. */
  | { readonly kind: 'checksum16'; readonly declaration: ExternInstance };
