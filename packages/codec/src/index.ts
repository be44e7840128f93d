/**
 * In-band Network Telemetry and telemetry reports: bytes to telemetry and back.
 *
 * @packageDocumentation
 */
export {
  AddressError,
  formatIpv4,
  formatIpv6,
  type ParsedAddress,
  parseAddress,
  parseIpv4,
  parseIpv6,
  parseMac,
} from './address.js';
export { Arena } from './arena.js';
export { type BatchCapacity, STATE, TelemetryBatch } from './batch.js';
export { BatchDecoder, type BatchDecoderOptions } from './batch-decoder.js';
export type { BatchInput } from './batch-input.js';
export {
  checksumComplement,
  internetChecksum,
  ipv4HeaderChecksum,
  tcpChecksum,
  udpChecksum,
  updateChecksum,
  updateUdpChecksum,
} from './checksum.js';
export { CODE_MESSAGES, CODE_NAMES, CODE_STATUS, CODES, type CodeName } from './codes.js';
export {
  ENCAPSULATIONS,
  FLAG,
  HOP_COLUMNS,
  type HopColumn,
  INT_VERSIONS,
  MODES,
  NOT_AVAILABLE,
  REPORT_BYTE_COLUMNS,
  REPORT_VERSIONS,
  REPORT_WORD_COLUMNS,
  type ReportByteColumn,
  type ReportWordColumn,
} from './columns.js';
export { encodeFrame, encodeReport } from './encode/frame.js';
export type { EncodeOptions } from './encode/options.js';
export { CodecError } from './errors.js';
export { type KernelOptions, KernelReport2, kernelAvailable } from './fast/kernel.js';
export { type KernelHost, KernelMemory } from './fast/memory.js';
export { canRunKernel, withSharedMemory } from './fast/modules.js';
export type { FastDecoder, FastOptions } from './fast/options.js';
export { decodeFrame, decodeReport, FrameDecoder, type TelemetryReport } from './frame-decoder.js';
export * from './headers/index.js';
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
export {
  type DecodeOptions,
  type DomainItem,
  type Domains,
  LINK_TYPES,
  type LinkLayer,
  PROFILES,
  type Profile,
} from './options.js';
export type { Plan } from './plan.js';
export * from './probe/index.js';
export { ETHERNET_BYTES, writeRecord } from './record-row.js';
export * from './roce/index.js';
export * from './roles/index.js';
export { type TelemetryParts, telemetry } from './telemetry.js';
export { HopView, RecordView, viewRecord } from './view.js';
