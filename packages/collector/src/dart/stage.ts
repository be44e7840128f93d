import type { TelemetryBatch } from '@int/codec';
import { type KeyRows, ReportRows, type ReportRowsCounters, type ReportRowsOptions } from '@int/dart';
import type { Stage } from '../stage.js';

/** What takes rows: a `DartStore`, a `DartCluster`, or an `EpochStore` of `@int/dart/node`. */
export interface RowWriter {
  writeRows(keys: KeyRows, values: Uint8Array, from?: number, to?: number): void;
}

/** How a {@link DartStage} writes. */
export interface DartStageOptions extends ReportRowsOptions {
  readonly store: RowWriter;
  /** Rows written at once, 256 or more; default 4096. */
  readonly capacity?: number;
}

/** What became of the reports. */
export interface DartTotals extends ReportRowsCounters {
  /** Keys written. */
  written: number;
}

const CAPACITY = 4096;

/**
 * Writes reports into a store of @int/dart: the path of each flow, or metrics of each hop, for those who query by key.
 *
 * @example
 * const store = new DartStore({ memoryBytes: 1 << 30 });
 * const stage = new DartStage({ store, valueBytes: 20 });
 * const collector = new Collector({ sources: [source], stages: [stage] });
 */
export class DartStage implements Stage {
  readonly name = 'dart';
  readonly #store: RowWriter;
  readonly #rows: ReportRows;
  #written = 0;

  /** @throws RangeError for an option out of range */
  constructor({ store, capacity = CAPACITY, ...options }: DartStageOptions) {
    this.#store = store;
    this.#rows = new ReportRows(capacity, options);
  }

  process(batch: TelemetryBatch): void {
    const rows = this.#rows;
    for (let next = 0; next < batch.reports; ) {
      next = rows.fill(batch, next);
      this.#store.writeRows(rows.keys, rows.values, 0, rows.rows);
      this.#written += rows.rows;
    }
  }

  /** As {@link totals}. */
  counters(): Readonly<Record<string, number>> {
    return { ...this.totals() };
  }

  /** What happened so far: each report is one written, or one of the reasons. */
  totals(): DartTotals {
    return { written: this.#written, ...this.#rows.counters };
  }
}
