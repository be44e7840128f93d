import type { TelemetryBatch } from '../batch.js';
import { SPLITS } from '../fields.js';
import { LAYOUT, planFor } from '../plan.js';
import { DECODE_WASM } from './decode.wasm.js';
import type { ReportMarks } from './marks.js';
import type { AcceleratorMemory } from './memory.js';
import { canRunAccelerator } from './modules.js';
import { SLOTS } from './plans.js';
import { FastReport2 } from './report2.js';

/** Words of the context block, in the order of `assembly/decode.ts`. */
const CONTEXT = {
  INPUT: 0,
  SPAN_START: 1,
  SPAN_BYTES: 2,
  OFFSETS: 3,
  LENGTHS: 4,
  STATE: 5,
  FRAME_CODE: 6,
  CODE: 7,
  HOP_COUNT: 8,
  PROTOCOL: 9,
  REPORT_WORDS: 10,
  REPORT_STRIDE: 11,
  HOP_WORDS: 12,
  HOP_STRIDE: 13,
  FRAME_ROWS: 14,
  REPORT_ROWS: 15,
  HOP_ROWS: 16,
  ETHERNET: 17,
  ANY_PORT: 18,
  PORTS: 19,
  TOS_MASK: 21,
  TOS_VALUE: 22,
  STACK_SLOT_OF: 23,
  STACK_SLOTS: 24,
  OWN_SLOT_OF: 25,
  OWN_SLOTS: 26,
  REASON: 27,
  MISSING: 28,
  VECTORS: 32,
  SPLITS: 60,
} as const;
const CONTEXT_WORDS = /* @__PURE__ */ CONTEXT.SPLITS + 1 + 2 * SPLITS.length;

/** Vectors that the accelerator keeps in registers, 16 bytes each. */
// biome-ignore format: one vector a line
const VECTORS: readonly number[] = [
  // Swaps the bytes of four words.
  3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,
  // Report: Ver 2; F; RepMdBits without bits 0 and 15. Values, then what of them is compared.
  0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0,
  0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x80, 1, 0, 0,
  // IPv4: version 4, header of 20 bytes; no fragment.
  0x45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0xff, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0,
  // Shim and metadata header: Ver 2; DS Instruction 0.
  0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0,
];

/** A 16-bit number with its bytes in the order that they have on the wire. */
function wire16(value: number): number {
  return ((value & 0xff) << 8) | (value >>> 8);
}

/** Why the accelerator stopped. */
const REASON = { REFUSED: 0, NO_STACK_PLAN: 1, NO_OWN_PLAN: 2, OUTSIDE_SPAN: 3 } as const;

/** Words of a plan slot: mask, words, reciprocal, bitmap, column offsets. */
const SLOT_WORDS = 32;
const SLOT_COLUMNS = 4;
const STAGING_BYTES = 0x40000;
/** Frames whose offsets and lengths are copied in at a time. */
const STAGED_FRAMES = 4096;
/** Frames that are copied in at least, if so many are left. */
const LEAST_FRAMES = 8;

/** A piece that serves fewer frames than this is not worth copying as a whole. */
const FEW_FRAMES = 16;

type Run = (context: number, from: number, to: number) => number;

/** Whether this engine can run the accelerator: WebAssembly with 128-bit SIMD. */
export function acceleratorAvailable(): boolean {
  return canRunAccelerator(DECODE_WASM);
}

/** Plans of one layout in accelerator memory, columns as byte offsets for one hop stride. */
class SlotTable {
  readonly slotOf: Uint16Array;
  readonly slots: Uint32Array;
  readonly #layout: (typeof LAYOUT)[keyof typeof LAYOUT];
  #used = 1;

  constructor(memory: AcceleratorMemory, layout: (typeof LAYOUT)[keyof typeof LAYOUT]) {
    const bytes = memory.bytes(0x20000);
    this.slotOf = new Uint16Array(bytes.buffer, bytes.byteOffset, 0x10000);
    this.slots = memory.words(SLOTS * SLOT_WORDS);
    this.#layout = layout;
  }

  clear(): void {
    this.slotOf.fill(0);
    this.#used = 1;
  }

