import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { DeviceProfile, MetricUnit } from '@int/network';

/** A report: a row of a batch that is kept. */
export interface ReportAt {
  readonly batch: TelemetryBatch;
  readonly row: number;
  /** Its id in the programming interface. */
  readonly id: string;
}

/** Time of a report in nanoseconds since the epoch. */
export const timeNsOf = ({ batch, row }: ReportAt): bigint => batch.timeNs(row);

export const timeMsOf = (report: ReportAt): number => Number(timeNsOf(report)) / 1e6;

/** Rows of the hop columns of a report, INT source first, and the reporting node's own row, if it has one. */
export function hopRowsOf({ batch, row }: ReportAt): number[] {
  const first = batch.hopStart[row]!;
  return Array.from({ length: batch.hopCount[row]! }, (_, hop) => first + hop);
}

/** The switch of a hop row; `null` if it does not name itself. */
export function switchOf(report: ReportAt, hopRow: number): number | null {
  const { batch, row } = report;
  const id = batch.hop.nodeId[hopRow]!;
  if (id !== NOT_AVAILABLE) return id;
  const isOwn = (batch.flags[row]! & FLAG.OWN) !== 0 && hopRow === batch.hopStart[row]! + batch.hopCount[row]! - 1;
  const reporter = batch.nodeId[row]!;
  return isOwn && reporter !== NOT_AVAILABLE ? reporter : null;
}

/** The queue in which a hop held the packet. Words as in the columns: all ones if they are not carried. */
export interface QueuePlace {
  readonly switchId: number;
  readonly egress: number;
  readonly queueId: number;
}

/** @returns `null` if the switch does not name itself */
export function queueOf(report: ReportAt, hopRow: number): QueuePlace | null {
  const switchId = switchOf(report, hopRow);
  if (switchId === null) return null;
  const { l1EgressInterface, queueId } = report.batch.hop;
  return { switchId, egress: l1EgressInterface[hopRow]!, queueId: queueId[hopRow]! };
}

/** Whether a hop of the same switch held its packet in this queue. */
export const isInQueue = ({ egress, queueId }: QueuePlace, { hop }: TelemetryBatch, hopRow: number): boolean =>
  hop.l1EgressInterface[hopRow] === egress && hop.queueId[hopRow] === queueId;

/** Whether two reports are of the same flow. Reports without a flow are of none. */
export function isSameFlow(a: ReportAt, b: ReportAt): boolean {
  const [x, p] = [a.batch, a.row];
  const [y, q] = [b.batch, b.row];
  const flags = x.flags[p]!;
  if ((flags & FLAG.FLOW) === 0 || (y.flags[q]! & FLAG.FLOW) === 0) return false;
  if ((flags & FLAG.IPV6) !== (y.flags[q]! & FLAG.IPV6)) return false;
  const isSame =
    x.protocol[p] === y.protocol[q] &&
    x.ports[p] === y.ports[q] &&
    x.source0[p] === y.source0[q] &&
    x.destination0[p] === y.destination0[q];
  if (!isSame || (flags & FLAG.IPV6) === 0) return isSame;
  return (
    x.source1[p] === y.source1[q] &&
    x.source2[p] === y.source2[q] &&
    x.source3[p] === y.source3[q] &&
    x.destination1[p] === y.destination1[q] &&
    x.destination2[p] === y.destination2[q] &&
    x.destination3[p] === y.destination3[q]
  );
}

/** A flow as one line of text, its key for grouping; `null` if the report has none. */
export function flowText({ batch, row }: ReportAt): string | null {
  const { flow } = batch.record(row);
  if (flow === null) return null;
  const ported = (address: string, port: number): string =>
    address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  const source = ported(flow.source, flow.sourcePort);
  return `${source} > ${ported(flow.destination, flow.destinationPort)}/${flow.protocol}`;
}

/** How many nanoseconds one unit is; `null` if the unit is not known, or is no time. Exact for whole numbers of picoseconds. */
export function nanosecondsPer(unit: MetricUnit | null): number | null {
  if (unit === null || unit.base !== 'seconds') return null;
  return Math.round(unit.factor * 1e12) / 1e3;
}

/** Hop latency of a hop row in nanoseconds; `null` if it is not carried, or its unit is not known. */
export function latencyNsOf(report: ReportAt, hopRow: number, device: DeviceProfile): number | null {
  const value = report.batch.hop.hopLatency[hopRow]!;
  if (value === NOT_AVAILABLE) return null;
  const per = nanosecondsPer(device.unit('hopLatency', switchOf(report, hopRow) ?? undefined));
  return per === null ? null : value * per;
}

/** Sum of the hop latencies in nanoseconds; `null` if none is carried, or a unit is not known. */
export function pathLatencyNsOf(report: ReportAt, device: DeviceProfile): number | null {
  let sum: number | null = null;
  for (const hopRow of hopRowsOf(report)) {
    if (report.batch.hop.hopLatency[hopRow] === NOT_AVAILABLE) continue;
    const latency = latencyNsOf(report, hopRow, device);
    if (latency === null) return null;
    sum = (sum ?? 0) + latency;
  }
  return sum;
}
