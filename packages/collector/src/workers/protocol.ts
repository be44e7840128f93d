/** The messages between the threads of {@link FlowWorkers} and the pipeline's thread. */
import type { BatchCapacity } from '@int/codec';
import type { CollectorTotals } from '../counters.js';
import type { DegradedPart } from '../health/degraded-state.js';

/** Given to a thread when it starts. */
export interface WorkerSetup {
  readonly index: number;
  readonly count: number;
  /** Of each slab. */
  readonly capacity: BatchCapacity;
  /** Memory for a batch each. */
  readonly slabs: readonly SharedArrayBuffer[];
  /** The caller's own. */
  readonly data: unknown;
}

/** To a thread. A slab is the thread's from this message on, until it answers `free`. */
export type ToWorker =
  | { readonly name: 'slab'; readonly slab: number }
  | { readonly name: 'data'; readonly data: unknown }
  /** All reports with an earlier time were sent before. */
  | { readonly name: 'advance'; readonly timeMs: number }
  /** `timeoutMs`: time limit for closing the thread's sinks; `null`: none. */
  | { readonly name: 'stop'; readonly timeoutMs: number | null };

/** From a thread. */
export type FromWorker =
  | { readonly name: 'ready' }
  /** The thread is done with a slab. */
  | { readonly name: 'free'; readonly slab: number }
  /** Totals and degraded states of the thread, sent several times a second. */
  | { readonly name: 'state'; readonly totals: CollectorTotals; readonly degraded: readonly DegradedPart[] }
  | { readonly name: 'problem'; readonly where: string; readonly message: string }
  | { readonly name: 'data'; readonly data: unknown }
  | { readonly name: 'done'; readonly totals: CollectorTotals };