  /** @param wireBitmap the bitmap as a little-endian number of its bytes on the wire */
  compile(wireBitmap: number, strideBytes: number): void {
    // A full table starts anew: hostile traffic that varies the bitmap costs time, never memory.
    if (this.#used === SLOTS) this.clear();
    const bitmap = wire16(wireBitmap);
    const plan = planFor(this.#layout, bitmap);
    const slot = this.#used++;
    const at = slot * SLOT_WORDS;
    this.slots[at] = plan.mask;
    this.slots[at + 1] = plan.words;
    // ceil(2^16 / words): exact for dividends up to 252.
    this.slots[at + 2] = Math.ceil(0x10000 / plan.words);
    this.slots[at + 3] = bitmap;
    for (let k = 0; k < plan.words; k++) this.slots[at + SLOT_COLUMNS + k] = plan.columns[k]! * strideBytes;
    this.slotOf[wireBitmap] = slot;
  }
}

/**
 * The fast path as a WebAssembly SIMD accelerator: accepts and writes exactly what `FastReport2` does.
 *
 * - Batch, input, offsets and lengths in the {@link AcceleratorMemory}: decoded in place, nothing is copied.
 * - Batch there, input or tables elsewhere: what lies elsewhere is copied in, piece by piece. Frames should follow one
 *   another in the input; a piece spans from its first to its last frame.
 * - Batch elsewhere: decoded by `FastReport2`.
 */
export class AcceleratorReport2 {
  readonly memory: AcceleratorMemory;
  readonly #plain: FastReport2;
  readonly #run: Run;
  readonly #context: Uint32Array;
  readonly #stack: SlotTable;
  readonly #own: SlotTable;
  readonly #staging: Uint8Array;
  readonly #stagedOffsets: Uint32Array;
  readonly #stagedLengths: Uint32Array;
  #batch: TelemetryBatch | undefined;
  #strideBytes = 0;
  /**
   * Frames to copy in at once. A frame that the accelerator refuses wastes what was copied behind it, so that where such
   * frames are frequent pieces are to be small.
   */
  #pieceFrames = STAGED_FRAMES;

  /**
   * Takes about 490 KiB and `stagingBytes` of the memory.
   *
   * @param memory where batches, and input that shall not be copied, lie
   * @param marks what marks a report and an INT packet
   * @param stagingBytes bytes of input copied in at a time when it lies outside the accelerator's memory: 2048 or more
   * @throws RangeError if the memory is exhausted
   * @throws Error where WebAssembly with SIMD is missing, see {@link acceleratorAvailable}
   */
  constructor(memory: AcceleratorMemory, marks: ReportMarks, stagingBytes: number = STAGING_BYTES) {
    this.memory = memory;
    this.#plain = new FastReport2(marks);
    this.#run = memory.instantiate(DECODE_WASM).decode as Run;
    this.#context = memory.words(CONTEXT_WORDS);
    this.#stack = new SlotTable(memory, LAYOUT.V2);
    this.#own = new SlotTable(memory, LAYOUT.REPORT20);
    this.#staging = memory.bytes(stagingBytes);
    this.#stagedOffsets = memory.words(STAGED_FRAMES);
    this.#stagedLengths = memory.words(STAGED_FRAMES);
    this.#configure(marks);
  }

  #configure(marks: ReportMarks): void {
    const context = this.#context;
    const ports = this.memory.bytes(marks.ports.length);
    for (const [port, kind] of marks.ports.entries()) ports[wire16(port)] = kind;
    context[CONTEXT.ETHERNET] = Number(marks.isEthernet);
    context[CONTEXT.ANY_PORT] = Number(marks.isAnyPort);
    context[CONTEXT.PORTS] = ports.byteOffset;
    context[CONTEXT.TOS_MASK] = marks.tosMask;
    context[CONTEXT.TOS_VALUE] = marks.tosValue;
    context[CONTEXT.STACK_SLOT_OF] = this.#stack.slotOf.byteOffset;
    context[CONTEXT.STACK_SLOTS] = this.#stack.slots.byteOffset;
    context[CONTEXT.OWN_SLOT_OF] = this.#own.slotOf.byteOffset;
    context[CONTEXT.OWN_SLOTS] = this.#own.slots.byteOffset;
    new Uint8Array(context.buffer, context.byteOffset + CONTEXT.VECTORS * 4).set(VECTORS);
    context[CONTEXT.SPLITS] = SPLITS.length;
    context.set(
      SPLITS.flatMap(({ column, bits }) => [column, bits]),
      CONTEXT.SPLITS + 1,
    );
  }

  #bind(batch: TelemetryBatch): void {
    const context = this.#context;
    context[CONTEXT.STATE] = batch.state.byteOffset;
    context[CONTEXT.FRAME_CODE] = batch.frameCode.byteOffset;
    context[CONTEXT.CODE] = batch.code.byteOffset;
    context[CONTEXT.HOP_COUNT] = batch.hopCount.byteOffset;
    context[CONTEXT.PROTOCOL] = batch.protocol.byteOffset;
    context[CONTEXT.REPORT_WORDS] = batch.reportWords.byteOffset;
    context[CONTEXT.REPORT_STRIDE] = batch.reportStride * 4;
    context[CONTEXT.HOP_WORDS] = batch.hopWords.byteOffset;
    context[CONTEXT.HOP_STRIDE] = batch.hopStride * 4;
    context[CONTEXT.FRAME_ROWS] = batch.capacity.frames;
    context[CONTEXT.REPORT_ROWS] = batch.capacity.reports;
    context[CONTEXT.HOP_ROWS] = batch.capacity.hops;
    this.#batch = batch;
    // Plans hold column offsets, which follow from the stride.
    if (this.#strideBytes !== batch.hopStride * 4) {
      this.#strideBytes = batch.hopStride * 4;
      this.#stack.clear();
      this.#own.clear();
    }
  }

