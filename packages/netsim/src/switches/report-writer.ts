/** Writes the telemetry reports v2.0 of a switch. */
import { type Hop, reportV20Group } from '@int/codec';
import { INNER_TYPE, REPORT_TYPE, reportMetadata, reportV20Individual, reportV20Main } from '@int/codec/internals';

/** Sequence numbers have 22 bits (telemetry report v2.0, section 3.2). */
const SEQUENCE_MASK = 0x3f_ffff;

/** Group header 8, report header 4. */
const HEADERS_BYTES = 12;
const MAIN_BYTES = 8;

/** Value of the length field that means: to the end of the datagram. */
const TO_THE_END = 255;

/** Drop reasons. No specification defines numbers; these are those of switch.p4 (p4lang/switch). */
export const DROP_REASON = {
  /** The time to live has expired. */
  TTL: 26,
  /** No route to the destination. */
  NO_ROUTE: 29,
} as const;

/** The contents of a report in addition to the packet. */
export interface ReportContents {
  /** The node's own values, which are in the report and not in the packet's stack. `bits` selects them. */
  readonly metadata: Hop;
  /** RepMdBits, bit 0 = 0x8000. */
  readonly bits: number;
  /** One of {@link DROP_REASON}; null: the packet was not dropped. */
  readonly dropReason: number | null;
  readonly queueCongested: boolean;
}

/** Writes the reports of one node, one per datagram, and counts sequence numbers per hardware id. */
export class ReportWriter {
  readonly #nodeId: number;
  /** Next number of each hardware id. */
  readonly #sequences: Uint32Array;

  constructor(nodeId: number, pipes: number, firstSequence: number) {
    this.#nodeId = nodeId;
    this.#sequences = new Uint32Array(pipes).fill(firstSequence & SEQUENCE_MASK);
  }

  /**
   * Writes a UDP payload: group header, report of RepType 1 with the tracked-flow bit, and the packet as an Ethernet
   * frame, padded to whole words.
   */
  write(packet: Uint8Array, hwId: number, contents: ReportContents): Uint8Array {
    const { metadata, bits, dropReason, queueCongested } = contents;
    const own = reportMetadata('2.0', bits).encode({ metadata, dropQueueId: metadata.queueId ?? null, dropReason });
    // The length field counts main contents, metadata and packet.
    const bodyWords = 2 + own.length / 4 + ((packet.length + 3) >>> 2);
    const out = new Uint8Array(HEADERS_BYTES + bodyWords * 4);
    const sequence = this.#sequences[hwId]!;
    this.#sequences[hwId] = (sequence + 1) & SEQUENCE_MASK;
    out.set(reportV20Group.encode({ hwId, sequence, nodeId: this.#nodeId }));
    const header = reportV20Individual.encode({
      reportType: REPORT_TYPE.INT,
      innerType: INNER_TYPE.ETHERNET,
      reportLength: Math.min(TO_THE_END, bodyWords),
      metadataLength: own.length / 4,
      dropped: dropReason !== null,
      queueCongested,
      trackedFlow: true,
      intermediate: false,
      reserved: 0,
    });
    out.set(header, 8);
    const main = { metadataBits: bits, domainId: 0, domainMetadataBits: 0, domainMetadataStatus: 0 };
    out.set(reportV20Main.encode(main), HEADERS_BYTES);
    out.set(own, HEADERS_BYTES + MAIN_BYTES);
    out.set(packet, HEADERS_BYTES + MAIN_BYTES + own.length);
    return out;
  }
}
