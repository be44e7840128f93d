import { BatchDecoder, type DecodeOptions, TelemetryBatch } from '@int/codec';
import type { FrameBatch } from '@int/collector';
import { MAX_REPORT_BYTES, ReportStream, type TrafficOptions } from '@int/traffic';

/** 2023-11-14 22:00 UTC, the start of an hour, in ns. */
export const HOUR_NS = 1_699_999_200_000_000_000n;

/** Frames and what they were decoded to. */
export interface Batch {
  readonly batch: TelemetryBatch;
  readonly frames: FrameBatch;
  readonly first: number;
}

function framesOf(times: readonly bigint[], first: number): FrameBatch {
  const count = first + times.length;
  const timestampsHigh = new Uint32Array(count);
  const timestampsLow = new Uint32Array(count);
  times.forEach((time, row) => {
    timestampsHigh[first + row] = Number(time >> 32n);
    timestampsLow[first + row] = Number(time & 0xffffffffn);
  });
  const empty = { offsets: new Uint32Array(count), lengths: new Uint32Array(count) };
  return { linkType: 'ethernet', bytes: new Uint8Array(0), ...empty, timestampsHigh, timestampsLow, count };
}

/**
 * Decodes each frame with options of its own into one batch.
 * @param first rows of the frames before the batch's
 */
export function batchOf(
  frames: readonly { readonly bytes: Uint8Array; readonly options?: DecodeOptions; readonly timeNs: bigint }[],
  first = 0,
): Batch {
  const batch = new TelemetryBatch({ frames: Math.max(1, frames.length), reports: 4096, hops: 65_536 });
  for (const { bytes, options = {} } of frames) {
    new BatchDecoder(options).decode(batch, {
      bytes,
      offsets: Uint32Array.of(0),
      lengths: Uint32Array.of(bytes.length),
    });
  }
  return {
    batch,
    frames: framesOf(
      frames.map(({ timeNs }) => timeNs),
      first,
    ),
    first,
  };
}

/** Batches of generated traffic, one after the other in time. */
export class Load {
  readonly #stream: ReportStream;
  readonly #perBatch: number;

  constructor(perBatch: number, options: Partial<TrafficOptions> = {}) {
    this.#stream = new ReportStream({ topology: 'leaf-spine:4x2', flows: 100, seed: 5, startNs: HOUR_NS, ...options });
    this.#perBatch = perBatch;
  }

  next(): Batch {
    const count = this.#perBatch;
    const bytes = new Uint8Array((count + 1) * MAX_REPORT_BYTES);
    const offsets = new Uint32Array(count);
    const lengths = new Uint32Array(count);
    const timesNs = new Float64Array(count);
    this.#stream.fill(bytes, offsets, lengths, timesNs);
    const batch = new TelemetryBatch({ frames: count });
    new BatchDecoder({ linkType: 'report' }).decode(batch, { bytes, offsets, lengths });
    const start = this.#stream.settings.startNs;
    return {
      batch,
      frames: framesOf(
        Array.from(timesNs, (time) => start + BigInt(Math.floor(time))),
        0,
      ),
      first: 0,
    };
  }
}
