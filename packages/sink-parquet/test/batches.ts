import { BatchDecoder, type DecodeOptions, TelemetryBatch } from '@int/codec';
import { MAX_REPORT_BYTES, ReportStream, type TrafficOptions } from '@int/traffic';

/** 2023-11-14 22:00 UTC, the start of an hour, in ns. */
export const HOUR_NS = 1_699_999_200_000_000_000n;

/** Times as a source gives them. */
function timesOf(times: readonly bigint[]): { timestampsHigh: Uint32Array; timestampsLow: Uint32Array } {
  return {
    timestampsHigh: Uint32Array.from(times, (time) => Number(time >> 32n)),
    timestampsLow: Uint32Array.from(times, (time) => Number(time & 0xffffffffn)),
  };
}

/**
 * Decodes each frame with options of its own into one batch.
 * @param first rows in the source's tables before the batch's
 */
export function batchOf(
  frames: readonly { readonly bytes: Uint8Array; readonly options?: DecodeOptions; readonly timeNs: bigint }[],
  first = 0,
): TelemetryBatch {
  const batch = new TelemetryBatch({ frames: Math.max(1, frames.length), reports: 4096, hops: 65_536 });
  const lengths = Uint32Array.from([...new Array<number>(first).fill(0), ...frames.map(({ bytes }) => bytes.length)]);
  const offsets = new Uint32Array(lengths.length);
  for (let row = 1; row < offsets.length; row++) offsets[row] = offsets[row - 1]! + lengths[row - 1]!;
  const times = timesOf([...new Array<bigint>(first).fill(0n), ...frames.map(({ timeNs }) => timeNs)]);
  const input = { bytes: Buffer.concat(frames.map(({ bytes }) => bytes)), offsets, lengths, ...times };
  for (const [k, { options = {} }] of frames.entries()) {
    new BatchDecoder(options).decode(batch, input, first + k, first + k + 1);
  }
  return batch;
}

/** Batches of generated traffic, one after the other in time. */
export class Load {
  readonly #stream: ReportStream;
  readonly #perBatch: number;

  constructor(perBatch: number, options: Partial<TrafficOptions> = {}) {
    this.#stream = new ReportStream({ topology: 'leaf-spine:4x2', flows: 100, seed: 5, startNs: HOUR_NS, ...options });
    this.#perBatch = perBatch;
  }

  next(): TelemetryBatch {
    const count = this.#perBatch;
    const bytes = new Uint8Array((count + 1) * MAX_REPORT_BYTES);
    const offsets = new Uint32Array(count);
    const lengths = new Uint32Array(count);
    const timesNs = new Float64Array(count);
    this.#stream.fill(bytes, offsets, lengths, timesNs);
    const batch = new TelemetryBatch({ frames: count });
    const start = this.#stream.settings.startNs;
    const times = timesOf(Array.from(timesNs, (time) => start + BigInt(Math.floor(time))));
    new BatchDecoder({ linkType: 'report' }).decode(batch, { bytes, offsets, lengths, ...times });
    return batch;
  }
}
