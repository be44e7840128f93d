/** What workers and the thread of the pipeline say to each other, besides reports. */
import type { IntConfig } from '../config.js';

/** Given to all workers. */
export interface WorkerData {
  /** The whole configuration: each worker takes its part. */
  readonly config: IntConfig;
  /** The file it stands in: paths are relative to it. */
  readonly file: string;
}

/** From a worker. */
export type WorkerMessage =
  /** For people. */
  | { readonly name: 'say'; readonly line: string }
  /** Entries that left its flow cache, one behind the other. */
  | { readonly name: 'flows'; readonly words: Int32Array; readonly records: number };
