/** Telemetry report headers v0.5, v1.0 and v2.0. The metadata behind the fixed parts: `reportMetadata`. */
import {
  FieldGroup,
  type FixedHeaderCodec,
  fixedHeader,
  type HeaderCodec,
  makeCodec,
  requireBytes,
  requireSize,
} from './codec.js';

/** Group header of report v2.0 (section 3.2), 8 bytes, once for each UDP datagram. */
export interface ReportV20Group {
  /** 6 bits. */
  hwId: number;
  /** 22 bits, per (node, hwId, destination). */
  sequence: number;
  /** 32 bits. */
  nodeId: number;
}

/** {@link ReportV20Group}. Errors: `BAD_REPORT_VERSION`. */
export const reportV20Group: FixedHeaderCodec<ReportV20Group> = /* @__PURE__ */ fixedHeader<ReportV20Group>('report', [
  [null, 4, 2, 'BAD_REPORT_VERSION'],
  ['hwId', 6],
  ['sequence', 22],
  ['nodeId', 32],
]);

/** RepType of report v2.0. */
export const REPORT_TYPE = { INNER_ONLY: 0, INT: 1, IOAM: 2 } as const;

/** InType of report v2.0. */
export const INNER_TYPE = { NONE: 0, TLV: 1, DOMAIN: 2, ETHERNET: 3, IPV4: 4, IPV6: 5 } as const;

/** Individual report header of report v2.0 (section 3.3), 4 bytes. */
export interface ReportV20Individual {
  /** 4 bits, see `REPORT_TYPE`. */
  reportType: number;
  /** 4 bits, see `INNER_TYPE`. */
  innerType: number;
  /** 8 bits, words behind this header; 255: to the end of the datagram. */
  reportLength: number;
  /** 8 bits, words of variable metadata, baseline and domain-specific. */
  metadataLength: number;
  /** D: a watched packet was dropped. */
  dropped: boolean;
  /** Q: congestion on a monitored queue. */
  queueCongested: boolean;
  /** F: tracked flow. */
  trackedFlow: boolean;
  /** I: sent by a transit node. */
  intermediate: boolean;
  /** 4 bits. */
  reserved: number;
}

/** {@link ReportV20Individual}. */
export const reportV20Individual: FixedHeaderCodec<ReportV20Individual> =
  /* @__PURE__ */ fixedHeader<ReportV20Individual>('report', [
    ['reportType', 4],
    ['innerType', 4],
    ['reportLength', 8],
    ['metadataLength', 8],
    ['dropped', 1, 'flag'],
    ['queueCongested', 1, 'flag'],
    ['trackedFlow', 1, 'flag'],
    ['intermediate', 1, 'flag'],
    ['reserved', 4],
  ]);

/** Fixed main contents of a report v2.0 with RepType 1 (section 3.3.1), 8 bytes. */
export interface ReportV20Main {
  /** 16 bits, bit 0 = 0x8000. */
  metadataBits: number;
  /** 16 bits; 0 = default domain. */
  domainId: number;
  /** 16 bits, bit 0 = 0x8000. */
  domainMetadataBits: number;
  /** 16 bits, defined by the domain. */
  domainMetadataStatus: number;
}

/** {@link ReportV20Main}. */
export const reportV20Main: FixedHeaderCodec<ReportV20Main> = /* @__PURE__ */ fixedHeader<ReportV20Main>('report', [
  ['metadataBits', 16],
  ['domainId', 16],
  ['domainMetadataBits', 16],
  ['domainMetadataStatus', 16],
]);

/** One TLV of a report v2.0 with InType 1 (section 3.3.2); its length field follows from `data`. */
export interface ReportTlv {
  /** 4 bits: 0 domain-specific extension data, 1 Ethernet, 2 IPv4, 3 IPv6. */
  type: number;
  /** 4 bits. */
  reserved: number;
  /** 16 bits: TLV Data Template. */
  template: number;
  /** A multiple of 4 bytes, at most 1020. */
  data: Uint8Array;
}

type TlvFixed = Omit<ReportTlv, 'data'>;
const TLV = /* @__PURE__ */ new FieldGroup<TlvFixed>('tlv', [
  ['type', 4],
  ['reserved', 4],
  [null, 8],
  ['template', 16],
]);

/** {@link ReportTlv}. */
export const reportTlv: HeaderCodec<ReportTlv> = /* @__PURE__ */ makeCodec<ReportTlv>({
  layer: 'tlv',
  decode(bytes, offset) {
    requireBytes(bytes, offset, 4, 'tlv');
    const fields = TLV.read(bytes, offset);
    const length = bytes[offset + 1]!;
    requireBytes(bytes, offset, 4 + length * 4, 'tlv');
    return Object.assign(fields, { data: bytes.subarray(offset + 4, offset + 4 + length * 4) });
  },
  measure(value) {
    requireSize('data', value.data, 4, 1020);
    return 4 + value.data.length;
  },
  check: (value) => TLV.check(value),
  write(value, out, offset) {
    TLV.write(value, out, offset);
    out[offset + 1] = value.data.length / 4;
    out.set(value.data, offset + 4);
  },
});

