/**
 * The columns of a batch as signed words, for hot loops: V8 keeps an int32 in a register, but boxes an unsigned word of
 * 2^31 or more when it crosses a call.
 */
import type { TelemetryBatch } from './batch.js';
import { REPORT_WORD_COLUMNS, type ReportWordColumn } from './columns.js';

const column = (name: ReportWordColumn): number => REPORT_WORD_COLUMNS.indexOf(name);

/** Index of the report columns that hot loops read. */
export const REPORT_COLUMN = /* @__PURE__ */ {
  FRAME: column('frame'),
  FLAGS: column('flags'),
  NODE: column('nodeId'),
  HOP_START: column('hopStart'),
  PORTS: column('ports'),
  SOURCE: column('source0'),
  DESTINATION: column('destination0'),
  ETHERNET: column('ethernet'),
} as const;

/** The same words, signed. */
export function signed(words: Uint32Array): Int32Array {
  return new Int32Array(words.buffer, words.byteOffset, words.length);
}

export class SignedColumns {
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
    this.report = signed(batch.reportWords);
    this.reportStride = batch.reportStride;
    this.hops = signed(batch.hopWords);
    this.hopStride = batch.hopStride;
    this.hopCount = batch.hopCount;
    this.code = batch.code;
    this.protocol = batch.protocol;
  }
}
