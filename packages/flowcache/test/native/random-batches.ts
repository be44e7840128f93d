/** Batches of raw columns, with everything in them that a decoder may write, and flows few enough to meet again. */
import { FLAG, HOP_COLUMNS, type HopColumn, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import type { Random } from '@int/random';

export const CAPACITY = { frames: 96, reports: 96, hops: 1200 } as const;

export interface BatchShape {
  readonly flows: number;
  /** Share of the flows that are IPv6. */
  readonly ipv6: number;
  /** Hop rows of a report at most. */
  readonly hops: number;
  /** Hop columns that are filled. */
  readonly columns: readonly HopColumn[];
}

/** A value of a cell: small, large or missing. */
function cell(random: Random): number {
  switch (random.integer(8)) {
    case 0:
      return NOT_AVAILABLE;
    case 1:
      return random.uint32();
    case 2:
      return NOT_AVAILABLE - random.integer(3);
    default:
      return random.integer(2000);
  }
}

function fillFlow(batch: TelemetryBatch, row: number, flow: number, shape: BatchShape): void {
  const isIpv6 = (flow * 7) % 100 < shape.ipv6 * 100;
  batch.flags[row] = batch.flags[row]! | (isIpv6 ? FLAG.IPV6 : 0);
  batch.source0[row] = 0x0a000000 + flow;
  batch.destination0[row] = 0xac100000 + (flow & 3);
  batch.ports[row] = 0x80000000 + (flow >> 2);
  batch.protocol[row] = (flow & 1) === 0 ? 6 : 17;
  if (!isIpv6) return;
  batch.source1[row] = flow & 1;
  batch.source2[row] = 0;
  batch.source3[row] = 0xffffffff - flow;
  batch.destination1[row] = 1;
  batch.destination2[row] = flow;
  batch.destination3[row] = 0;
}

/** A batch whose unused cells hold anything. */
export function randomBatch(random: Random, shape: BatchShape): TelemetryBatch {
  const batch = new TelemetryBatch(CAPACITY);
  for (let word = 0; word < batch.reportWords.length; word++) batch.reportWords[word] = random.uint32();
  const reports = random.integer(CAPACITY.reports + 1);
  let hopRow = 0;
  for (let row = 0; row < reports; row++) {
    const flow = random.integer(random.integer(shape.flows) + 1);
    batch.frame[row] = random.integer(CAPACITY.frames);
    batch.code[row] = random.integer(20) === 0 ? 1 + random.integer(40) : 0;
    batch.flags[row] = (random.uint32() & ~(FLAG.FLOW | FLAG.IPV6)) | (random.integer(20) === 0 ? 0 : FLAG.FLOW);
    fillFlow(batch, row, flow, shape);
    const hops = random.integer(3) === 0 ? random.integer(shape.hops + 1) : Math.min(shape.hops, 4 + (flow & 1));
    batch.hopCount[row] = hops;
    batch.hopStart[row] = hopRow;
    const isNamed = random.integer(10) > 0;
    for (let hop = 0; hop < hops; hop++, hopRow++) {
      for (const name of shape.columns) batch.hop[name][hopRow] = cell(random);
      const id = random.integer(12) === 0 ? random.integer(4) : (flow & 7) * 100 + hop;
      batch.hop.nodeId[hopRow] = isNamed && random.integer(12) > 0 ? id : NOT_AVAILABLE;
    }
    const last = hops === 0 ? NOT_AVAILABLE : batch.hop.nodeId[hopRow - 1]!;
    batch.nodeId[row] = [NOT_AVAILABLE, last, last, random.integer(5)][random.integer(4)]!;
  }
  batch.state.set([reports, reports, hopRow, (1 << HOP_COLUMNS.length) - 1]);
  return batch;
}
