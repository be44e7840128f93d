/** Builds telemetry reports. */
import { concat } from '../copy.js';
import { FIELDS } from '../fields.js';
import { reportMetadata } from '../headers/hop.js';
import {
  INNER_TYPE,
  REPORT_TYPE,
  reportTlv,
  reportV05,
  reportV05Drop,
  reportV05Local,
  reportV10,
  reportV20Group,
  reportV20Individual,
  reportV20Main,
} from '../headers/report.js';
import type { Hop, IntHeaderInfo, ReportInfo, TelemetryRecord } from '../model.js';
import { intFrame } from './int.js';
import { fragment, frame, monitored, plainPacket } from './network.js';
import type { EncodeSettings } from './options.js';

const NONE = new Uint8Array(0);
/** A domain for domain-specific words, because the record does not hold its id. */
const SOME_DOMAIN = { domainId: 1, domainMetadataBits: 0x8000, domainMetadataStatus: 0 } as const;

/** The bits of all items of a node, as a version numbers them: bit 0 = 0x8000. */
function itemBits(metadata: Hop, version: '2' | 'report-1.0'): number {
  let bits = 0;
  for (const { name, at } of FIELDS) {
    const bit = at[version];
    if (bit !== undefined && metadata[name] !== undefined) bits |= 0x8000 >>> bit;
  }
  return bits;
}

function embedded(record: TelemetryRecord): IntHeaderInfo | null {
  const { int } = record;
  return int !== null && (int.mode === 'md' || int.mode === 'mx') ? int : null;
}

/** The bytes that the report carries and, for v2.0, its InType. */
function innerOf(record: TelemetryRecord, settings: EncodeSettings): { type: number; bytes: Uint8Array } {
  const { report, flow } = record;
  const int = embedded(record);
  const type = report?.type;
  if (int !== null) return { type: INNER_TYPE.ETHERNET, bytes: intFrame(record, int, settings) };
  if (type === 'none') return { type: INNER_TYPE.NONE, bytes: NONE };
  if (type === 'ipv4' || type === 'ipv6') {
    const packet = flow === null ? fragment(type === 'ipv4' ? 4 : 6, settings) : plainPacket(flow, settings);
    return { type: type === 'ipv4' ? INNER_TYPE.IPV4 : INNER_TYPE.IPV6, bytes: packet };
  }
  const inner = monitored(record, settings);
  if (flow !== null) return { type: INNER_TYPE.ETHERNET, bytes: frame(plainPacket(flow, settings), inner) };
  if (type === 'ethernet') return { type: INNER_TYPE.ETHERNET, bytes: frame(null, inner) };
  return { type: INNER_TYPE.NONE, bytes: NONE };
}

/** Pads to whole words, because the length of a report counts words (report v2.0 does not define the padding). */
function words(bytes: Uint8Array): Uint8Array {
  return bytes.length % 4 === 0 ? bytes : concat(bytes, new Uint8Array(4 - (bytes.length % 4)));
}

/** RepMdBits for the values of the node in a report v2.0: a bit for each item, bit 0 = 0x8000. */
export function metadataBits20(report: Pick<ReportInfo, 'metadata' | 'dropReason' | 'dropQueueId'>): number {
  // Bit 0 is reserved, as the header names the node. Bit 15 is the drop reason.
  const dropBit = report.dropReason === null && report.dropQueueId === null ? 0 : 1;
  return (itemBits(report.metadata, '2') & 0x7ffe) | dropBit;
}

function individual(record: TelemetryRecord, last: boolean, settings: EncodeSettings): Uint8Array {
  const report = record.report!;
  const { metadata, dropQueueId, dropReason, dropped, queueCongested, trackedFlow, intermediate, type } = report;
  const flags = { dropped, queueCongested, trackedFlow, intermediate, reserved: 0 };
  // A packet with INT may be in a TLV. The type of the report is then that of the packet.
  const inner =
    type === 'tlv' || report.tlvs !== undefined
      ? {
          type: INNER_TYPE.TLV,
          bytes: concat(...(report.tlvs ?? []).map((tlv) => reportTlv.encode({ reserved: 0, ...tlv }))),
        }
      : innerOf(record, settings);
  const bare = type === 'ethernet' || type === 'ipv4' || type === 'ipv6' || type === 'none';
  let main: Uint8Array = NONE;
  let metadataLength = 0;
  if (!bare) {
    const bits = record.int?.mode === 'xd' ? record.int.instructionBitmap : metadataBits20(report);
    const domainBytes = metadata.domain?.length ?? 0;
    const own = reportMetadata('2.0', bits, domainBytes).encode({ metadata, dropQueueId, dropReason });
    metadataLength = own.length / 4;
    const xd = record.int?.mode === 'xd' ? record.int : null;
    const domain =
      xd !== null
        ? { domainId: xd.domainId, domainMetadataBits: xd.domainInstructions, domainMetadataStatus: xd.domainFlags }
        : domainBytes > 0
          ? SOME_DOMAIN
          : { domainId: 0, domainMetadataBits: 0, domainMetadataStatus: 0 };
    main = concat(reportV20Main.encode({ metadataBits: bits, ...domain }), own);
  }
  const body = words(concat(main, inner.bytes));
  // A report of 255 words or more ends with the datagram, so nothing may follow.
  if (body.length / 4 > 254 && !last) {
    throw new RangeError('a report of 255 words or more must be the last of its datagram');
  }
  const header = reportV20Individual.encode({
    reportType: bare ? REPORT_TYPE.INNER_ONLY : REPORT_TYPE.INT,
    innerType: inner.type,
    reportLength: Math.min(255, body.length / 4),
    metadataLength,
    ...flags,
  });
  return concat(header, body);
}

