import { HyperLogLogs } from '../sketch/hyper-log-logs.js';

/** Answers are counted by the minute. */
const WINDOW_MS = 60_000;
/** Clients that must have been seen before their view says anything. */
const LEAST_CLIENTS = 5;
const SEEN = 0;
const UNSEEN = 1;

/**
 * Whether the telemetry sees both directions of connections. A client that acknowledges an answer has got one: if most clients
 * acknowledge answers that were not seen, one direction is missing. Clients are counted and not connections, so that one
 * host alone cannot make it look so.
 */
export class Views {
  /** Whether answers are missing. */
  isOneWay: boolean;
  readonly #isFixed: boolean;
  readonly #clients = new HyperLogLogs(2);
  #sinceMs = Number.NaN;

  /** @param isOneWay whether it is known from the beginning */
  constructor(isOneWay: boolean) {
    this.isOneWay = isOneWay;
    this.#isFixed = isOneWay;
  }

  /** A client's connection was answered. @param client a hash of the address */
  seen(client: number): void {
    this.#clients.add(SEEN, client);
  }

  /** A client acknowledges an answer that was not seen. */
  unseen(client: number): void {
    this.#clients.add(UNSEEN, client);
  }

  /** Ends a second. */
  close(timeMs: number): void {
    if (this.#isFixed) return;
    if (Number.isNaN(this.#sinceMs)) this.#sinceMs = timeMs;
    const seen = this.#clients.estimate(SEEN);
    const unseen = this.#clients.estimate(UNSEEN);
    if (seen + unseen >= LEAST_CLIENTS) this.isOneWay = unseen > seen;
    if (timeMs - this.#sinceMs < WINDOW_MS) return;
    this.#sinceMs = timeMs;
    this.#clients.clear(SEEN);
    this.#clients.clear(UNSEEN);
  }
}
