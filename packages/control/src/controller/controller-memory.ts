import type { ThresholdMemory } from '../adaptation/event-thresholds.js';
import type { LoopMemory } from './loop-memory.js';
import type { UndoneEntry } from './undone-entries.js';

/** What a controller has to know to go on as if it had not been restarted. */
export interface ControllerMemory {
  readonly loop: LoopMemory;
  readonly undone: readonly UndoneEntry[];
  /** Of rules in switches. */
  readonly thresholds?: readonly ThresholdMemory[];
}

/** Keeps a {@link ControllerMemory}, such as a `ControllerMemoryFile`. */
export interface MemoryKeeper {
  /** Returns when it is kept: switches are told after that. */
  now(memory: ControllerMemory): void;
  /** Keeps it within a second. */
  soon(memory: () => ControllerMemory): void;
}