function report20(records: readonly TelemetryRecord[], settings: EncodeSettings): Uint8Array {
  const { hwId, sequence, nodeId } = records[0]!.report!;
  for (const { report } of records) {
    if (report!.hwId !== hwId || report!.sequence !== sequence || report!.nodeId !== nodeId) {
      throw new TypeError('individual reports of one datagram have one node id, hardware id and sequence number');
    }
  }
  return concat(
    reportV20Group.encode({ hwId, sequence, nodeId: nodeId ?? 0 }),
    ...records.map((record, index) => individual(record, index === records.length - 1, settings)),
  );
}

function timestamp32(report: ReportInfo): number {
  return Number(report.ingressTimestamp ?? 0n);
}

function report10(record: TelemetryRecord, settings: EncodeSettings): Uint8Array {
  const report = record.report!;
  const { metadata, dropQueueId, dropReason, dropped, queueCongested, trackedFlow, hwId, sequence } = report;
  let bits = itemBits(metadata, 'report-1.0') >>> 10;
  if (dropReason !== null || dropQueueId !== null) bits |= 0x20 >>> 4;
  // An INT-XD report has metadata of the node. If the record shows none, it was a drop word of all ones.
  if (report.type === 'int-xd' && bits === 0) bits = 0x20 >>> 4;
  const own = reportMetadata('1.0', bits).encode({ metadata, dropQueueId, dropReason });
  const inner = innerOf(record, settings);
  const header = reportV10.encode({
    version: 1,
    length: 4 + own.length / 4,
    nextProtocol: inner.type === INNER_TYPE.IPV4 ? 1 : inner.type === INNER_TYPE.IPV6 ? 2 : 0,
    metadataBits: bits,
    reserved: 0,
    dropped,
    queueCongested,
    trackedFlow,
    hwId,
    switchId: report.nodeId ?? 0,
    sequence,
    ingressTimestamp: timestamp32(report),
  });
  return concat(header, own, inner.bytes);
}

function report05(record: TelemetryRecord, settings: EncodeSettings): Uint8Array {
  const report = record.report!;
  const { metadata, nodeId, dropped, queueCongested, trackedFlow, hwId, sequence } = report;
  const { queueId, queueOccupancy, egressTimestamp } = metadata;
  const isLocal = queueId !== undefined || queueOccupancy !== undefined || egressTimestamp !== undefined;
  const local = nodeId !== null && isLocal;
  const header = reportV05.encode({
    version: 0,
    nextProtocol: nodeId === null ? 0 : local ? 2 : 1,
    dropped,
    queueCongested,
    trackedFlow,
    reserved: 0,
    hwId,
    sequence,
    ingressTimestamp: timestamp32(report),
  });
  const inner = innerOf(record, settings).bytes;
  if (nodeId === null) return concat(header, inner);
  const ports = {
    switchId: nodeId,
    ingressPort: metadata.l1IngressInterface ?? 0xffff,
    egressPort: metadata.l1EgressInterface ?? 0xffff,
  };
  const own = local
    ? reportV05Local.encode({
        ...ports,
        queueId: queueId ?? 0xff,
        queueOccupancy: queueOccupancy ?? 0xffffff,
        egressTimestamp: Number(egressTimestamp ?? 0xffffffffn),
      })
    : reportV05Drop.encode({
        ...ports,
        queueId: report.dropQueueId ?? 0xff,
        dropReason: report.dropReason ?? 0xff,
        padding: report.dropReason === null ? 0xffff : 0,
      });
  return concat(header, own, inner);
}

/**
 * The UDP payload of a telemetry report.
 * @param records individual reports of one datagram; only v2.0 takes more than one
 * @throws TypeError for records that do not belong together; RangeError for a value that does not fit
 */
export function reportPayload(records: readonly TelemetryRecord[], settings: EncodeSettings): Uint8Array {
  const version = records[0]?.report?.version;
  if (version === undefined || records.some(({ report }) => report?.version !== version)) {
    throw new TypeError('a report needs at least one record, all with reports of one version');
  }
  if (version === '2.0') return report20(records, settings);
  if (records.length > 1) throw new TypeError(`a report v${version} datagram holds one report, not ${records.length}`);
  return version === '1.0' ? report10(records[0]!, settings) : report05(records[0]!, settings);
}
