import type { CaptureReaderOptions } from '../capture-reader.js';
import type { Frame } from '../frame.js';
import { readCaptureStream } from '../read-capture.js';
import { gunzipIfNeeded } from './gunzip.js';
import { openReadable } from './open-stream.js';

/**
 * The bytes of a capture file, decompressed if it is gzip: what to feed a `CaptureReader` with.
 * @param path a file, or `-` for standard input
 * @throws CaptureError `ERR_CAPTURE_GZIP` for damaged or cut compressed data; errors of the file system as Node gives them
 */
export async function* captureChunks(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* gunzipIfNeeded(path === '-' ? process.stdin : await openReadable(path));
}

/**
 * Reads a capture file, also gzip. Each frame has bytes of its own and may be kept.
 * @param path a file, or `-` for standard input
 * @throws CaptureError if the capture is wrong or incomplete, after the frames before that place; errors of the file
 * system as Node gives them
 */
export async function* openCapture(
  path: string,
  options?: CaptureReaderOptions,
): AsyncGenerator<Frame, void, undefined> {
  yield* readCaptureStream(captureChunks(path), options);
}
