import type { FrameChunk } from './frame-chunk.js';

/** The fates of the frames passed to a target so far. */
export interface SentCounts {
  readonly sent: number;
  readonly bytes: number;
  /** Frames not sent, by the error. After `finish`, every frame is either here or in `sent`. */
  readonly failed: ReadonlyMap<string, number>;
  /** Number of outages of the interface, if the target is one. */
  readonly outages?: number;
}

export interface Target {
  readonly name: string;
  /** Most frames per call of {@link send}. */
  readonly most: number;
  /** Sends the frames from row `from` to `to - 1`. Wait for the promise before the next call. */
  send(chunk: FrameChunk, from: number, to: number): Promise<void>;
  counts(): SentCounts;
  /** Waits, for a limited time, until the fate of each frame is known. */
  finish(): Promise<void>;
  close(): Promise<void>;
}
