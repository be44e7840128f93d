import type { Figures, Slot } from './queue-memory.js';

/** Looks at a socket in a row that find nothing, a millisecond apart: what the kernel was at has arrived by then. */
export const EMPTY_LOOKS = 3;

/** One queue as the thread that runs the pipeline sees it, wherever frames are received. */
export interface Shard {
  readonly queue: number;
  readonly zeroCopy: boolean;
  /** Whether frames lie in the memory of a WebAssembly accelerator, which decodes them. */
  readonly usesAccelerator: boolean;
  /** The next batch, or `null` if there is none now. @throws XdpError or Error when the queue can be read no more */
  take(): Slot | null;
  /** Gives a batch back. Batches may come back in any order. */
  give(slot: Slot): void;
  /** Looks after the queue now and then. @throws XdpError or Error when it can be read no more */
  check(): void;
  /** Ends receiving. Frames already received can still be taken. */
  drain(): void;
  /** Whether all has been taken since {@link drain}. */
  readonly isDrained: boolean;
  readonly figures: Figures;
  /** Closes the socket. */
  close(): Promise<void>;
}
