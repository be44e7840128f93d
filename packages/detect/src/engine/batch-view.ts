import type { Arena, ReportWordColumn, TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';

const column = (name: ReportWordColumn): number => REPORT_WORD_COLUMNS.indexOf(name);

/** Index of the report columns that detection reads. */
export const REPORT = /* @__PURE__ */ {
  FRAME: column('frame'),
  FLAGS: column('flags'),
  NODE: column('nodeId'),
  HOP_START: column('hopStart'),
  PORTS: column('ports'),
  SOURCE: column('source0'),
  DESTINATION: column('destination0'),
  ETHERNET: column('ethernet'),
} as const;

/**
 * The columns of a telemetry batch as signed words: V8 keeps an int32 in a register, but boxes an unsigned word of 2^31
 * or more when it crosses a call.
 */
export class BatchView {
  readonly batch: TelemetryBatch;
  /** All report word columns, `reportStride` apart. */
  readonly report: Int32Array;
  readonly reportStride: number;
  /** All hop columns, `hopStride` apart. */
  readonly hops: Int32Array;
  readonly hopStride: number;
  readonly hopCount: Uint8Array;
  readonly code: Uint8Array;
  readonly protocol: Uint8Array;
  /** Scratch: CRC-32 of each row's flow. */
  readonly hashes: Uint32Array;
  /** Scratch: flow cell of each row, -1 where the flow is unknown. */
  readonly cells: Int32Array;
  /** Scratch: which rule decides each row. */
  readonly decisions: Int32Array;

  /** @param arena where to put the scratch columns. Default: buffers of their own */
  constructor(batch: TelemetryBatch, arena?: Arena) {
    const signed = (words: Uint32Array): Int32Array => new Int32Array(words.buffer, words.byteOffset, words.length);
    this.batch = batch;
    this.report = signed(batch.reportWords);
    this.reportStride = batch.reportStride;
    this.hops = signed(batch.hopWords);
    this.hopStride = batch.hopStride;
    this.hopCount = batch.hopCount;
    this.code = batch.code;
    this.protocol = batch.protocol;
    const rows = batch.capacity.reports;
    const scratch = (): Uint32Array => arena?.words(rows) ?? new Uint32Array(rows);
    this.hashes = scratch();
    this.cells = signed(scratch());
    this.decisions = signed(scratch());
  }
}
