/** Counters of a monitor, in total and per session. */
import { NO_COUNTERS } from '../recovery/draft.js';
import type { RecoveryCounters } from '../recovery/model.js';
import type { MonitorCounters } from './types.js';

/** Adds counters of the same names, the second ones times `factor`. */
function sum<Name extends string>(
  one: Readonly<Record<Name, number>>,
  other: Readonly<Record<Name, number>>,
  factor = 1,
): Record<Name, number> {
  const total: Record<Name, number> = { ...one };
  for (const name of Object.keys(other) as Name[]) total[name] += factor * other[name];
  return total;
}

export class MonitorTotals {
  readonly #own = { sent: 0, sentBytes: 0, received: 0, receivedBytes: 0, malformed: 0 };
  /** Counters of the ended sessions. */
  #past: RecoveryCounters = NO_COUNTERS;
  /** All counts up to the last report. */
  #reported: MonitorCounters = this.all(NO_COUNTERS);

  send(bytes: number): void {
    this.#own.sent++;
    this.#own.sentBytes += bytes;
  }

  receive(bytes: number): void {
    this.#own.received++;
    this.#own.receivedBytes += bytes;
  }

  malformed(): void {
    this.#own.malformed++;
  }

  /** `current`: counters of the current session. */
  all(current: RecoveryCounters): MonitorCounters {
    return { ...sum(this.#past, current), ...this.#own };
  }

  /** The counts since the previous report. `ended`: counters of the session that ends with this report. */
  report(ended: RecoveryCounters): MonitorCounters {
    const reported = this.#reported;
    this.#past = sum(this.#past, ended);
    this.#reported = this.all(NO_COUNTERS);
    return sum(this.#reported, reported, -1);
  }
}
