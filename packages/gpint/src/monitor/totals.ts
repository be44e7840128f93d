/** Counters of a monitor, in total and per session. */
import { NO_COUNTERS } from '../recovery/draft.js';
import type { RecoveryCounters } from '../recovery/model.js';
import type { MonitorCounters } from './types.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function add(a: RecoveryCounters, b: RecoveryCounters): RecoveryCounters {
  const sum: Mutable<RecoveryCounters> = { ...a };
  for (const name of Object.keys(b) as (keyof RecoveryCounters)[]) sum[name] += b[name];
  return sum;
}

export class MonitorTotals {
  malformed = 0;
  #sent = 0;
  #sentBytes = 0;
  #received = 0;
  #receivedBytes = 0;
  /** Counters of the ended sessions. */
  #past: RecoveryCounters = NO_COUNTERS;
  /** All counts up to the last report. */
  #reported: MonitorCounters = this.all(NO_COUNTERS);

  send(bytes: number): void {
    this.#sent++;
    this.#sentBytes += bytes;
  }

  receive(bytes: number): void {
    this.#received++;
    this.#receivedBytes += bytes;
  }

  /** `current`: counters of the current session. */
  all(current: RecoveryCounters): MonitorCounters {
    const { malformed } = this;
    const sent = this.#sent;
    const sentBytes = this.#sentBytes;
    const received = this.#received;
    const receivedBytes = this.#receivedBytes;
    return { ...add(this.#past, current), sent, sentBytes, received, receivedBytes, malformed };
  }

  /** The counts since the previous report. `ended`: counters of the session that ends with this report. */
  report(ended: RecoveryCounters): MonitorCounters {
    const reported = this.#reported;
    this.#past = add(this.#past, ended);
    this.#reported = this.all(NO_COUNTERS);
    const since: Mutable<MonitorCounters> = { ...this.#reported };
    for (const name of Object.keys(since) as (keyof MonitorCounters)[]) since[name] -= reported[name];
    return since;
  }
}
