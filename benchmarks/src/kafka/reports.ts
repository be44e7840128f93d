/** Batches of reports as a decoder gives them: 5 hops of switch id, hop latency and queue, 1,000 flows. */
import { BatchDecoder, encodeReport, type Hop, TelemetryBatch, type TelemetryRecord, telemetry } from '@int/codec';
import { FrameSlab } from '@int/collector';
import { Random } from '@int/random';

const HOPS = 5;
const FLOWS = 1000;
const START_MS = 1_700_000_000_000;

function record(flow: number, sequence: number, random: () => number): TelemetryRecord {
  const hops = Array.from({ length: HOPS }, (_, index): Hop => {
    const value = random();
    return {
      nodeId: index + 1,
      hopLatency: 500 + (value % 100_000),
      queueId: 0,
      queueOccupancy: value % 1000,
    };
  });
  return telemetry({
    flow: {
      source: `10.${flow >>> 8}.${flow & 0xff}.1`,
      destination: '10.200.0.2',
      sourcePort: 10_000 + flow,
      destinationPort: 80,
    },
    hops,
    report: { hwId: 1, sequence },
  });
}

/** @param reports in the batch; each in a frame of its own */
export function batchOf(reports: number, seed: number): TelemetryBatch {
  const random = new Random(seed);
  const frames = new FrameSlab({ frames: reports, bytes: reports * 512 }, 'report');
  for (let row = 0; row < reports; row++) {
    const one = record(random.integer(FLOWS), row, () => random.integer(2 ** 31));
    const payload = encodeReport(one);
    frames.append(payload, START_MS + row / 100);
  }
  const batch = new TelemetryBatch({ frames: reports, hops: reports * HOPS + 256 });
  const decoder = new BatchDecoder({ linkType: 'report' });
  const done = decoder.decode(batch, frames, 0, reports);
  if (done !== reports || batch.reports !== reports)
    throw new Error(`only ${batch.reports} of ${reports} were decoded`);
  return batch;
}
