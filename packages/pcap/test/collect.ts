import {
  CaptureBatch,
  CaptureError,
  CaptureFrame,
  CaptureReader,
  type CaptureReaderOptions,
  type Frame,
} from '@int/pcap';

/** Frames up to the end or the error, and the error. */
export interface Outcome {
  readonly frames: readonly Frame[];
  readonly error: { readonly code: string; readonly offset: number; readonly message: string } | undefined;
}

export function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...[...at].sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

export function every(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

function outcome(frames: readonly Frame[], run: () => void): Outcome {
  try {
    run();
    return { frames, error: undefined };
  } catch (error) {
    if (!CaptureError.is(error)) throw error;
    return { frames, error: { code: error.code, offset: error.offset, message: error.message } };
  }
}

/** One frame at a time; each chunk is overwritten as soon as the reader has given it back. */
export function byNext(chunks: readonly Uint8Array[], options?: CaptureReaderOptions): Outcome {
  const frames: Frame[] = [];
  const reader = new CaptureReader(options);
  const frame = new CaptureFrame();
  return outcome(frames, () => {
    for (const chunk of chunks) {
      const lent = chunk.slice();
      reader.feed(lent);
      while (reader.next(frame)) frames.push(frame.copy());
      lent.fill(0xee);
    }
    reader.end();
  });
}

/** As {@link byNext}, with batches. */
export function byBatch(chunks: readonly Uint8Array[], capacity: number, options?: CaptureReaderOptions): Outcome {
  const frames: Frame[] = [];
  const reader = new CaptureReader(options);
  const batch = new CaptureBatch(capacity);
  return outcome(frames, () => {
    for (const chunk of chunks) {
      const lent = chunk.slice();
      reader.feed(lent);
      while (reader.readBatch(batch) > 0) frames.push(...framesOf(batch));
      lent.fill(0xee);
    }
    reader.end();
  });
}

/** All chunks are fed, and the end is told, before the first frame is taken. */
export function fedAtOnce(chunks: readonly Uint8Array[], options?: CaptureReaderOptions): Outcome {
  const frames: Frame[] = [];
  const reader = new CaptureReader(options);
  const frame = new CaptureFrame();
  return outcome(frames, () => {
    for (const chunk of chunks) reader.feed(chunk);
    reader.end();
    while (reader.next(frame)) frames.push(frame.copy());
  });
}

export function framesOf(batch: CaptureBatch): Frame[] {
  return Array.from({ length: batch.count }, (_, index) => ({
    data: batch.bytes.slice(batch.offsets[index], batch.offsets[index]! + batch.lengths[index]!),
    timeNs: (BigInt(batch.timestampsHigh[index]!) << 32n) | BigInt(batch.timestampsLow[index]!),
    originalLength: batch.originalLengths[index]!,
    linkType: batch.linkType,
    interfaceId: batch.interfaceIds[index]!,
  }));
}
