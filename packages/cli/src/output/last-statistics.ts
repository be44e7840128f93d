import type { StatisticsSnapshot } from '@int/collector';
import { switchTable } from '../live/switch-panel.js';
import type { MetricText } from './metric-text.js';

/** Statistics for the end of a run: those of the last reports, which may be long past. */
export class LastStatistics {
  readonly #metrics: MetricText;
  #last: StatisticsSnapshot | null = null;
  #reports = 0;
  #isPast = false;

  constructor(metrics: MetricText) {
    this.#metrics = metrics;
  }

  /** @param total number of reports */
  see(statistics: StatisticsSnapshot, reports: number): void {
    this.#isPast = this.#last !== null && reports === this.#reports;
    if (this.#isPast) return;
    this.#last = statistics;
    this.#reports = reports;
  }

  /** The switches as plain text, with the time if all have been silent for a while. */
  table(): string[] {
    if (this.#last === null) return [];
    const lines = switchTable(this.#last, this.#metrics);
    const { timeMs } = this.#last;
    if (!this.#isPast || lines.length === 0 || timeMs === null) return lines;
    return [`switches at ${new Date(timeMs).toISOString()}, the time of the last reports:`, ...lines];
  }
}
