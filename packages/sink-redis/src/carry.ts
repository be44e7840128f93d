import type { RecordTaker } from './writer.js';

/** The reader's side of a ring of records; an SpscRing of `@int/rings` is one. */
export interface RecordSource {
  /** Words of the ring; {@link RecordSource.readAt} is an index into it. */
  readonly words: Int32Array;
  /** Word at which the oldest record begins. */
  readonly readAt: number;
  /** Records that lie one behind the other from there on, at most `records`. */
  readable(records: number): number;
  /** Lets go of the oldest records. */
  release(records: number): void;
  /** Resolves when there is a record, when no more will come, or after a time. */
  waitAsync(timeoutMs: number): Promise<unknown>;
  /** Whether no more will come and all are taken. */
  readonly drained: boolean;
}

/** Records carried before other work of the event loop, the sink's own included, gets its turn. */
const RUN = 4096;
/** How often a signal is looked at while nothing comes. */
const WAIT_MS = 100;

/**
 * Carries records from a ring to a sink until the ring is closed and empty. A record leaves the ring only when the sink
 * has taken it: while the sink has no room, the ring fills up, and its producer counts what it loses.
 *
 * @param signal stops it early; what is in the ring stays there
 * @returns records carried
 * @throws TypeError if the ring's records are not of the length that the sink takes
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
