import type { ReportWordColumn, TelemetryBatch } from '@int/codec';
import { REPORT_WORD_COLUMNS } from '@int/codec/internals';

const column = (name: ReportWordColumn): number => REPORT_WORD_COLUMNS.indexOf(name);

/** Index of the report columns that a cache reads. */
export const REPORT = /* @__PURE__ */ {
  FRAME: column('frame'),
  FLAGS: column('flags'),
  NODE: column('nodeId'),
  HOP_START: column('hopStart'),
  PORTS: column('ports'),
  SOURCE: column('source0'),
  DESTINATION: column('destination0'),
} as const;

/** The columns of a batch as signed words: V8 keeps those in registers, but boxes an unsigned word of 2^31 or more. */
export class BatchColumns {
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

  constructor(batch: TelemetryBatch) {
    this.batch = batch;
    const { reportWords, hopWords } = batch;
    this.report = new Int32Array(reportWords.buffer, reportWords.byteOffset, reportWords.length);
    this.reportStride = batch.reportStride;
    this.hops = new Int32Array(hopWords.buffer, hopWords.byteOffset, hopWords.length);
    this.hopStride = batch.hopStride;
    this.hopCount = batch.hopCount;
    this.code = batch.code;
    this.protocol = batch.protocol;
  }
}
