/** Why a record was not written, or not known to be. */
export const DROP_REASONS = [
  /** There was no room, and `whenFull` is `drop`. */
  'overflow',
  /** The sink was closed, or its closing took too long, before the record was sent. */
  'closed',
  /** It was sent, but the sink ended before the server said that it was written: it may or may not be there. */
  'unconfirmed',
  /** The server refused it: a key of another type. */
  'refused',
  /** Another sink took over the writer id before the record was sent. */
  'fenced',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** What became of the records of one kind. Always: `offered = delivered + pending + the sum of dropped`. */
export interface KindTotals {
  /** Records that were taken over. */
  readonly offered: number;
  /** Acknowledged by the server, each applied exactly once. */
  readonly delivered: number;
  /** Waiting or under way. */
  readonly pending: number;
  readonly dropped: { readonly [K in DropReason]: number };
  /** Of those delivered: how many a counter or the index of flows does not show, since its key has another type. */
  readonly incomplete: number;
  /** Of those delivered: how many the server no longer has, since it came back in an older state. */
  readonly lostByServer: number;
}

/** Counters of what a writer's hash in Redis says of a outlet. */
export interface ServerCounts {
  readonly written: number;
  readonly refused: number;
  readonly incomplete: number;
}

/**
 * Keeps the accounts of a outlet.
 *
 * The server counts what it refused in the writer's hash, with the batch itself. So the number is right even if the
 * answer to the batch is lost and only the next one, or the next connection, brings it.
 */
export class KindCounters {
  offered = 0;
  /** Offered and not dropped at the door. */
  accepted = 0;
  waiting = 0;
  inFlight = 0;
  /** In batches that the server has applied. */
  acknowledged = 0;
  refused = 0;
  incomplete = 0;
  lostByServer = 0;
  readonly dropped = { overflow: 0, closed: 0, unconfirmed: 0, fenced: 0 };
  /** What the server had counted before this session; below 0 after it has lost some. */
  #before = { handled: 0, refused: 0, incomplete: 0 };

  get pending(): number {
    return this.waiting + this.inFlight;
  }

  /** Accepted records whose fate is known. */
  get settled(): number {
    return this.accepted - this.pending;
  }

  /** The session begins. */
  begin(server: ServerCounts): void {
    const { written, refused, incomplete } = server;
    this.#before = { handled: written + refused, refused, incomplete };
  }

  /** What the server says now of refused and incomplete records. */
  update(refused: number, incomplete: number): void {
    this.refused = refused - this.#before.refused;
    this.incomplete = incomplete - this.#before.incomplete;
  }

  /** The server is in an older state. @returns records that it no longer has */
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
