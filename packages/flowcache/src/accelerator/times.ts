import type { Arena, TelemetryBatch } from '@int/codec';
import { BLOCK, CONTEXT } from './context.js';

/** Times copied at once: between frames that bring a report lie others. */
const TIME_ROWS = 1024;

/** Tells the accelerator where the times of a block of reports are. */
export class AcceleratorTimes {
  readonly #buffer: ArrayBufferLike;
  readonly #context: Uint32Array;
  readonly #low: Uint32Array;
  readonly #high: Uint32Array;
  /** 0, 1, 2 ... */
  readonly #sequence: Uint32Array;
  /** The times of reports that have none. */
  readonly #none: Uint32Array;

  constructor(arena: Arena, context: Uint32Array) {
    this.#buffer = arena.buffer;
    this.#context = context;
    this.#low = arena.words(TIME_ROWS);
    this.#high = arena.words(TIME_ROWS);
    this.#sequence = arena.words(BLOCK);
    this.#none = arena.words(BLOCK);
    for (let row = 0; row < BLOCK; row++) this.#sequence[row] = row;
  }

  static readonly byteLength: number = 2 * (TIME_ROWS + BLOCK) * 4;

  /**
   * Provides the times of rows, to be found by their frame. The accelerator says if a row's is not among them; then
   * call {@link gather}.
   *
   * @param start number of the first row in the accelerator
   * @param frames address of the column `frame`
   * @returns whether this is possible
   */
  stage(batch: TelemetryBatch, from: number, to: number, start: number, frames: number): boolean {
    const { isTimed, frameTimeLow, frameTimeHigh } = batch;
    if (!isTimed) {
      this.#write(this.#sequence.byteOffset - start * 4, 0, BLOCK, this.#none, this.#none);
      return true;
    }
    const length = Math.min(frameTimeLow.length, frameTimeHigh.length);
    if (frameTimeLow.buffer === this.#buffer && frameTimeHigh.buffer === this.#buffer) {
      this.#write(frames, 0, length, frameTimeLow, frameTimeHigh);
      return true;
    }
    const base = batch.frame[from]!;
    const count = batch.frame[to - 1]! + 1 - base;
    if (count < 1 || count > TIME_ROWS || base + count > length) return false;
    this.#low.set(frameTimeLow.subarray(base, base + count));
    this.#high.set(frameTimeHigh.subarray(base, base + count));
    this.#write(frames, base, count, this.#low, this.#high);
    return true;
  }

  /** Collects the times of rows one by one; 0 for a frame that has none. */
  gather(batch: TelemetryBatch, from: number, to: number, start: number): void {
    const { frame, frameTimeLow, frameTimeHigh } = batch;
    for (let row = from; row < to; row++) {
      const at = frame[row]!;
      this.#low[row - from] = frameTimeLow[at] ?? 0;
      this.#high[row - from] = frameTimeHigh[at] ?? 0;
    }
    this.#write(this.#sequence.byteOffset - start * 4, 0, BLOCK, this.#low, this.#high);
  }

  /** @param base number that the first of the times has in the column at `index` */
  #write(index: number, base: number, count: number, low: Uint32Array, high: Uint32Array): void {
    const context = this.#context;
    context[CONTEXT.TIME_INDEX] = index;
    context[CONTEXT.TIME_BASE] = base;
    context[CONTEXT.TIME_COUNT] = count;
    context[CONTEXT.TIMES_LOW] = low.byteOffset;
    context[CONTEXT.TIMES_HIGH] = high.byteOffset;
  }
}
