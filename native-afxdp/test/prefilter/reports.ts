import { encodeFrame, type Flow, type Hop, type TelemetryRecord } from '@int/codec';

/** Instruction bits of INT v2.1 by item. */
const INSTRUCTIONS: Readonly<Record<string, number>> = {
  nodeId: 0x8000,
  l1IngressInterface: 0x4000,
  l1EgressInterface: 0x4000,
  hopLatency: 0x2000,
  queueId: 0x1000,
  queueOccupancy: 0x1000,
  ingressTimestamp: 0x0800,
  egressTimestamp: 0x0400,
  l2IngressInterface: 0x0200,
  l2EgressInterface: 0x0200,
  egressUtilization: 0x0100,
  bufferId: 0x0080,
  bufferOccupancy: 0x0080,
  reserved9: 0x0040,
};
/** Words of the items of bits 0 to 15. */
const WORDS = [1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1] as const;

/** A report of an INT-MD packet. */
export interface Report {
  readonly flow: Flow;
  /** INT source first. All have the fields of the instruction bitmap. */
  readonly hops: readonly Hop[];
  /** The reporting node's own values. */
  readonly own?: Hop;
  /** The reporting node. Default 0x7fffffff. */
  readonly nodeId?: number;
  readonly ethernet?: { readonly source: string; readonly destination: string };
}

/** The instruction bitmap of hops with these fields; of no hops: that of some. */
function instructionsOf(hops: readonly Hop[]): number {
  if (hops.length === 0) return 0xa000;
  return Object.keys(hops[0] ?? {}).reduce((bits, name) => bits | (INSTRUCTIONS[name] ?? 0), 0);
}

/** The report as a decoder gives it. */
export function recordOf({ flow, hops, own, nodeId = 0x7fffffff, ethernet }: Report): TelemetryRecord {
  const bitmap = instructionsOf(hops);
  const words = WORDS.reduce<number>((sum, each, bit) => ((bitmap & (0x8000 >>> bit)) === 0 ? sum : sum + each), 0);
  return {
    index: 0,
    status: 'ok',
    error: null,
    report: {
      version: '2.0',
      hwId: 1,
      sequence: 7,
      nodeId,
      type: 'int-md',
      dropped: false,
      queueCongested: false,
      trackedFlow: true,
      intermediate: false,
      ingressTimestamp: null,
      dropReason: null,
      dropQueueId: null,
      metadata: own ?? {},
    },
    int: {
      mode: 'md',
      version: '2',
      encapsulation: flow.protocol === 6 ? 'tcp' : flow.protocol === 17 ? 'udp' : 'udp-new',
      hopMl: words,
      remainingHopCount: 0,
      instructionBitmap: bitmap,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow,
    path: [],
    hops: [...hops],
    ...(ethernet === undefined ? {} : { ethernet: { ...ethernet } }),
  };
}

/** The report as an Ethernet frame to UDP port 32766. */
export function frameOf(report: Report): Uint8Array {
  return encodeFrame(recordOf(report));
}
