import type { CollectorTotals } from '@int/collector';

/** Rates over about the last second, from counters read at intervals. */
export class RateMeter {
  receivedPerSecond = 0;
  reportsPerSecond = 0;
  #at: number;
  #received = 0;
  #reports = 0;
  #isFirst = true;

  /** @param now start of counting, in milliseconds of a monotonic clock */
  constructor(now: number) {
    this.#at = now;
  }

  update(now: number, totals: CollectorTotals): void {
    const seconds = (now - this.#at) / 1000;
    if (seconds < 0.9 && !this.#isFirst) return;
    this.receivedPerSecond = (totals.received - this.#received) / seconds;
    this.reportsPerSecond = (totals.reports - this.#reports) / seconds;
    // During the first second, use the average so far.
    if (seconds < 0.9) return;
    this.#isFirst = false;
    this.#at = now;
    this.#received = totals.received;
    this.#reports = totals.reports;
  }
}
