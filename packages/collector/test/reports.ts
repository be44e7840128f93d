import { encodeReport, type Hop, type TelemetryRecord, type TelemetryReport } from '@int/codec';

/** A telemetry report v2.0 of an INT-MD sink: a stack of hops, and the node's own metadata. */
export function report(
  nodeId: number,
  sequence: number,
  hops: readonly Hop[],
  own: Hop = { hopLatency: 100 },
): Uint8Array {
  return encodeReport(telemetry(nodeId, sequence, [hops], own));
}

/** The same with several individual reports in one datagram. */
export function telemetry(
  nodeId: number,
  sequence: number,
  stacks: readonly (readonly Hop[])[],
  own: Hop = { hopLatency: 100 },
): TelemetryReport {
  const records = stacks.map((hops, index): TelemetryRecord => {
    return {
      index,
      status: 'ok',
      error: null,
      report: {
        version: '2.0',
        hwId: 1,
        sequence,
        nodeId,
        type: 'int-md',
        dropped: false,
        queueCongested: false,
        trackedFlow: true,
        intermediate: false,
        ingressTimestamp: null,
        dropReason: null,
        dropQueueId: null,
        metadata: own,
      },
      int: {
        mode: 'md',
        version: '2',
        encapsulation: 'udp',
        hopMl: 3,
        remainingHopCount: 8,
        instructionBitmap: 0xb000,
        discard: false,
        hopExceeded: false,
        mtuExceeded: false,
        domainId: 0,
        domainInstructions: 0,
        domainFlags: 0,
      },
      flow: {
        source: '10.0.1.1',
        destination: '10.0.2.2',
        protocol: 17,
        sourcePort: 40_000,
        destinationPort: 80,
      },
      path: [...hops.map((hop) => hop.nodeId ?? null), nodeId],
      hops: [...hops],
    };
  });
  return { version: '2.0', hwId: 1, sequence, nodeId, records };
}

/** A hop with the three items of the stacks above. */
export function hop(nodeId: number, hopLatency: number, queueOccupancy: number): Hop {
  return { nodeId, hopLatency, queueId: 0, queueOccupancy };
}
