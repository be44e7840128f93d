import { FLAG, MODES, NOT_AVAILABLE, STATE, TelemetryBatch } from '@int/codec';
import { RecordIds } from '@int/collector';
import {
  encodeWatermark,
  JsonEncoder,
  MESSAGE_HEADERS,
  MessageSlab,
  MIN_SLAB_BYTES,
  ProtobufEncoder,
  WATERMARK_TYPE,
} from '@int/sink-kafka';
import type { Written } from './log.js';

/** A report of the last switch of a path, or, if it says so, a postcard of a single switch. */
export interface TestReport {
  readonly timeMs: number;
  readonly flow: number;
  readonly path: readonly number[];
  readonly postcard?: boolean;
  readonly sequence: number;
  readonly occupancy?: number;
}

/** A time at which a slice and a window begin. */
export const START_MS = 1_700_000_000_000;
/** Flows 0 to 15 are in different partitions, by their keys. */
const FLOWS = 16;

/** A batch of reports, one frame each, as a decoder would have made it. */
export function batchOf(reports: readonly TestReport[]): TelemetryBatch {
  const count = reports.length;
  const hops = reports.reduce((sum, { path }) => sum + path.length, 0);
  const batch = new TelemetryBatch({ frames: count, hops: Math.max(256, hops) });
  batch.isTimed = true;
  let hop = 0;
  reports.forEach(({ timeMs, flow, path, postcard, sequence, occupancy }, row) => {
    const time = BigInt(timeMs) * 1_000_000n;
    batch.frameTimeHigh[row] = Number(time >> 32n);
    batch.frameTimeLow[row] = Number(time & 0xffffffffn);
    batch.frame[row] = row;
    batch.code[row] = 0;
    const mode = MODES.indexOf(postcard === true ? 'xd' : 'md') << FLAG.MODE_SHIFT;
    batch.flags[row] = (3 | mode | (3 << FLAG.INT_VERSION_SHIFT) | FLAG.FLOW | FLAG.TRACKED_FLOW | FLAG.OWN) >>> 0;
    batch.nodeId[row] = path.at(-1)!;
    batch.sequence[row] = sequence;
    // Node id, hop latency, queue.
    batch.instructions[row] = 0xb000_0000;
    batch.hopStart[row] = hop;
    batch.hopCount[row] = path.length;
    batch.protocol[row] = 17;
    batch.ports[row] = (((5000 + flow) << 16) | 80) >>> 0;
    batch.source0[row] = 0x0a000100 + flow;
    batch.destination0[row] = 0x0a000202;
    batch.reportTimestamp[row] = NOT_AVAILABLE;
    batch.drop[row] = NOT_AVAILABLE;
    batch.ethernet[row] = NOT_AVAILABLE;
    for (const nodeId of path) {
      batch.hop.nodeId[hop] = nodeId;
      batch.hop.hopLatency[hop] = 100 + nodeId + (flow % 3);
      batch.hop.queueId[hop] = 1;
      batch.hop.queueOccupancy[hop] = occupancy ?? 10;
      hop++;
    }
  });
  // Columns that no hop has.
  batch.state[STATE.WRITTEN] = -1;
  batch.state[STATE.FRAMES] = count;
  batch.state[STATE.REPORTS] = count;
  batch.state[STATE.HOPS] = hop;
  return batch;
}

/** The reports as messages of a sink. */
export class ReportWriter {
  readonly #ids = new RecordIds();
  readonly #slab = new MessageSlab({ messages: 4096, bytes: MIN_SLAB_BYTES * 16 });
  readonly #encoders = [new ProtobufEncoder(), new JsonEncoder()];
  #turn = 0;

  /** In one format and the other by turns. */
  messages(reports: readonly TestReport[]): Written[] {
    const batch = batchOf(reports);
    const count = reports.length;
    const encoder = this.#encoders[this.#turn++ % this.#encoders.length]!;
    const slab = this.#slab;
    slab.clear();
    if (encoder.reports(batch, 0, slab, this.#ids) !== count) throw new Error('the slab is too small');
    return Array.from({ length: slab.count }, (_, row) => ({
      key: slab.bytes.slice(slab.keyStart[row], slab.keyEnd[row]),
      value: slab.bytes.slice(slab.valueStart[row], slab.valueEnd[row]),
      headers: { [MESSAGE_HEADERS.FORMAT]: encoder.format },
    }));
  }

  /** What the sink says when all its reports before a time have been written: a message for each of the first partitions. */
  watermarks(timeMs: number, partitions: number): Written[] {
    const { instanceHigh, instanceLow } = this.#ids;
    const watermark = { instanceHigh, instanceLow, timeMs, clockMs: timeMs, dropped: 0, ended: false };
    return Array.from({ length: partitions }, (_, partition) => {
      const format = this.#encoders[partition % this.#encoders.length]!.format;
      const headers = { [MESSAGE_HEADERS.TYPE]: WATERMARK_TYPE, [MESSAGE_HEADERS.FORMAT]: format };
      return { key: Buffer.from('sink'), value: encodeWatermark(watermark, format), partition, headers };
    });
  }
}

/**
 * Eight seconds of 16 flows, in which each kind of event happens; then, after a pause, one more report of each flow, so
 * that everything before is over.
 */
export function troubledReports(): TestReport[] {
  const reports: TestReport[] = [];
  const sequences = new Map<number, number>();
  const add = (timeMs: number, flow: number, path: readonly number[], more: Partial<TestReport> = {}): void => {
    const node = path.at(-1)!;
    const sequence = sequences.get(node) ?? 0;
    // Switch 3 loses three reports in the fifth second.
    const isLost = node === 3 && timeMs === START_MS + 4000 && flow < 6;
    sequences.set(node, sequence + 1);
    if (!isLost) reports.push({ timeMs, flow, path, sequence, ...more });
  };
  for (let at = 0; at < 8000; at += 40) {
    for (let flow = 0; flow < FLOWS; flow++) {
      const timeMs = START_MS + at;
      // The link 1 > 2 fails after three seconds: what took it takes 1 > 4.
      const isOver2 = flow % 2 === 0 && at < 3000;
      const path = flow === 5 && at > 2000 && at < 2400 ? [1, 4, 1, 4, 3] : [1, isOver2 ? 2 : 4, 3];
      const occupancy = at >= 1000 && at < 5500 ? 900 : 10;
      // Flow 7 vanishes behind switch 1 after five seconds.
      if (flow === 7) add(timeMs, flow, [1], { postcard: true });
      if (flow !== 7 || at < 5000) add(timeMs, flow, path, { occupancy });
      // Switch 2 still has something to say.
      if (flow === 0 && !isOver2) add(timeMs, 100, [2], { postcard: true });
    }
  }
  for (let flow = 0; flow < FLOWS; flow++) add(TAIL_MS, flow, [1, 4, 3]);
  return reports;
}

export const TAIL_MS: number = START_MS + 20_000;
