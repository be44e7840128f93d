import type { HopView, RecordView, TelemetryBatch } from '@int/codec';
import type { ResultRow } from '@int/sink-parquet';

/** A time as the engine writes it: no zeros at the end of the fraction, and none if there is no fraction. */
export function timeText(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const fraction = String(timeNs % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return fraction === '' ? seconds : `${seconds}.${fraction}`;
}

/** Node ids as a decoded record has them, by the view alone. */
export function modelPath(batch: TelemetryBatch, row: number, view: RecordView): (number | null)[] {
  const isAsked = batch.instructions[row]! >>> 31 === 1 || view.mode === 'gpint';
  const path: (number | null)[] = [];
  for (let hop = 0; hop < view.hopCount; hop++) {
    const { nodeId } = view.hop(hop);
    if (nodeId !== null || isAsked) path.push(nodeId);
  }
  if (view.reportVersion !== null && view.nodeId !== null && path.at(-1) !== view.nodeId) path.push(view.nodeId);
  return path;
}

const HOP_FIELDS = [
  'nodeId',
  'l1IngressInterface',
  'l1EgressInterface',
  'hopLatency',
  'queueId',
  'queueOccupancy',
  'l2IngressInterface',
  'l2EgressInterface',
  'egressUtilization',
  'bufferId',
  'bufferOccupancy',
  'checksumComplement',
  'congestionQueueId',
  'queueCongestion',
] as const;
const RESERVED = [8, 9, 10, 11, 12, 13, 14, 15].map((bit) => `reserved${bit}` as 'reserved8');

function hopFields(view: HopView, batch: TelemetryBatch, row: number): ResultRow {
  const reserved = RESERVED.map((name) => [name, batch.hop[name][row]!] as const).filter(
    ([, value]) => value !== 0xffffffff,
  );
  return {
    ...Object.fromEntries(HOP_FIELDS.map((name) => [name, view[name]])),
    ingressTimestamp: view.ingressTimestamp?.toString() ?? null,
    egressTimestamp: view.egressTimestamp?.toString() ?? null,
    reserved: reserved.length === 0 ? null : JSON.stringify(Object.fromEntries(reserved)),
  };
}

function reportFields(batch: TelemetryBatch, row: number, view: RecordView, id: string): ResultRow {
  const { flow, reportVersion: version, mode } = view;
  const hops = view.hopCount + (view.own === null ? 0 : 1);
  const bits = batch.instructions[row]!;
  return {
    id,
    time: timeText(batch.timeNs(row)),
    hopCount: hops,
    source: flow?.source ?? null,
    destination: flow?.destination ?? null,
    protocol: flow?.protocol ?? null,
    sourcePort: flow?.sourcePort ?? null,
    destinationPort: flow?.destinationPort ?? null,
    path: JSON.stringify(modelPath(batch, row, view)),
    reportVersion: version,
    hwId: view.hwId,
    sequence: version === null ? null : view.sequence,
    reportNodeId: version === null ? null : view.nodeId,
    reportTimestamp: version === null || version === '2.0' ? null : batch.reportTimestamp[row]!,
    dropped: view.dropped,
    queueCongested: view.queueCongested,
    trackedFlow: view.trackedFlow,
    intermediate: view.intermediate,
    dropReason: view.dropReason,
    dropQueueId: view.dropQueueId,
    mode,
    intVersion: mode === 'xd' ? (version === '2.0' ? '2' : version) : view.intVersion,
    encapsulation: view.encapsulation,
    instructionBitmap: mode !== 'xd' ? bits >>> 16 : version === '2.0' ? bits & 0xffff : 0,
    discard: view.discard,
    hopExceeded: view.hopExceeded,
    mtuExceeded: view.mtuExceeded,
  };
}

/** What the views `reports` and `hops` must hold of a batch, in its order. */
export function modelOf(batch: TelemetryBatch, instance: string): { reports: ResultRow[]; hops: ResultRow[] } {
  const reports: ResultRow[] = [];
  const hops: ResultRow[] = [];
  for (let row = 0; row < batch.reports; row++) {
    if (batch.code[row] !== 0) continue;
    const view = batch.record(row);
    const fields = reportFields(batch, row, view, `${instance}-${reports.length}`);
    reports.push(fields);
    for (let hop = 0; hop < view.hopCount; hop++) {
      hops.push({ ...fields, hop, own: false, ...hopFields(view.hop(hop), batch, view.hopStart + hop) });
    }
    const { own, hopCount, hopStart } = view;
    if (own !== null) hops.push({ ...fields, hop: hopCount, own: true, ...hopFields(own, batch, hopStart + hopCount) });
  }
  return { reports, hops };
}
