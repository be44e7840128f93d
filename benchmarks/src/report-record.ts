/** The report that most benchmarks are about. */
import type { Flow, Hop, TelemetryRecord } from '@int/codec';

export interface ReportContents {
  readonly flow: Flow;
  readonly hops: readonly Hop[];
  /** Instruction bits of what each hop has pushed, as in INT v2: bit 0, the switch id, is 0x8000. */
  readonly instructionBitmap: number;
  /** Words of each hop. */
  readonly hopMl: number;
  /** 0 to 0x3fffff. */
  readonly sequence?: number;
  readonly hwId?: number;
  /** The reporting switch; by default the last hop's. */
  readonly nodeId?: number;
}

/** A report v2.0 of a packet that carries INT-MD v2 over UDP. */
export function reportRecord(contents: ReportContents): TelemetryRecord {
  const { flow, hops, instructionBitmap, hopMl, sequence = 0, hwId = 1 } = contents;
  return {
    index: 0,
    status: 'ok',
    error: null,
    report: {
      version: '2.0',
      hwId,
      sequence,
      nodeId: contents.nodeId ?? hops.at(-1)?.nodeId ?? 0,
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
      hopMl,
      remainingHopCount: 8,
      instructionBitmap,
      discard: false,
      hopExceeded: false,
      mtuExceeded: false,
      domainId: 0,
      domainInstructions: 0,
      domainFlags: 0,
    },
    flow,
    path: hops.map(({ nodeId }) => nodeId ?? null),
    hops: [...hops],
  };
}
