import type { FrameChunk } from './frame-chunk.js';

/** What became of the frames that were handed to a target so far. */
export interface SentCounts {
  /** Frames that left. */
  readonly sent: number;
  /** Bytes of them. */
  readonly bytes: number;
  /** Frames that did not leave, by what was told of it; all that is not among `sent` once the target is finished. */
  readonly failed: ReadonlyMap<string, number>;
  /** Times that the interface was down or away, of a target that is one. */
  readonly outages?: number;
}

/** Where frames go. */
export interface Target {
  /** In a few words. */
  readonly name: string;
  /** Frames to hand over at once, at most. */
  readonly most: number;
  /** Sends the frames from row `from` on, before row `to`. Further ones may follow when it is done. */
  send(chunk: FrameChunk, from: number, to: number): Promise<void>;
  counts(): SentCounts;
  /** Waits, not for ever, until it is known of each frame what became of it. */
  finish(): Promise<void>;
  close(): Promise<void>;
}
