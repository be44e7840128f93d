import type { RecordTaker } from './writer.js';

/** The reader's side of a ring of records; an SpscRing of `@int/rings` is one. */
export interface RecordSource {
  /** Words of the ring; {@link RecordSource.readAt} is an index into it. */
  readonly words: Int32Array;
  /** Word at which the oldest record begins. */
  readonly readAt: number;
  /** Number of contiguous records from there on, at most `records`. */
  readable(records: number): number;
  /** Releases the oldest records. */
  release(records: number): void;
  /** Resolves when there is a record, when the ring is closed, or after `timeoutMs`. */
  waitAsync(timeoutMs: number): Promise<unknown>;
  /** Whether the ring is closed and empty. */
  readonly drained: boolean;
}

/** Records carried per turn of the event loop, which also does the sink's work. */
const RUN = 4096;
/** Interval for checking the signal while no records come. */
const WAIT_MS = 100;

/**
 * Carries records from a ring to a sink until the ring is closed and empty. A record leaves the ring only when the sink
 * has taken it. While the sink has no room, the ring fills up, and its producer counts lost records.
 *
 * @param signal stops it early; remaining records stay in the ring
 * @returns number of records carried
 * @throws TypeError if the ring's records and the sink's differ in length
 */
export async function carry(
  ring: RecordSource & { readonly recordWords: number },
  into: RecordTaker,
  signal?: AbortSignal,
): Promise<number> {
  if (ring.recordWords !== into.recordWords) {
    throw new TypeError(`the ring's records have ${ring.recordWords} words, the sink's ${into.recordWords}`);
  }
  let carried = 0;
  let run = 0;
  while (!ring.drained && signal?.aborted !== true) {
    const records = ring.readable(RUN - run);
    if (records === 0) {
      await ring.waitAsync(WAIT_MS);
      continue;
    }
    const taken = into.push(ring.words, ring.readAt, records);
    ring.release(taken);
    carried += taken;
    run += taken;
    if (taken < records) await into.ready();
    if (run >= RUN) {
      run = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return carried;
}
