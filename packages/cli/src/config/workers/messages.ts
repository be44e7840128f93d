/** Messages between workers and the pipeline's thread, besides reports. */
import type { IntConfig } from '../config.js';

/** Data for every worker. */
export interface WorkerData {
  /** The whole configuration: each worker takes its part. */
  readonly config: IntConfig;
  readonly file: string;
}

/** From a worker. */
export type WorkerMessage =
  | { readonly name: 'say'; readonly line: string }
  /** Entries that left its flow cache, one after the other. */
  | { readonly name: 'flows'; readonly words: Int32Array; readonly records: number };
