import { FLAG, NOT_AVAILABLE, STATE, type TelemetryBatch } from '@int/codec';
import { FrameSlab } from '@int/collector';

export interface TestHop {
  readonly nodeId?: number;
  readonly latency?: number;
  readonly queueId?: number;
  readonly occupancy?: number;
  readonly utilization?: number;
}

export interface TestReport {
  readonly nodeId?: number;
  readonly flags?: number;
  readonly code?: number;
  readonly hops: readonly TestHop[];
}

/** Writes reports into a batch, one frame each, as a decoder would. */
export function fillBatch(batch: TelemetryBatch, reports: readonly TestReport[]): void {
  batch.clear();
  let hop = 0;
  reports.forEach((report, row) => {
    batch.frameCode[row] = report.code ?? 0;
    batch.frame[row] = row;
    batch.code[row] = report.code ?? 0;
    batch.flags[row] = (3 | FLAG.FLOW | (report.flags ?? 0)) >>> 0;
    batch.nodeId[row] = report.nodeId ?? NOT_AVAILABLE;
    batch.hopStart[row] = hop;
    batch.hopCount[row] = report.hops.length;
    batch.protocol[row] = 17;
    batch.ports[row] = ((5000 << 16) | 80) >>> 0;
    batch.source0[row] = 0x0a000101;
    batch.destination0[row] = 0x0a000202;
    for (const { nodeId, latency, queueId, occupancy, utilization } of report.hops) {
      batch.hop.nodeId[hop] = nodeId ?? NOT_AVAILABLE;
      batch.hop.hopLatency[hop] = latency ?? NOT_AVAILABLE;
      batch.hop.queueId[hop] = queueId ?? NOT_AVAILABLE;
      batch.hop.queueOccupancy[hop] = occupancy ?? NOT_AVAILABLE;
      batch.hop.egressUtilization[hop] = utilization ?? NOT_AVAILABLE;
      hop++;
    }
  });
  batch.state[STATE.FRAMES] = reports.length;
  batch.state[STATE.REPORTS] = reports.length;
  batch.state[STATE.HOPS] = hop;
}

/** Gives the frames of a batch the times at which they arrived. */
export function setTimes(batch: TelemetryBatch, timesMs: readonly number[]): void {
  const slab = new FrameSlab({ frames: timesMs.length, bytes: 64 }, 'report');
  for (const timeMs of timesMs) slab.append(new Uint8Array(0), timeMs);
  batch.isTimed = true;
  batch.frameTimeHigh = slab.timestampsHigh;
  batch.frameTimeLow = slab.timestampsLow;
}