  run(
    batch: TelemetryBatch,
    bytes: Uint8Array,
    offsets: Uint32Array,
    lengths: Uint32Array,
    from: number,
    to: number,
  ): number {
    const buffer = this.memory.buffer;
    if (batch.buffer !== buffer) return this.#plain.run(batch, bytes, offsets, lengths, from, to);
    if (bytes.length > 0x7fffffff || from < 0) return from;
    const end = Math.min(to, offsets.length, lengths.length);
    if (from >= end) return from;
    if (batch !== this.#batch) this.#bind(batch);
    const context = this.#context;
    const tablesInside = offsets.buffer === buffer && lengths.buffer === buffer;
    if (bytes.buffer === buffer && tablesInside) {
      context[CONTEXT.INPUT] = bytes.byteOffset;
      context[CONTEXT.SPAN_START] = 0;
      context[CONTEXT.SPAN_BYTES] = bytes.length;
      context[CONTEXT.OFFSETS] = offsets.byteOffset;
      context[CONTEXT.LENGTHS] = lengths.byteOffset;
      return this.#drive(from, end);
    }
    return this.#copyIn(bytes, offsets, lengths, from, end);
  }

  /** Runs the accelerator, compiling plans as it asks for them. */
  #drive(from: number, end: number): number {
    let index = from;
    for (;;) {
      index = this.#run(this.#context.byteOffset, index, end);
      const reason = this.#context[CONTEXT.REASON]!;
      if (reason === REASON.NO_STACK_PLAN) {
        this.#stack.compile(this.#context[CONTEXT.MISSING]!, this.#strideBytes);
      } else if (reason === REASON.NO_OWN_PLAN) {
        this.#own.compile(this.#context[CONTEXT.MISSING]!, this.#strideBytes);
      } else {
        return index;
      }
    }
  }

  /**
   * Decodes piece by piece, each copied into the staging areas as far as it lies outside the memory. The accelerator checks
   * every frame against the piece it is told, so the choice of pieces is a matter of speed alone.
   */
  #copyIn(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, from: number, end: number): number {
    const buffer = this.memory.buffer;
    const context = this.#context;
    const staging = this.#staging;
    const copyBytes = bytes.buffer !== buffer;
    const copyTables = offsets.buffer !== buffer || lengths.buffer !== buffer;
    // False once frames turn out to be scattered: then each is a piece of its own.
    let together = true;
    let index = from;
    while (index < end) {
      const start = offsets[index]!;
      const length = lengths[index]!;
      // Larger than the staging area is larger than any frame of the fast shape.
      if (start + length > bytes.length || (copyBytes && length > staging.length)) return index;
      let stop = Math.min(end, index + (copyBytes && !together ? 1 : this.#pieceFrames));
      if (copyBytes) {
        // The bytes from this frame to the end of the last one, if those come in order.
        let span = offsets[stop - 1]! + lengths[stop - 1]! - start;
        if (span > staging.length) {
          // As many frames as fit at this frame's pace; the accelerator stops where they do not.
          stop = Math.min(stop, index + Math.max(1, Math.floor(staging.length / Math.max(length, 1))));
          span = staging.length;
        }
        span = Math.min(Math.max(span, length), bytes.length - start);
        staging.set(new Uint8Array(bytes.buffer, bytes.byteOffset + start, span));
        context[CONTEXT.INPUT] = staging.byteOffset - start;
        context[CONTEXT.SPAN_START] = start;
        context[CONTEXT.SPAN_BYTES] = span;
      } else {
        context[CONTEXT.INPUT] = bytes.byteOffset;
        context[CONTEXT.SPAN_START] = 0;
        context[CONTEXT.SPAN_BYTES] = bytes.length;
      }
      if (copyTables) {
        this.#stagedOffsets.set(offsets.subarray(index, stop));
        this.#stagedLengths.set(lengths.subarray(index, stop));
        // The accelerator indexes with the frame's own number.
        context[CONTEXT.OFFSETS] = this.#stagedOffsets.byteOffset - index * 4;
        context[CONTEXT.LENGTHS] = this.#stagedLengths.byteOffset - index * 4;
      } else {
        context[CONTEXT.OFFSETS] = offsets.byteOffset;
        context[CONTEXT.LENGTHS] = lengths.byteOffset;
      }
      const reached = this.#drive(index, stop);
      // A frame outside the piece begins the next one; the first frame is inside by construction.
      if (reached < stop && (context[CONTEXT.REASON] !== REASON.OUTSIDE_SPAN || reached === index)) {
        this.#pieceFrames = Math.max(LEAST_FRAMES, Math.min(this.#pieceFrames, 2 * (reached - index)));
        return reached;
      }
      this.#pieceFrames = Math.min(STAGED_FRAMES, 2 * this.#pieceFrames);
      if (reached < stop && reached - index < FEW_FRAMES) together = false;
      index = reached;
    }
    return end;
  }
}
