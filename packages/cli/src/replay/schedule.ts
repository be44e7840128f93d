import type { FrameChunk } from './frame-chunk.js';

/** When frames are due, in milliseconds from the first one, over all loops. */
export interface Schedule {
  /** Schedule that may be made up for at once, in milliseconds. */
  readonly slackMs: number;
  /** When frame `row` of a chunk is due, if `sent` frames went before it. */
  dueMs(chunk: FrameChunk, row: number, sent: number): number;
  /** The capture begins anew after `frames` frames, the last of them at `lastMs` of the capture. */
  endLoop(frames: number, lastMs: number): void;
}

/** Frames that may be made up for at once: what short rings and receive buffers take. */
const BURST_FRAMES = 256;
/** Timers are no finer than a millisecond; a longer pause than the other is not made up for at once. */
const LEAST_SLACK_MS = 1;
const MOST_SLACK_MS = 10;

/** So many frames each second. */
export class SteadySchedule implements Schedule {
  readonly slackMs: number;
  readonly #rate: number;

  /** @param rate frames per second, above 0 */
  constructor(rate: number) {
    this.#rate = rate;
    this.slackMs = Math.min(MOST_SLACK_MS, Math.max(LEAST_SLACK_MS, (BURST_FRAMES * 1000) / rate));
  }

  dueMs(_chunk: FrameChunk, _row: number, sent: number): number {
    return (sent * 1000) / this.#rate;
  }

  endLoop(): void {}
}

/** As the frames were captured. */
export class CapturedSchedule implements Schedule {
  readonly slackMs = 5;
  readonly #speed: number;
  #offsetMs = 0;

  /** @param speed 1 is the pace of the capture, 2 twice that */
  constructor(speed: number) {
    this.#speed = speed;
  }

  dueMs(chunk: FrameChunk, row: number): number {
    return this.#offsetMs + chunk.timesMs[row]! / this.#speed;
  }

  /** Between the last frame and the first one is the mean distance between two frames. */
  endLoop(frames: number, lastMs: number): void {
    const gapMs = frames > 1 ? lastMs / (frames - 1) : 0;
    this.#offsetMs += (lastMs + gapMs) / this.#speed;
  }
}
