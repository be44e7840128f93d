import { FLAG, type HopColumn, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';

/** A hop as columns hold it. What is left out, it does not carry. */
export interface HopRow {
  readonly nodeId?: number;
  readonly latency?: number;
  /** With {@link occupancy}. Default 3. */
  readonly queueId?: number;
  readonly occupancy?: number;
  readonly utilization?: number;
}

/** A report as columns hold it. */
export interface ReportRow {
  /** Number of the flow; `null`: the report does not say which. */
  readonly flow: number | null;
  readonly isIpv6?: boolean;
  readonly isOk?: boolean;
  /** The reporting node. */
  readonly nodeId?: number;
  /** Whether the last hop is the reporting node's own row. */
  readonly hasOwnRow?: boolean;
  readonly hops: readonly HopRow[];
  readonly timeNs: bigint;
}

function fillHop(batch: TelemetryBatch, row: number, hop: HopRow): void {
  const set = (column: HopColumn, word: number | undefined): void => {
    batch.hop[column][row] = word ?? NOT_AVAILABLE;
  };
  set('nodeId', hop.nodeId);
  set('hopLatency', hop.latency);
  set('queueId', hop.occupancy === undefined ? undefined : (hop.queueId ?? 3));
  set('queueOccupancy', hop.occupancy);
  set('egressUtilization', hop.utilization);
}

/** Writes reports into a batch as a decoder would, one to a frame. */
function fillReports(batch: TelemetryBatch, reports: readonly ReportRow[]): void {
  batch.clear();
  let hops = 0;
  reports.forEach((report, row) => {
    const { flow, isIpv6 = false, isOk = true, hasOwnRow = false } = report;
    const code = isOk ? 0 : 1;
    batch.frameCode[row] = code;
    batch.frame[row] = row;
    batch.code[row] = code;
    batch.flags[row] =
      (3 | (flow === null ? 0 : FLAG.FLOW) | (isIpv6 ? FLAG.IPV6 : 0) | (hasOwnRow ? FLAG.OWN : 0)) >>> 0;
    batch.nodeId[row] = report.nodeId ?? NOT_AVAILABLE;
    batch.hopStart[row] = hops;
    batch.hopCount[row] = report.hops.length;
    const number = flow ?? 0;
    batch.protocol[row] = number % 2 === 0 ? 6 : 17;
    batch.ports[row] = ((number << 16) | 80) >>> 0;
    // IPv4 leaves what was there in the other words: they must not matter.
    const words = isIpv6 ? [0x20010db8, 0, 0, number + 1] : [(0x0a000000 | number) >>> 0, row, row, row];
    [batch.source0, batch.source1, batch.source2, batch.source3].forEach((column, word) => {
      column[row] = words[word]!;
    });
    [batch.destination0, batch.destination1, batch.destination2, batch.destination3].forEach((column, word) => {
      column[row] = words[word]! ^ 0x10000;
    });
    for (const hop of report.hops) fillHop(batch, hops++, hop);
  });
  batch.state[STATE.FRAMES] = reports.length;
  batch.state[STATE.REPORTS] = reports.length;
  batch.state[STATE.HOPS] = hops;
}

/** A batch of reports, with their times. */
export function reportBatch(reports: readonly ReportRow[]): TelemetryBatch {
  const hops = reports.reduce((sum, report) => sum + report.hops.length, 0);
  const batch = new TelemetryBatch({ frames: Math.max(1, reports.length), hops: Math.max(256, hops) });
  fillReports(batch, reports);
  batch.isTimed = true;
  reports.forEach(({ timeNs }, row) => {
    batch.frameTimeHigh[row] = Number(timeNs >> 32n);
    batch.frameTimeLow[row] = Number(timeNs & 0xffffffffn);
  });
  return batch;
}
