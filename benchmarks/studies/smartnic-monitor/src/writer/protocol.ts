import type { CacheGeometry } from '@int/flowcache';
import type { RedisWriterTotals } from '@int/sink-redis';

/** What the writer's thread starts with. */
export interface WriterSetup {
  /** The memory of the rings, of entries and of events, by shard. */
  readonly entries: readonly SharedArrayBuffer[];
  readonly events: readonly SharedArrayBuffer[];
  readonly geometry: CacheGeometry;
  readonly redis: { readonly url: string; readonly prefix: string; readonly form: 'fields' | 'packed' } | null;
}

/** What the writer has read, and what became of it. */
export interface WriterTotals {
  readonly entries: number;
  readonly entryPackets: number;
  readonly events: number;
  readonly redis: RedisWriterTotals | null;
}

/** What the writer's thread is told. */
export type WriterOrder =
  /** Say how things are. */
  | { readonly kind: 'totals' }
  /** The rings will be closed: Redis has so much time from now on. */
  | { readonly kind: 'hurry'; readonly patienceMs: number };

/** What the writer's thread says. */
export type WriterMessage =
  | { readonly kind: 'totals'; readonly totals: WriterTotals }
  /** The last one: all rings are closed and empty. */
  | { readonly kind: 'end'; readonly totals: WriterTotals }
  | { readonly kind: 'problem'; readonly text: string }
  | { readonly kind: 'recovered'; readonly text: string };
