import { CaptureReader, type CaptureReaderOptions } from './capture-reader.js';
import { CaptureFrame, type Frame, frameOf } from './frame.js';

/**
 * Reads a capture in memory. `data` of each frame is a view of `bytes`.
 * @throws CaptureError if the capture is wrong or incomplete, after the frames before that place
 */
export function* readCapture(bytes: Uint8Array, options?: CaptureReaderOptions): Generator<Frame, void, undefined> {
  const reader = new CaptureReader(options);
  const frame = new CaptureFrame();
  reader.feed(bytes);
  reader.end();
  while (reader.next(frame)) {
    // A frame can be in the reader's memory only in captures beyond 2^30 bytes.
    yield frame.bytes.buffer === bytes.buffer ? frameOf(frame, frame.data) : frame.copy();
  }
}

/**
 * Reads a capture as its bytes arrive. Each frame has its own bytes and may be kept.
 * @param source chunks of any size, such as a ReadableStream or a Node stream of bytes. Decompress captures before, for
 *   example with a DecompressionStream
 * @throws CaptureError if the capture is wrong or incomplete, after the frames before that place
 */
export async function* readCaptureStream(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options?: CaptureReaderOptions,
): AsyncGenerator<Frame, void, undefined> {
  const reader = new CaptureReader(options);
  const frame = new CaptureFrame();
  for await (const chunk of source) {
    reader.feed(chunk);
    while (reader.next(frame)) yield frame.copy();
  }
  reader.end();
}
