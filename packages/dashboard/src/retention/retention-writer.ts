import type { TelemetryBatch } from '@int/codec';
import type { EventBatch } from '@int/detect';
import { FlowTable } from './flow-table.js';
import type { SharedRetention } from './geometry.js';
import { Sampler } from './sampler.js';
import { SeriesWriter } from './series-writer.js';
import type { Slab, SlabNote } from './slabs.js';

/**
 * What is retained, for the thread that has the reports: each batch's events first, then the batch. It never waits, and
 * allocates nothing per report.
 */
export class RetentionWriter {
  readonly #series: SeriesWriter;
  readonly #sampler: Sampler;

  /** @param post hands a slab to whoever reads, see `Retention.take` */
  constructor(shared: SharedRetention, post: (note: SlabNote) => void) {
    this.#series = new SeriesWriter(shared);
    this.#sampler = new Sampler(shared, new FlowTable(shared), post);
  }

  /** Where whole reports go from now on. Without slabs, none are kept. */
  use(slabs: readonly Slab[]): void {
    this.#sampler.use(slabs);
  }

  write(batch: TelemetryBatch): void {
    this.#series.add(batch);
    this.#sampler.add(batch);
  }

  writeEvents(events: EventBatch): void {
    if (events.count === 0) return;
    this.#series.addEvents(events);
    this.#sampler.addEvents(events);
  }

  /** All reports before a time have been written. */
  advance(timeMs: number): void {
    this.#series.advance(timeMs);
    this.#sampler.advance(timeMs);
  }

  /** Completes what is open, at the end. */
  finish(): void {
    this.#series.finish();
    this.#sampler.flush();
  }
}
