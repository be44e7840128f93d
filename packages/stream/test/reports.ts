import { FLAG, MODES, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';

export interface TestHop {
  readonly nodeId?: number | undefined;
  readonly latency?: number | undefined;
  readonly queueId?: number | undefined;
  readonly occupancy?: number | undefined;
  readonly congestion?: number | undefined;
}

export interface TestReport {
  /** Microseconds since the epoch. */
  readonly timeUs: number;
  /** Number of the flow: its ports follow from it; `null`: none. */
  readonly flow: number | null;
  readonly mode: 'md' | 'mx' | 'xd' | null;
  readonly version?: 0 | 1 | 2 | 3;
  readonly nodeId?: number | undefined;
  readonly hwId?: number;
  readonly sequence?: number;
  readonly hops: readonly TestHop[];
  /** The last hop is the reporting node's own. */
  readonly own?: boolean;
  readonly dropped?: boolean;
  readonly intermediate?: boolean;
  readonly cut?: boolean;
  readonly queueCongested?: boolean;
  readonly ipv6?: boolean;
  readonly code?: number;
}

/** Some time that is the beginning of a slice and of a window. */
export const START_US = 1_700_000_000_000_000;

/** A batch of reports, one frame each, as a decoder would have made it. */
export function batchOf(reports: readonly TestReport[]): TelemetryBatch {
  const count = Math.max(1, reports.length);
  const hops = reports.reduce((sum, report) => sum + report.hops.length, 0);
  const batch = new TelemetryBatch({ frames: count, hops: Math.max(256, hops) });
  batch.isTimed = true;
  let hop = 0;
  reports.forEach((report, row) => {
    const time = BigInt(report.timeUs) * 1000n;
    batch.frameTimeHigh[row] = Number(time >> 32n);
    batch.frameTimeLow[row] = Number(time & 0xffffffffn);
    batch.frame[row] = row;
    batch.code[row] = report.code ?? 0;
    batch.flags[row] =
      ((report.version ?? 3) |
        (Math.max(0, MODES.indexOf(report.mode)) << FLAG.MODE_SHIFT) |
        ((report.hwId ?? 0) << FLAG.HW_ID_SHIFT) |
        (report.flow === null ? 0 : FLAG.FLOW) |
        (report.ipv6 === true ? FLAG.IPV6 : 0) |
        (report.own === true ? FLAG.OWN : 0) |
        (report.dropped === true ? FLAG.DROPPED : 0) |
        (report.intermediate === true ? FLAG.INTERMEDIATE : 0) |
        (report.cut === true ? FLAG.HOP_EXCEEDED : 0) |
        (report.queueCongested === true ? FLAG.QUEUE_CONGESTED : 0)) >>>
      0;
    batch.nodeId[row] = report.nodeId ?? NOT_AVAILABLE;
    batch.sequence[row] = report.sequence ?? 0;
    batch.hopStart[row] = hop;
    batch.hopCount[row] = report.hops.length;
    batch.protocol[row] = 17;
    batch.ports[row] = (((5000 + (report.flow ?? 0)) << 16) | 80) >>> 0;
    batch.source0[row] = 0x0a000101;
    batch.source3[row] = report.flow ?? 0;
    batch.destination0[row] = 0x0a000202;
    for (const { nodeId, latency, queueId, occupancy, congestion } of report.hops) {
      batch.hop.nodeId[hop] = nodeId ?? NOT_AVAILABLE;
      batch.hop.hopLatency[hop] = latency ?? NOT_AVAILABLE;
      const id = queueId ?? 0;
      batch.hop.queueId[hop] = occupancy === undefined ? NOT_AVAILABLE : id;
      batch.hop.queueOccupancy[hop] = occupancy ?? NOT_AVAILABLE;
      batch.hop.congestionQueueId[hop] = congestion === undefined ? NOT_AVAILABLE : id;
      batch.hop.queueCongestion[hop] = congestion ?? NOT_AVAILABLE;
      hop++;
    }
  });
  batch.state[STATE.FRAMES] = reports.length;
  batch.state[STATE.REPORTS] = reports.length;
  batch.state[STATE.HOPS] = hop;
  return batch;
}

/** The report of a sink about a packet that took a path. */
export function pathReport(
  timeUs: number,
  flow: number,
  path: readonly number[],
  more: Partial<TestReport> = {},
): TestReport {
  const hops = path.map((nodeId) => ({ nodeId, latency: 100 + nodeId, queueId: 1, occupancy: 10 }));
  return { timeUs, flow, mode: 'md', hops, nodeId: path[path.length - 1], own: true, ...more };
}

/** A postcard: what one node tells of a packet. */
export function postcard(timeUs: number, flow: number, nodeId: number, more: Partial<TestReport> = {}): TestReport {
  const hops = [{ nodeId, latency: 100 + nodeId, queueId: 1, occupancy: 10 }];
  return { timeUs, flow, mode: 'xd', hops, nodeId, own: true, ...more };
}
