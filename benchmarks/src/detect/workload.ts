import {
  type AcceleratorMemory,
  BatchDecoder,
  encodeReport,
  type Flow,
  FrameDecoder,
  formatIpv4,
  type Hop,
  TelemetryBatch,
  type TelemetryRecord,
  telemetry,
} from '@int/codec';
import { flowCrc32Ipv4 } from '@int/hash';
import { Random, Zipf } from '@int/random';

const SWITCHES = 1024;
const FLOWS = 20_000;
export const HOPS = 5;
/** Flow cells of the register mode, in the engine and in C. */
const FLOW_CELLS = 65_536;
/** Share of the reports that take another path than their flow's usual one. */
const DETOURS = 0.015;
/** Share of the hops with a burst. */
const BURSTS = 0.02;
const INT_PORT = 5000;

/** The same reports as columns and as objects. */
export interface Work {
  readonly batches: readonly TelemetryBatch[];
  readonly records: readonly TelemetryRecord[];
  readonly reports: number;
}

export type FlowMix = 'zipf' | 'uniform';

interface FlowOf {
  readonly flow: Flow;
  readonly path: readonly number[];
}

/** Flows that share no cell, so that detectors with exact keys find the same events as those with registers. */
function makeFlows(random: Random): FlowOf[] {
  const used = new Uint8Array(FLOW_CELLS);
  const flows: FlowOf[] = [];
  while (flows.length < FLOWS) {
    const source = 0x0a000000 + flows.length;
    const destination = 0x0a800000 + random.integer(1 << 20);
    const sourcePort = 1024 + random.integer(60_000);
    const cell = flowCrc32Ipv4(source, destination, 17, (sourcePort << 16) | INT_PORT) % FLOW_CELLS;
    if (used[cell] !== 0) continue;
    used[cell] = 1;
    flows.push({
      flow: {
        source: formatIpv4(source),
        destination: formatIpv4(destination),
        protocol: 17,
        sourcePort,
        destinationPort: INT_PORT,
      },
      path: Array.from({ length: HOPS }, () => 1 + random.integer(SWITCHES)),
    });
  }
  return flows;
}

/**
 * Makes reports of 5 hops, encodes them, and decodes them again: into batches, and into objects.
 *
 * 20,000 flows over 1024 switches, each with a path of its own that few reports leave. Each switch has a usual hop
 * latency of its own, with exponential noise and now and then a burst; the queue's occupancy goes with the latency.
 *
 * @param batches how many batches
 * @param size reports in each
 */
export function makeWork(batches: number, size: number, mix: FlowMix): Work {
  const random = new Random('detection');
  const flows = makeFlows(random.derive('flows'));
  const popularity = new Zipf(FLOWS, mix === 'zipf' ? 1 : 0);
  const usual = Array.from({ length: SWITCHES + 1 }, () => 500 + random.integer(2500));
  const payloads: Uint8Array[] = [];
  for (let sequence = 0; sequence < batches * size; sequence++) {
    const { flow, path } = flows[popularity.sample(random) - 1]!;
    const detour = random.uniform() < DETOURS ? 1 + random.integer(HOPS - 2) : -1;
    const hops = path.map((id, index): Hop => {
      const nodeId = index === detour ? 1 + random.integer(SWITCHES) : id;
      const burst = random.uniform() < BURSTS ? random.exponential(20_000) : 0;
      const hopLatency = Math.floor(usual[nodeId]! + random.exponential(300) + burst);
      return {
        nodeId,
        hopLatency,
        queueId: 0,
        queueOccupancy: Math.floor(hopLatency / 10) & 0xff_ffff,
        egressUtilization: random.integer(10_000),
      };
    });
    payloads.push(encodeReport(telemetry({ flow, hops, report: { hwId: 1, sequence: sequence & 0x3f_ffff } })));
  }
  return decodeAll(payloads, size);
}

function decodeAll(payloads: readonly Uint8Array[], size: number): Work {
  const options = { linkType: 'report', intPorts: [INT_PORT], intDscp: null } as const;
  const decoder = new BatchDecoder(options);
  const objects = new FrameDecoder(options);
  const batches: TelemetryBatch[] = [];
  for (let from = 0; from < payloads.length; from += size) {
    const part = payloads.slice(from, from + size);
    const bytes = new Uint8Array(Buffer.concat(part));
    const lengths = Uint32Array.from(part, (payload) => payload.length);
    const offsets = new Uint32Array(part.length);
    for (let k = 1; k < part.length; k++) offsets[k] = offsets[k - 1]! + lengths[k - 1]!;
    const batch = new TelemetryBatch({ frames: size, hops: size * HOPS + 256 });
    decoder.decode(batch, { bytes, offsets, lengths });
    if (batch.reports !== part.length || batch.hops !== part.length * HOPS) throw new Error('a report was not decoded');
    batches.push(batch);
  }
  const records = payloads.flatMap((payload) => objects.decode(payload));
  if (records.some(({ status }) => status !== 'ok')) throw new Error('a report was not decoded');
  return { batches, records, reports: payloads.length };
}

/** The same batches in a memory that the accelerator can work in. */
export function copyInto(memory: AcceleratorMemory, batches: readonly TelemetryBatch[]): TelemetryBatch[] {
  return batches.map((batch) => {
    const copy = memory.batch(batch.capacity);
    for (const columns of ['state', 'frameCode', 'code', 'hopCount', 'protocol', 'reportWords', 'hopWords'] as const) {
      copy[columns].set(batch[columns]);
    }
    return copy;
  });
}
