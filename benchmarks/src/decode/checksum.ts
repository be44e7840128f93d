import { HOP_COLUMNS, STATE, type TelemetryBatch } from '@int/codec';

function mix(start: number, cells: Uint32Array | Uint8Array, count: number): number {
  let sum = start;
  for (let k = 0; k < count; k++) sum = (Math.imul(sum + cells[k]!, 0x9e3779b1) + 1) | 0;
  return sum;
}

/** Goes on with a checksum over all defined cells of a batch; the C program computes the same one. */
export function mixBatch(start: number, batch: TelemetryBatch): number {
  const { reports, hops } = batch;
  let sum = mix(start, batch.frameCode, batch.state[STATE.FRAMES]!);
  for (const column of [
    batch.code,
    batch.hopCount,
    batch.protocol,
    batch.frame,
    batch.flags,
    batch.nodeId,
    batch.sequence,
    batch.instructions,
    batch.hopStart,
    batch.ports,
    batch.source0,
    batch.destination0,
    batch.drop,
    batch.ethernet,
  ]) {
    sum = mix(sum, column, reports);
  }
  for (const name of HOP_COLUMNS) sum = mix(sum, batch.hop[name], hops);
  return sum;
}
