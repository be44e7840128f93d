/** Batches of reports as a decoder gives them, of a few flows; some frames are not reports. */
import { BatchDecoder, encodeReport, type Hop, TelemetryBatch, type TelemetryRecord, telemetry } from '@int/codec';
import { FrameSlab } from '@int/collector';

/** Time of the first report of a load, unless it is said. */
export const START_MS = 1_700_000_000_000;
/** Flows of a load. */
export const FLOWS = 40;

function record(flow: number, sequence: number, hopCount: number): TelemetryRecord {
  const hops = Array.from(
    { length: hopCount },
    (_, index): Hop => ({ nodeId: index + 1, hopLatency: (sequence * 37 + index) % 100_000 }),
  );
  const source = `10.0.${flow}.1`;
  return telemetry({
    flow: { source, destination: '10.200.0.2', sourcePort: 10_000 + flow, destinationPort: 80 },
    hops,
    report: { hwId: 1, sequence },
  });
}

/**
 * @param reports good ones in the batch
 * @param broken datagrams that are cut short, spread over the batch
 * @param startMs time of the first one; each is a millisecond later than the one before
 */
export function batchOf(reports: number, broken = 0, hops = 3, startMs = START_MS): TelemetryBatch {
  const total = reports + broken;
  const frames = new FrameSlab({ frames: total, bytes: total * (128 + 16 * hops) }, 'report');
  let left = broken;
  for (let row = 0; row < total; row++) {
    const one = record(row % FLOWS, row, hops);
    const payload = encodeReport(one);
    const isBroken = left > 0 && row % Math.ceil(total / broken) === 0;
    if (isBroken) left -= 1;
    frames.append(isBroken ? payload.subarray(0, 20) : payload, startMs + row);
  }
  const batch = new TelemetryBatch({ frames: total, hops: total * hops + 256 });
  const done = new BatchDecoder({ linkType: 'report' }).decode(batch, frames);
  if (done !== total) throw new Error(`only ${done} of ${total} frames were decoded`);
  return batch;
}
