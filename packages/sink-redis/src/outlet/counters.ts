/** Reasons why a record was not written, or is not known to be written. */
export const DROP_REASONS = [
  /** There was no room, and `whenFull` is `drop`. */
  'overflow',
  /** The sink was closed, or closing timed out, before the record was sent. */
  'closed',
  /** The sink ended after sending the record and before the acknowledgement: the record may or may not be written. */
  'unconfirmed',
  /** The server refused it because a key has another type. */
  'refused',
  /** Another sink took over the writer id before the record was sent. */
  'fenced',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** The fates of the records of one kind. Always `offered = delivered + pending + the sum of dropped`. */
export interface KindTotals {
  /** Records that the sink has taken. */
  readonly offered: number;
  /** Records acknowledged by the server, each applied exactly once. */
  readonly delivered: number;
  /** Records waiting or sent without acknowledgement. */
  readonly pending: number;
  readonly dropped: { readonly [K in DropReason]: number };
  /** Delivered records missing from a counter or the index of flows, because its key has another type. */
  readonly incomplete: number;
  /** Delivered records that the server has lost, because it came back in an older state. */
  readonly lostByServer: number;
}

/** An outlet's counters in the writer's hash in Redis. */
export interface ServerCounts {
  readonly written: number;
  readonly refused: number;
  readonly incomplete: number;
}

/**
 * Keeps the counters of an outlet.
 *
 * The server counts refused records in the writer's hash, atomically with the batch. The number is therefore right even
 * if the reply to the batch is lost: the next reply, or the next connection, brings it.
 */
export class KindCounters {
  offered = 0;
  /** Offered records that were not dropped at once. */
  accepted = 0;
  waiting = 0;
  inFlight = 0;
  /** Records in batches that the server has applied. */
  acknowledged = 0;
  refused = 0;
  incomplete = 0;
  lostByServer = 0;
  readonly dropped = { overflow: 0, closed: 0, unconfirmed: 0, fenced: 0 };
  /** The server's counts before this session; below 0 after it has lost records. */
  #before = { handled: 0, refused: 0, incomplete: 0 };

  get pending(): number {
    return this.waiting + this.inFlight;
  }

  /** Accepted records whose fate is known. */
  get settled(): number {
    return this.accepted - this.pending;
  }

  /** Begins the session. */
  begin(server: ServerCounts): void {
    const { written, refused, incomplete } = server;
    this.#before = { handled: written + refused, refused, incomplete };
  }

  /** Takes over the server's counts of refused and incomplete records. */
  update(refused: number, incomplete: number): void {
    this.refused = refused - this.#before.refused;
    this.incomplete = incomplete - this.#before.incomplete;
  }

  /** Adapts to a server in an older state. @returns number of records that it has lost */
  lose(server: ServerCounts): number {
    const handled = server.written + server.refused;
    const lost = Math.max(0, this.acknowledged - (handled - this.#before.handled));
    this.lostByServer += lost;
    this.#before = {
      handled: handled - this.acknowledged,
      refused: server.refused - this.refused,
      incomplete: server.incomplete - this.incomplete,
    };
    return lost;
  }

  totals(): KindTotals {
    return {
      offered: this.offered,
      delivered: this.acknowledged - this.refused,
      pending: this.pending,
      dropped: { ...this.dropped, refused: this.refused },
      incomplete: this.incomplete,
      lostByServer: this.lostByServer,
    };
  }
}
