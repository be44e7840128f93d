/**
 * In-band Network Telemetry and telemetry reports: bytes to telemetry and back.
 *
 * @packageDocumentation
 */
export { AddressError, formatIpv4, formatIpv6, type ParsedAddress, parseAddress } from './address.js';
export { Arena } from './arena.js';
export { type BatchCapacity, STATE, TelemetryBatch } from './batch.js';
export { BatchDecoder, type BatchDecoderOptions } from './batch-decoder.js';

export { CODE_NAMES, CODES, type CodeName } from './codes.js';
export {
  ENCAPSULATIONS,
  FLAG,
  INT_VERSIONS,
  MODES,
  NOT_AVAILABLE,
  REPORT_VERSIONS,
  type ReportByteColumn,
  type ReportWordColumn,
} from './columns.js';
export { type DissectedField, type Dissection, dissect } from './dissect/index.js';
export { encodeFrame, encodeReport } from './encode/frame.js';
export type { EncodeOptions } from './encode/options.js';
export { CodecError } from './errors.js';
export { type AcceleratorHost, AcceleratorMemory } from './fast/memory.js';
export {
  FIELDS,
  type Field,
  type FieldName,
  type FieldVersion,
  HOP_COLUMNS,
  type HopColumn,
  type NumberName,
  type TimeName,
} from './fields.js';
export { decodeFrame, decodeReport, FrameDecoder, type TelemetryReport } from './frame-decoder.js';
export type { Frames } from './frames.js';
export {
  type Aeth,
  type AtomicEth,
  type Bth,
  type Ethernet,
  ethernet,
  type FixedHeaderCodec,
  type Geneve,
  type GeneveOption,
  GPINT_DSCP,
  type GpintMeta,
  type GpintProbe,
  type Gre,
  type GreShim,
  gpintProbe,
  type HeaderCodec,
  type HopBlockOptions,
  type ImmDt,
  type Int2016,
  type IntMd,
  type IntMon,
  type IntMx,
  type IntTail,
  type IntV05,
  type IntV10,
  type Ipv4,
  type Ipv6,
  type Ipv6Fragment,
  type Ipv6Options,
  type Ipv6Routing,
  intMd,
  ipv4,
  ipv6,
  type MplsLabel,
  type ProbeMarker,
  probeMarker,
  type ReportMetadata,
  type ReportTlv,
  type ReportV05,
  type ReportV05Drop,
  type ReportV05Local,
  type ReportV10,
  type ReportV20Group,
  type ReportV20Individual,
  type ReportV20Main,
  type Reth,
  ROCE_OPCODE,
  reportV20Group,
  reth,
  type ShimV2,
  type ShimV2Marked,
  type ShimV2NewUdp,
  type ShimV2Port,
  type ShimV2Undefined,
  type ShimV05,
  type ShimV10,
  shimV2,
  type Tcp,
  type Udp,
  udp,
  type VlanTag,
  type VxlanGpe,
  type VxlanGpeShimV1,
  type VxlanGpeShimV2,
} from './headers/index.js';
export { type HopJson, type IntJson, type RecordJson, type ReportJson, recordFromJson, recordToJson } from './json.js';
export { isMetricName, METRIC_NAMES, METRICS, type Metric, type MetricName, metricOf } from './metric.js';
export type {
  Encapsulation,
  Flow,
  GpintInfo,
  Hop,
  IntHeaderInfo,
  IntVersion,
  Layer,
  Problem,
  ReportInfo,
  ReportType,
  ReportVersion,
  Status,
  TelemetryRecord,
  Tlv,
} from './model.js';
export type { DecodeOptions, DomainItem, Domains, LinkLayer, Profile } from './options.js';
export type { Plan } from './plan.js';
export { type ProbeHop, type ProbeKind, probeKind } from './probe/index.js';
export { type CopiedColumns, ReportCopier } from './report-copier.js';
export {
  decodeRoce,
  encodeRoce,
  type RoceDecodeOptions,
  type RoceErrorCode,
  type RoceFields,
  type RocePacket,
} from './roce/index.js';
export * from './roles/index.js';
export { type TelemetryParts, telemetry } from './telemetry.js';
export { HopView, RecordView } from './view.js';
