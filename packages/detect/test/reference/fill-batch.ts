/** Reference reports as the columns of a telemetry batch, without going through packets. */
import { FLAG, NOT_AVAILABLE, STATE, type TelemetryBatch } from '@int/codec';
import type { ReferenceHop, ReferenceReport } from './reference.js';

function wide(value: number | null | undefined): number {
  return value ?? NOT_AVAILABLE;
}

/** Two fields of one word: all ones in both is no value. */
function writeHalves(
  columns: readonly [upper: Uint32Array, lower: Uint32Array],
  row: number,
  upper: number | null | undefined,
  lower: number | null | undefined,
  bits: number,
): void {
  const isThere = typeof upper === 'number' && typeof lower === 'number';
  const isMissing = !isThere || (upper === 2 ** (32 - bits) - 1 && lower === 2 ** bits - 1);
  columns[0][row] = isMissing ? NOT_AVAILABLE : upper;
  columns[1][row] = isMissing ? NOT_AVAILABLE : lower;
}

function writeHop(batch: TelemetryBatch, row: number, hop: ReferenceHop): void {
  const columns = batch.hop;
  columns.nodeId[row] = wide(hop.nodeId);
  writeHalves(
    [columns.l1IngressInterface, columns.l1EgressInterface],
    row,
    hop.l1IngressInterface,
    hop.l1EgressInterface,
    16,
  );
  columns.hopLatency[row] = wide(hop.hopLatency);
  writeHalves([columns.queueId, columns.queueOccupancy], row, hop.queueId, hop.queueOccupancy, 24);
  columns.l2IngressInterface[row] = wide(hop.l2IngressInterface);
  columns.l2EgressInterface[row] = wide(hop.l2EgressInterface);
  columns.egressUtilization[row] = wide(hop.egressUtilization);
  writeHalves([columns.bufferId, columns.bufferOccupancy], row, hop.bufferId, hop.bufferOccupancy, 24);
  writeHalves(
    [columns.congestionQueueId, columns.queueCongestion],
    row,
    hop.congestionQueueId,
    hop.queueCongestion,
    24,
  );
  columns.reserved8[row] = wide(hop.reserved8);
  columns.reserved9[row] = wide(hop.reserved9);
  columns.reserved10[row] = wide(hop.reserved10);
  columns.reserved11[row] = wide(hop.reserved11);
  columns.reserved12[row] = wide(hop.reserved12);
  columns.reserved13[row] = wide(hop.reserved13);
  columns.reserved14[row] = wide(hop.reserved14);
}

function writeAddress(columns: readonly Uint32Array[], row: number, bytes: readonly number[]): void {
  for (let k = 0; k < bytes.length / 4; k++) {
    columns[k]![row] = (bytes[4 * k]! << 24) | (bytes[4 * k + 1]! << 16) | (bytes[4 * k + 2]! << 8) | bytes[4 * k + 3]!;
  }
}

function writeMac(bytes: Uint8Array, at: number, mac: number): void {
  for (let k = 0; k < 6; k++) bytes[at + k] = Math.floor(mac / 2 ** (40 - 8 * k)) & 0xff;
}

/** MAC addresses, type, and the beginning of an IP header. */
const HEADER = 16;

/**
 * Writes reports as rows 0 on, one frame each. Reports have both MAC addresses or neither.
 * @throws RangeError if they do not fit
 */
export function fillBatch(batch: TelemetryBatch, reports: readonly ReferenceReport[]): void {
  const bytes = new Uint8Array(HEADER * reports.length);
  batch.clear();
  batch.bytes = bytes;
  batch.isTimed = true;
  let hopRow = 0;
  reports.forEach((report, row) => {
    const { flow, hops, hasOwnHop, nodeId, timeNs } = report;
    if (row >= batch.capacity.reports || hopRow + hops.length > batch.capacity.hops) {
      throw new RangeError('the batch is too small');
    }
    batch.code[row] = 0;
    batch.frameCode[row] = 0;
    batch.frame[row] = row;
    batch.hopStart[row] = hopRow;
    batch.hopCount[row] = hops.length;
    batch.nodeId[row] = wide(nodeId);
    batch.flags[row] =
      (flow === null ? 0 : FLAG.FLOW) |
      (flow !== null && flow.source.length === 16 ? FLAG.IPV6 : 0) |
      (hasOwnHop ? FLAG.OWN : 0);
    batch.protocol[row] = flow?.protocol ?? 0;
    batch.ports[row] = flow === null ? 0 : (flow.sourcePort << 16) | flow.destinationPort;
    writeAddress([batch.source0, batch.source1, batch.source2, batch.source3], row, flow?.source ?? [0, 0, 0, 0]);
    writeAddress(
      [batch.destination0, batch.destination1, batch.destination2, batch.destination3],
      row,
      flow?.destination ?? [0, 0, 0, 0],
    );
    const { sourceMac, destinationMac } = report;
    batch.ethernet[row] = NOT_AVAILABLE;
    if (typeof sourceMac === 'number' && typeof destinationMac === 'number') {
      const at = HEADER * row;
      batch.ethernet[row] = at;
      writeMac(bytes, at, destinationMac);
      writeMac(bytes, at + 6, sourceMac);
      // IPv4, and of its header the octet with the DSCP.
      if (typeof report.dscp === 'number') bytes.set([0x08, 0x00, 0x45, report.dscp << 2], at + 12);
    }
    for (const hop of hops) writeHop(batch, hopRow++, hop);
    batch.frameTimeHigh[row] = Number(timeNs >> 32n);
    batch.frameTimeLow[row] = Number(timeNs & 0xffffffffn);
  });
  batch.state[STATE.FRAMES] = reports.length;
  batch.state[STATE.REPORTS] = reports.length;
  batch.state[STATE.HOPS] = hopRow;
}
