import { encodeFrame, type Hop, type TelemetryRecord, telemetry } from '@int/codec';
import { LinkType, PcapngWriter, PcapWriter } from '@int/pcap';

export const START_NS = 1_700_000_000_000_000_000n;

/** The record of a telemetry report v2.0 from an INT-MD sink. */
export function record(index: number, hops: readonly Hop[] = [hop(1, 1200, 17), hop(2, 800, 0)]): TelemetryRecord {
  const one = telemetry({
    flow: { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 40_000, destinationPort: 80 },
    hops,
    report: {
      hwId: 3,
      sequence: 17,
      nodeId: 153,
      queueCongested: true,
      trackedFlow: true,
      metadata: { hopLatency: 500 },
    },
  });
  return { ...one, index };
}

function hop(nodeId: number, hopLatency: number, queueOccupancy: number): Hop {
  return { nodeId, hopLatency, queueId: 0, queueOccupancy };
}

/** A report frame. */
export function reportFrame(): Uint8Array {
  return encodeFrame(record(0));
}

/** A report frame with three individual reports, or as many as are asked for: a datagram holds some 700. */
export function coalescedFrame(reports = 3): Uint8Array {
  return encodeFrame(Array.from({ length: reports }, (_, index) => record(index, [hop(index + 1, 100, index)])));
}

/** A DNS-like UDP packet: no telemetry. */
export function plainFrame(): Uint8Array {
  const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1234, destinationPort: 443 };
  return encodeFrame(telemetry({ flow, report: null }));
}

/** An INT packet, sent to `port`, whose stack is not a whole number of hops. */
export function malformedFrame(): Uint8Array {
  const frame = encodeFrame({ ...record(0), report: null, path: [1, 2] });
  // Hop ML of the INT header: Ethernet 14, IPv4 20, UDP 8, shim 4, then the third byte.
  frame[14 + 20 + 8 + 4 + 2] = 4;
  return frame;
}

/** A nanosecond pcap, frames a microsecond apart. */
export function pcap(frames: readonly Uint8Array[], linkType: number = LinkType.ETHERNET): Buffer {
  const writer = new PcapWriter({ linkType });
  const records = frames.map((data, index) =>
    writer.record({ data, timeNs: START_NS + BigInt(index) * 1000n, linkType }),
  );
  return Buffer.concat([writer.header(), ...records]);
}

/** A pcapng in which every frame has its own link type. */
export function pcapng(frames: readonly (readonly [number, Uint8Array])[]): Buffer {
  const writer = new PcapngWriter({ interfaces: frames.map(([linkType]) => ({ linkType })) });
  const records = frames.map(([, data], interfaceId) => writer.record({ data, timeNs: START_NS, interfaceId }));
  return Buffer.concat([writer.header(), ...records]);
}
