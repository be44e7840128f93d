import { type Arena, FLAG, type TelemetryBatch } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import { type CacheGeometry, LATENCY_COLUMN, metricWords, NODE_COLUMN } from '../layout.js';
import { BLOCK, CONTEXT } from './context.js';

/** Hop rows copied at once; a report has 255 at most. */
const HOP_ROWS = 4096;
/**
 * An odd number of cache lines each: the same row of all columns must not fall into one set of the first-level cache.
 */
const HOP_STRIDE = HOP_ROWS + 16;
const REPORT_STRIDE = BLOCK + 16;
const BYTE_STRIDE = BLOCK + 64;

/** Where the copy of a report column is. */
const COPY = { FLAGS: 0, FRAME: 1, NODE: 2, HOP_START: 3, PORTS: 4, SOURCE: 5, DESTINATION: 9 } as const;
const COPIES = 13;
const COPIES_OF_BYTES = 3;

/** The hop columns that a cache reads. */
function columnsOf(metrics: readonly number[]): number[] {
  return [...new Set([NODE_COLUMN, LATENCY_COLUMN, ...metrics])];
}

/** Tells the accelerator where the columns of a batch are: in place if the batch lies in its memory, else in a copy. */
export class AcceleratorColumns {
  readonly #context: Uint32Array;
  readonly #metrics: readonly number[];
  readonly #columns: readonly number[];
  readonly #report: Uint32Array;
  readonly #hops: Uint32Array;
  readonly #bytes: Uint8Array;
  /** What the accelerator reads: a batch, or the copy. */
  #bound: TelemetryBatch | 'copy' | null = null;

  constructor(arena: Arena, context: Uint32Array, geometry: CacheGeometry) {
    this.#context = context;
    this.#metrics = metricWords(geometry.metrics);
    this.#columns = columnsOf(this.#metrics);
    this.#report = arena.words(REPORT_STRIDE * COPIES);
    this.#hops = arena.words(HOP_STRIDE * this.#columns.length);
    this.#bytes = arena.bytes(BYTE_STRIDE * COPIES_OF_BYTES);
  }

  static byteLength(geometry: CacheGeometry): number {
    const hops = HOP_STRIDE * columnsOf(metricWords(geometry.metrics)).length;
    return (REPORT_STRIDE * COPIES + hops) * 4 + BYTE_STRIDE * COPIES_OF_BYTES;
  }

  /** Address of the column `frame` that the accelerator reads. */
  get frames(): number {
    const { byteOffset } = this.#report;
    return this.#bound instanceof Object ? this.#bound.frame.byteOffset : byteOffset + COPY.FRAME * REPORT_STRIDE * 4;
  }

