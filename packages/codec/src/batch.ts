import { Arena } from './arena.js';
import { FLAG, NOT_AVAILABLE, REPORT_BYTE_COLUMNS, REPORT_WORD_COLUMNS } from './columns.js';
import { HOP_COLUMNS } from './fields.js';
import type { Frames } from './frames.js';
import { HopViews } from './hop-views.js';
import { LINK_TYPES, type LinkLayer } from './options.js';
import { RecordView } from './view.js';

/** How much a batch can hold. */
export interface BatchCapacity {
  /** Frames per decode call. */
  readonly frames: number;
  /** Individual reports. Default: `frames`. */
  readonly reports?: number;
  /** Hop rows, at least 256. Default: 8 for each report, at least 256. */
  readonly hops?: number;
  /** Bytes of its own, for copies of frames: see `ReportCopier`. Default 0: the frames stay in the source's memory. */
  readonly bytes?: number;
}

/** Words of the state block at the start of a batch. */
export const STATE = {
  /** Frames decoded since `clear`. */
  FRAMES: 0,
  /** Report rows in use. */
  REPORTS: 1,
  /** Hop rows in use. */
  HOPS: 2,
  /** Bit c: not all cells of hop column c are all ones. */
  WRITTEN: 3,
  /** Not 0: not all `drop` cells are all ones. */
  DROPS: 4,
  /** Bytes in use for copies of frames. */
  BYTES: 5,
  /** What the frames start with: 0 if not known, else 1 + the index in `LINK_TYPES`. */
  LINK: 6,
  /** Not 0: the frames have times. */
  TIMED: 7,
} as const;
const STATE_WORDS = 16;

/** Columns of words for each frame: offset, length, time. */
const FRAME_WORD_COLUMNS = 4;
const NO_BYTES: Uint8Array = /* @__PURE__ */ new Uint8Array(0);
const NO_WORDS: Uint32Array = /* @__PURE__ */ new Uint32Array(0);

/**
 * Columns of 32-bit words lie one behind the other, `stride` words apart. The stride is an odd number of cache lines:
 * with a power of two, the same row of all columns would fall into one set of the first-level cache.
 */
function strideWords(rows: number): number {
  return (Math.ceil(rows / 16) | 1) * 16;
}

function resolve(capacity: BatchCapacity): Required<BatchCapacity> {
  const frames = capacity.frames;
  const reports = capacity.reports ?? frames;
  const hops = capacity.hops ?? Math.max(256, reports * 8);
  const bytes = capacity.bytes ?? 0;
  for (const [name, value] of Object.entries({ frames, reports, hops })) {
    if (!Number.isInteger(value) || value < 1 || value > 1 << 24) {
      throw new RangeError(`batch capacity: ${name} must be an integer from 1 to 2^24, not ${value}`);
    }
  }
  if (hops < 256) throw new RangeError('batch capacity: hops must be at least 256, the longest stack and its own row');
  if (!Number.isInteger(bytes) || bytes < 0 || bytes > 1 << 30) {
    throw new RangeError(`batch capacity: bytes must be an integer from 0 to 2^30, not ${bytes}`);
  }
  return { frames, reports, hops, bytes };
}

/**
 * Telemetry as a struct of arrays: frames, the reports in them, and the hops of the reports. Decode calls fill it, and
 * it is reused. It is whole: a consumer needs nothing beside it.
 *
 * Memory: a state block, per-frame columns, per-report word and byte columns, per-hop word columns, all in one arena.
 * {@link bytes} and, after decoding, the offsets, lengths and times of the frames are the source's memory. The batch
 * only refers to them, and the source says how long they are valid. Cells beyond the counts are undefined, except in
 * hop columns that were never written: those are all ones. Nothing is allocated per frame.
 *
 * @example
 * for (const record of batch) console.log(record.timeNs, record.flow, record.hopCount);
 */
export class TelemetryBatch {
  readonly capacity: Required<BatchCapacity>;
  readonly buffer: ArrayBufferLike;
  /** See {@link STATE}. */
  readonly state: Int32Array;
  /** The memory that the frames lie in. */
  bytes: Uint8Array;
  /** First byte of each frame in {@link bytes}. */
  frameOffset: Uint32Array;
  /** Bytes of each frame. */
  frameLength: Uint32Array;
  /**
   * Capture or arrival time of each frame in nanoseconds since 1970-01-01 00:00:00 UTC, upper 32 bits; 0 if not known.
   */
  frameTimeHigh: Uint32Array;
  /** Lower 32 bits. */
  frameTimeLow: Uint32Array;
  /** 0 or a code of `CODES` for each frame. */
  readonly frameCode: Uint8Array;
  /** All report word columns; column c starts at `c * reportStride`. */
  readonly reportWords: Uint32Array;
  readonly reportStride: number;
  /** All hop columns; column c starts at `c * hopStride`. */
  readonly hopWords: Uint32Array;
  readonly hopStride: number;

