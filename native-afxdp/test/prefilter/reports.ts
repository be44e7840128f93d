import { encodeFrame, type Flow, type Hop, type TelemetryRecord, telemetry } from '@int/codec';

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

/** The report as a decoder gives it. */
export function recordOf({ flow, hops, own, nodeId = 0x7fffffff, ethernet }: Report): TelemetryRecord {
  return telemetry({
    flow,
    hops,
    // Of no hops: a header that asked for two items.
    int: { mode: 'md', remainingHopCount: 0, ...(hops.length === 0 ? { instructionBitmap: 0xa000 } : {}) },
    report: { hwId: 1, sequence: 7, nodeId, type: 'int-md', metadata: own ?? {} },
    ...(ethernet === undefined ? {} : { ethernet: { ...ethernet } }),
  });
}

/** The report as an Ethernet frame to UDP port 32766. */
export function frameOf(report: Report): Uint8Array {
  return encodeFrame(recordOf(report));
}
