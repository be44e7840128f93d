import { Arena } from './arena.js';
import { FLAG, NOT_AVAILABLE, REPORT_BYTE_COLUMNS, REPORT_WORD_COLUMNS } from './columns.js';
import { HOP_COLUMNS } from './fields.js';

/** How much a batch can hold. */
export interface BatchCapacity {
  /** Frames per decode call. */
  readonly frames: number;
  /** Individual reports. Default: `frames`. */
  readonly reports?: number;
  /** Hop rows, at least 256. Default: 8 for each report, at least 256. */
  readonly hops?: number;
}

/** Words of the state block at the start of a batch. */
export const STATE = {
  /** Frames decoded since `clear`. */
  FRAMES: 0,
  /** Report rows in use. */
  REPORTS: 1,
  /** Hop rows in use. */
  HOPS: 2,
  /** Bit c: hop column c holds something else than all ones somewhere. */
  WRITTEN: 3,
  /** Not 0: a report's `drop` cell holds something else than all ones somewhere. */
  DROPS: 4,
} as const;
const STATE_WORDS = 16;

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
  for (const [name, value] of Object.entries({ frames, reports, hops })) {
    if (!Number.isInteger(value) || value < 1 || value > 1 << 24) {
      throw new RangeError(`batch capacity: ${name} must be an integer from 1 to 2^24, not ${value}`);
    }
  }
  if (hops < 256) throw new RangeError('batch capacity: hops must be at least 256, the longest stack and its own row');
  return { frames, reports, hops };
}

/**
 * A reusable struct of arrays that one decode call fills.
 *
 * Memory: a state block, per-frame byte columns, per-report word and byte columns, per-hop word columns, all in one
 * arena. Cells beyond the counts are undefined, but hop cells there are kept all ones for columns never written.
 * Nothing is allocated after construction.
 */
export class TelemetryBatch {
  readonly capacity: Required<BatchCapacity>;
  readonly buffer: ArrayBufferLike;
  /** See {@link STATE}. */
  readonly state: Int32Array;
  readonly frameCode: Uint8Array;
  /** All report word columns; column c starts at `c * reportStride`. */
  readonly reportWords: Uint32Array;
  readonly reportStride: number;
  /** All hop columns; column c starts at `c * hopStride`. */
  readonly hopWords: Uint32Array;
  readonly hopStride: number;

  /** The bit of `flags` that says IPv6, so that a batch can be handed to the column hashes of @int/hash as it is. */
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

  /**
   * @param capacity rows to provide for
   * @param arena where to put them; needs {@link TelemetryBatch.byteLength} bytes. Default: an ArrayBuffer of its own
   * @throws RangeError for a bad capacity or an arena that is too small
   */
  constructor(capacity: BatchCapacity, arena?: Arena) {
    this.capacity = resolve(capacity);
    const { frames, reports, hops } = this.capacity;
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
    const hopColumns: Partial<Record<(typeof HOP_COLUMNS)[number], Uint32Array>> = {};
    HOP_COLUMNS.forEach((name, index) => {
      hopColumns[name] = this.hopWords.subarray(index * this.hopStride, index * this.hopStride + hops);
    });
    this.hop = hopColumns as TelemetryBatch['hop'];
    this.hopWords.fill(NOT_AVAILABLE);
    this.drop.fill(NOT_AVAILABLE);
    this.state.fill(0);
  }

  /** Bytes an arena must offer for this capacity, alignment included. */
  static byteLength(capacity: BatchCapacity): number {
    const { frames, reports, hops } = resolve(capacity);
    const line = (bytes: number): number => Math.ceil(bytes / 64) * 64;
    return (
      64 +
      line(STATE_WORDS * 4) +
      line(frames) +
      REPORT_BYTE_COLUMNS.length * line(reports) +
      strideWords(reports) * REPORT_WORD_COLUMNS.length * 4 +
      strideWords(hops) * HOP_COLUMNS.length * 4
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

  /** Forgets all rows. Costs nothing: no column is touched. */
  clear(): void {
    this.state[STATE.FRAMES] = 0;
    this.state[STATE.REPORTS] = 0;
    this.state[STATE.HOPS] = 0;
  }
}
