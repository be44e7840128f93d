import type { StatisticsSnapshot } from '@int/collector';
import { switchTable } from './live-view.js';

/** Statistics for the end of a run: those of the last reports, which may be long past by then. */
export class LastStatistics {
  #last: StatisticsSnapshot | null = null;
  #reports = 0;
  #isPast = false;

  /** @param reports that have come in all */
  see(statistics: StatisticsSnapshot, reports: number): void {
    this.#isPast = this.#last !== null && reports === this.#reports;
    if (this.#isPast) return;
    this.#last = statistics;
    this.#reports = reports;
  }

  /** The switches as plain text; where all have been silent for a while, with the time. */
  table(): string[] {
    if (this.#last === null) return [];
    const lines = switchTable(this.#last);
    const { timeMs } = this.#last;
    if (!this.#isPast || lines.length === 0 || timeMs === null) return lines;
    return [`switches at ${new Date(timeMs).toISOString()}, the time of the last reports:`, ...lines];
  }
}