/** Report v1.0 (section 3.2), 16 bytes; variable metadata follows. */
export interface ReportV10 {
  /** 4 bits: 1. Senders are known to be careless here, so it is not checked. */
  version: number;
  /** 4 bits, words: this header and the variable metadata. */
  length: number;
  /** 3 bits, what follows: 0 Ethernet, 1 IPv4, 2 IPv6. */
  nextProtocol: number;
  /** 6 bits, bit 0 = 0x20. */
  metadataBits: number;
  /** 6 bits. */
  reserved: number;
  /** D: a watched packet was dropped. */
  dropped: boolean;
  /** Q: congestion on a monitored queue. */
  queueCongested: boolean;
  /** F: tracked flow. */
  trackedFlow: boolean;
  /** 6 bits. */
  hwId: number;
  /** 32 bits. */
  switchId: number;
  /** 32 bits, per (switch, hwId, destination). */
  sequence: number;
  /** 32 bits, nanoseconds. */
  ingressTimestamp: number;
}

/** {@link ReportV10}. */
export const reportV10: FixedHeaderCodec<ReportV10> = /* @__PURE__ */ fixedHeader<ReportV10>('report', [
  ['version', 4],
  ['length', 4],
  ['nextProtocol', 3],
  ['metadataBits', 6],
  ['reserved', 6],
  ['dropped', 1, 'flag'],
  ['queueCongested', 1, 'flag'],
  ['trackedFlow', 1, 'flag'],
  ['hwId', 6],
  ['switchId', 32],
  ['sequence', 32],
  ['ingressTimestamp', 32],
]);

/** Report v0.5 (section 3.2.1), 12 bytes; a drop or switch-local header may follow. */
export interface ReportV05 {
  /** 4 bits. The text gives no value; 0 and 1 are seen. */
  version: number;
  /** 4 bits, what follows: 0 Ethernet, 1 drop header, 2 switch-local header. */
  nextProtocol: number;
  /** D: a watched packet was dropped. */
  dropped: boolean;
  /** Q: congestion on a monitored queue. */
  queueCongested: boolean;
  /** F: tracked flow. */
  trackedFlow: boolean;
  /** 15 bits. */
  reserved: number;
  /** 6 bits. */
  hwId: number;
  /** 32 bits, per (hwId, destination). */
  sequence: number;
  /** 32 bits, nanoseconds. */
  ingressTimestamp: number;
}

/** {@link ReportV05}. */
export const reportV05: FixedHeaderCodec<ReportV05> = /* @__PURE__ */ fixedHeader<ReportV05>('report', [
  ['version', 4],
  ['nextProtocol', 4],
  ['dropped', 1, 'flag'],
  ['queueCongested', 1, 'flag'],
  ['trackedFlow', 1, 'flag'],
  ['reserved', 15],
  ['hwId', 6],
  ['sequence', 32],
  ['ingressTimestamp', 32],
]);

/** Drop header of report v0.5 (section 3.2.2), 12 bytes; Ethernet follows. */
export interface ReportV05Drop {
  /** 32 bits. */
  switchId: number;
  /** 16 bits. */
  ingressPort: number;
  /** 16 bits. */
  egressPort: number;
  /** 8 bits. */
  queueId: number;
  /** 8 bits. */
  dropReason: number;
  /** 16 bits. */
  padding: number;
}

/** {@link ReportV05Drop} header. */
export const reportV05Drop: FixedHeaderCodec<ReportV05Drop> = /* @__PURE__ */ fixedHeader<ReportV05Drop>('report', [
  ['switchId', 32],
  ['ingressPort', 16],
  ['egressPort', 16],
  ['queueId', 8],
  ['dropReason', 8],
  ['padding', 16],
]);

/** Switch-local header of report v0.5 (section 3.2.3), 16 bytes; Ethernet follows. */
export interface ReportV05Local {
  /** 32 bits. */
  switchId: number;
  /** 16 bits. */
  ingressPort: number;
  /** 16 bits. */
  egressPort: number;
  /** 8 bits. */
  queueId: number;
  /** 24 bits. */
  queueOccupancy: number;
  /** 32 bits. */
  egressTimestamp: number;
}

/** {@link ReportV05Local} header. */
export const reportV05Local: FixedHeaderCodec<ReportV05Local> = /* @__PURE__ */ fixedHeader<ReportV05Local>('report', [
  ['switchId', 32],
  ['ingressPort', 16],
  ['egressPort', 16],
  ['queueId', 8],
  ['queueOccupancy', 24],
  ['egressTimestamp', 32],
]);
