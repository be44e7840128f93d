/**
 * What the main thread and a worker say to one another.
 *
 * Work comes through a ring of one-word records: the number of a filled slot, or {@link BELL}, which says that a request
 * lies at the port. So a worker waits at one place only, and answers requests in their order, after all that was
 * dispatched before them. Slots come back through a second ring, answers through the port.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Flow } from '@int/codec';
import type { FlowEntry } from '../cache/entry.js';
import type { Dimensions, HashName } from '../layout.js';
import type { SlotCapacity } from './slot.js';

/** In the ring of work: look at the port. */
export const BELL = -1;

/** All that a worker starts with. */
export interface ShardSetup {
  readonly shard: number;
  readonly port: MessagePort;
  readonly cache: Required<Dimensions> & {
    readonly hash: HashName;
    readonly seed: number;
    readonly accelerator: boolean;
  };
  /** The table of thresholds. */
  readonly thresholds: ArrayBufferLike;
  readonly slots: { readonly capacity: SlotCapacity; readonly count: number };
  /** Rings: slots to read, slots to fill again, entries handed on, events. */
  readonly work: SharedArrayBuffer;
  readonly free: SharedArrayBuffer;
  readonly entries: SharedArrayBuffer;
  readonly events: SharedArrayBuffer;
  /** Where to count distributions. */
  readonly distributions: SharedArrayBuffer | null;
  /** Age entries that were idle for so long. */
  readonly idleNs: bigint | null;
  /** A snapshot to begin with. */
  readonly restore: string | null;
}

/** The first answer: where the cache is, and where the slots are. */
export interface ShardReady {
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
  readonly slots: { readonly buffer: SharedArrayBuffer; readonly byteOffset: number };
  readonly usesAccelerator: boolean;
}

/** A part of the entries, as records. */
export interface EntryPage {
  readonly words: Int32Array;
  readonly records: number;
  /** The row to go on with; -1 at the end. */
  readonly next: number;
}

/** What can be asked of a worker, with what it answers. */
export interface Requests {
  /** The counters: the words of the header of the cache. */
  readonly totals: { readonly ask: Record<never, never>; readonly answer: Int32Array };
  /** The entry of a flow. */
  readonly get: { readonly ask: { readonly flow: Flow }; readonly answer: FlowEntry | undefined };
  /** Entries from a row on: about so many. */
  readonly entries: { readonly ask: { readonly row: number; readonly most: number }; readonly answer: EntryPage };
  /** Hand on all entries. Answers how many. */
  readonly drain: { readonly ask: Record<never, never>; readonly answer: number };
  /** Hand on idle entries. Answers how many. */
  readonly age: {
    readonly ask: { readonly nowNs: bigint; readonly idleNs: bigint; readonly maxRows: number };
    readonly answer: number;
  };
  /** Write a snapshot. Answers its bytes. */
  readonly snapshot: { readonly ask: { readonly file: string }; readonly answer: number };
  /** A copy of the distributions. */
  readonly distributions: { readonly ask: Record<never, never>; readonly answer: ArrayBuffer };
  /** Close the rings and end. Answers as `totals` does. */
  readonly stop: { readonly ask: Record<never, never>; readonly answer: Int32Array };
}
export type RequestName = keyof Requests;

/** A request at the port. */
export type Request = {
  readonly [K in RequestName]: { readonly id: number; readonly name: K } & Requests[K]['ask'];
}[RequestName];

/** An answer; number 0 is {@link ShardReady}. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown; readonly isStopped: boolean };