  /** The bit of `flags` that says IPv6. With it, a batch is a `FlowColumns` of @int/hash. */
  readonly ipv6Mask: number = FLAG.IPV6;
  readonly code: Uint8Array;
  readonly hopCount: Uint8Array;
  readonly protocol: Uint8Array;

  readonly frame: Uint32Array;
  readonly flags: Uint32Array;
  readonly nodeId: Uint32Array;
  readonly sequence: Uint32Array;
  readonly instructions: Uint32Array;
  readonly hopStart: Uint32Array;
  readonly ports: Uint32Array;
  readonly source0: Uint32Array;
  readonly source1: Uint32Array;
  readonly source2: Uint32Array;
  readonly source3: Uint32Array;
  readonly destination0: Uint32Array;
  readonly destination1: Uint32Array;
  readonly destination2: Uint32Array;
  readonly destination3: Uint32Array;
  readonly reportTimestamp: Uint32Array;
  readonly drop: Uint32Array;
  readonly ethernet: Uint32Array;

  /** Hop columns by name, views of {@link hopWords}. */
  readonly hop: { readonly [K in (typeof HOP_COLUMNS)[number]]: Uint32Array };

  /** The batch's own columns of frames, and its own bytes. */
  readonly #frameWords: readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  readonly #ownBytes: Uint8Array;
  /** The table of offsets of which {@link frameOffset} is a part, and the first frame of that part. */
  #offsets: Uint32Array = NO_WORDS;
  #first = 0;
  /** Times of frames that have none. */
  #noTimes: Uint32Array = NO_WORDS;

  /**
   * @param capacity rows to provide for
   * @param arena where to put them; needs {@link TelemetryBatch.byteLength} bytes. Default: an ArrayBuffer of its own
   * @throws RangeError for a bad capacity or an arena that is too small
   */
  constructor(capacity: BatchCapacity, arena?: Arena) {
    this.capacity = resolve(capacity);
    const { frames, reports, hops, bytes } = this.capacity;
    const memory = arena ?? new Arena(new ArrayBuffer(TelemetryBatch.byteLength(capacity)));
    this.buffer = memory.buffer;
    this.state = new Int32Array(memory.buffer, memory.take(STATE_WORDS * 4), STATE_WORDS);
    this.frameCode = memory.bytes(frames);
    this.code = memory.bytes(reports);
    this.hopCount = memory.bytes(reports);
    this.protocol = memory.bytes(reports);
    this.reportStride = strideWords(reports);
    this.reportWords = memory.words(this.reportStride * REPORT_WORD_COLUMNS.length);
    this.hopStride = strideWords(hops);
    this.hopWords = memory.words(this.hopStride * HOP_COLUMNS.length);
    this.#frameWords = [memory.words(frames), memory.words(frames), memory.words(frames), memory.words(frames)];
    [this.frameOffset, this.frameLength, this.frameTimeHigh, this.frameTimeLow] = this.#frameWords;
    // A copied frame without bytes has offset 0 and length 0.
    this.frameOffset.fill(0);
    this.frameLength.fill(0);
    this.#ownBytes = bytes === 0 ? NO_BYTES : memory.bytes(bytes);
    this.bytes = this.#ownBytes;

    const report = (index: number): Uint32Array =>
      this.reportWords.subarray(index * this.reportStride, index * this.reportStride + reports);
    this.frame = report(0);
    this.flags = report(1);
    this.nodeId = report(2);
    this.sequence = report(3);
    this.instructions = report(4);
    this.hopStart = report(5);
    this.ports = report(6);
    this.source0 = report(7);
    this.source1 = report(8);
    this.source2 = report(9);
    this.source3 = report(10);
    this.destination0 = report(11);
    this.destination1 = report(12);
    this.destination2 = report(13);
    this.destination3 = report(14);
    this.reportTimestamp = report(15);
    this.drop = report(16);
    this.ethernet = report(17);
    this.hop = new HopViews(this.hopWords, this.hopStride, hops);
    this.hopWords.fill(NOT_AVAILABLE);
    this.drop.fill(NOT_AVAILABLE);
    this.state.fill(0);
  }

