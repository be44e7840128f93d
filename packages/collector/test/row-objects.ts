/** The columns of stages as objects, a row each. */
import type { BucketColumns, GaugeColumns, LossColumns, ReportLossStage, SwitchTotals } from '@int/collector';

type LossRow = Record<'nodeId' | 'hwId' | keyof LossColumns['counts'], number>;

export interface SwitchRow {
  /** `null`: everything without a row of its own. */
  readonly nodeId: number | null;
  readonly hops: number;
  readonly dropReports: number;
  readonly hopLatency: BucketRow;
  readonly queueOccupancy: BucketRow;
}

interface BucketRow {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly number[];
}

function bucketsOf({ bounds, counts, sums }: BucketColumns, row: number): BucketRow {
  const width = bounds.length + 1;
  const buckets = [...counts.subarray(row * width, (row + 1) * width)];
  return { count: buckets.reduce((sum, count) => sum + count, 0), sum: sums[row]!, buckets };
}

function gaugesOf<Row>(
  { nodeId, number, value }: GaugeColumns,
  make: (...cells: [number, number, number]) => Row,
): Row[] {
  return Array.from(nodeId, (node, row) => make(node, number[row]!, value[row]!));
}

/** The counters of switches, ordered by node id, and of everything else. */
/** With one unit for all switches. */
export function switchRows(totals: SwitchTotals) {
  const { nodeId, hops, dropReports, hopLatency, queueOccupancy, queues, interfaces, refused } = totals.columns();
  const rowOf = (id: number | null, row: number): SwitchRow => ({
    nodeId: id,
    hops: hops[row]!,
    dropReports: dropReports[row]!,
    hopLatency: bucketsOf(hopLatency[0]!, row),
    queueOccupancy: bucketsOf(queueOccupancy[0]!, row),
  });
  return {
    switches: Array.from(nodeId, rowOf).sort((a, b) => a.nodeId! - b.nodeId!),
    other: rowOf(null, nodeId.length),
    queues: gaugesOf(queues, (node, queueId, occupancy) => ({ nodeId: node, queueId, occupancy })),
    interfaces: gaugesOf(interfaces, (node, egressInterface, utilization) => ({
      nodeId: node,
      egressInterface,
      utilization,
    })),
    refused,
  };
}

/** The counters of the reporters that are followed. */
export function reporterRows(stage: ReportLossStage): LossRow[] {
  const { nodeId, hwId, counts } = stage.columns();
  return Array.from(nodeId, (node, row) => {
    const own = Object.entries(counts).map(([name, column]) => [name, column[row]!]);
    return { nodeId: node, hwId: hwId[row]!, ...Object.fromEntries(own) } as LossRow;
  });
}
