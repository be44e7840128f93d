import type { Arena, TelemetryBatch } from '@int/codec';
import { SignedColumns, signed } from '@int/codec/internals';

/** The columns of a telemetry batch, and what a detector works out for each of its rows. */
export class BatchView extends SignedColumns {
  /** CRC-32 of each row's flow. */
  readonly hashes: Uint32Array;
  /** Flow cell of each row, -1 where the flow is unknown. */
  readonly cells: Int32Array;
  /** Which rule decides each row. */
  readonly decisions: Int32Array;

  /** @param arena where to put the columns of its own. Default: buffers */
  constructor(batch: TelemetryBatch, arena?: Arena) {
    super(batch);
    const rows = batch.capacity.reports;
    const words = (): Uint32Array => arena?.words(rows) ?? new Uint32Array(rows);
    this.hashes = words();
    this.cells = signed(words());
    this.decisions = signed(words());
  }
}
