import type { FrameChunk } from './frame-chunk.js';

/** The times of frames, in milliseconds from the first one, over all loops. */
export interface Schedule {
  /** Lag that may be made up for at once, in milliseconds. */
  readonly slackMs: number;
  /** The time of frame `row` of a chunk, after `sent` earlier frames. */
  dueMs(chunk: FrameChunk, row: number, sent: number): number;
  /** Begins the next loop of a capture with `frames` frames, the last of them at `lastMs`. */
  endLoop(frames: number, lastMs: number): void;
}

/** Frames that may be made up for at once: as many as short rings and receive buffers hold. */
const BURST_FRAMES = 256;
/** Limits of the slack: timers resolve a millisecond, and a longer lag is not made up for at once. */
const LEAST_SLACK_MS = 1;
const MOST_SLACK_MS = 10;

/** A constant number of frames per second. */
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

/** The times of the capture, scaled by a speed. */
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

  /** The pause between two loops is the mean distance between two frames. */
  endLoop(frames: number, lastMs: number): void {
    const gapMs = frames > 1 ? lastMs / (frames - 1) : 0;
    this.#offsetMs += (lastMs + gapMs) / this.#speed;
  }
}