  /** Bytes an arena must offer for this capacity, alignment included. */
  static byteLength(capacity: BatchCapacity): number {
    const { frames, reports, hops, bytes } = resolve(capacity);
    const line = (bytes: number): number => Math.ceil(bytes / 64) * 64;
    return (
      64 +
      line(STATE_WORDS * 4) +
      line(frames) +
      REPORT_BYTE_COLUMNS.length * line(reports) +
      strideWords(reports) * REPORT_WORD_COLUMNS.length * 4 +
      strideWords(hops) * HOP_COLUMNS.length * 4 +
      FRAME_WORD_COLUMNS * line(frames * 4) +
      line(bytes)
    );
  }

  /** Frames decoded since the last {@link clear}. */
  get frames(): number {
    return this.state[STATE.FRAMES]!;
  }

  /** Reports held: valid rows are 0 to `reports - 1`. */
  get reports(): number {
    return this.state[STATE.REPORTS]!;
  }

  /** Hop rows held. */
  get hops(): number {
    return this.state[STATE.HOPS]!;
  }

  /** What each frame starts with; `null` if that is not known. */
  get linkType(): LinkLayer | null {
    return LINK_TYPES[this.state[STATE.LINK]! - 1] ?? null;
  }

  /** Whether the frames have times. A writer of {@link frameTimeHigh} and {@link frameTimeLow} sets it. */
  get isTimed(): boolean {
    return this.state[STATE.TIMED] !== 0;
  }

  set isTimed(isTimed: boolean) {
    this.state[STATE.TIMED] = isTimed ? 1 : 0;
  }

  /** Forgets all rows, and the source's memory. It touches no column. */
  clear(): void {
    this.state[STATE.FRAMES] = 0;
    this.state[STATE.REPORTS] = 0;
    this.state[STATE.HOPS] = 0;
    this.state[STATE.BYTES] = 0;
    this.state[STATE.LINK] = 0;
    this.state[STATE.TIMED] = 0;
    this.bytes = this.#ownBytes;
    const own = this.#frameWords;
    this.frameOffset = own[0];
    this.frameLength = own[1];
    this.frameTimeHigh = own[2];
    this.frameTimeLow = own[3];
    this.#offsets = NO_WORDS;
  }

  /**
   * For decoders: makes the batch refer to the frames of a source, from frame `from` on. Nothing is copied.
   * @throws RangeError if the batch holds frames, and these do not follow them in the same tables or have another link
   *   type
   */
  refer(frames: Frames, from: number, linkType: LinkLayer): void {
    const held = this.frames;
    const { bytes, offsets, lengths, timestampsHigh, timestampsLow } = frames;
    if (held > 0) {
      const isNext = bytes === this.bytes && offsets === this.#offsets && from === this.#first + held;
      if (isNext && linkType === this.linkType) return;
      throw new RangeError('the batch holds other frames: clear it before decoding frames that do not follow them');
    }
    this.state[STATE.LINK] = LINK_TYPES.indexOf(linkType) + 1;
    this.bytes = bytes;
    this.isTimed = timestampsHigh !== undefined && timestampsLow !== undefined;
    const [high, low] = this.isTimed ? [timestampsHigh!, timestampsLow!] : this.#withoutTimes();
    this.#offsets = offsets;
    this.#first = from;
    const isWhole = from === 0;
    this.frameOffset = isWhole ? offsets : offsets.subarray(from);
    this.frameLength = isWhole ? lengths : lengths.subarray(from);
    this.frameTimeHigh = isWhole || !this.isTimed ? high : high.subarray(from);
    this.frameTimeLow = isWhole || !this.isTimed ? low : low.subarray(from);
  }

  /** Time of the frame of report `row`, nanoseconds since 1970-01-01 00:00:00 UTC; 0 if not known. */
  timeNs(row: number): bigint {
    const frame = this.frame[row]!;
    return (BigInt(this.frameTimeHigh[frame]!) << 32n) | BigInt(this.frameTimeLow[frame]!);
  }

  /**
   * A view of report row `row`, which reads the columns when asked.
   * @throws RangeError if the batch does not hold that row
   */
  record(row: number): RecordView {
    if (!(row >= 0 && row < this.reports)) throw new RangeError(`no report row ${row} of ${this.reports}`);
    return new RecordView(this, row);
  }

  /** Views of all reports, in their order. */
  *[Symbol.iterator](): Generator<RecordView, void, undefined> {
    for (let row = 0; row < this.reports; row++) yield new RecordView(this, row);
  }

  #withoutTimes(): readonly [Uint32Array, Uint32Array] {
    if (this.#noTimes.length === 0) this.#noTimes = new Uint32Array(this.capacity.frames);
    return [this.#noTimes, this.#noTimes];
  }
}
