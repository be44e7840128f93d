/** Decoded telemetry reports to write. */
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { MAX_REPORT_BYTES, ReportStream } from '@int/traffic';

const FRAMES = 1024;

/**
 * Batches of {@link FRAMES} reports v2.0 of a leaf-spine fabric with 5,000 flows: INT-MD stacks of three hops on average,
 * with all eight standard items in each.
 */
export function decodedBatches(count: number): TelemetryBatch[] {
  const stream = new ReportStream({ topology: 'leaf-spine:8x4', flows: 5000, ratePps: 1_000_000, seed: 7 });
  const { startNs } = stream.settings;
  const decoder = new BatchDecoder({ linkType: 'report' });
  return Array.from({ length: count }, () => {
    const bytes = new Uint8Array(FRAMES * MAX_REPORT_BYTES);
    const offsets = new Uint32Array(FRAMES);
    const lengths = new Uint32Array(FRAMES);
    const times = new Float64Array(FRAMES);
    const made = stream.fill(bytes, offsets, lengths, times);
    const timestampsHigh = new Uint32Array(FRAMES);
    const timestampsLow = new Uint32Array(FRAMES);
    for (let row = 0; row < made; row++) {
      const time = startNs + BigInt(Math.floor(times[row]!));
      timestampsHigh[row] = Number(time >> 32n);
      timestampsLow[row] = Number(time & 0xffffffffn);
    }
    const batch = new TelemetryBatch({ frames: FRAMES, reports: FRAMES });
    decoder.decode(batch, { bytes, offsets, lengths, timestampsHigh, timestampsLow, count: made });
    return batch;
  });
}
