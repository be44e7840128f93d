import { STATE, type TelemetryBatch } from './batch.js';
import { CODES } from './codes.js';
import { AcceleratorReport2, acceleratorAvailable } from './fast/accelerator.js';
import { marksOf } from './fast/marks.js';
import type { AcceleratorMemory } from './fast/memory.js';
import { FastReport2 } from './fast/report2.js';
import type { Frames } from './frames.js';
import type { DecodeOptions } from './options.js';
import { appendRow, hasRow } from './rows.js';
import { scanFrame } from './scan/frame.js';
import { nextIndividual } from './scan/report.js';
import { type Settings, settingsOf } from './scan/settings.js';
import { Scan } from './scan/state.js';

/** {@link DecodeOptions} and what only a batch needs. */
export interface BatchDecoderOptions extends DecodeOptions {
  /**
   * Memory of the WebAssembly accelerator, which decodes batches that lie in it, if the engine has SIMD. Input that
   * lies there, too, is decoded in place; other input is copied in. Frames that it does not know are decoded by
   * TypeScript. The result is the same.
   */
  readonly memory?: AcceleratorMemory;
  /** False: send every frame through the general rules. For tests and measurements. Default true. */
  readonly fastPath?: boolean;
}

/** Most frames decoded by the general rules in a row where the fast path refuses one after the other. */
const MOST_PATIENCE = 63;

function countOf({ offsets, lengths, count }: Frames): number {
  return count ?? Math.min(offsets.length, lengths.length);
}

/**
 * The hot path: frames in, columns out.
 *
 * One call decodes any number of frames into a {@link TelemetryBatch} that the caller reuses. Whatever the bytes are,
 * it allocates nothing, throws nothing, and reads nothing outside a frame. It notes a code for each frame.
 */
export class BatchDecoder {
  /** Bytes that the accelerator takes of {@link BatchDecoderOptions.memory}, at most. */
  static readonly acceleratorBytes: number = 1 << 20;

  readonly #scan: Scan;
  readonly #settings: Settings;
  readonly #fast: FastReport2 | AcceleratorReport2 | null;
  /** Frames that go through the general rules before the fast path is tried again. */
  #wait = 0;
  #patience = 0;

  /** @throws RangeError for an option out of range, or if the accelerator's memory is too small for its tables */
  constructor(options: BatchDecoderOptions = {}) {
    this.#settings = settingsOf(options);
    this.#scan = new Scan(this.#settings);
    const marks = options.fastPath === false ? null : marksOf(this.#settings);
    if (marks === null) this.#fast = null;
    else if (options.memory !== undefined && acceleratorAvailable())
      this.#fast = new AcceleratorReport2(options.memory, marks);
    else this.#fast = new FastReport2(marks);
  }

  /**
   * Decodes the frames `from` to `to - 1` and appends them to the batch, which refers to them from then on.
   *
   * @param to default: all frames
   * @returns the first frame that was not decoded: `to`, or less if the batch is full. Read the batch, `clear` it, and
   *   go on from there
   * @throws RangeError if the batch holds frames that these do not follow in the same memory: clear it first
   */
  decode(batch: TelemetryBatch, frames: Frames, from = 0, to: number = countOf(frames)): number {
    if (from >= to) return from;
    batch.refer(frames, from, this.#settings.linkType);
    const { bytes, offsets, lengths } = frames;
    const fast = this.#fast;
    let next = from;
    while (next < to) {
      if (fast !== null && this.#wait === 0) {
        const first = next;
        next = fast.run(batch, bytes, offsets, lengths, first, to);
        this.#patience = next > first ? 0 : Math.min(2 * this.#patience + 1, MOST_PATIENCE);
        this.#wait = this.#patience;
        if (next >= to) break;
      } else if (this.#wait > 0) {
        this.#wait--;
      }
      if (!this.#general(batch, bytes, offsets[next]!, lengths[next]!)) break;
      next++;
    }
    return next;
  }

  /** Decodes one frame by the general rules. @returns false, with the batch unchanged, if it has no room */
  #general(batch: TelemetryBatch, bytes: Uint8Array, offset: number, length: number): boolean {
    const { state } = batch;
    const frame = state[STATE.FRAMES]!;
    if (frame >= batch.capacity.frames) return false;
    if (!(offset + length <= bytes.length)) {
      batch.frameCode[frame] = CODES.BAD_RANGE;
      state[STATE.FRAMES] = frame + 1;
      return true;
    }
    const scan = this.#scan;
    const reports = state[STATE.REPORTS]!;
    const hops = state[STATE.HOPS]!;
    scanFrame(scan, bytes, offset, offset + length, this.#settings.linkType);
    let worst = scan.code;
    do {
      if (worst === CODES.OK) worst = scan.code;
      if (hasRow(scan) && !appendRow(batch, scan, frame)) {
        // A datagram goes into one batch as a whole. If the batch is empty and still too small, the rest is dropped.
        if (reports !== 0 || hops !== 0) {
          state[STATE.REPORTS] = reports;
          state[STATE.HOPS] = hops;
          return false;
        }
        worst = CODES.BATCH_TOO_SMALL;
        break;
      }
    } while (nextIndividual(scan));
    batch.frameCode[frame] = worst;
    state[STATE.FRAMES] = frame + 1;
    return true;
  }
}
