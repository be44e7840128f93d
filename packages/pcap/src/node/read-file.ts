import type { CaptureReaderOptions } from '../capture-reader.js';
import type { Frame } from '../frame.js';
import { readCaptureStream } from '../read-capture.js';
import { gunzipIfNeeded } from './gunzip.js';
import { openReadable } from './open-stream.js';

/**
 * The bytes of a capture file for a `CaptureReader`, decompressed if it is gzip.
 * @param path a file, or `-` for standard input
 * @throws CaptureError `ERR_CAPTURE_GZIP` for damaged or cut compressed data; Node's errors of the file system
 */
export async function* captureChunks(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* gunzipIfNeeded(path === '-' ? process.stdin : await openReadable(path));
}

/**
 * Reads a capture file, plain or gzip. Each frame has its own bytes and may be kept.
 * @param path a file, or `-` for standard input
 * @throws CaptureError if the capture is wrong or incomplete, after the frames before that place; Node's errors of the
 *   file system
 */
export async function* openCapture(
  path: string,
  options?: CaptureReaderOptions,
): AsyncGenerator<Frame, void, undefined> {
  yield* readCaptureStream(captureChunks(path), options);
}
