/** Telemetry report headers v0.5, v1.0 and v2.0. The metadata behind the fixed parts: `reportMetadata`. */
import { FieldGroup, fixedHeader, type HeaderOf, headerWithTail } from './codec.js';

/**
 * Group header of report v2.0 (section 3.2), 8 bytes, once for each UDP datagram. 6 bits: `hwId`; 32 bits: `nodeId`.
 * @interface
 */
export type ReportV20Group = HeaderOf<typeof reportV20Group>;

/** {@link ReportV20Group}. Errors: `BAD_REPORT_VERSION`. */
export const reportV20Group = /* @__PURE__ */ fixedHeader('report', {
  version: { bits: 4, is: 2, code: 'BAD_REPORT_VERSION' },
  hwId: 6,
  /** 22 bits, per (node, hwId, destination). */
  sequence: 22,
  nodeId: 32,
});

/** RepType of report v2.0. */
export const REPORT_TYPE = { INNER_ONLY: 0, INT: 1, IOAM: 2 } as const;

/** InType of report v2.0. */
export const INNER_TYPE = { NONE: 0, TLV: 1, DOMAIN: 2, ETHERNET: 3, IPV4: 4, IPV6: 5 } as const;

/**
 * Individual report header of report v2.0 (section 3.3), 4 bytes. 4 bits: `reserved`.
 * @interface
 */
export type ReportV20Individual = HeaderOf<typeof reportV20Individual>;

/** {@link ReportV20Individual}. */
export const reportV20Individual = /* @__PURE__ */ fixedHeader('report', {
  /** 4 bits, see `REPORT_TYPE`. */
  reportType: 4,
  /** 4 bits, see `INNER_TYPE`. */
  innerType: 4,
  /** 8 bits, words behind this header; 255: to the end of the datagram. */
  reportLength: 8,
  /** 8 bits, words of variable metadata, baseline and domain-specific. */
  metadataLength: 8,
  /** D: a watched packet was dropped. */
  dropped: 'flag',
  /** Q: congestion on a monitored queue. */
  queueCongested: 'flag',
  /** F: tracked flow. */
  trackedFlow: 'flag',
  /** I: sent by a transit node. */
  intermediate: 'flag',
  reserved: 4,
});

/**
 * Fixed main contents of a report v2.0 with RepType 1 (section 3.3.1), 8 bytes.
 * @interface
 */
export type ReportV20Main = HeaderOf<typeof reportV20Main>;

/** {@link ReportV20Main}. */
export const reportV20Main = /* @__PURE__ */ fixedHeader('report', {
  /** 16 bits, bit 0 = 0x8000. */
  metadataBits: 16,
  /** 16 bits; 0 = default domain. */
  domainId: 16,
  /** 16 bits, bit 0 = 0x8000. */
  domainMetadataBits: 16,
  /** 16 bits, defined by the domain. */
  domainMetadataStatus: 16,
});

/**
 * One TLV of a report v2.0 with InType 1 (section 3.3.2); its length field follows from `data`, a multiple of 4
 * bytes, at most 1020. 4 bits: `reserved`.
 * @interface
 */
export type ReportTlv = HeaderOf<typeof reportTlv>;

/** {@link ReportTlv}. */
export const reportTlv = /* @__PURE__ */ headerWithTail(
  /* @__PURE__ */ new FieldGroup('tlv', {
    /** 4 bits: 0 domain-specific extension data, 1 Ethernet, 2 IPv4, 3 IPv6. */
    type: 4,
    reserved: 4,
    length: { bits: 8 },
    /** 16 bits: TLV Data Template. */
    template: 16,
  }),
  { name: 'data', length: 'length', unit: 4 },
);

/**
 * Report v1.0 (section 3.2), 16 bytes; variable metadata follows. 6 bits: `reserved`, `hwId`; 32 bits: `switchId`.
 * @interface
 */
export type ReportV10 = HeaderOf<typeof reportV10>;

/** {@link ReportV10}. */
export const reportV10 = /* @__PURE__ */ fixedHeader('report', {
  /** 4 bits: 1. It is not checked, because some senders write other values. */
  version: 4,
  /** 4 bits, words: this header and the variable metadata. */
  length: 4,
  /** 3 bits, what follows: 0 Ethernet, 1 IPv4, 2 IPv6. */
  nextProtocol: 3,
  /** 6 bits, bit 0 = 0x20. */
  metadataBits: 6,
  reserved: 6,
  /** D: a watched packet was dropped. */
  dropped: 'flag',
  /** Q: congestion on a monitored queue. */
  queueCongested: 'flag',
  /** F: tracked flow. */
  trackedFlow: 'flag',
  hwId: 6,
  switchId: 32,
  /** 32 bits, per (switch, hwId, destination). */
  sequence: 32,
  /** 32 bits, nanoseconds. */
  ingressTimestamp: 32,
});

/**
 * Report v0.5 (section 3.2.1), 12 bytes; a drop or switch-local header may follow. 15 bits: `reserved`; 6 bits: `hwId`.
 * @interface
 */
export type ReportV05 = HeaderOf<typeof reportV05>;

/** {@link ReportV05}. */
export const reportV05 = /* @__PURE__ */ fixedHeader('report', {
  /** 4 bits. The specification gives no value; 0 and 1 are in use. */
  version: 4,
  /** 4 bits, what follows: 0 Ethernet, 1 drop header, 2 switch-local header. */
  nextProtocol: 4,
  /** D: a watched packet was dropped. */
  dropped: 'flag',
  /** Q: congestion on a monitored queue. */
  queueCongested: 'flag',
  /** F: tracked flow. */
  trackedFlow: 'flag',
  reserved: 15,
  hwId: 6,
  /** 32 bits, per (hwId, destination). */
  sequence: 32,
  /** 32 bits, nanoseconds. */
  ingressTimestamp: 32,
});

/**
 * Drop header of report v0.5 (section 3.2.2), 12 bytes; Ethernet follows. 32 bits: `switchId`; 16 bits: `ingressPort`,
 * `egressPort`, `padding`; 8 bits: `queueId`, `dropReason`.
 * @interface
 */
export type ReportV05Drop = HeaderOf<typeof reportV05Drop>;

/** {@link ReportV05Drop} header. */
export const reportV05Drop = /* @__PURE__ */ fixedHeader('report', {
  switchId: 32,
  ingressPort: 16,
  egressPort: 16,
  queueId: 8,
  dropReason: 8,
  padding: 16,
});

/**
 * Switch-local header of report v0.5 (section 3.2.3), 16 bytes; Ethernet follows. 32 bits: `switchId`,
 * `egressTimestamp`; 16 bits: `ingressPort`, `egressPort`; 8 bits: `queueId`; 24 bits: `queueOccupancy`.
 * @interface
 */
export type ReportV05Local = HeaderOf<typeof reportV05Local>;

/** {@link ReportV05Local} header. */
export const reportV05Local = /* @__PURE__ */ fixedHeader('report', {
  switchId: 32,
  ingressPort: 16,
  egressPort: 16,
  queueId: 8,
  queueOccupancy: 24,
  egressTimestamp: 32,
});
