import { encodeFrame, type SourceConfig, source, telemetry, transit } from '@int/codec';

/** A packet of a flow, as a host sends it. */
export function hostFrame(number: number, destinationPort = 80, protocol: 6 | 17 = 17): Uint8Array {
  const sourcePort = 1024 + (number % 512);
  const flow = { source: '10.0.1.1', destination: '10.0.2.2', protocol, sourcePort, destinationPort };
  return encodeFrame(telemetry({ flow, report: null }));
}

/** Hop latencies of the switches 1, 2, ... */
export type Latencies = readonly number[];

/** The packet as it leaves the last switch. */
export function withInt(packet: Uint8Array, latencies: Latencies, options: Partial<SourceConfig> = {}): Uint8Array {
  // Node id, hop latency, queue occupancy.
  const config: SourceConfig = { instructions: 0xb000, ...options };
  let out = packet;
  latencies.forEach((hopLatency, index) => {
    const hop = { nodeId: index + 1, hopLatency, queueId: 0, queueOccupancy: index };
    const result = index === 0 ? source(out, config, hop) : transit(out, config, hop);
    if (!result.pushed) throw new Error(`no INT: ${result.reason}`);
    out = result.packet;
  });
  return out;
}

/** INT that makes no sense: an undefined shim type behind the port that marks INT. */
export function unsoundFrame(number: number): Uint8Array {
  const frame = withInt(hostFrame(number), [1]);
  frame[42] = 0xf0;
  return frame;
}
