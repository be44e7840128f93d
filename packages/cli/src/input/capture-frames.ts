import type { Readable } from 'node:stream';
import { CaptureBatch, CaptureError, CaptureReader } from '@int/pcap';
import { gunzipIfNeeded, openReadable } from '@int/pcap/node';
import { CliError, EXIT, type Io, openFailure } from '../io.js';

/**
 * Opens a capture or other data for streaming: a file, a pipe, or standard input for `-`. The stream ends early if the
 * command is interrupted.
 * @throws CliError if it cannot be opened
 */
export async function openInput(path: string, io: Io): Promise<Readable> {
  let stream: Readable;
  if (path === '-') stream = io.stdin;
  else {
    try {
      stream = await openReadable(path);
    } catch (error) {
      throw new CliError(`cannot open ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
    }
  }
  const stop = (): void => {
    stream.destroy();
  };
  io.signal.addEventListener('abort', stop, { once: true });
  if (io.signal.aborted) stop();
  stream.once('close', () => io.signal.removeEventListener('abort', stop));
  return stream;
}

/** Frames per batch. */
const BATCH_FRAMES = 1024;

/**
 * Passes the frames of a capture (pcap, pcapng, also gzip) to `take`, in batches, while reading. A batch is reused when
 * `take` is done with it.
 *
 * @param take returns `false`, or a promise of it, to stop
 * @param pause called when all bytes that have arrived are processed; the next bytes of a pipe may take long
 * @returns null, or the damage that ended the capture; the frames before it have been taken
 * @throws CliError if it cannot be opened or read
 */
export async function readFrames(
  path: string,
  io: Io,
  take: (batch: CaptureBatch) => Promise<boolean> | boolean,
  pause: () => Promise<void> | undefined,
): Promise<CaptureError | null> {
  const reader = new CaptureReader();
  const batch = new CaptureBatch(BATCH_FRAMES);
  try {
    for await (const chunk of gunzipIfNeeded(await openInput(path, io))) {
      reader.feed(chunk);
      while (reader.readBatch(batch) > 0) {
        const taken = take(batch);
        if (!(taken instanceof Promise ? await taken : taken) || io.signal.aborted) return null;
      }
      await pause();
    }
    if (!io.signal.aborted) reader.end();
    return null;
  } catch (error) {
    if (CaptureError.is(error)) return error;
    if (io.signal.aborted) return null;
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${path}: ${openFailure(error)}`, EXIT.OPEN, error);
  }
}
