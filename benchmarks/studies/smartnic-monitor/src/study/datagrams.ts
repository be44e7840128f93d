/** Datagrams of telemetry reports v2.0 that are encoded once and get new values before each sending. */
import { encodeReport, type Hop, type TelemetryRecord } from '@int/codec';
import { SWITCHES } from './workload.js';

/** Stand for the values, so that their places can be found in what the encoder wrote. */
const MARK = 0x5a000000;
const FLOW = { source: '10.0.0.1', destination: '10.0.1.1', protocol: 17, sourcePort: 0, destinationPort: 0 } as const;
/** Metrics of a hop, in the order of their instructions. */
const PER_HOP = 3;

/** Queue id 0 and 24 bits of occupancy; the others have 32 bits. */
function markOf(report: number, hop: number, metric: number): number {
  return (report * SWITCHES.length + hop) * PER_HOP + metric + 1;
}

function hopOf(report: number, hop: number): Hop {
  return {
    nodeId: SWITCHES[hop]!,
    hopLatency: MARK | markOf(report, hop, 0),
    queueId: 0x5a,
    queueOccupancy: markOf(report, hop, 1),
    egressUtilization: MARK | markOf(report, hop, 2),
  };
}

function recordOf(report: number): TelemetryRecord {
  return {
    index: report,
    status: 'ok',
    error: null,
    report: {
      version: '2.0',
      hwId: 0,
      sequence: 0,
      nodeId: SWITCHES.at(-1)!,
      type: 'int-md',
      dropped: false,
      queueCongested: false,
      trackedFlow: true,
      intermediate: false,
      ingressTimestamp: null,
      dropReason: null,
      dropQueueId: null,
      metadata: {},
    },
    int: {
      mode: 'md',
      version: '2',
      encapsulation: 'udp',
      hopMl: 4,
      remainingHopCount: 0,
      // Node id, hop latency, queue, egress utilisation.
      instructionBitmap: 0b1011_0001_0000_0000,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow: FLOW,
    path: [...SWITCHES],
    hops: SWITCHES.map((_, hop) => hopOf(report, hop)),
  };
}

/** A datagram with places for new values. */
export class Datagram {
  readonly bytes: Uint8Array;
  readonly reports: number;
  readonly #view: DataView;
  /** Byte offset of each value: by report, hop and metric. */
  readonly #places: Int32Array;
  /** Byte offset of the last word of each report's source address: the flow. */
  readonly #flows: Int32Array;

  constructor(reports: number) {
    const records = Array.from({ length: reports }, (_, report) => recordOf(report));
    this.bytes = encodeReport({ version: '2.0', hwId: 0, sequence: 0, nodeId: SWITCHES.at(-1)!, records });
    this.reports = reports;
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    this.#places = new Int32Array(reports * SWITCHES.length * PER_HOP).fill(-1);
    const flows: number[] = [];
    for (let at = 0; at + 4 <= this.bytes.length; at += 2) {
      const word = this.#view.getUint32(at);
      const mark = (word & 0xffffff) - 1;
      if (word >>> 24 === 0x5a && mark < this.#places.length) this.#places[mark] = at;
      if (word === 0x0a000001) flows.push(at);
    }
    this.#flows = Int32Array.from(flows);
    if (this.#places.includes(-1) || flows.length !== reports) throw new Error('the datagram has no place for a value');
  }

  /** Who sends: 24 bits of the source address 10.x.x.x. */
  setFlow(report: number, flow: number): void {
    this.#view.setUint32(this.#flows[report]!, 0x0a000000 | flow);
  }

  /** @param metric 0 hop latency, 1 queue occupancy (with queue id 0), 2 egress utilisation */
  setValue(report: number, hop: number, metric: number, value: number): void {
    this.#view.setUint32(this.#places[(report * SWITCHES.length + hop) * PER_HOP + metric]!, value);
  }
}
