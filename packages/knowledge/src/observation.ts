import type { TelemetryBatch } from '@int/codec';

/** The time of a frame of a batch, milliseconds since the epoch. @param untimedMs what stands for it if frames have none */
export function frameTimeMs(batch: TelemetryBatch, frame: number, untimedMs: number): number {
  if (!batch.isTimed) return untimedMs;
  return (batch.frameTimeHigh[frame]! * 4294967296 + batch.frameTimeLow[frame]!) / 1e6;
}

/** A packet, as the comfort path takes it. */
export interface PacketObservation {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly source: string;
  readonly destination: string;
  /** 0 or missing for protocols without ports. */
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  /** IP protocol number. */
  readonly protocol: number;
  /** The flags of the TCP header. */
  readonly tcpFlags?: number;
  /** Length of the IP packet. */
  readonly lengthBytes: number;
  /** Ids of the switches that it passed, from the first to the last; default: not known. */
  readonly path?: readonly number[];
}

/** How a connection ended, as a flow log tells it. */
export interface ConnectionObservation {
  /** When it began, milliseconds since the epoch. */
  readonly timeMs: number;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly protocol: number;
  /** Whether the other side has answered; `null`: the log does not tell. */
  readonly answered: boolean | null;
  /** TCP: whether the handshake was completed. */
  readonly established: boolean;
  readonly packetsOut: number;
  readonly packetsIn: number;
  readonly bytesOut: number;
  /** How long it took, in milliseconds; default 0. Of its packets, those of its first second count for the rate of that second. */
  readonly durationMs?: number;
}

/** What a switch says of itself. */
export interface MetricObservation {
  readonly timeMs: number;
  readonly metric: 'hopLatency' | 'queueOccupancy' | 'egressUtilization';
  readonly switchId: number;
  /** The queue of an occupancy, the port of a utilisation. */
  readonly part?: number;
  /** 0 to 2^32 - 2, in the switch's unit. */
  readonly value: number;
}

/** What was seen and what was not kept, since the beginning. */
export interface KnowledgeTotals {
  readonly packets: number;
  /** Of them, those that were in others: IP in IP, GRE, VXLAN, Geneve. */
  readonly inner: number;
  readonly reports: number;
  readonly connections: number;
  readonly incidents: number;
  /** Milliseconds from the first second to the last. */
  readonly spanMs: number;
  /** Not tracked, by reason; a detector may have missed something. */
  readonly untracked: {
    /** Packets that are not IP, are cut off, or fragments without ports. */
    readonly unread: number;
    /** Packets with a time before the second that is open; they count for that second. */
    readonly late: number;
    readonly flows: number;
    readonly sources: number;
    readonly destinations: number;
    readonly pairs: number;
    readonly metrics: number;
    readonly targets: number;
    /** First contacts whose outcome was lost with their flow. */
    readonly contacts: number;
    readonly incidents: number;
    readonly hosts: number;
  };
}