  /** Points the accelerator at a batch in its memory. */
  useInPlace(batch: TelemetryBatch): void {
    if (this.#bound === batch) return;
    this.#bound = batch;
    const context = this.#context;
    context[CONTEXT.CODE] = batch.code.byteOffset;
    context[CONTEXT.HOP_COUNT] = batch.hopCount.byteOffset;
    context[CONTEXT.PROTOCOL] = batch.protocol.byteOffset;
    this.#writeReport(batch.reportWords.byteOffset, batch.reportStride * 4, REPORT_COLUMN);
    this.#writeHops(batch.hopWords.byteOffset, batch.hopStride * 4, (column) => column);
    context[CONTEXT.HOP_BASE] = 0;
    context[CONTEXT.HOP_ROWS] = batch.capacity.hops;
  }

  /**
   * Copies rows and points the accelerator at the copy, in which the first of them is row 0.
   * @returns the end of the rows copied, as many as have room for their hops; `from` if their hops are in no order
   */
  copy(batch: TelemetryBatch, from: number, to: number): number {
    const end = this.#copyHops(batch, from, to);
    if (end === from) return from;
    this.#useCopy();
    const words = this.#report;
    const bytes = this.#bytes;
    const { flags } = batch;
    words.set(flags.subarray(from, end), COPY.FLAGS * REPORT_STRIDE);
    words.set(batch.frame.subarray(from, end), COPY.FRAME * REPORT_STRIDE);
    words.set(batch.nodeId.subarray(from, end), COPY.NODE * REPORT_STRIDE);
    words.set(batch.hopStart.subarray(from, end), COPY.HOP_START * REPORT_STRIDE);
    words.set(batch.ports.subarray(from, end), COPY.PORTS * REPORT_STRIDE);
    words.set(batch.source0.subarray(from, end), COPY.SOURCE * REPORT_STRIDE);
    words.set(batch.destination0.subarray(from, end), COPY.DESTINATION * REPORT_STRIDE);
    bytes.set(batch.code.subarray(from, end), 0);
    bytes.set(batch.hopCount.subarray(from, end), BYTE_STRIDE);
    bytes.set(batch.protocol.subarray(from, end), 2 * BYTE_STRIDE);
    let union = 0;
    for (let row = from; row < end; row++) union |= flags[row]!;
    if ((union & FLAG.IPV6) === 0) return end;
    words.set(batch.source1.subarray(from, end), (COPY.SOURCE + 1) * REPORT_STRIDE);
    words.set(batch.source2.subarray(from, end), (COPY.SOURCE + 2) * REPORT_STRIDE);
    words.set(batch.source3.subarray(from, end), (COPY.SOURCE + 3) * REPORT_STRIDE);
    words.set(batch.destination1.subarray(from, end), (COPY.DESTINATION + 1) * REPORT_STRIDE);
    words.set(batch.destination2.subarray(from, end), (COPY.DESTINATION + 2) * REPORT_STRIDE);
    words.set(batch.destination3.subarray(from, end), (COPY.DESTINATION + 3) * REPORT_STRIDE);
    return end;
  }

  /** Copies the hop rows from those of the first row that has any to those of the last. */
  #copyHops(batch: TelemetryBatch, from: number, to: number): number {
    const { code, hopCount, hopStart } = batch;
    // The cells of a row that is no report, or has no hops, mean nothing.
    let first = from;
    while (first < to && (code[first] !== 0 || hopCount[first] === 0)) first++;
    let end = to;
    let start = 0;
    let count = 0;
    for (; first < end; end = first + ((end - first) >> 1)) {
      let last = end - 1;
      while (code[last] !== 0 || hopCount[last] === 0) last--;
      start = hopStart[first]!;
      count = hopStart[last]! + hopCount[last]! - start;
      if (count < 0 || start + count > batch.capacity.hops) return from;
      if (count <= HOP_ROWS) break;
    }
    // The accelerator checks that the hops of each report are among these.
    this.#context[CONTEXT.HOP_BASE] = start;
    this.#context[CONTEXT.HOP_ROWS] = count;
    if (count === 0) return end;
    const { hopWords, hopStride } = batch;
    const columns = this.#columns;
    for (let copy = 0; copy < columns.length; copy++) {
      const at = columns[copy]! * hopStride + start;
      this.#hops.set(hopWords.subarray(at, at + count), copy * HOP_STRIDE);
    }
    return end;
  }

  #useCopy(): void {
    if (this.#bound === 'copy') return;
    this.#bound = 'copy';
    const context = this.#context;
    context[CONTEXT.CODE] = this.#bytes.byteOffset;
    context[CONTEXT.HOP_COUNT] = this.#bytes.byteOffset + BYTE_STRIDE;
    context[CONTEXT.PROTOCOL] = this.#bytes.byteOffset + 2 * BYTE_STRIDE;
    this.#writeReport(this.#report.byteOffset, REPORT_STRIDE * 4, COPY);
    this.#writeHops(this.#hops.byteOffset, HOP_STRIDE * 4, (column) => this.#columns.indexOf(column));
  }

  #writeReport(
    at: number,
    stride: number,
    columns: { readonly [K in Exclude<keyof typeof COPY, 'FRAME'>]: number },
  ): void {
    const context = this.#context;
    context[CONTEXT.FLAGS] = at + columns.FLAGS * stride;
    context[CONTEXT.NODE] = at + columns.NODE * stride;
    context[CONTEXT.HOP_START] = at + columns.HOP_START * stride;
    context[CONTEXT.PORTS] = at + columns.PORTS * stride;
    context[CONTEXT.SOURCE] = at + columns.SOURCE * stride;
    context[CONTEXT.DESTINATION] = at + columns.DESTINATION * stride;
    context[CONTEXT.REPORT_STRIDE] = stride;
  }

  #writeHops(at: number, stride: number, placeOf: (column: number) => number): void {
    const context = this.#context;
    context[CONTEXT.HOP_NODE] = at + placeOf(NODE_COLUMN) * stride;
    context[CONTEXT.HOP_LATENCY] = at + placeOf(LATENCY_COLUMN) * stride;
    for (let word = 0; word < this.#metrics.length; word++) {
      context[CONTEXT.METRIC + word] = at + placeOf(this.#metrics[word]!) * stride;
    }
  }
}
