import type { CaptureError } from '@int/pcap';
import { readFrames } from '../input/capture-frames.js';
import { CliError, EXIT, type Io, say } from '../io.js';
import { bytes } from '../output/numbers.js';
import { ChunkMaker, chunkBytes, type FrameChunk } from './frame-chunk.js';
import type { Selection } from './selection.js';

/** Most bytes of frames and their positions kept in memory. A larger capture is read from the disk in each loop. */
const MOST_IN_MEMORY = 1 << 28;

export interface CaptureLoopOptions {
  /** pcap or pcapng, also gzip; `-` is standard input. */
  readonly path: string;
  readonly selection: Selection;
  /** Number of loops; 0 means until interrupted. */
  readonly loops: number;
  /** Most bytes of frames and their positions kept in memory. Default: 2^28. */
  readonly mostInMemory?: number;
}

/** Takes the chunks of a capture, one after the other. */
export interface ChunkTaker {
  /** Returns false to stop. */
  take(chunk: FrameChunk): Promise<boolean>;
  /** Called when all chunks of the capture have been taken. Returns false to stop. */
  endLoop(): boolean;
}

/**
 * Passes the frames of a capture to a taker a number of times: from memory or, if there are too many, from the disk.
 * Standard input for a single loop is streamed.
 *
 * @returns null, or the damage that ended the capture; the frames before it have been passed on
 * @throws CliError if it cannot be opened, read or reopened
 */
export async function loopCapture(
  options: CaptureLoopOptions,
  io: Io,
  taker: ChunkTaker,
): Promise<CaptureError | null> {
  const { path, loops, mostInMemory = MOST_IN_MEMORY } = options;
  const isInput = path === '-';
  let kept: FrameChunk[] | null = isInput && loops === 1 ? null : [];
  let size = 0;
  let isStopped = false;
  const give = async (chunks: readonly FrameChunk[]): Promise<boolean> => {
    for (const chunk of chunks) {
      if (!(await taker.take(chunk))) isStopped = true;
      if (isStopped) return false;
    }
    return true;
  };
  const damage = await read(options, io, (chunk) => {
    if (kept === null) return give([chunk]);
    kept.push(chunk);
    size += chunkBytes(chunk);
    if (size <= mostInMemory) return true;
    if (isInput) {
      const limit = bytes(mostInMemory);
      throw new CliError(
        `standard input is more than ${limit} and cannot be read again: --loop needs a file`,
        EXIT.OPEN,
      );
    }
    say(
      io,
      `${path} is more than ${bytes(mostInMemory)}: it is read from the disk${loops === 1 ? '' : ' in each loop'}`,
    );
    const before = kept;
    kept = null;
    return give(before);
  });
  // Do not send part of a capture whose reading was interrupted.
  isStopped ||= io.signal.aborted;
  if (!isStopped && kept !== null) await give(kept);
  for (let loop = 1; !isStopped && taker.endLoop() && loop !== loops; loop++) {
    if (kept !== null) await give(kept);
    else await read(options, io, (chunk) => give([chunk]));
    isStopped ||= io.signal.aborted;
  }
  return damage;
}

/** Reads the capture once. Errors of `take` pass to the caller unchanged. */
async function read(
  { path, selection }: CaptureLoopOptions,
  io: Io,
  take: (chunk: FrameChunk) => Promise<boolean> | boolean,
): Promise<CaptureError | null> {
  const maker = new ChunkMaker(selection);
  // Signals are handled only between turns of the event loop.
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  let failure: { readonly error: unknown } | null = null;
  const damage = await readFrames(
    path,
    io,
    async (batch) => {
      try {
        return await take(maker.make(batch));
      } catch (error) {
        failure = { error };
        return false;
      }
    },
    pause,
  );
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  return damage;
}
